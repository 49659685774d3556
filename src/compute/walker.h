// Runs a dispatch: starts groups, runs their threads in turn, ends them. Some groups are at work at a time, as far as
// there are thread slots; in a pass each has a turn, in a fixed order, so a dispatch ends the same every time, atomics
// with their old values included. When nobody ends, another group is started beside them: one that waits for what
// another writes gets it. It is done in parts: others who share the memory may work between two of them.
//
// With a pool the turns of a pass are spread over threads of the host (side_by_side.h), which changes nothing but time.
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

  // One part. `first`: the dispatch begins.
  Outcome run(const Generation& generation, const Settings& settings, Walk& walk, memory::AddressSpace& space,
              bool first);
  void set_events(EventSink* events, const std::string& path) {
    events_ = events;
    path_ = path;
    functions_.set_events(events, path);
  }
  // Null: one thread does all.
  void set_pool(WorkerPool* pool) { pool_ = pool; }
  void report(FidelityReport& report) const;
  // Null: nobody looks.
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

  // Whom the observer looks at, and what it needs to see it.
  struct Sight {
    std::optional<uint32_t> slot;
    const Generation* generation = nullptr;
    const Settings* settings = nullptr;
    const memory::AddressSpace* space = nullptr;
  };
  Observer* observer_ = nullptr;
  Sight sight_;

  WorkerPool* pool_ = nullptr;
  SideBySide side_by_side_;
  std::map<std::pair<uint64_t, uint64_t>, Patience> patience_;  // by instruction base and kernel
  EventSink* events_ = nullptr;
  std::string path_;
  std::vector<uint32_t> at_work_;  // of a pass
  std::vector<Turn> turns_;
};

}  // namespace halogen::compute
