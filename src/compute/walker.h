// Runs a dispatch: starts groups, runs their threads in turn, ends them. As many groups are at work as there are thread
// slots for, up to a limit. In a pass each group has a turn, in a fixed order. Every run of a dispatch therefore ends
// the same, including the old values that atomics return. When no thread ends in a pass, one more group is started, so
// that a group that waits for another group's writes gets them. A dispatch is done in parts, and other engines work
// between two parts.
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
#include "base/work_end.h"
#include "compute/compute_state.h"
#include "compute/observer.h"
#include "compute/parallel_pass.h"
#include "gen/generation.h"
#include "message/kernel_table.h"
#include "message/shared_functions.h"

namespace halogen::compute {

using Stop = WorkEnd;

struct Outcome {
  Stop stop = Stop::finished;
  uint64_t instructions = 0;
  uint64_t threads = 0;   // that were started
  uint64_t channels = 0;  // of them
  uint32_t ip = 0;        // of the thread that stopped everything
};

class Walker {
 public:
  explicit Walker(eu::KernelLibrary& library);
  ~Walker();

  // Runs one part. `first`: the dispatch begins.
  Outcome run(const Generation& generation, const Settings& settings, Walk& walk, memory::AddressSpace& space,
              bool first);
  void set_events(EventSink* events, const std::string& path) {
    events_ = events;
    path_ = path;
    functions_.set_events(events, path);
  }
  // Null: everything runs on the caller's thread.
  void set_pool(WorkerPool* pool) { pool_ = pool; }
  void report(FidelityReport& report) const;
  // Null: no observer.
  void set_observer(Observer* observer);

 private:
  class Runner;

  bool start_group(const Settings& settings, Walk& walk, Outcome& outcome);
  void judge_kernel(spec::GenId gen) const;
  void fill_group(const Settings& settings, Walk& walk, uint32_t number, Outcome* outcome);
  void run_pass(const Generation& generation, const Settings& settings, Walk& walk, message::Environment& environment);

  message::SharedFunctions functions_;
  message::KernelTable kernels_;
  message::DispatchedKernel* kernel_ = nullptr;

  // The thread that is observed, and what an observer is shown with it.
  struct Sight {
    std::optional<uint32_t> slot;
    const Generation* generation = nullptr;
    const Settings* settings = nullptr;
    const memory::AddressSpace* space = nullptr;
  };
  Observer* observer_ = nullptr;
  Sight sight_;

  WorkerPool* pool_ = nullptr;
  ParallelPass parallel_pass_;
  std::map<std::pair<uint64_t, uint64_t>, BackOff> back_off_;  // by instruction base and kernel
  EventSink* events_ = nullptr;
  std::string path_;
  std::vector<uint32_t> at_work_;  // of a pass
  std::vector<Turn> turns_;
};

}  // namespace halogen::compute
