// The limits of long work in the middle of a part, with a clock that tests set.
#include "driver/core/hang_watch.h"

#include <gtest/gtest.h>

#include "spec/device_model.h"

namespace halogen::driver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class HangLimits : public ::testing::Test {
 protected:
  HangWatch watch(milliseconds limit) const {
    return HangWatch([this] { return now_; }, limit, model_.engines.size());
  }
  bool is_over_at(const HangWatch& watch, std::chrono::nanoseconds time) {
    now_ = time;
    return watch.is_over(0);
  }

  const spec::DeviceModel& model_ = *spec::find_device("icl");
  std::chrono::nanoseconds now_{seconds(7)};
};

// A request that starts while the device runs has its limit and the time of a heartbeat, sixtyfold in long work.
TEST_F(HangLimits, NewRequestHasAllOfItsTime) {
  HangWatch watch = this->watch(seconds(1));
  watch.arm({}, model_.engines);
  EXPECT_FALSE(is_over_at(watch, seconds(7 + 89)));
  EXPECT_TRUE(is_over_at(watch, seconds(7 + 91)));
  watch.count(0, true);
  watch.arm({}, model_.engines);
  EXPECT_FALSE(is_over_at(watch, seconds(7 + 91 + 89)));
  EXPECT_TRUE(is_over_at(watch, seconds(7 + 91 + 91)));
}

TEST_F(HangLimits, NoTimeIsUpBeforeTheDeviceRuns) {
  const HangWatch watch = this->watch(seconds(1));
  EXPECT_FALSE(is_over_at(watch, std::chrono::hours(1000)));
}

TEST_F(HangLimits, LimitOfZeroSwitchesDetectionOff) {
  HangWatch watch = this->watch(milliseconds(0));
  watch.arm({}, model_.engines);
  EXPECT_FALSE(is_over_at(watch, std::chrono::hours(1000)));
}

TEST(RunTimeTest, NeverDecreases) {
  const RunTime time = run_time_of_process();
  std::chrono::nanoseconds last{0};
  for (int i = 0; i < 10'000; ++i) {
    const std::chrono::nanoseconds now = time();
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace halogen::driver
