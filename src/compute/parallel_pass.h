// Turns of several groups on several threads of the host, ending as if they had been done one after the other: each is
// tried on a memory of its own (memory/trial.h) and committed in its order. A turn that read what one before it wrote
// is taken back and done again; one that met what cannot be tried (an atomic operation, a fault, an Event to raise) is
// gone on with there. So the number of threads changes nothing but time.
//
// A kernel whose groups quarrel is left to one thread for a while.
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
#include "memory/trial.h"
#include "message/kernel_table.h"

namespace halogen::compute {

// How well it paid for a kernel so far. Not a part of the state: it decides about time only.
struct Patience {
  uint32_t alone = 0;    // passes to be done on one thread
  uint32_t penalty = 0;  // how many the next quarrel costs, as a power of two
};

struct Pass {
  const Generation& generation;
  message::KernelTable& kernels;
  message::DispatchedKernel& kernel;
  message::SharedFunctions& functions;  // gets what is counted
  message::Environment environment;     // without groups
  Walk& walk;
  EventSink* events;
  const std::string& path;
  std::function<void(uint32_t)> renew;  // a group as it was when it was started
};

class SideBySide {
 public:
  SideBySide();
  ~SideBySide();

  // A turn of each group; those behind one that faults do not begin. `patience` is told how it went.
  void run(WorkerPool& pool, const Pass& pass, std::span<const uint32_t> groups, std::span<Turn> turns,
           Patience& patience);

 private:
  struct Lane;

  void make_lanes(const Pass& pass, size_t count);
  static void save(const Walk& walk, uint32_t number, Lane& lane);
  static void take_back(const Pass& pass, uint32_t number, Lane& lane);
  static void begin(const Pass& pass, Lane& lane, LiveGroup& live);

  std::vector<std::unique_ptr<Lane>> lanes_;
  const memory::PhysicalMemory* memory_ = nullptr;
  std::mutex finding_;
  memory::WrittenPages written_;
};

}  // namespace halogen::compute
