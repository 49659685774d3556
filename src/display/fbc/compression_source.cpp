#include "display/fbc/compression_source.h"

#include <algorithm>
#include <utility>

#include "display/fbc/compression.h"
#include "hw/enums.h"
#include "surface/tiling.h"

namespace halogen::display {

namespace {

using Format = hw::DisplayPlaneFormat;
constexpr uint64_t kTileRow_B = 512;
constexpr uint8_t kFirstWhole = 6;  // format codes from here on have four bytes per pixel, except RGBX161616

}  // namespace

std::optional<unsigned> pixel_bytes(uint8_t format) {
  const auto known = static_cast<Format>(format);
  if (known == Format::BGRX555 || known == Format::BGRA555 || known == Format::BGRX565) {
    return 2;
  }
  return known == Format::indexed_8bpp || known == Format::RGBX161616 || format < kFirstWhole ? std::nullopt
                                                                                              : std::optional(4u);
}

std::optional<fbc::PixelKind> run_pixel_kind(uint8_t format) {
  const auto known = static_cast<Format>(format);
  if (known == Format::BGRX888) {
    return fbc::PixelKind::bits32;
  }
  if (known == Format::BGRX565) {
    return fbc::PixelKind::bits16;
  }
  return known == Format::BGRX555 ? std::optional(fbc::PixelKind::bits15) : std::nullopt;
}

ScreenLines CompressionSource::lines_of_rows(uint64_t first, uint64_t last) const {
  // Rows are far below 2^63: rows outside of the screen give an empty span.
  int64_t top = static_cast<int64_t>(first) - int64_t{y};
  int64_t bottom = static_cast<int64_t>(last) - int64_t{y};
  if (rotated_180) {
    top = -std::exchange(bottom, -top);
  }
  top = std::max<int64_t>(top, 0);
  bottom = std::min<int64_t>(bottom, int64_t{lines} - 1);
  return top > bottom ? ScreenLines{}
                      : ScreenLines{static_cast<unsigned>(top), static_cast<unsigned>(bottom - top) + 1};
}

void read_source_line(CompressionMemory& memory, const CompressionSource& source, unsigned bytes_per_pixel,
                      unsigned line, std::span<std::byte> into) {
  const uint64_t tiles = std::max<uint64_t>(source.stride_B / kTileRow_B, 1);
  const uint64_t y = source.rotated_180 ? uint64_t{source.y} - line : uint64_t{source.y} + line;
  const uint64_t left = source.rotated_180 ? uint64_t{source.x} - (source.width - 1) : source.x;
  uint64_t x = left * bytes_per_pixel;
  while (!into.empty()) {
    const size_t bytes = std::min<uint64_t>(into.size(), kTileRow_B - x % kTileRow_B);
    const uint64_t address = source.surface + surface::tile_x_offset(x, y, tiles);
    memory.read_surface(source.plane, GgttOffset(address), into.first(bytes));
    into = into.subspan(bytes);
    x += bytes;
  }
}

}  // namespace halogen::display
