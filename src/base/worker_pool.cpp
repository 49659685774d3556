#include "base/worker_pool.h"

#include <algorithm>
#include <exception>

#include "base/exhaustion.h"
#include "base/own_thread.h"

namespace halogen {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  begins_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

unsigned WorkerPool::threads_of_host() {
  constexpr unsigned kMax = 16;
  return std::clamp(std::thread::hardware_concurrency(), 1u, kMax);
}

// If the host cannot create a thread, the existing threads do its share of the work.
void WorkerPool::start() {
  static_cast<void>(completes([this] {
    workers_.reserve(threads_);  // a thread that exists must not be lost
    while (workers_.size() + 1 < threads_) workers_.push_back(start_own_thread([this] { serve(); }));
  }));
}

void WorkerPool::take_pieces(const std::function<void(size_t)>& work, size_t count) {
  for (size_t piece = next_++; piece < count; piece = next_++) {
    work(piece);
  }
}

void WorkerPool::serve() {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begins_.wait(lock, [&] { return closing_ || (work_ != nullptr && job_ != seen); });
    if (closing_) {
      return;
    }
    seen = job_;
    ++helpers_;
    const auto& work = *work_;
    const size_t count = count_;
    lock.unlock();
    take_pieces(work, count);
    lock.lock();
    if (--helpers_ == 0) {
      ends_.notify_one();
    }
  }
}

void WorkerPool::for_each(size_t count, const std::function<void(size_t)>& work) {
  if (threads_ <= 1 || count <= 1) {
    for (size_t piece = 0; piece < count; ++piece) {
      work(piece);
    }
    return;
  }
  start();
  struct {
    std::atomic<bool> occurred = false;
    std::exception_ptr first;
  } failure;
  const std::function<void(size_t)> contained = [&work, &failure](size_t piece) {
    if (failure.occurred) return;
    try {
      work(piece);
    } catch (...) {
      if (!failure.occurred.exchange(true)) failure.first = std::current_exception();
    }
  };
  {
    const std::lock_guard lock(mutex_);
    work_ = &contained;
    count_ = count;
    next_ = 0;
    ++job_;
  }
  begins_.notify_all();
  take_pieces(contained, count);
  std::unique_lock lock(mutex_);
  work_ = nullptr;  // a worker that wakes from now on does not join
  ends_.wait(lock, [&] { return helpers_ == 0; });
  if (failure.first) std::rethrow_exception(failure.first);
}

}  // namespace halogen
