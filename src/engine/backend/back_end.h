// The back end of a streamer (render, blit, video). It executes the commands that are not the streamer's own, by the
// client in their header. Not modelled: video; its commands are counted and reported as not implemented.
#pragma once

#include <memory>

#include "base/fidelity.h"
#include "engine/stream/command.h"
#include "spec/device_model.h"

namespace halogen::engine {

class BackEnd {
 public:
  virtual ~BackEnd() = default;
  virtual Next execute(Engine& engine, const Command& command) = 0;
  // Waits for earlier work, writes caches back and invalidates them.
  virtual void flush() {}
  virtual void reset() {}
  virtual void report(FidelityReport& /*report*/) const {}
};

// Returns the back end of an engine.
std::unique_ptr<BackEnd> make_back_end(const spec::EngineModel& engine);

}  // namespace halogen::engine
