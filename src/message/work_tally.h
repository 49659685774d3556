// Counts the work of messages for performance counters (oa/work_counts.h): requests to samplers, shared local memory,
// lines of memory, atomic operations and barriers. A message counts once, when it is complete: not when it faults or
// has to be sent again.
#pragma once

#include <array>
#include <cstdint>

#include "oa/work_counts.h"

namespace halogen::message {

// Distinct lines of 64 bytes.
class LineSet {
 public:
  static constexpr unsigned kLine_log2 = 6;

  void clear() {
    ++stamp_;
    count_ = 0;
  }
  void add(uint64_t address, uint64_t bytes) {
    const uint64_t last = (address + bytes - 1) >> kLine_log2;
    for (uint64_t line = address >> kLine_log2; line <= last; ++line) {
      add_line(line);
    }
  }
  uint32_t count() const { return count_; }

 private:
  // More than the lines that a message can touch. Without a free entry, a line would count at every access.
  static constexpr uint32_t kEntries = 256;
  struct Entry {
    uint64_t line = 0;
    uint64_t stamp = 0;
  };

  void add_line(uint64_t line) {
    const uint64_t first = line * 0x9e37'79b9'7f4a'7c15u >> 56;
    for (uint64_t i = 0; i < kEntries; ++i) {
      Entry& entry = entries_[(first + i) % kEntries];
      if (entry.stamp != stamp_) {
        entry = {line, stamp_};
        break;
      }
      if (entry.line == line) {
        return;
      }
    }
    ++count_;
  }

  std::array<Entry, kEntries> entries_{};
  uint64_t stamp_ = 1;
  uint32_t count_ = 0;
};

// The accesses of one message so far.
struct Touched {
  LineSet lines;
  uint32_t local_read_B = 0;
  uint32_t local_written_B = 0;
  uint32_t squares = 0;  // requested from the sampler
  bool atomic = false;
  bool barrier = false;

  void clear() {
    lines.clear();
    local_read_B = local_written_B = squares = 0;
    atomic = barrier = false;
  }
};

// Sums over messages.
struct MessageWork {
  uint64_t blocks_sampled = 0;
  uint64_t local_reads = 0;
  uint64_t local_writes = 0;
  uint64_t memory_lines = 0;
  uint64_t atomics = 0;
  uint64_t barriers = 0;

  void add(const Touched& message) {
    constexpr uint64_t kUnit_B = 64;
    blocks_sampled += message.squares;
    local_reads += (message.local_read_B + kUnit_B - 1) / kUnit_B;
    local_writes += (message.local_written_B + kUnit_B - 1) / kUnit_B;
    memory_lines += message.lines.count();
    atomics += message.atomic ? 1 : 0;
    barriers += message.barrier ? 1 : 0;
  }
  void add(const MessageWork& other);
  void add_to(oa::WorkCounts& counts) const;
  bool operator==(const MessageWork&) const = default;
};

inline constexpr std::array kMessageSums{
    oa::SumOfWork<MessageWork>{&MessageWork::blocks_sampled, &oa::WorkCounts::blocks_sampled},
    oa::SumOfWork<MessageWork>{&MessageWork::local_reads, &oa::WorkCounts::local_reads},
    oa::SumOfWork<MessageWork>{&MessageWork::local_writes, &oa::WorkCounts::local_writes},
    oa::SumOfWork<MessageWork>{&MessageWork::memory_lines, &oa::WorkCounts::memory_lines},
    oa::SumOfWork<MessageWork>{&MessageWork::atomics, &oa::WorkCounts::atomics},
    oa::SumOfWork<MessageWork>{&MessageWork::barriers, &oa::WorkCounts::barriers},
};

inline void MessageWork::add(const MessageWork& other) {
  oa::add_sums(*this, other, kMessageSums);
}
inline void MessageWork::add_to(oa::WorkCounts& counts) const {
  oa::add_sums(counts, *this, kMessageSums);
}

}  // namespace halogen::message
