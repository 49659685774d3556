// Handlers of the program's signals. A handler may leave by siglongjmp. If a signal arrives while its thread is inside
// the driver, the handler therefore runs after the call has released everything, as a system call is never left half
// done. The host gets our own handler instead, which sends the signal again and blocks it until then.
//
// Not covered: one-shot handlers (SA_RESETHAND), handlers of faults, and handlers set by other calls than sigaction and
// signal.
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "door.h"
#include "driver/sync/interruption.h"
#include "next.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::driver::Interruption;
using halogen::shim::Door;
using halogen::shim::is_ours;
using halogen::shim::Paths;

namespace {

using Plain = void (*)(int);
using Full = void (*)(int, siginfo_t*, void*);

struct Handler {
  std::atomic<void*> function = nullptr;
  std::atomic<bool> full = false;  // the handler takes siginfo (SA_SIGINFO)
};
constinit std::array<Handler, 65> handlers;

void on_signal(int number, siginfo_t* info, void* context) {
  const Handler& handler = handlers[static_cast<size_t>(number)];
  const bool full = handler.full;
  if (Interruption* const call = Door::is_inside() ? Interruption::current() : nullptr) {
    const int error = errno;
    call->hold_back_until_end(static_cast<ucontext_t*>(context)->uc_sigmask);
    const pid_t process = getpid(), thread = gettid();
    if (full) {
      syscall(SYS_rt_tgsigqueueinfo, process, thread, number, info);
    } else {
      syscall(SYS_tgkill, process, thread, number);
    }
    errno = error;
    return;
  }
  void* const function = handler.function;
  if (full) {
    reinterpret_cast<Full>(function)(number, info, context);
  } else {
    reinterpret_cast<Plain>(function)(number);
  }
}

bool is_function(Plain handler) {
  return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR;
}

bool can_wait(int number) {
  const auto& faults = halogen::driver::kOwnFaults;
  return number > 0 && static_cast<size_t>(number) < handlers.size() && number != SIGKILL && number != SIGSTOP &&
         std::find(std::begin(faults), std::end(faults), number) == std::end(faults);
}

Plain ours() {
  return reinterpret_cast<Plain>(reinterpret_cast<void*>(&on_signal));
}

// Records the program's handler and returns the handler to install in its place.
Plain replace(int number, Plain handler, bool full) {
  if (!is_function(handler)) return handler;
  Handler& place = handlers[static_cast<size_t>(number)];
  place.full = full;
  place.function = reinterpret_cast<void*>(handler);
  return ours();
}
Plain original(Plain handler, void* before) {
  return handler == ours() ? reinterpret_cast<Plain>(before) : handler;
}

bool is_for_us(const void* caller, int number) {
  return !is_ours(caller) && can_wait(number) && Paths::get() != nullptr;
}

}  // namespace

HALOGEN_EXPORT int sigaction(int number, const struct sigaction* wanted, struct sigaction* before) noexcept {
  const auto real = HALOGEN_NEXT(int(int, const struct sigaction*, struct sigaction*), "sigaction");
  if (!is_for_us(__builtin_return_address(0), number)) return real(number, wanted, before);
  void* const known = handlers[static_cast<size_t>(number)].function;
  struct sigaction changed {};
  if (wanted != nullptr) {
    changed = *wanted;
    const bool once = (static_cast<unsigned>(wanted->sa_flags) & SA_RESETHAND) != 0;
    if (!once) changed.sa_handler = replace(number, wanted->sa_handler, (wanted->sa_flags & SA_SIGINFO) != 0);
  }
  const int result = real(number, wanted == nullptr ? nullptr : &changed, before);
  if (result == 0 && before != nullptr) before->sa_handler = original(before->sa_handler, known);
  return result;
}

HALOGEN_EXPORT Plain signal(int number, Plain handler) noexcept {
  const auto real = HALOGEN_NEXT(Plain(int, Plain), "signal");
  if (!is_for_us(__builtin_return_address(0), number)) return real(number, handler);
  void* const known = handlers[static_cast<size_t>(number)].function;
  return original(real(number, replace(number, handler, false)), known);
}
