#include "surface/tiling.h"

namespace halogen::surface {

namespace {

// Layers are stacked vertically; within a tile only the remainder of z counts.
struct FlatPoint {
  uint64_t y;
  uint32_t z_in_tile;
};

FlatPoint flatten(const SurfaceLayout& layout, const SurfacePoint& point) {
  const uint64_t depth = layout.pattern == nullptr ? 1 : layout.pattern->depth;
  return {point.y + point.z / depth * layout.layer_rows, static_cast<uint32_t>(point.z % depth)};
}

}  // namespace

uint64_t generic_offset_of(const SurfaceLayout& layout, const SurfacePoint& point) {
  const FlatPoint flat = flatten(layout, point);
  if (layout.pattern == nullptr) {
    return flat.y * layout.pitch_B + point.x_B;
  }
  const TilePattern& pattern = *layout.pattern;
  const uint64_t tile = (flat.y >> pattern.height_shift) * layout.tiles_per_row() + (point.x_B >> pattern.width_shift);
  const uint32_t inside = pattern.offset(pattern.x_in_tile(point.x_B), pattern.y_in_tile(flat.y), flat.z_in_tile);
  return swizzle_bit6(layout.swizzle, (tile << pattern.bytes_shift) | inside);
}

uint64_t offset_of(const SurfaceLayout& layout, const SurfacePoint& point) {
  if (layout.pattern == nullptr) {
    return generic_offset_of(layout, point);
  }
  const uint64_t y = point.y + point.z * layout.layer_rows;
  switch (layout.pattern->tiling) {
    case Tiling::x:
      return swizzle_bit6(layout.swizzle, tile_x_offset(point.x_B, y, layout.tiles_per_row()));
    case Tiling::y:
      return swizzle_bit6(layout.swizzle, tile_y_offset(point.x_B, y, layout.tiles_per_row()));
    case Tiling::w:
      return swizzle_bit6(layout.swizzle, tile_w_offset(point.x_B, y, layout.tiles_per_row()));
    case Tiling::linear:
    case Tiling::yf:
    case Tiling::ys:
      break;
  }
  return generic_offset_of(layout, point);
}

SurfacePoint point_at(const SurfaceLayout& layout, uint64_t offset) {
  SurfacePoint point;
  uint64_t z_in_tile = 0;
  uint64_t depth = 1;
  if (layout.pattern == nullptr) {
    point.x_B = layout.pitch_B == 0 ? offset : offset % layout.pitch_B;
    point.y = layout.pitch_B == 0 ? 0 : offset / layout.pitch_B;
  } else {
    const TilePattern& pattern = *layout.pattern;
    offset = swizzle_bit6(layout.swizzle, offset);
    const uint64_t tile = offset / pattern.bytes;
    const auto inside = static_cast<uint32_t>(offset % pattern.bytes);
    point.x_B = tile % layout.tiles_per_row() * pattern.width_B + extract_bits(inside, pattern.x_mask);
    point.y = tile / layout.tiles_per_row() * pattern.height + extract_bits(inside, pattern.y_mask);
    z_in_tile = extract_bits(inside, pattern.z_mask);
    depth = pattern.depth;
  }
  if (layout.layer_rows != 0) {
    point.z = point.y / layout.layer_rows * depth;
    point.y %= layout.layer_rows;
  }
  point.z += z_in_tile;
  return point;
}

}  // namespace halogen::surface
