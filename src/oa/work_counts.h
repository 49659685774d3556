// The work of a part of a draw, dispatch or blit, as performance counters show it: plain data from the back ends to
// the observation unit. Rooms that execute work fill it; nothing is filled while no counter is observed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halogen::oa {

// Stages with EU threads.
enum class Stage : uint8_t { vertex, hull, domain, geometry, pixel, compute };
inline constexpr size_t kStages = 6;

// Classes of instructions that the fine filters of flexible EU events tell apart.
enum class InstructionKind : uint8_t { ternary, binary, move, other };
inline constexpr size_t kInstructionKinds = 4;

// Pipes of an EU: FPU0, FPU1 (extended math) and SEND.
enum class Pipe : uint8_t { fpu0, fpu1, send };
inline constexpr size_t kPipes = 3;

// Work of the EUs for one stage.
struct StageActivity {
  std::array<std::array<uint64_t, kInstructionKinds>, kPipes> issue_clocks{};  // EU clocks, summed over all EUs
  uint64_t sends = 0;                                                          // started
  // The share of the span in which the stage ran, in virtual time. The shares of all stages add up to the span.
  uint64_t active_ns = 0;
  // The time for which threads are loaded, summed over all threads, as if every thread had a slot: threads alive *
  // active_ns. The observation unit limits it to the slots and EUs of the device:
  //   thread time = min(slots * active_ns, thread_ns), loaded time = min(EUs * active_ns, thread_ns)
  uint64_t thread_ns = 0;
  void add(const StageActivity& other) {
    for (size_t pipe = 0; pipe < issue_clocks.size(); ++pipe) {
      for (size_t kind = 0; kind < issue_clocks[pipe].size(); ++kind) {
        issue_clocks[pipe][kind] += other.issue_clocks[pipe][kind];
      }
    }
    sends += other.sends;
    active_ns += other.active_ns;
    thread_ns += other.thread_ns;
  }
  bool operator==(const StageActivity&) const = default;
};

// The step of the counters of 2x2 blocks: pixels (or samples) of a block. A partly covered block counts four too.
inline constexpr uint8_t kBlockStep = 4;

struct WorkCounts {
  std::array<uint64_t, kStages> threads{};  // EU threads dispatched, by Stage
  // Blocks of 2x2 pixels (with several samples: for each sample). A block counts once for each event.
  uint64_t blocks_rasterised = 0;    // with a covered pixel, before all tests
  uint64_t blocks_failed_fast = 0;   // in hierarchical tests before the pixel shader
  uint64_t blocks_failed_early = 0;  // in other tests before the pixel shader
  uint64_t blocks_killed = 0;        // all lit pixels killed by the pixel shader
  uint64_t blocks_failed_late = 0;   // in tests after the pixel shader
  uint64_t blocks_written = 0;       // for each render target that changed
  uint64_t blocks_blended = 0;       // of these, with blending
  uint64_t blocks_sampled = 0;  // requested from samplers: groups of four lanes with an active lane, for each message
  uint64_t local_reads = 0;     // shared local memory, in units of 64 bytes; atomics count here and below
  uint64_t local_writes = 0;
  uint64_t memory_lines = 0;  // lines of 64 bytes that data port messages touch, after coalescing within a message
  uint64_t atomics = 0;       // messages, to memory and to local memory
  uint64_t barriers = 0;      // messages, one for each thread
  std::array<StageActivity, kStages> activity{};
  bool operator==(const WorkCounts&) const = default;
};

// The A counter that shows a count, and its step for one.
struct CounterOfWork {
  uint64_t WorkCounts::*count;
  uint8_t counter;
  uint8_t step = 1;
};
// A29 and A33 count misses of caches that the model does not have.
inline constexpr std::array kCountersOfWork{
    CounterOfWork{&WorkCounts::blocks_rasterised, 21, kBlockStep},
    CounterOfWork{&WorkCounts::blocks_failed_fast, 22, kBlockStep},
    CounterOfWork{&WorkCounts::blocks_failed_early, 23, kBlockStep},
    CounterOfWork{&WorkCounts::blocks_killed, 24, kBlockStep},
    CounterOfWork{&WorkCounts::blocks_failed_late, 25, kBlockStep},
    CounterOfWork{&WorkCounts::blocks_written, 26, kBlockStep},
    CounterOfWork{&WorkCounts::blocks_blended, 27, kBlockStep},
    CounterOfWork{&WorkCounts::blocks_sampled, 28, kBlockStep},
    CounterOfWork{&WorkCounts::local_reads, 30},
    CounterOfWork{&WorkCounts::local_writes, 31},
    CounterOfWork{&WorkCounts::memory_lines, 32},
    CounterOfWork{&WorkCounts::atomics, 34},
    CounterOfWork{&WorkCounts::barriers, 35},
};

// A sum that a room keeps, and the count to which it is added. A struct of sums lists each of its members once.
template <class Sums>
struct SumOfWork {
  uint64_t Sums::*sum;
  uint64_t WorkCounts::*count;
};
template <class Sums, size_t N>
constexpr void add_sums(Sums& into, const Sums& from, const std::array<SumOfWork<Sums>, N>& members) {
  static_assert(sizeof(Sums) == N * sizeof(uint64_t), "every member is listed");
  for (const SumOfWork<Sums>& member : members) {
    into.*member.sum += from.*member.sum;
  }
}
template <class Sums, size_t N>
constexpr void add_sums(WorkCounts& into, const Sums& from, const std::array<SumOfWork<Sums>, N>& members) {
  for (const SumOfWork<Sums>& member : members) {
    into.*member.count += from.*member.sum;
  }
}

// Which counts the observation unit wants now. Back ends skip the others.
struct CountsWanted {
  bool work = false;      // everything but `activity`
  bool activity = false;  // flexible EU events are selected
  bool any() const { return work || activity; }
};

// A part of work of one engine, between two points of virtual time. A report inside the span shows a linear share.
struct WorkSpan {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  WorkCounts counts;
};

// The use of a span of an engine's time.
enum class EngineTime : uint8_t {
  works,     // executes commands, or hangs in one
  waits,     // for an event or a semaphore
  switches,  // saves and restores contexts
};
struct TimeSpan {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  EngineTime use = EngineTime::works;
};

}  // namespace halogen::oa
