#include "surface/tile_copy.h"

#include <algorithm>

#include "base/bits.h"
#include "surface/tile_copy_kernels.h"

namespace halogen::surface {

namespace {

using kernels::Direction;
using kernels::Job;
using kernels::Part;

// Larger than any hardware supports, and small enough that no offset below overflows.
constexpr uint64_t kMaxPitch_B = uint64_t{1} << 24;
constexpr uint64_t kMaxLayerRows = uint64_t{1} << 30;
constexpr uint64_t kMaxRow = uint64_t{1} << 33;

// Copies from this size on bypass the caches: about a core's share of the last level.
constexpr uint64_t kStreamFrom_B = 4 << 20;

CopyFault check_linear(uint64_t size, uint64_t pitch_B, const CopyRect& rect) {
  if (size < rect.width_B) {
    return CopyFault::linear_too_small;
  }
  if (rect.height == 1) {
    return CopyFault::none;
  }
  if (pitch_B < rect.width_B || (size - rect.width_B) / pitch_B < rect.height - 1) {
    return CopyFault::linear_too_small;
  }
  return CopyFault::none;
}

// Returns the rectangle's first row, counted through the layers; beyond kMaxRow if it cannot be in memory.
uint64_t first_row(const SurfaceLayout& layout, const CopyRect& rect) {
  const uint64_t depth = layout.pattern == nullptr ? 1 : layout.pattern->depth;
  return rect.y + rect.z / depth * std::min(layout.layer_rows, kMaxLayerRows);
}

CopyFault check_surface(uint64_t size, const SurfaceLayout& layout, const CopyRect& rect) {
  if (layout.pitch_B == 0 || layout.pitch_B > kMaxPitch_B || layout.layer_rows > kMaxLayerRows) {
    return CopyFault::bad_pitch;
  }
  if (layout.pattern != nullptr && layout.pitch_B % layout.pattern->pitch_width_B != 0) {
    return CopyFault::bad_pitch;
  }
  if (uint64_t{rect.x_B} + rect.width_B > layout.row_B()) {
    return CopyFault::beyond_pitch;
  }
  const uint64_t last_row = first_row(layout, rect) + rect.height - 1;
  if (last_row > kMaxRow) {
    return CopyFault::surface_too_small;
  }
  // Offsets grow with x and with y, so the last corner is the highest byte. A swizzle moves it within its pair of
  // lines.
  SurfaceLayout flat = layout;
  flat.swizzle = SwizzleMode::none;
  flat.layer_rows = 0;
  const uint64_t z_in_tile = layout.pattern == nullptr ? 0 : rect.z % layout.pattern->depth;
  uint64_t last = generic_offset_of(flat, {uint64_t{rect.x_B} + rect.width_B - 1, last_row, z_in_tile});
  if (layout.pattern != nullptr && layout.swizzle != SwizzleMode::none) {
    last |= 127;
  }
  return last < size ? CopyFault::none : CopyFault::surface_too_small;
}

template <Direction kDirection>
void run_generic(const Job<kDirection>& job, const Part& part) {
  if (part.empty()) {
    return;
  }
  switch (job.pattern->run_B) {
    case 2:
      return kernels::copy_runs<2>(job, part);
    case 4:
      return kernels::copy_runs<4>(job, part);
    case 8:
      return kernels::copy_runs<8>(job, part);
    default:  // longer runs are split: a line of 64 bytes is four of them
      return kernels::copy_runs<16>(job, part);
  }
}

// Copies whole blocks in the middle, and runs around them.
template <bool kStream, Direction kDirection>
void run_blocks(const Job<kDirection>& job, const Part& whole) {
  Part inner{align_up(whole.x_begin, kernels::kBlockWidth_B), align_down(whole.x_end, kernels::kBlockWidth_B),
             align_up(whole.y_begin, kernels::kBlockHeight), align_down(whole.y_end, kernels::kBlockHeight)};
  if (inner.empty()) {
    return run_generic(job, whole);
  }
  run_generic(job, Part{whole.x_begin, whole.x_end, whole.y_begin, inner.y_begin});
  run_generic(job, Part{whole.x_begin, inner.x_begin, inner.y_begin, inner.y_end});
  kernels::copy_blocks<kStream>(job, inner);
  run_generic(job, Part{inner.x_end, whole.x_end, inner.y_begin, inner.y_end});
  run_generic(job, Part{whole.x_begin, whole.x_end, inner.y_end, whole.y_end});
}

template <Direction kDirection>
void run_linear(const Job<kDirection>& job, const SurfaceLayout& layout, const CopyRect& rect) {
  for (uint64_t row = 0; row < rect.height; ++row) {
    Job<kDirection>::move(job.surface + (job.y0 + row) * layout.pitch_B + job.x0, job.linear + row * job.linear_pitch_B,
                          rect.width_B);
  }
}

template <Direction kDirection>
CopyFault copy(typename Job<kDirection>::Surface surface, uint64_t surface_size, const SurfaceLayout& layout,
               const CopyRect& rect, typename Job<kDirection>::Linear linear, uint64_t linear_size,
               uint64_t linear_pitch_B) {
  if (rect.width_B == 0 || rect.height == 0) {
    return CopyFault::none;
  }
  if (const CopyFault fault = check_surface(surface_size, layout, rect); fault != CopyFault::none) {
    return fault;
  }
  if (const CopyFault fault = check_linear(linear_size, linear_pitch_B, rect); fault != CopyFault::none) {
    return fault;
  }
  Job<kDirection> job{};
  job.surface = surface;
  job.linear = linear;
  job.linear_pitch_B = linear_pitch_B;
  job.pattern = layout.pattern;
  job.x0 = rect.x_B;
  job.y0 = first_row(layout, rect);
  if (layout.pattern == nullptr) {
    run_linear(job, layout, rect);
    return CopyFault::none;
  }
  const TilePattern& pattern = *layout.pattern;
  job.tiles_per_row = layout.tiles_per_row();
  job.swizzle = layout.swizzle;
  job.z_bits = deposit_bits(rect.z % pattern.depth, pattern.z_mask);

  const Part whole{job.x0, job.x0 + rect.width_B, job.y0, job.y0 + rect.height};
  const bool large = kernels::kCanStream && uint64_t{rect.width_B} * rect.height >= kStreamFrom_B;
  if (pattern.run_B >= 64) {
    large ? kernels::copy_rows<true>(job, whole) : kernels::copy_rows<false>(job, whole);
  } else if (kernels::has_oword_lines(pattern)) {
    // Only whole lines can bypass the caches.
    const std::byte* target = surface;
    uint64_t target_pitch_B = 0;
    if constexpr (kDirection == Direction::to_linear) {
      target = linear + (align_up(job.x0, kernels::kBlockWidth_B) - job.x0);
      target_pitch_B = linear_pitch_B;
    }
    const bool stream = large && kernels::is_line_aligned(target) && target_pitch_B % 64 == 0;
    stream ? run_blocks<true>(job, whole) : run_blocks<false>(job, whole);
  } else {
    run_generic(job, whole);
  }
  if (large) {
    kernels::stream_fence();
  }
  return CopyFault::none;
}

}  // namespace

std::string_view name_of(CopyFault fault) {
  switch (fault) {
    case CopyFault::none:
      return "none";
    case CopyFault::bad_pitch:
      return "pitch is not a whole number of tiles";
    case CopyFault::beyond_pitch:
      return "rectangle is wider than the pitch";
    case CopyFault::surface_too_small:
      return "rectangle exceeds the surface";
    case CopyFault::linear_too_small:
      return "rectangle exceeds the linear buffer";
  }
  return {};
}

CopyFault copy_to_linear(std::span<std::byte> linear, uint64_t linear_pitch_B, std::span<const std::byte> surface,
                         const SurfaceLayout& layout, const CopyRect& rect) {
  return copy<Direction::to_linear>(surface.data(), surface.size(), layout, rect, linear.data(), linear.size(),
                                    linear_pitch_B);
}

CopyFault copy_to_surface(std::span<std::byte> surface, const SurfaceLayout& layout, const CopyRect& rect,
                          std::span<const std::byte> linear, uint64_t linear_pitch_B) {
  return copy<Direction::to_surface>(surface.data(), surface.size(), layout, rect, linear.data(), linear.size(),
                                     linear_pitch_B);
}

}  // namespace halogen::surface
