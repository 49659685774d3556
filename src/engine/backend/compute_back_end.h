// Compute behind a streamer: settings and dispatches of the media and compute pipeline. src/compute does the work. The
// back end provides memory, registers (indirect counts) and the predicate, accounts for virtual time and statistics,
// and stops the streamer at faults. A long dispatch is done in parts (long_command.h). An endless dispatch keeps the
// engine busy until software resets it.
//
// Constants and interface descriptors are read when a dispatch begins, not when they are loaded.
#pragma once

#include <optional>

#include "compute/dispatcher.h"
#include "engine/backend/back_end.h"
#include "engine/backend/surface_report.h"

namespace halogen::engine {

class ComputeBackEnd final : public BackEnd {
 public:
  explicit ComputeBackEnd(eu::KernelLibrary& library) : dispatcher_(library) {}
  Next execute(Engine& engine, const Command& command) override;
  void report(FidelityReport& report) const override { dispatcher_.report(report); }
  void set_observer(compute::Observer* observer) { dispatcher_.set_observer(observer); }

 private:
  Next walk(Engine& engine, const Command& command);
  std::optional<Next> prepare(Engine& engine, const Command& command, memory::AddressSpace& space);

  compute::Dispatcher dispatcher_;
  SurfaceReport surfaces_;
};

}  // namespace halogen::engine
