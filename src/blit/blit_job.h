// One BLT, independent of the command that it came from: what to draw, where, and with which operands. Created by
// blit_commands, checked by blit_rules, executed by blitter.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gen/tiling_rules.h"
#include "hw/enums.h"
#include "surface/tile_pattern.h"

namespace halogen::blit {

// The first corner is inclusive, the second exclusive.
struct Rect {
  int32_t x1 = 0;
  int32_t y1 = 0;
  int32_t x2 = 0;
  int32_t y2 = 0;

  constexpr bool empty() const { return x1 >= x2 || y1 >= y2; }
  constexpr bool operator==(const Rect&) const = default;
};

struct Surface {
  uint64_t base = 0;  // address of pixel (0, 0); of the first byte of the first line for a linear command
  int64_t pitch_B = 0;
  const surface::TilePattern* tile = nullptr;  // null: linear

  bool operator==(const Surface&) const = default;
};

// A range of graphics addresses; they wrap after the bits that the engine uses.
struct AddressRange {
  uint64_t first = 0;
  uint64_t bytes = 0;

  constexpr bool meets(const AddressRange& other, uint64_t mask) const {
    return ((other.first - first) & mask) < bytes || ((first - other.first) & mask) < other.bytes;
  }
};

enum class SourceKind : uint8_t { none, color, mono };
enum class PatternKind : uint8_t { none, solid, color, mono };
// How the next scan line of a monochrome source starts.
enum class Packing : uint8_t { word, bit, byte };

struct Colors {
  uint32_t background = 0;
  uint32_t foreground = 0;

  bool operator==(const Colors&) const = default;
};

struct MonoSource {
  uint64_t address = 0;                 // address of the byte with the pixel for (x1, y1)
  std::span<const uint32_t> immediate;  // or the bits themselves
  bool is_immediate = false;
  uint8_t start = 0;  // pixels to skip in the first byte of every line
  Packing packing = Packing::word;
  bool transparent = false;
  Colors colors;
};

struct Pattern {
  PatternKind kind = PatternKind::none;
  std::array<uint32_t, 4> solid{};      // up to 16 bytes of one pixel
  uint64_t address = 0;                 // address of a colour pattern
  std::span<const uint32_t> immediate;  // or its bytes
  bool is_immediate = false;
  std::array<uint8_t, 8> mono{};  // one byte per line, pixel 0 in bit 7
  bool transparent = false;
  bool solid_select = false;
  Colors colors;
  uint8_t x_seed = 0;
  uint8_t y_seed = 0;
};

struct BlitJob {
  hw::BltColorDepth depth{};  // splits pixels for chroma keys
  uint8_t pixel_B = 1;
  uint8_t rop = 0;
  hw::BltByteMask byte_mask = hw::BltByteMask::RGBA;  // for 32-bit pixels
  bool linear_command = false;                        // the width is in bytes
  bool is_wide_command = false;                       // copies and fills of Gen9 and later, without raster operation

  bool reserved_tiling = false;    // a tile mode without a meaning
  bool tiled_base_is_odd = false;  // the low bits of a tiled surface's address were ignored

  Surface destination;
  Rect rect;  // as in the command; x in bytes for a linear command
  bool clipped = false;
  Rect clip;

  SourceKind source = SourceKind::none;
  Surface source_surface;
  int32_t source_x = 0;  // source pixel for (x1, y1)
  int32_t source_y = 0;
  MonoSource mono;
  Pattern pattern;

  hw::BltTransparencyMode key_mode{};
  uint32_t key_low = 0;
  uint32_t key_high = 0;

  bool x_backward = false;  // order of pixels, visible if source and destination overlap
  bool y_backward = false;
  uint64_t address_mask = ~uint64_t{0};
};

}  // namespace halogen::blit
