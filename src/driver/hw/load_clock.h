// The time in which monitors see the work of a device: its virtual time, but never more than the host's time that
// passed, because monitors divide by that. Work in which the model is slower than a chip counts its virtual time. A
// loop that waits, whose virtual time can pass much faster than the host's, counts the host's time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace halogen::driver {

class LoadClock {
 public:
  // A point in both times, in nanoseconds.
  struct Point {
    uint64_t device = 0;
    uint64_t host = 0;
  };

  // Without a host clock, all virtual time counts.
  void use_host(std::function<uint64_t()> clock) {
    host_ = std::move(clock);
    now_.host = host_();
    before_ = now_;
  }
  // Call it after each step of the device.
  void tick(uint64_t device_ns) {
    before_ = now_;
    now_ = {device_ns, host_ ? host_() : 0};
  }
  const Point& now() const { return now_; }
  const Point& before() const { return before_; }  // the last step of the device
  // Returns how much of a virtual time that was spent since a point counts.
  uint64_t counted(uint64_t nanoseconds, const Point& since) const {
    return host_ ? std::min(nanoseconds, now_.host - since.host) : nanoseconds;
  }

 private:
  std::function<uint64_t()> host_;
  Point before_, now_;
};

}  // namespace halogen::driver
