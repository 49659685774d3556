// The pixel clock of a pipe. On Gen4 it comes from the clock generator's dividers (DPLL, FP, DPLL_MD) when they give a
// clock that a monitor could take; everywhere else, and while the generator is off, a pipe runs at sixty frames a
// second whatever its mode: the clock trees of later chips and the link clocks of ports are left out.
#pragma once

#include <optional>

#include "display/raster.h"
#include "hw/display_pipe.h"

namespace halogen::display {

constexpr uint64_t kAssumedFrameRate = 60;

// Nothing when the generator is off, in an unknown mode, or slower or faster than any mode.
std::optional<PixelClock> pixel_clock(const hw::DPLL& generator, const hw::FP& divisors, const hw::DPLL_MD& multiplier);

// Sixty frames a second.
constexpr PixelClock assumed_clock(const ModeTiming& timing) {
  return {kAssumedFrameRate * timing.h_total * timing.v_total, 1};
}

}  // namespace halogen::display
