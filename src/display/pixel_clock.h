// The pixel clock of a pipe. On Gen4 it comes from the dividers of the clock generator (DPLL, FP, DPLL_MD) if they give
// a clock that a monitor could accept. Elsewhere, and while the generator is off, a pipe runs at sixty frames per
// second in any mode: the clock trees of later chips and the link clocks of ports are not modelled.
#pragma once

#include <optional>

#include "display/raster.h"
#include "hw/display_pipe.h"

namespace halogen::display {

constexpr uint64_t kAssumedFrameRate = 60;

// Returns the clock that the registers program. No value: the generator is off or in an unknown mode, or its rate is
// outside all modes.
std::optional<PixelClock> pixel_clock(const hw::DPLL& generator, const hw::FP& divisors, const hw::DPLL_MD& multiplier);

// Returns a clock of sixty frames per second.
constexpr PixelClock assumed_clock(const ModeTiming& timing) {
  return {kAssumedFrameRate * timing.h_total * timing.v_total, 1};
}

}  // namespace halogen::display
