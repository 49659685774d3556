// Turns of several groups on several host threads, with the result of running them one after the other. Each turn
// runs speculatively, with private writes (memory/buffered_speculation.h), and is committed in order. A turn that read
// what an earlier turn wrote is rolled back and run again. A turn that reaches an atomic operation, a fault or an Event
// is suspended and resumed, no longer speculatively, after all earlier turns have committed. The number of host threads
// therefore changes only the time that a dispatch takes.
//
// A kernel whose groups conflict runs on one host thread for a while (BackOff).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/worker_pool.h"
#include "compute/turn.h"
#include "gen/generation.h"
#include "memory/buffered_speculation.h"
#include "message/kernel_table.h"

namespace halogen::compute {

// How well speculation has worked for a kernel. It is not part of the device's state, because it affects host time
// only.
struct BackOff {
  uint32_t serial_passes = 0;  // passes to run on one host thread
  uint32_t penalty = 0;        // serial passes after the next conflict, as a power of two
};

struct Pass {
  const Generation& generation;
  message::KernelTable& kernels;
  message::DispatchedKernel& kernel;
  message::SharedFunctions& functions;  // receives the counts
  message::Environment environment;     // without groups
  Walk& walk;
  EventSink* events;
  const std::string& path;
  std::function<void(uint32_t)> restart;  // resets a group to its start
};

class ParallelPass {
 public:
  ParallelPass();
  ~ParallelPass();

  // Runs a turn of each group. Turns after one that ends with a fault or an illegal instruction are rolled back.
  // Updates `back_off` with the result.
  void run(WorkerPool& pool, const Pass& pass, std::span<const uint32_t> groups, std::span<Turn> turns,
           BackOff& back_off);

 private:
  struct Lane;

  void make_lanes(const Pass& pass, size_t count);
  static void save(const Walk& walk, uint32_t number, Lane& lane);
  static void roll_back(const Pass& pass, uint32_t number, Lane& lane);
  static void begin(const Pass& pass, Lane& lane, LiveGroup& live);
  void run_direct(const Pass& pass, uint32_t number, Turn& turn, Lane& lane, LiveGroup& live, Sender::Mode mode);

  std::vector<std::unique_ptr<Lane>> lanes_;
  const memory::PhysicalMemory* memory_ = nullptr;
  std::mutex lookup_mutex_;
  memory::WrittenPages written_;
};

}  // namespace halogen::compute
