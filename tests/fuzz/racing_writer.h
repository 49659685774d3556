// A host thread that writes to guest memory while the device works: it stores two values in turn at one place, as a
// hostile CPU does between the check of a command and its execution.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

namespace halogen::fuzz {

class RacingWriter {
 public:
  // `at` must be inside and a multiple of 4. The writes end with the object.
  RacingWriter(std::span<std::byte> memory, size_t at, uint32_t one, uint32_t other)
      : word_(reinterpret_cast<uint32_t*>(memory.data() + at)), values_{one, other}, thread_([this] { run(); }) {
    while (!runs_.load(std::memory_order_relaxed)) std::this_thread::yield();
  }
  ~RacingWriter() {
    ends_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  RacingWriter(const RacingWriter&) = delete;
  RacingWriter& operator=(const RacingWriter&) = delete;

 private:
  void run() {
    const std::atomic_ref<uint32_t> word(*word_);
    for (unsigned turn = 0; !ends_.load(std::memory_order_relaxed); ++turn) {
      word.store(values_[turn & 1], std::memory_order_relaxed);
      runs_.store(true, std::memory_order_relaxed);
      for (unsigned pause = 0; pause < 16; ++pause) std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }

  uint32_t* word_;
  uint32_t values_[2];
  std::atomic<bool> runs_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace halogen::fuzz
