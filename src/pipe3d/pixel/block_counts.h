// Counts of 2x2 blocks for performance counters (oa/work_counts.h). With several samples a block counts once for each
// sample of it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "oa/work_counts.h"
#include "pipe3d/pixel/pixel_thread.h"

namespace halogen::pipe3d {

struct BlockCounts {
  uint64_t rasterised = 0;
  uint64_t failed_early = 0;
  uint64_t killed = 0;
  uint64_t failed_late = 0;
  uint64_t written = 0;
  uint64_t blended = 0;

  void add(const BlockCounts& other);
  void add_to(oa::WorkCounts& counts) const;
  bool operator==(const BlockCounts&) const = default;
};

inline constexpr std::array kBlockSums{
    oa::SumOfWork<BlockCounts>{&BlockCounts::rasterised, &oa::WorkCounts::blocks_rasterised},
    oa::SumOfWork<BlockCounts>{&BlockCounts::failed_early, &oa::WorkCounts::blocks_failed_early},
    oa::SumOfWork<BlockCounts>{&BlockCounts::killed, &oa::WorkCounts::blocks_killed},
    oa::SumOfWork<BlockCounts>{&BlockCounts::failed_late, &oa::WorkCounts::blocks_failed_late},
    oa::SumOfWork<BlockCounts>{&BlockCounts::written, &oa::WorkCounts::blocks_written},
    oa::SumOfWork<BlockCounts>{&BlockCounts::blended, &oa::WorkCounts::blocks_blended},
};

inline void BlockCounts::add(const BlockCounts& other) {
  oa::add_sums(*this, other, kBlockSums);
}
inline void BlockCounts::add_to(oa::WorkCounts& counts) const {
  oa::add_sums(counts, *this, kBlockSums);
}

// Returns the samples that any pixel of a block has.
inline uint32_t samples_of(const std::array<uint16_t, 4>& coverage) {
  return uint32_t{coverage[0]} | coverage[1] | coverage[2] | coverage[3];
}

inline uint64_t count_of(uint32_t samples) {
  return static_cast<uint64_t>(std::popcount(samples));
}

// Returns a bit for each group of four lanes that has a lane of the mask.
constexpr uint32_t blocks_with(uint32_t lanes) {
  return (lanes | lanes >> 1 | lanes >> 2 | lanes >> 3) & 0x1111'1111u;
}

// The blocks of one thread on their way from the shader to the targets.
class ThreadBlocks {
 public:
  void begin() {
    sent_lanes_ = 0;
    by_sample_ = false;
  }
  // Called for a message whose lanes have one sample each, which no later test can drop.
  void send_whole(uint32_t lanes) { sent_lanes_ |= lanes; }
  // Called before the lanes of a message are tested one by one, which changes their coverage.
  void send_by_sample(const PixelGroup& group) {
    if (!by_sample_) {
      by_sample_ = true;
      sent_ = passed_ = {};
      lit_ = samples_of_group(group);
    }
  }
  void send(unsigned lane, uint32_t coverage) { sent_[lane / 4] |= coverage; }
  void pass(unsigned lane, uint32_t coverage) { passed_[lane / 4] |= coverage; }

  // Adds what became of the blocks, after the last message of the thread.
  void finish(const PixelGroup& group, BlockCounts& counts) {
    if (!by_sample_ && sent_lanes_ != 0) {
      counts.killed += count_of(blocks_with(group.live()) & ~blocks_with(sent_lanes_));
      return;
    }
    send_by_sample(group);
    for (unsigned block = 0; block < kBlocks; ++block) {
      const uint32_t whole = sent_lanes_ >> (4 * block) & 0xf;
      const uint32_t sent = sent_[block] | (whole != 0 ? 1u : 0u);
      const uint32_t passed = passed_[block] | (whole != 0 ? 1u : 0u);
      counts.killed += count_of(lit_[block] & ~sent);
      counts.failed_late += count_of(sent & ~passed);
    }
  }

 private:
  static constexpr unsigned kBlocks = kMaxLanes / 4;
  using Samples = std::array<uint32_t, kBlocks>;

  static Samples samples_of_group(const PixelGroup& group) {
    Samples samples{};
    for (unsigned lane = 0; lane < group.width; ++lane) {
      samples[lane / 4] |= group.lanes[lane].coverage;
    }
    return samples;
  }

  uint32_t sent_lanes_ = 0;
  bool by_sample_ = false;
  Samples lit_{};  // when the thread started
  Samples sent_{};
  Samples passed_{};
};

}  // namespace halogen::pipe3d
