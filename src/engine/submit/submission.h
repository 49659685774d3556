// How an engine gets its work: a ring whose registers software writes, or contexts given to an execlist port.
#pragma once

#include <cstdint>

#include "engine/engine_state.h"

namespace halogen::engine {

// A wait that was not successful.
struct VainWait {
  WaitKind kind = WaitKind::none;
  LeaveReason reason = LeaveReason::complete;  // of a context that leaves for it
  uint8_t detail = 0;                          // plane as flips select it, pipe from 0, or token
  bool polls = false;                          // a semaphore that is polled
  bool keeps_engine = false;                   // only new work takes its place
};

class Submission {
 public:
  virtual ~Submission() = default;

  // Takes over what was submitted. True: the stream has something to parse. False: the engine is idle (or waits), and
  // its activity says so.
  virtual bool prepare() = 0;
  // The ring is empty.
  virtual void on_empty() = 0;
  // At a command where the context may leave: true when other work is pending and arbitration allows it. The caller
  // then returns Next::stop() (or hold(), when its command is to be parsed again) and `leave` does the switch.
  virtual bool wants_switch() const = 0;
  virtual void leave() = 0;
  // True: the engine switches to other work instead of waiting.
  virtual bool switches_on_wait(const VainWait& wait) = 0;
};

}  // namespace halogen::engine
