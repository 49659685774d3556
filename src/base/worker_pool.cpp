#include "base/worker_pool.h"

#include <signal.h>

#include <algorithm>

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

void WorkerPool::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (workers_.size() + 1 < threads_) {
    workers_.emplace_back([this] { serve(); });
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WorkerPool::take_pieces(const std::function<void(size_t)>& work, size_t count) {
  for (size_t piece = next_++; piece < count; piece = next_++) {
    work(piece);
  }
}

void WorkerPool::serve() {
  const OwnThread here;
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
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    ++job_;
  }
  begins_.notify_all();
  take_pieces(work, count);
  std::unique_lock lock(mutex_);
  work_ = nullptr;  // a worker that wakes now is too late
  ends_.wait(lock, [&] { return helpers_ == 0; });
}

}  // namespace halogen
