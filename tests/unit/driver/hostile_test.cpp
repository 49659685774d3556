// Calls at random, on every chip: nothing crashes, hangs or leaks (under sanitizers), and the kernel serves others
// after.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "fuzz/drm_target.h"

namespace halogen::driver {
namespace {

TEST(HostileCalls, EndWithErrors) {
  for (uint32_t seed = 0; seed < 66; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<uint8_t> data(1500);
    for (uint8_t& each : data) each = static_cast<uint8_t>(random());
    data[0] = static_cast<uint8_t>(seed);
    EXPECT_GT(fuzz::drm(data), 0u) << "some call was made";
  }
}

}  // namespace
}  // namespace halogen::driver
