// Marks threads that the model starts itself. The model runs inside other programs: hooks on their threads must skip
// these.
#pragma once

#include <atomic>

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

}  // namespace halogen
