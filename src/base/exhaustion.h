// Exhaustion of the host: memory, threads, descriptors. Every entry point is one `contain` call. Code inside it may
// throw if its destructors release everything that it has acquired. Other exceptions are bugs and pass through.
#pragma once

#include <chrono>
#include <thread>
#include <utility>

namespace halogen {

// Returns the errno of the exception that is being handled: ENOMEM for std::bad_alloc and std::length_error, the code
// of a std::system_error (EAGAIN if a thread cannot be started). Throws any other exception again.
int errno_of_exhaustion();

// Calls `function`, which returns 0 or more, or a negative errno. Exhaustion becomes a negative errno too.
template <class Function>
auto contain(Function&& function) -> decltype(function()) {
  try {
    return std::forward<Function>(function)();
  } catch (...) {
    return -errno_of_exhaustion();
  }
}

// Calls `function`, which returns nothing. False: the host was exhausted.
template <class Function>
bool completes(Function&& function) {
  return contain([&] {
           std::forward<Function>(function)();
           return 0;
         }) == 0;
}

// Calls `function` until it completes, with pauses. For work that must be done and cannot report an error.
template <class Function>
void complete_in_the_end(const Function& function) {
  while (!completes(function)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Does the same for work that may be omitted at some cost but without harm. False: every try has failed.
template <class Function>
bool completes_soon(const Function& function) {
  constexpr int kTries = 10;
  for (int tries = 1; !completes(function); ++tries) {
    if (tries == kTries) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Calls `action` at the end of the scope, also if an exception leaves it.
template <class Action>
class AtEnd {
 public:
  explicit AtEnd(Action action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  Action action_;
};

}  // namespace halogen
