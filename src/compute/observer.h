// Observes one thread of a dispatch while it runs, for a debugger. An observer only reads; what a dispatch
// leaves in memory and how long it takes are the same with one and without. Without one it costs a comparison a turn of
// a thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "compute/compute_state.h"
#include "eu/exec/executor.h"
#include "memory/walker.h"
#include "spec/descriptors.h"

namespace halogen::compute {

// What an observer is shown; valid during a call only.
struct Moment {
  spec::GenId gen;
  const Job& job;
  const Settings& settings;
  const eu::Thread& thread;
  const eu::Kernel& kernel;
  const memory::WalkContext& tables;  // by which the dispatch finds memory
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_dispatch(const Job& job) = 0;
  // A group begins. Returns the number of the thread to observe, if there is one.
  virtual std::optional<uint32_t> on_group(const std::array<uint32_t, 3>& group) = 0;
  // The thread is about to execute the instruction at its ip. One that has to wait is tried, and announced, again: then
  // the thread's count of instructions is still the same.
  virtual void before_instruction(const Moment& moment) = 0;
  // The thread has ended, or stopped for good: see its status.
  virtual void on_end(const Moment& moment) = 0;
};

}  // namespace halogen::compute
