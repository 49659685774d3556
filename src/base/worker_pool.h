// Threads of the host for work that can be cut into pieces which do not touch each other: groups of a dispatch, tiles
// of a picture. Whoever asks works too and waits until all is done, so nothing of it goes on behind anybody's back.
// Which thread does which piece is luck: what comes out must not depend on it.
//
// Inside somebody else's program the threads take no signals. After a fork the child has none of them, and its caller
// does every piece itself.
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
  // So many threads, the caller's included; they are started when they are first needed.
  explicit WorkerPool(unsigned threads) : threads_(threads) {}
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  unsigned threads() const { return threads_; }
  // What a program would choose that has the host for itself.
  static unsigned threads_of_host();

  // Calls `work` with every number below `count`, each once, and returns when all calls have. One caller at a time; not
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
  const std::function<void(size_t)>* work_ = nullptr;  // null: nothing to join in
  size_t count_ = 0;
  uint64_t job_ = 0;
  unsigned helpers_ = 0;  // workers at the job
  bool closing_ = false;
  std::atomic<size_t> next_{0};
};

}  // namespace halogen
