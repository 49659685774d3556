// Threads that the model starts itself. Because the model runs inside other programs, its hooks ignore these threads,
// and the threads block all signals, which are meant for the program's own threads.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace halogen {

class OwnThread {
 public:
  // Marks the constructing thread during its lifetime.
  OwnThread() {
    is_own_ = true;
    ++count_;
  }
  ~OwnThread() {
    is_own_ = false;
    --count_;
  }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  static bool is_this() { return is_own_; }
  static unsigned count() { return count_; }
  static void lose_all() { count_ = 0; }  // in a child of fork(2)

 private:
  static inline constinit thread_local bool is_own_ = false;
  static inline std::atomic<unsigned> count_ = 0;
};

// Starts a thread that is marked as own. `body` returns only when its owner ends it. If the host is exhausted inside
// `body`, it is called again after a pause, so it must keep its state in the owner. Throws std::system_error or
// std::bad_alloc if the thread cannot be started.
std::thread start_own_thread(std::function<void()> body);

}  // namespace halogen
