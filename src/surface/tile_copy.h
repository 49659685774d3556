// Copies between a surface in any layout and linear memory. Whole runs are moved at once: rows of 512 bytes for X
// tiles; cache lines of 16 bytes by 4 rows for Y, Yf and Ys; the run of the pattern otherwise. Copies larger than the
// caches bypass them. Nothing outside the given spans is read or written, whatever the arguments are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "surface/tiling.h"

namespace halogen::surface {

struct CopyRect {
  uint32_t x_B = 0;
  uint32_t y = 0;
  uint32_t width_B = 0;
  uint32_t height = 0;
  uint32_t z = 0;  // slice, sample or layer
};

// Reason why nothing was copied.
enum class CopyFault : uint8_t {
  none,
  bad_pitch,          // not a whole number of tiles, zero, or beyond 16 MB
  beyond_pitch,       // the rectangle exceeds a row of tiles
  surface_too_small,  // the rectangle exceeds the surface's bytes
  linear_too_small,   // the rectangle exceeds the linear buffer, or its rows overlap there
};
std::string_view name_of(CopyFault fault);

// The linear side holds only the rectangle's rows, `linear_pitch_B` apart, starting at the first byte of the span. The
// spans must not overlap. An empty rectangle copies nothing and is not a fault. With a swizzle, the surface is assumed
// to start at an address whose low 18 bits are zero and to end at a multiple of 128 bytes.
CopyFault copy_to_linear(std::span<std::byte> linear, uint64_t linear_pitch_B, std::span<const std::byte> surface,
                         const SurfaceLayout& layout, const CopyRect& rect);
CopyFault copy_to_surface(std::span<std::byte> surface, const SurfaceLayout& layout, const CopyRect& rect,
                          std::span<const std::byte> linear, uint64_t linear_pitch_B);

}  // namespace halogen::surface
