// Compute behind a streamer: settings of the pipelines and dispatches. src/compute does the work; here it gets its
// memory, registers (indirect counts, the count of threads), predicate and place in virtual time, and its faults stop
// the streamer. A long dispatch is done in parts, and other engines go on between them; its own streamer does nothing
// else meanwhile. An endless one never ends: the engine stays busy until software resets it.
//
// Left out: the walker of media objects, media objects before Gen8, and everything that draws; they are reported as not
// executed. Constants and
// interface descriptors are read when a dispatch begins, not when they are loaded.
#pragma once

#include <optional>

#include "compute/walker.h"
#include "engine/backend/back_end.h"

namespace halogen::engine {

class ComputeBackEnd final : public BackEnd {
 public:
  explicit ComputeBackEnd(eu::KernelLibrary& library) : walker_(library) {}
  Next execute(Engine& engine, const Command& command) override;
  void report(FidelityReport& report) const override { walker_.report(report); }
  void set_observer(compute::Observer* observer) { walker_.set_observer(observer); }

 private:
  Next walk(Engine& engine, const Command& command);
  std::optional<Next> prepare(Engine& engine, const Command& command, memory::AddressSpace& space);

  compute::Walker walker_;
};

}  // namespace halogen::engine
