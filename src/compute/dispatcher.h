// Runs a dispatch: starts groups, runs their threads in turn, ends them. The number of groups that run at a time is
// limited by thread slots and by kMaxRunningGroups. In a pass each group has a turn, in a fixed order. Therefore every
// run of a dispatch has the same result, including the old values that atomics return. If no thread ends in a pass,
// another group is started, so that a group that waits for another group's writes gets them. A dispatch is done in
// parts, and other engines run between two parts.
//
// Media threads may open registers to each other and start children (children.h).
//
// With a pool the turns of a pass are spread over host threads (parallel_pass.h), which changes only host time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/event.h"
#include "base/fidelity.h"
#include "base/stop_flag.h"
#include "base/work_end.h"
#include "compute/children.h"
#include "compute/compute_state.h"
#include "compute/observer.h"
#include "compute/parallel_pass.h"
#include "gen/generation.h"
#include "message/kernel_table.h"
#include "message/shared_functions.h"
#include "oa/work_counts.h"

namespace halogen::compute {

using Stop = WorkEnd;

struct Outcome {
  Stop stop = Stop::finished;
  uint64_t instructions = 0;
  uint64_t threads = 0;   // number of threads started
  uint64_t channels = 0;  // number of their enabled channels
  uint64_t loaded = 0;    // threads that were alive in the part
  uint32_t ip = 0;        // of the thread that stopped the dispatch
};

class Dispatcher {
 public:
  explicit Dispatcher(eu::KernelLibrary& library);
  ~Dispatcher();

  // Sets the counts that the next parts add to. Threads, and the time of the stage, are left to the caller. Null: no
  // counts.
  void set_work(const oa::CountsWanted& wanted, oa::WorkCounts* counts) {
    wanted_ = counts != nullptr ? wanted : oa::CountsWanted{};
    work_ = counts;
  }
  // Runs one part. `first`: the dispatch starts with it.
  Outcome run(const Generation& generation, const Settings& settings, Walk& walk, memory::AddressSpace& space,
              bool first);
  void set_events(EventSink* events, const std::string& path) {
    events_ = events;
    path_ = path;
    functions_.set_events(events, path);
  }
  // Sets the host threads. Null: all turns run on the caller's thread.
  void set_pool(WorkerPool* pool) { pool_ = pool; }
  // Sets the flag that ends a part between two passes. The dispatch can continue later as if it had not been raised.
  void set_stop(const StopFlag& stop) { stop_ = &stop; }
  void report(FidelityReport& report) const;
  // Returns the surfaces that the last part of a dispatch used.
  message::SurfaceUses take_surface_uses() { return std::exchange(functions_.surface_uses(), {}); }
  // Sets the observer. Null: no observer.
  void set_observer(Observer* observer);

 private:
  class Runner;

  Outcome run_part(const Generation& generation, const Settings& settings, Walk& walk, memory::AddressSpace& space,
                   bool first);
  bool start_group(const Settings& settings, Walk& walk, Outcome& outcome);
  void check_kernel_rules(spec::GenId gen) const;
  void judge_kernel(spec::GenId gen);
  void choose_kernel(const Walk& walk, uint32_t number, message::Environment& environment);
  void start_children(const Generation& generation, const Settings& settings, const Walk& walk,
                      memory::AddressSpace& space, Children& children, Outcome& outcome);
  void fill_group(const Settings& settings, Walk& walk, uint32_t number, Outcome* outcome);
  void run_pass(const Generation& generation, const Settings& settings, Walk& walk, message::Environment& environment);

  message::SharedFunctions functions_;
  message::KernelTable kernels_;
  message::DispatchedKernel* kernel_ = nullptr;

  // The observed thread, and the state that its observer sees.
  struct Observed {
    std::optional<uint32_t> slot;
    const Generation* generation = nullptr;
    const Settings* settings = nullptr;
    const memory::AddressSpace* space = nullptr;
  };
  Observer* observer_ = nullptr;
  Observed observed_;

  WorkerPool* pool_ = nullptr;
  const StopFlag* stop_ = nullptr;  // null: none
  ParallelPass parallel_pass_;
  std::map<std::pair<uint64_t, uint64_t>, BackOff> back_off_;  // by instruction base and kernel
  oa::CountsWanted wanted_;
  oa::WorkCounts* work_ = nullptr;  // null: no counts
  EventSink* events_ = nullptr;
  std::string path_;
  std::vector<uint32_t> at_work_;  // groups of a pass
  std::vector<Turn> turns_;
};

}  // namespace halogen::compute
