// The source of an engine's work: a ring whose registers software writes, or contexts submitted to an execlist port.
#pragma once

#include <cstdint>

#include "engine/engine_state.h"

namespace halogen::engine {

// A wait whose condition does not hold.
struct UnmetWait {
  WaitKind kind = WaitKind::none;
  LeaveReason reason = LeaveReason::complete;  // reported if the context leaves because of the wait
  uint8_t detail = 0;                          // plane select of a flip, pipe from 0, or token
  bool polls = false;                          // the semaphore is in polling mode
  bool keeps_engine = false;                   // the context leaves only if a new queue is pending
};

class Submission {
 public:
  virtual ~Submission() = default;

  // Takes submitted work. True: the stream has commands to parse. False: the engine is idle or waits, and its activity
  // says which.
  virtual bool prepare() = 0;
  // Handles an empty ring.
  virtual void on_empty() = 0;
  // Returns whether other work is pending and arbitration allows a switch. Called at a preemption point. If it is true,
  // the caller returns Next::stop(), or hold() to parse its command again later, and calls leave().
  virtual bool wants_switch() const = 0;
  virtual void leave() = 0;
  // Returns whether the engine switches to other work instead of waiting.
  virtual bool switches_on_wait(const UnmetWait& wait) = 0;
};

}  // namespace halogen::engine
