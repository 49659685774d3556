// Runs a dispatch: starts groups, runs their threads in turn, ends them. One group at a time; when its threads have
// used up a turn and none has ended, the next group is started beside it, as long as there are thread slots: a group
// that waits for what another writes gets it. Threads of all live groups take turns in a fixed order, so a dispatch
// ends the same every time, atomics with their old values included. It is done in parts: others who share the memory
// may work between two of them.
//
// Groups are not spread over threads of the host: the translation caches behind an AddressSpace are for one at a time,
// and the order of atomics would depend on luck.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/event.h"
#include "base/fidelity.h"
#include "compute/compute_state.h"
#include "compute/observer.h"
#include "gen/generation.h"
#include "message/kernel_cache.h"
#include "message/shared_functions.h"

namespace halogen::compute {

// Instructions of a part of a dispatch, and of a thread's turn in it.
inline constexpr uint64_t kPart = 1 << 16;
inline constexpr uint64_t kTurn = 1 << 13;

enum class Stop : uint8_t {
  finished,
  unfinished,  // a part is done
  fault,       // memory refused an access: the same again later
  illegal,     // a thread met an instruction that is none
  deadlock,    // every thread waits for another one
};

struct Outcome {
  Stop stop = Stop::finished;
  uint64_t instructions = 0;
  uint64_t channels = 0;  // of threads that were started
  uint32_t ip = 0;        // of the thread that stopped everything
};

class Walker {
 public:
  Walker();
  ~Walker();

  // One part. `first`: the dispatch begins.
  Outcome run(const Generation& generation, const Settings& settings, Walk& walk, AddressSpace& space, bool first);
  void set_events(EventSink* events, const std::string& path) { functions_.set_events(events, path); }
  void report(FidelityReport& report) const;
  // Null: nobody looks.
  void set_observer(Observer* observer);

 private:
  class Live;

  void start_group(const Settings& settings, Walk& walk, Outcome& outcome);
  eu::ThreadStatus run_turn(Walk& walk, uint32_t slot, uint64_t& used);
  eu::ThreadStatus run_observed(eu::Thread& thread, const Moment& moment);

  std::unique_ptr<eu::Executor> executor_;
  message::SharedFunctions functions_;
  message::KernelCache kernels_;
  message::CachedKernel* kernel_ = nullptr;

  // Whom the observer looks at, and what it needs to see it.
  struct Sight {
    std::optional<uint32_t> slot;
    const Generation* generation = nullptr;
    const Settings* settings = nullptr;
    const AddressSpace* space = nullptr;
  };
  Observer* observer_ = nullptr;
  Sight sight_;
};

}  // namespace halogen::compute
