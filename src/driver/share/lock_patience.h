// How long calls wait for the lock of shared memory. A peer can keep such a lock, and the wait holds up all other calls
// of this process. So all waits together are limited to a share of the time, with a little more for pages whose locks
// were free soon so far, and nothing waits for a page whose lock was kept too long a short time ago.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace halogen::driver {

class LockPatience {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;
  static constexpr Duration kLongest = std::chrono::milliseconds(100);  // for one lock, and what can be saved up
  // Locks are held for microseconds. This is left if all patience is used up.
  static constexpr Duration kLeast = std::chrono::milliseconds(1);
  static constexpr int kShare = 20;  // a twentieth of the time
  static constexpr Duration kMoment = kLeast / 4;
  static constexpr Duration kDistrust = std::chrono::seconds(10);

  explicit LockPatience(std::function<Clock::time_point()> clock = Clock::now) : clock_(std::move(clock)) {}

  Clock::time_point now() const { return clock_(); }
  // Earlier waits for the lock of one page. The times are those of its last wait of a kind.
  struct Page {
    Clock::time_point kept{};  // in vain
    Clock::time_point slow{};  // longer than a moment
  };

  // Returns how long to wait for the page's lock.
  Duration longest(const Page& page) {
    const Clock::time_point time = now();
    saved_ = std::min<Duration>(kLongest, saved_ + (time - counted_) / kShare);
    counted_ = time;
    if (is_recent(page.kept)) return Duration{0};
    return is_recent(page.slow) ? saved_ : std::max(saved_, kLeast);
  }
  // A wait has ended.
  void spend(Page& page, Duration waited, bool in_vain) {
    saved_ = std::max(saved_ - waited, Duration{0});
    if (waited > kMoment) page.slow = now();
    if (!in_vain) return;
    page.kept = now();
    ++lost_;
  }
  uint64_t lost() const { return lost_; }  // number of waits that were in vain

 private:
  bool is_recent(Clock::time_point when) const { return when != Clock::time_point{} && now() - when < kDistrust; }

  std::function<Clock::time_point()> clock_;
  Clock::time_point counted_ = clock_();
  Duration saved_ = kLongest;
  uint64_t lost_ = 0;
};

}  // namespace halogen::driver
