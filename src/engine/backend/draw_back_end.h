// Drawing behind a streamer: state commands of the 3D pipeline and draws. src/pipe3d does the work. The back end
// provides memory, registers (indirect parameters) and the predicate, accounts for virtual time and statistics, and
// stops the streamer at faults. A long draw is done in parts (long_command.h).
//
// Depth and stencil are cleared when 3DSTATE_WM_HZ_OP is parsed; hardware waits for the PIPE_CONTROL that follows it.
#pragma once

#include <optional>

#include "engine/backend/back_end.h"
#include "engine/backend/surface_report.h"
#include "oa/work_counts.h"
#include "pipe3d/pipeline.h"

namespace halogen::engine {

class LongCommand;

class DrawBackEnd final : public BackEnd {
 public:
  explicit DrawBackEnd(eu::KernelLibrary& library) : pipeline_(library) {}
  // Returns whether the command belongs to the 3D pipeline.
  static bool takes(const Command& command);
  Next execute(Engine& engine, const Command& command) override;
  void reset() override { pipeline_.forget(); }
  void report(FidelityReport& report) const override {
    pipeline_.report(report);
    unread_.report(report);
  }

 private:
  void begin_unless_resumed(Engine& engine, const Command& command, LongCommand& work);
  Next draw(Engine& engine, const Command& command);
  Next finish(Engine& engine, const Command& command, LongCommand& work, const pipe3d::Outcome& outcome);

  pipe3d::Pipeline pipeline_;
  SurfaceReport surfaces_;
  spec::UnreadFields unread_;
  std::optional<oa::WorkCounts> counts_;  // of the part, if they are observed
};

}  // namespace halogen::engine
