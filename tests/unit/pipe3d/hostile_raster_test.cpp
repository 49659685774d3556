// Random state and primitives, as in the fuzzer. The sanitizers report accesses out of bounds.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/raster_target.h"

namespace halogen {
namespace {

TEST(HostileRaster, RandomPrimitivesStayInBounds) {
  std::mt19937 random(61);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint8_t> data(600 + random() % 3000);
    for (uint8_t& byte : data) {
      // Many zeros, so that flags are off and numbers are small.
      byte = random() % 4 == 0 ? uint8_t{0} : static_cast<uint8_t>(random());
    }
    fuzz::raster(data);
  }
}

}  // namespace
}  // namespace halogen
