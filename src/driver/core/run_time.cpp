#include "driver/core/run_time.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

namespace halogen::driver {
namespace {

using std::chrono::nanoseconds;

nanoseconds now_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

class ProcessTime {
 public:
  nanoseconds now() {
    constexpr nanoseconds kStep = std::chrono::milliseconds(1);  // the CPU time is read at most once per step
    const nanoseconds wall = now_of(CLOCK_MONOTONIC);
    if (wall.count() - wall_.load(std::memory_order_relaxed) >= kStep.count()) {
      if (const std::unique_lock lock(guard_, std::try_to_lock); lock) count(wall);
    }
    return nanoseconds(total_.load(std::memory_order_relaxed));
  }

 private:
  void count(nanoseconds wall) {
    const nanoseconds cpu = now_of(CLOCK_PROCESS_CPUTIME_ID);
    const nanoseconds passed = std::min(wall - nanoseconds(wall_), cpu - cpu_);
    total_ += std::max(passed, nanoseconds(0)).count();
    wall_ = wall.count();
    cpu_ = cpu;
  }

  std::mutex guard_;
  std::atomic<int64_t> wall_{now_of(CLOCK_MONOTONIC).count()};
  nanoseconds cpu_ = now_of(CLOCK_PROCESS_CPUTIME_ID);
  std::atomic<int64_t> total_{0};
};

}  // namespace

RunTime run_time_of_process() {
  return [time = std::make_shared<ProcessTime>()] { return time->now(); };
}

}  // namespace halogen::driver
