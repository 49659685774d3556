// A request to stop long work. Any thread and any signal handler may raise it; every loop whose length a guest controls
// polls it after a bounded amount of work. Work that can continue later ends its current part; other work is abandoned.
// Nothing but a raised flag ends work early, so the host's time does not change results.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace halogen {

class StopFlag {
 public:
  StopFlag() = default;
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  void raise() noexcept { state_.fetch_or(kRaised, std::memory_order_relaxed); }
  void clear() noexcept { state_.fetch_and(static_cast<uint8_t>(~kRaised), std::memory_order_relaxed); }

  // Returns whether work must stop.
  bool raised() const {
    const uint8_t state = state_.load(std::memory_order_relaxed);
    if (state == 0) [[likely]] {
      return false;
    }
    return (state & kRaised) != 0 || watch_();
  }

  // Sets a function that raised() also asks; the work must stop if the function returns true. Once it has returned
  // true, it must do so again until the caller of the work knows of the stop, or raise the flag. Several threads may
  // call it at the same time. Call set_watch() only while no work runs. Empty: no function.
  void set_watch(std::function<bool()> watch) {
    watch_ = std::move(watch);
    if (watch_) {
      state_.fetch_or(kWatched, std::memory_order_relaxed);
    } else {
      state_.fetch_and(static_cast<uint8_t>(~kWatched), std::memory_order_relaxed);
    }
  }

 private:
  static constexpr uint8_t kRaised = 1;
  static constexpr uint8_t kWatched = 2;

  std::atomic<uint8_t> state_{0};
  std::function<bool()> watch_;
};

}  // namespace halogen
