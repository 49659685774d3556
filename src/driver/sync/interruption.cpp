#include "driver/sync/interruption.h"

#include <sys/signalfd.h>

namespace halogen::driver {
namespace {

sigset_t all_but_faults() {
  sigset_t all;
  sigfillset(&all);
  for (const int signal : kOwnFaults) sigdelset(&all, signal);
  return all;
}

enum class Effect { none, restart, interrupt };

Effect effect_of(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return Effect::none;
  if (action.sa_handler != SIG_DFL) return (action.sa_flags & SA_RESTART) != 0 ? Effect::restart : Effect::interrupt;
  const bool nothing = signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
  return nothing ? Effect::none : Effect::restart;  // the default action stops or ends the process
}

}  // namespace

// Handlers that run now may leave by longjmp().
Interruption::~Interruption() {
  current_ = before_;
  if (held_) pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

void Interruption::hold_back_until_end(sigset_t& mask) {
  mask_ = mask;  // if several come at once, the last is the outermost
  held_ = true;
  mask = all_but_faults();
}

void Interruption::hold_back() {
  if (held_) return;
  const sigset_t all = all_but_faults();
  held_ = pthread_sigmask(SIG_BLOCK, &all, &mask_) == 0;
}

bool Interruption::is_due() const {
  sigset_t pending;
  if (!held_ || sigpending(&pending) != 0 || sigisemptyset(&pending) != 0) return false;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (sigismember(&pending, signal) != 1 || sigismember(&mask_, signal) == 1) continue;
    if (effect_of(signal) != Effect::none) return true;
  }
  return false;
}

int Interruption::watch(int descriptor) const {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (int signal = 1; held_ && signal <= SIGRTMAX; ++signal) {
    if (sigismember(&mask_, signal) == 0 && effect_of(signal) != Effect::none) sigaddset(&wanted, signal);
  }
  return signalfd(descriptor, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool Interruption::deliver() {
  if (!held_) return false;
  bool again = true;
  sigset_t pending;
  sigpending(&pending);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (sigismember(&pending, signal) != 1 || sigismember(&mask_, signal) == 1) continue;
    if (effect_of(signal) == Effect::interrupt) again = false;
  }
  held_ = false;
  current_ = before_;
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  return again;
}

}  // namespace halogen::driver
