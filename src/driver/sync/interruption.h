// Signals of the program while a call is at work or waits. They are held back until the call has let go of everything;
// then their handlers run, and the call fails with EINTR or is made again, as the handlers want it (SA_RESTART).
// Signals that nobody handles and that end nothing do not disturb. Whoever makes a call that may be interrupted has one
// of these around it; without, waits are not interrupted.
#pragma once

#include <signal.h>

namespace halogen::driver {

// Those that a thread causes itself come at once.
inline constexpr int kOwnFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

class Interruption {
 public:
  Interruption() : before_(current_) { current_ = this; }
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static Interruption* current() { return current_; }  // of this thread; null: none

  void hold_back();  // from now on
  // The same from a signal's handler: from its return on, when this will be the thread's mask.
  void hold_back_until_end(sigset_t& mask);
  bool is_due() const;  // somebody wants to be handled
  // What poll(2) on a descriptor of signals shall wait for; signalfd(2) makes it, or changes it when it is one already.
  int watch(int descriptor) const;
  // With no lock held: those that are due are handled. True: the call shall be made again.
  bool deliver();

 private:
  static inline thread_local Interruption* current_ = nullptr;
  Interruption* before_;
  bool held_ = false;
  sigset_t mask_;  // as the program has it
};

}  // namespace halogen::driver
