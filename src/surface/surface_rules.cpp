#include "surface/surface_rules.h"

#include "base/bits.h"

namespace halogen::surface {

std::string_view name_of(SurfaceFault fault) {
  switch (fault) {
    case SurfaceFault::none:
      return "none";
    case SurfaceFault::no_such_client:
      return "the device has no such client";
    case SurfaceFault::tiling_not_supported:
      return "the client does not support the tiling";
    case SurfaceFault::tiling_of_async_flip:
      return "asynchronous flips need another tiling";
    case SurfaceFault::tiling_of_wide_element:
      return "elements of this size need another tiling";
    case SurfaceFault::no_such_pattern:
      return "the tiling does not exist for this element size";
    case SurfaceFault::base_not_aligned:
      return "the base address is not aligned to a tile";
    case SurfaceFault::pitch_not_whole_tiles:
      return "the pitch is not a whole number of tiles";
    case SurfaceFault::pitch_too_large:
      return "the pitch is too large";
    case SurfaceFault::width_beyond_pitch:
      return "the surface is wider than its pitch";
    case SurfaceFault::straddles_fence_edge:
      return "the surface crosses an edge of the fence region";
    case SurfaceFault::outside_fence:
      return "the surface is not in the fence region";
    case SurfaceFault::not_a_tile_row_start:
      return "the base address does not start a row of the fence's tiles";
    case SurfaceFault::pitch_differs:
      return "the pitch differs from the fence's";
    case SurfaceFault::walk_differs:
      return "the tile walk differs from the fence's";
    case SurfaceFault::width_beyond_fence_pitch:
      return "the surface is wider than the fence's pitch";
  }
  return {};
}

namespace {

SurfaceFault check_tiling(const ClientRule& rule, const SurfaceUse& use) {
  if (!rule.tilings.has(use.tiling)) {
    return SurfaceFault::tiling_not_supported;
  }
  if (use.async_flip && !rule.async_flip.has(use.tiling)) {
    return SurfaceFault::tiling_of_async_flip;
  }
  if (rule.wide_element_bits != 0 && use.element_bits >= rule.wide_element_bits &&
      !rule.wide_element_tilings.has(use.tiling)) {
    return SurfaceFault::tiling_of_wide_element;
  }
  return SurfaceFault::none;
}

}  // namespace

SurfaceFault check_client(spec::GenId gen, const SurfaceUse& use) {
  const ClientRule* rule = client_rule(gen, use.client);
  if (rule == nullptr) {
    return SurfaceFault::no_such_client;
  }
  if (const SurfaceFault fault = check_tiling(*rule, use); fault != SurfaceFault::none) {
    return fault;
  }
  SurfaceLayout layout{.pitch_B = use.pitch_B};
  if (use.tiling != Tiling::linear) {
    layout.pattern = find_pattern({.tiling = use.tiling, .element_bits = use.element_bits});
    if (layout.pattern == nullptr) {
      return SurfaceFault::no_such_pattern;
    }
    if (!is_aligned(use.base.value, layout.pattern->bytes)) {
      return SurfaceFault::base_not_aligned;
    }
    if (use.pitch_B == 0 || use.pitch_B % layout.pattern->pitch_width_B != 0) {
      return SurfaceFault::pitch_not_whole_tiles;
    }
  }
  if (use.pitch_B > (layout.pattern == nullptr ? rule->max_linear_pitch_B : rule->max_tiled_pitch_B)) {
    return SurfaceFault::pitch_too_large;
  }
  return use.width_B > layout.row_B() ? SurfaceFault::width_beyond_pitch : SurfaceFault::none;
}

SurfaceFault check_host(const Fence& fence, GgttOffset base, uint64_t width_B) {
  if (!fence.contains(base)) {
    return SurfaceFault::outside_fence;
  }
  const uint64_t pitch_B = uint64_t{fence.pitch_tiles()} * fence.pattern().width_B;
  if (width_B > pitch_B) {
    return SurfaceFault::width_beyond_fence_pitch;
  }
  return fence.point_of(base).x_B + width_B > pitch_B ? SurfaceFault::straddles_fence_edge : SurfaceFault::none;
}

SurfaceFault check_shared(spec::GenId gen, const SurfaceUse& use, const Fence& fence, GgttOffset base, bool remapped) {
  if (const SurfaceFault fault = check_client(gen, use); fault != SurfaceFault::none) {
    return fault;
  }
  if (use.tiling != fence.walk) {
    return SurfaceFault::walk_differs;
  }
  // The manual allows surfaces of 256 KB without remapping, but the pitch of a fence on these chips is at most 128 KB.
  const uint32_t limit_B = fence_rule(gen).max_pitch_B;
  if (use.pitch_B > limit_B || fence.pitch_B > limit_B) {
    return SurfaceFault::pitch_too_large;
  }
  if (remapped) {
    return check_host(fence, base, use.width_B);
  }
  if (use.pitch_B != fence.pitch_B) {
    return SurfaceFault::pitch_differs;
  }
  if (!fence.contains(base)) {
    return SurfaceFault::straddles_fence_edge;  // the surface starts before the region and reaches into it
  }
  // The processor finds the surface's first tile in this column of the region's tiles.
  const uint64_t column = (base - fence.start) / fence.pattern().bytes % fence.pitch_tiles();
  if (column * fence.pattern().width_B + use.width_B > fence.pitch_B) {
    return SurfaceFault::straddles_fence_edge;
  }
  return column != 0 ? SurfaceFault::not_a_tile_row_start : SurfaceFault::none;
}

}  // namespace halogen::surface
