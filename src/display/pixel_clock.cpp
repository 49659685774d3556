#include "display/pixel_clock.h"

#include <bit>

namespace halogen::display {

namespace {

constexpr uint64_t kMegahertz = 1'000'000;
// Reference clocks: the display's own, and the spread-spectrum input at its usual rate.
constexpr uint64_t kReference = 96 * kMegahertz;
constexpr uint64_t kSpreadReference = 100 * kMegahertz;
// Pixel clock limits over all modes (Linux i915: the dot clock limits; the slowest television mode is below them).
constexpr uint64_t kSlowest = 5 * kMegahertz;
constexpr uint64_t kFastest = 400 * kMegahertz;

unsigned second_divider(const hw::DPLL& generator) {
  const bool fast = (static_cast<unsigned>(generator.p2_divider) & 1) != 0;
  switch (generator.mode) {
    case hw::DPLL::Mode::dac_serial:
      return fast ? 5 : 10;
    case hw::DPLL::Mode::lvds:
      return fast ? 7 : 14;
  }
  return 0;
}

}  // namespace

std::optional<PixelClock> pixel_clock(const hw::DPLL& generator, const hw::FP& divisors,
                                      const hw::DPLL_MD& multiplier) {
  const unsigned p2 = second_divider(generator);
  if (!generator.vco_enable || generator.p1_divider == 0 || p2 == 0) {
    return std::nullopt;
  }
  const auto p1 = static_cast<unsigned>(std::countr_zero(generator.p1_divider)) + 1;
  const bool spread = generator.reference_input == hw::DPLL::ReferenceInput::spread_spectrum;
  const uint64_t m = 5 * (divisors.m1 + uint64_t{2}) + (divisors.m2 + uint64_t{2});
  const PixelClock clock{(spread ? kSpreadReference : kReference) * m,
                         (divisors.n + uint64_t{2}) * p1 * p2 * (multiplier.udi_multiplier + uint64_t{1})};
  const uint64_t hertz = clock.hertz / clock.divisor;
  if (hertz < kSlowest || hertz > kFastest) {
    return std::nullopt;
  }
  return clock;
}

}  // namespace halogen::display
