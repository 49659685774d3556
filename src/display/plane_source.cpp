#include "display/plane_source.h"

#include <algorithm>

namespace halogen::display {

namespace {

using surface::SurfaceLayout;

constexpr uint8_t kTilingX = 1;
constexpr uint8_t kTilingY = 4;
constexpr uint8_t kTilingYf = 5;
constexpr uint32_t kPageMask = 0xfff;
constexpr uint32_t kLinearUnit = 64;

const surface::TilePattern* pattern_of(uint8_t tiling, unsigned pixel_B) {
  switch (tiling) {
    case kTilingX:
      return &surface::kTileX;
    case kTilingY:
      return &surface::kTileY;
    case kTilingYf:
      return surface::find_pattern({.tiling = Tiling::yf, .element_bits = pixel_B * 8});
    default:
      return nullptr;
  }
}

// For tiled surfaces the stride of universal planes is in tiles.
uint32_t stride_bytes(const PlaneModel& plane, uint32_t stride, const surface::TilePattern* pattern) {
  if (plane.kind != PlaneKind::universal) {
    return stride;
  }
  return stride * (pattern == nullptr ? kLinearUnit : pattern->width_B);
}

// High and low half of the registers with two coordinates, which are the same for all kinds of planes.
struct Pair {
  uint32_t y;
  uint32_t x;
  explicit Pair(uint32_t value) : y(value >> 16), x(value & 0xffff) {}
};

}  // namespace

SurfaceLayout PlaneLines::layout() const {
  return {.pattern = pattern_of(tiling, pixel_B), .pitch_B = stride_B};
}

uint64_t PlaneLines::row(uint32_t line) const {
  if (!rotated) {
    return uint64_t{y_start} + line;
  }
  return walks_back ? uint64_t{y_start} - line : uint64_t{y_start} + height - 1 - line;
}

uint64_t PlaneLines::left() const {
  return mirrored && walks_back ? uint64_t{x_start} - (width - 1) : x_start;
}

PlaneLines plane_lines(const PlaneModel& plane, spec::GenId gen, const PlaneImage& image, Extent pipe) {
  const PlaneControl control = unpack_control(plane, gen, image.control);
  const std::optional<PlanePixels> pixels =
      plane_pixels(plane, gen, image.control,
                   plane.slots.color_control == nullptr ? std::nullopt : std::optional(image.color_control));
  PlaneLines lines;
  lines.plane = plane.number;
  lines.pipe = control.pipe;
  lines.enabled = control.enabled;
  lines.known_format = pixels.has_value();
  lines.turned = control.turned;
  lines.pixels = pixels.value_or(PlanePixels{});
  lines.pixel_B = picture::pixel_bytes(lines.pixels.format);
  lines.base = image.surface & ~kPageMask;
  lines.tiling = control.tiling;
  lines.stride_B = stride_bytes(plane, image.stride, pattern_of(control.tiling, lines.pixel_B));
  lines.walks_back = plane.slots.linear_offset != nullptr;
  lines.rotated = control.rotated_180;
  lines.mirrored = control.rotated_180 != control.mirrored;
  if (lines.walks_back && control.tiling == 0) {
    lines.offset_B = image.linear_offset;
  } else {
    const Pair start(image.tile_offset);
    lines.x_start = start.x;
    lines.y_start = start.y;
  }
  if (plane.windowed) {
    const Pair position(image.position);
    const Pair size(image.size);
    lines.x = position.x;
    lines.y = position.y;
    lines.width = size.x + 1;
    lines.height = size.y + 1;
  } else {
    lines.width = pipe.width;
    lines.height = pipe.height;
  }
  return lines;
}

void read_line(DisplayReader& memory, const PlaneLines& plane, uint32_t line, std::span<std::byte> out) {
  const SurfaceLayout layout = plane.layout();
  out = out.first(static_cast<size_t>(std::min<uint64_t>(out.size(), plane.line_B())));
  const uint64_t row = plane.row(line);
  uint64_t x_B = plane.left() * plane.pixel_B;
  if (layout.pattern == nullptr) {
    memory.read(plane.base + plane.offset_B + row * plane.stride_B + x_B, out);
    return;
  }
  const uint64_t run_B = layout.pattern->run_B;
  while (!out.empty()) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(out.size(), run_B - x_B % run_B));
    memory.read(plane.base + surface::offset_of(layout, {x_B, row}), out.first(bytes));
    out = out.subspan(bytes);
    x_B += bytes;
  }
}

memory::Stream plane_stream(const PlaneLines& plane) {
  if (plane.plane < 2) {
    return plane.plane == 0 ? memory::Stream::display_a : memory::Stream::display_b;
  }
  return plane.pipe == 0 ? memory::Stream::display_a : memory::Stream::display_b;
}

}  // namespace halogen::display
