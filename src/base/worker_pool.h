// Host threads for work in independent pieces: groups of a dispatch, tiles of a picture. The caller works too and
// returns when all pieces are done. The assignment of pieces to threads is arbitrary, so results must not depend on it.
//
// Inside a user's program the threads block all signals. After a fork the child has none of them, and its caller
// executes every piece itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace halogen {

class WorkerPool {
 public:
  // `threads` includes the caller. Threads are started when first needed.
  explicit WorkerPool(unsigned threads) : threads_(threads) {}
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  unsigned threads() const { return threads_; }
  // Returns the number of threads for a program that has the host to itself.
  static unsigned threads_of_host();

  // Calls `work` once with every number below `count` and returns when all calls have returned. After an exception no
  // further call begins, and the first exception is rethrown at the end. Only one caller at a time is allowed, and none
  // from inside a piece.
  void for_each(size_t count, const std::function<void(size_t)>& work);

 private:
  void start();
  void serve();
  void take_pieces(const std::function<void(size_t)>& work, size_t count);

  unsigned threads_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begins_;
  std::condition_variable ends_;
  const std::function<void(size_t)>* work_ = nullptr;  // null: no job to join
  size_t count_ = 0;
  uint64_t job_ = 0;
  unsigned helpers_ = 0;  // workers in the present job
  bool closing_ = false;
  std::atomic<size_t> next_{0};
};

}  // namespace halogen
