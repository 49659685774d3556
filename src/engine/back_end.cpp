#include "engine/back_end.h"

#include "engine/engine.h"

namespace halogen::engine {
namespace {

class NoBackEnd final : public BackEnd {
 public:
  Next execute(Engine& engine, const Command& command) override {
    engine.unsupported(command.desc);
    return Next::advance();
  }
};

}  // namespace

std::unique_ptr<BackEnd> make_back_end(const spec::EngineModel& /*engine*/) {
  return std::make_unique<NoBackEnd>();
}

}  // namespace halogen::engine
