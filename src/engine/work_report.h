// What a part of a blit, dispatch or draw got done: plain data, from the back end to Engine::account(). Virtual time,
// statistics registers, the hang watch and compression of the display follow from it.
//
// Counts of a draw are complete whether or not statistics are enabled: performance counters count without enables.
#pragma once

#include <cstdint>
#include <optional>

#include "base/strong.h"
#include "pipe3d/pipeline.h"

namespace halogen::engine {

// EU threads that were started, by stage.
struct ThreadCounts {
  pipe3d::StageThreads draw;
  uint64_t compute = 0;
};

// Scan lines of a surface that were written; lines count from its base.
struct TargetWrite {
  GpuVa base{};
  uint32_t first_line = 0;
  uint32_t lines = 0;
};

struct WorkReport {
  uint64_t time_ns = 0;   // virtual
  uint64_t progress = 0;  // for the hang watch: zero if a batch that loops could do as much for ever
  uint64_t instructions = 0;
  ThreadCounts threads;
  uint64_t compute_channels = 0;  // of threads that were started
  pipe3d::Counts draw;
  pipe3d::Statistics counted;  // which counts of a draw its statistics registers take
  uint64_t blit_bytes = 0;     // of the destination
  std::optional<TargetWrite> target_write;
};

}  // namespace halogen::engine
