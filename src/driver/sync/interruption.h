// Signals of the program during a call. They are blocked until the call has released all resources. Then their handlers
// run, and the call fails with EINTR or is restarted, according to SA_RESTART. Ignored signals have no effect. A call
// that may be interrupted has an Interruption on its stack; without one, waits are not interrupted.
#pragma once

#include <signal.h>

namespace halogen::driver {

// Synchronous signals are never blocked.
inline constexpr int kOwnFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

class Interruption {
 public:
  Interruption() : before_(current_) { current_ = this; }
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static Interruption* current() { return current_; }  // of this thread; may be null

  void hold_back();  // blocks signals from now on
  // Does the same inside a signal handler: takes effect at its return, when `mask` becomes the thread's mask.
  void hold_back_until_end(sigset_t& mask);
  bool is_due() const;  // a blocked signal is pending
  // Creates a signalfd(2) for poll(2), or updates it if `descriptor` is one.
  int watch(int descriptor) const;
  // Delivers pending signals. Call without locks. True: restart the call.
  bool deliver();

 private:
  static inline thread_local Interruption* current_ = nullptr;
  Interruption* before_;
  bool held_ = false;
  sigset_t mask_;  // the program's own mask
};

}  // namespace halogen::driver
