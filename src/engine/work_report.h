// The result of a part of a blit, dispatch or draw: plain data from the back end to Engine::account(). It
// advances virtual time and updates the statistics registers, the hang watch and frame buffer compression.
//
// Counts of a draw are complete whether or not statistics are enabled: performance counters count without enables.
#pragma once

#include <cstdint>
#include <optional>

#include "base/strong.h"
#include "engine/work_done.h"
#include "oa/work_counts.h"
#include "pipe3d/pipeline.h"

namespace halogen::engine {

struct DrawWork {
  pipe3d::StageAmounts threads;
  pipe3d::Counts counts;
  pipe3d::Statistics counted;  // which counts are added to statistics registers
};

struct ComputeWork {
  uint64_t threads = 0;   // started
  uint64_t channels = 0;  // of these threads
};

// Scan lines of a surface that were written. Lines are counted from its base.
struct TargetWrite {
  GpuVa base{};
  uint32_t first_line = 0;
  uint32_t lines = 0;
};

struct WorkReport {
  uint64_t time_ns = 0;  // virtual
  WorkDone done;
  uint64_t instructions = 0;
  uint64_t blit_bytes = 0;  // written to the destination
  // These must live until account() returns.
  const DrawWork* draw = nullptr;          // null: not a draw
  const oa::WorkCounts* counts = nullptr;  // null: not wanted, or the work has none
  std::optional<ComputeWork> compute;
  std::optional<TargetWrite> target_write;
};

}  // namespace halogen::engine
