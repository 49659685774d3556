// Chroma keys: tests whether a pixel is within a range, component by component (G45 PRM vol. 1b 8.10.1, seed 003). An
// 8-bit pixel is one component (docs/requirements/g45.md G45-8.10.1-09).
#pragma once

#include <cstddef>
#include <cstdint>

#include "blit/blit_job.h"

namespace halogen::blit {

constexpr bool keys_source(hw::BltTransparencyMode mode) {
  return mode == hw::BltTransparencyMode::SOURCE_RGB || mode == hw::BltTransparencyMode::SOURCE_ARGB;
}
constexpr bool keys_destination(hw::BltTransparencyMode mode) {
  return mode == hw::BltTransparencyMode::DESTINATION_RGB || mode == hw::BltTransparencyMode::DESTINATION_ARGB;
}

// Clears the `mask` bytes of pixels that are not written: those whose source pixel is inside the range or, in the
// destination modes, whose destination pixel is outside.
void apply_key(const BlitJob& job, const std::byte* pixels, size_t count, std::byte* mask);

}  // namespace halogen::blit
