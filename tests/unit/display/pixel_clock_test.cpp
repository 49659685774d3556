// The clock generator of 965 to GM45 against its divider formula in floating point.
#include "display/pixel_clock.h"

#include <gtest/gtest.h>

#include <random>

namespace halogen::display {
namespace {

double megahertz(const PixelClock& clock) {
  return static_cast<double>(clock.hertz) / static_cast<double>(clock.divisor) / 1e6;
}

hw::DPLL serial(uint8_t p1_bits) {
  hw::DPLL generator;
  generator.vco_enable = true;
  generator.mode = hw::DPLL::Mode::dac_serial;
  generator.p1_divider = p1_bits;
  return generator;
}

TEST(PixelClock, ReferenceTimesMOverNDividedByBothPostDividers) {
  hw::FP divisors;
  divisors.n = 3;                                             // divides by 5
  divisors.m1 = 12;                                           // 5 * 14
  divisors.m2 = 8;                                            // + 10 = 80
  const auto slow = pixel_clock(serial(0b10), divisors, {});  // by 2 and by 10
  ASSERT_TRUE(slow.has_value());
  EXPECT_DOUBLE_EQ(megahertz(*slow), 96.0 * 80 / 5 / 20);
  hw::DPLL fast = serial(0b10);
  fast.p2_divider = hw::DPLL::P2Divider::fast;
  EXPECT_DOUBLE_EQ(megahertz(pixel_clock(fast, divisors, {}).value()), 96.0 * 80 / 5 / 10);
  hw::DPLL panel = serial(0b100);
  panel.mode = hw::DPLL::Mode::lvds;
  EXPECT_DOUBLE_EQ(megahertz(pixel_clock(panel, divisors, {}).value()), 96.0 * 80 / 5 / (3 * 14));
  panel.p2_divider = hw::DPLL::P2Divider::fast;
  panel.reference_input = hw::DPLL::ReferenceInput::spread_spectrum;
  EXPECT_DOUBLE_EQ(megahertz(pixel_clock(panel, divisors, {}).value()), 100.0 * 80 / 5 / (3 * 7));
  hw::DPLL_MD twice;
  twice.udi_multiplier = 1;
  EXPECT_DOUBLE_EQ(megahertz(pixel_clock(fast, divisors, twice).value()), 96.0 * 80 / 5 / 10 / 2);
}

TEST(PixelClock, ClockDoesNotExistWhileTheGeneratorIsOffOrInvalid) {
  hw::FP divisors;
  divisors.n = 3;
  divisors.m1 = 12;
  divisors.m2 = 8;
  hw::DPLL off = serial(0b10);
  off.vco_enable = false;
  EXPECT_FALSE(pixel_clock(off, divisors, {}).has_value());
  EXPECT_FALSE(pixel_clock(serial(0), divisors, {}).has_value());
  hw::DPLL unknown = serial(0b10);
  unknown.mode = static_cast<hw::DPLL::Mode>(3);
  EXPECT_FALSE(pixel_clock(unknown, divisors, {}).has_value());
  hw::DPLL_MD many;
  many.udi_multiplier = 63;  // 1.2 MHz
  EXPECT_FALSE(pixel_clock(serial(0b10), divisors, many).has_value());
  divisors.n = 0;
  divisors.m1 = divisors.m2 = 63;  // 1.9 GHz
  EXPECT_FALSE(pixel_clock(serial(0b1), divisors, {}).has_value());
}

TEST(PixelClock, AssumedClockGivesSixtyFramesPerSecond) {
  const ModeTiming timing{.h_total = 1344, .v_total = 806};
  const Raster raster{timing, assumed_clock(timing)};
  EXPECT_EQ(raster.pixels(1'000'000'000), Pixels{60} * 1344 * 806);
}

}  // namespace
}  // namespace halogen::display
