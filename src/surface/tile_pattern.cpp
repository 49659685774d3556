#include "surface/tile_pattern.h"

#include <array>

namespace halogen::surface {

namespace {

constexpr Tiling kYf = Tiling::yf;
constexpr Tiling kYs = Tiling::ys;

// Index: 8, 16, 32, 64, 128 bits per element. The names contain element bits and samples.
constexpr unsigned kSizes = 5;
constexpr unsigned kSampleCounts = 5;
using BySize = std::array<TilePattern, kSizes>;

constexpr std::array<BySize, kSampleCounts> kYfPlane{{
    {{
        make_pattern("Yf 8", kYf, "xyxyyyyyxxxx"),
        make_pattern("Yf 16", kYf, "xyxyxyyyxxxx"),
        make_pattern("Yf 32", kYf, "xyxyxyyyxxxx"),
        make_pattern("Yf 64", kYf, "xyxyxxyyxxxx"),
        make_pattern("Yf 128", kYf, "xyxyxxyyxxxx"),
    }},
    {{
        make_pattern("Yf 8 2x", kYf, "zyxyyyyyxxxx"),
        make_pattern("Yf 16 2x", kYf, "zyxyxyyyxxxx"),
        make_pattern("Yf 32 2x", kYf, "zyxyxyyyxxxx"),
        make_pattern("Yf 64 2x", kYf, "zyxyxxyyxxxx"),
        make_pattern("Yf 128 2x", kYf, "zyxyxxyyxxxx"),
    }},
    {{
        make_pattern("Yf 8 4x", kYf, "zzxyyyyyxxxx"),
        make_pattern("Yf 16 4x", kYf, "zzxyxyyyxxxx"),
        make_pattern("Yf 32 4x", kYf, "zzxyxyyyxxxx"),
        make_pattern("Yf 64 4x", kYf, "zzxyxxyyxxxx"),
        make_pattern("Yf 128 4x", kYf, "zzxyxxyyxxxx"),
    }},
    {{
        make_pattern("Yf 8 8x", kYf, "zzzyyyyyxxxx"),
        make_pattern("Yf 16 8x", kYf, "zzzyxyyyxxxx"),
        make_pattern("Yf 32 8x", kYf, "zzzyxyyyxxxx"),
        make_pattern("Yf 64 8x", kYf, "zzzyxxyyxxxx"),
        make_pattern("Yf 128 8x", kYf, "zzzyxxyyxxxx"),
    }},
    {{
        make_pattern("Yf 8 16x", kYf, "zzzzyyyyxxxx"),
        make_pattern("Yf 16 16x", kYf, "zzzzxyyyxxxx"),
        make_pattern("Yf 32 16x", kYf, "zzzzxyyyxxxx"),
        make_pattern("Yf 64 16x", kYf, "zzzzxxyyxxxx"),
        make_pattern("Yf 128 16x", kYf, "zzzzxxyyxxxx"),
    }},
}};

constexpr std::array<BySize, kSampleCounts> kYsPlane{{
    {{
        make_pattern("Ys 8", kYs, "xyxyxyxyyyyyxxxx"),
        make_pattern("Ys 16", kYs, "xyxyxyxyxyyyxxxx"),
        make_pattern("Ys 32", kYs, "xyxyxyxyxyyyxxxx"),
        make_pattern("Ys 64", kYs, "xyxyxyxyxxyyxxxx"),
        make_pattern("Ys 128", kYs, "xyxyxyxyxxyyxxxx"),
    }},
    {{
        make_pattern("Ys 8 2x", kYs, "zyxyxyxyyyyyxxxx"),
        make_pattern("Ys 16 2x", kYs, "zyxyxyxyxyyyxxxx"),
        make_pattern("Ys 32 2x", kYs, "zyxyxyxyxyyyxxxx"),
        make_pattern("Ys 64 2x", kYs, "zyxyxyxyxxyyxxxx"),
        make_pattern("Ys 128 2x", kYs, "zyxyxyxyxxyyxxxx"),
    }},
    {{
        make_pattern("Ys 8 4x", kYs, "zzxyxyxyyyyyxxxx"),
        make_pattern("Ys 16 4x", kYs, "zzxyxyxyxyyyxxxx"),
        make_pattern("Ys 32 4x", kYs, "zzxyxyxyxyyyxxxx"),
        make_pattern("Ys 64 4x", kYs, "zzxyxyxyxxyyxxxx"),
        make_pattern("Ys 128 4x", kYs, "zzxyxyxyxxyyxxxx"),
    }},
    {{
        make_pattern("Ys 8 8x", kYs, "zzzyxyxyyyyyxxxx"),
        make_pattern("Ys 16 8x", kYs, "zzzyxyxyxyyyxxxx"),
        make_pattern("Ys 32 8x", kYs, "zzzyxyxyxyyyxxxx"),
        make_pattern("Ys 64 8x", kYs, "zzzyxyxyxxyyxxxx"),
        make_pattern("Ys 128 8x", kYs, "zzzyxyxyxxyyxxxx"),
    }},
    {{
        make_pattern("Ys 8 16x", kYs, "zzzzxyxyyyyyxxxx"),
        make_pattern("Ys 16 16x", kYs, "zzzzxyxyxyyyxxxx"),
        make_pattern("Ys 32 16x", kYs, "zzzzxyxyxyyyxxxx"),
        make_pattern("Ys 64 16x", kYs, "zzzzxyxyxxyyxxxx"),
        make_pattern("Ys 128 16x", kYs, "zzzzxyxyxxyyxxxx"),
    }},
}};

// Index: TileAddressMapping. A Yf tile is the lower twelve bits of the Ys tile.
constexpr std::array<BySize, 2> kYfVolume{{
    {{
        make_pattern("Yf 8 volume gfx9", kYf, "yzyzzzyyxxxx"),
        make_pattern("Yf 16 volume gfx9", kYf, "yzyzzzyyxxxx"),
        make_pattern("Yf 32 volume gfx9", kYf, "yzxyzzyyxxxx"),
        make_pattern("Yf 64 volume gfx9", kYf, "yzxxzzyyxxxx"),
        make_pattern("Yf 128 volume gfx9", kYf, "yzxxzzyyxxxx"),
    }},
    {{
        make_pattern("Yf 8 volume gfx10", kYf, "yzxyzxyyzzxx"),
        make_pattern("Yf 16 volume gfx10", kYf, "yzxyzxyyzzxx"),
        make_pattern("Yf 32 volume gfx10", kYf, "yzxyzxyyzxxx"),
        make_pattern("Yf 64 volume gfx10", kYf, "yzxyzxzyxxxx"),
        make_pattern("Yf 128 volume gfx10", kYf, "yzxyzxzyxxxx"),
    }},
}};
constexpr std::array<BySize, 2> kYsVolume{{
    {{
        make_pattern("Ys 8 volume gfx9", kYs, "xyzxyzyzzzyyxxxx"),
        make_pattern("Ys 16 volume gfx9", kYs, "xyzxyzyzzzyyxxxx"),
        make_pattern("Ys 32 volume gfx9", kYs, "xyzxyzxyzzyyxxxx"),
        make_pattern("Ys 64 volume gfx9", kYs, "xyzxyzxxzzyyxxxx"),
        make_pattern("Ys 128 volume gfx9", kYs, "xyzxyzxxzzyyxxxx"),
    }},
    {{
        make_pattern("Ys 8 volume gfx10", kYs, "xyzxyzxyzxyyzzxx"),
        make_pattern("Ys 16 volume gfx10", kYs, "xyzxyzxyzxyyzzxx"),
        make_pattern("Ys 32 volume gfx10", kYs, "xyzxyzxyzxyyzxxx"),
        make_pattern("Ys 64 volume gfx10", kYs, "xyzxyzxyzxzyxxxx"),
        make_pattern("Ys 128 volume gfx10", kYs, "xyzxyzxyzxzyxxxx"),
    }},
}};

constexpr size_t kPatterns = 3 + 2 * kSampleCounts * kSizes + 2 * 2 * kSizes;

constexpr std::array<const TilePattern*, kPatterns> kAll = [] {
  std::array<const TilePattern*, kPatterns> all{&kTileX, &kTileY, &kTileW};
  size_t next = 3;
  const auto add = [&](const auto& table) {
    for (const BySize& row : table) {
      for (const TilePattern& pattern : row) {
        all[next++] = &pattern;
      }
    }
  };
  add(kYfPlane);
  add(kYsPlane);
  add(kYfVolume);
  add(kYsVolume);
  return all;
}();

// Returns log2 of a power of two within [1 << first, 1 << last], or -1.
constexpr int index_in(uint32_t value, unsigned first, unsigned last) {
  for (unsigned bit = first; bit <= last; ++bit) {
    if (value == 1u << bit) {
      return static_cast<int>(bit - first);
    }
  }
  return -1;
}

const TilePattern* find_standard(const TileShape& shape) {
  const int size = index_in(shape.element_bits, 3, 7);
  const int samples = index_in(shape.samples, 0, 4);
  if (size < 0 || samples < 0) {
    return nullptr;
  }
  const bool small = shape.tiling == Tiling::yf;
  if (shape.volume) {
    const auto& table = small ? kYfVolume : kYsVolume;
    return samples != 0 ? nullptr : &table[static_cast<size_t>(shape.mapping)][static_cast<size_t>(size)];
  }
  // Gen9 gives each sample its own Yf tiles (Mesa isl; gmmlib has patterns with samples for Yf too).
  const bool sample_in_tile = !small || shape.mapping != TileAddressMapping::gfx9;
  const auto& table = small ? kYfPlane : kYsPlane;
  return &table[sample_in_tile ? static_cast<size_t>(samples) : 0][static_cast<size_t>(size)];
}

}  // namespace

const TilePattern* find_pattern(const TileShape& shape) {
  switch (shape.tiling) {
    case Tiling::linear:
      return nullptr;
    case Tiling::x:
      return &kTileX;
    case Tiling::y:
      return &kTileY;
    case Tiling::w:
      return &kTileW;
    case Tiling::yf:
    case Tiling::ys:
      return find_standard(shape);
  }
  return nullptr;
}

std::span<const TilePattern* const> tile_patterns() {
  return kAll;
}

}  // namespace halogen::surface
