// Observes one thread of a dispatch while it runs, for a debugger. An observer only reads: memory contents and virtual
// time are the same with and without it. Without an observer the cost is one comparison per turn of a thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "compute/compute_state.h"
#include "eu/exec/executor.h"
#include "memory/walker.h"
#include "spec/descriptors.h"

namespace halogen::compute {

// The state that an observer sees. Valid during the call only.
struct Moment {
  spec::GenId gen;
  const Job& job;
  const Settings& settings;
  const eu::Thread& thread;
  const eu::Kernel& kernel;
  const memory::WalkContext& tables;  // page tables of the dispatch
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_dispatch(const Job& job) = 0;
  // Called when a group begins. Returns the number of the thread to observe. Empty: none of this group.
  virtual std::optional<uint32_t> on_group(const std::array<uint32_t, 3>& group) = 0;
  // Called before the thread executes the instruction at its ip. An instruction that has to wait is tried again, and is
  // then announced again with the same instruction count of the thread.
  virtual void before_instruction(const Moment& moment) = 0;
  // Called when the thread has ended or stopped for good: see its status.
  virtual void on_end(const Moment& moment) = 0;
};

}  // namespace halogen::compute
