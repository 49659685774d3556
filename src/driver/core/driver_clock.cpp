// The host's clock and the device's clock: DriverOptions::host_time.
#include <algorithm>
#include <optional>

#include "driver/core/driver.h"
#include "driver/perf/perf.h"

namespace halogen::driver {

// Advances the device's clock to the host's. A clock is never moved back, so a device that is ahead stays ahead.
void Driver::catch_up() {
  constexpr std::chrono::microseconds kNear{50};
  if (!options_.host_time || batched_ != 0) return;
  const Clock::time_point now = Clock::now();
  const uint64_t device = gpu_->hardware().device().clock().nanoseconds;
  const std::chrono::nanoseconds behind = now - host_then_ - std::chrono::nanoseconds(device - device_then_);
  if (behind < kNear) {
    if (behind.count() > 0) return;
  } else {
    if (gpu_->working()) return;
    const uint64_t step = std::min(static_cast<uint64_t>(behind.count()), perf_->longest_step());
    gpu_->work(step);
    if (kms_->pipe().running()) {  // a vertical blank may have passed
      kms_->follow_device();
      notify_waiters();
    }
    if (step < static_cast<uint64_t>(behind.count())) return;  // the next call continues
  }
  host_then_ = now;
  device_then_ = gpu_->hardware().device().clock().nanoseconds;
}

// Returns the host time of the next vertical blank if it is in the future and no other work is pending.
std::optional<Driver::Clock::time_point> Driver::next_blank() {
  if (!options_.host_time || batched_ != 0 || !kms_->waits() || gpu_->working()) return std::nullopt;
  const uint64_t passed = gpu_->hardware().device().clock().nanoseconds - device_then_;
  const Clock::time_point due = host_then_ + std::chrono::nanoseconds(passed + kms_->until_vblank_ns());
  return due > Clock::now() ? std::optional(due) : std::nullopt;
}

}  // namespace halogen::driver
