// ASTC, two-dimensional blocks of low dynamic range: up to four pairs of colours, selected for each texel by a
// procedural pattern, interpolated by a grid of weights that is scaled to the block. Source: Khronos Data Format
// Specification, ASTC. Invalid blocks and blocks of high dynamic range are magenta.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "surface/astc_values.h"
#include "surface/block_codes.h"

namespace halogen::surface {
namespace {

using astc::Block;
using astc::Range;

using Color = std::array<int, 4>;
struct Ends {
  Color first;
  Color second;
};

constexpr BlockColor kError{1.0, 0.0, 1.0, 1.0};

// The block mode: the first eleven bits.
struct Grid {
  unsigned width = 0;
  unsigned height = 0;
  bool two_planes = false;
  Range range;
};

std::optional<Grid> read_grid(const Block& block) {
  const unsigned a = block.get(5, 2);
  const unsigned b = block.get(7, 2);
  Grid grid{.two_planes = block.get(10, 1) != 0};
  bool high = block.get(9, 1) != 0;
  unsigned code = block.get(4, 1);
  if (block.get(0, 2) != 0) {
    code |= block.get(0, 2) << 1;
    switch (block.get(2, 2)) {
      case 0:
        grid.width = b + 4;
        grid.height = a + 2;
        break;
      case 1:
        grid.width = b + 8;
        grid.height = a + 2;
        break;
      case 2:
        grid.width = a + 2;
        grid.height = b + 8;
        break;
      default:
        grid.width = (b & 2) != 0 ? (b & 1) + 2 : a + 2;
        grid.height = (b & 2) != 0 ? a + 2 : (b & 1) + 6;
        break;
    }
  } else {
    code |= block.get(2, 2) << 1;
    switch (b) {
      case 0:
        grid.width = 12;
        grid.height = a + 2;
        break;
      case 1:
        grid.width = a + 2;
        grid.height = 12;
        break;
      case 2:
        grid.width = a + 6;
        grid.height = block.get(9, 2) + 6;
        grid.two_planes = high = false;
        break;
      default:
        if (a > 1) {
          return std::nullopt;
        }
        grid.width = a == 0 ? 6 : 10;
        grid.height = a == 0 ? 10 : 6;
        break;
    }
  }
  if (code < 2) {
    return std::nullopt;
  }
  grid.range = astc::weight_range(high, code);
  return grid;
}

uint32_t mixed_up(uint32_t value) {
  value ^= value >> 15;
  value -= value << 17;
  value += value << 7;
  value += value << 4;
  value ^= value >> 5;
  value += value << 16;
  value ^= value >> 7;
  value ^= value >> 3;
  value ^= value << 6;
  value ^= value >> 17;
  return value;
}

unsigned partition_of(unsigned number, unsigned x, unsigned y, unsigned count, bool small) {
  if (small) {
    x *= 2;
    y *= 2;
  }
  const uint32_t seed = number + (count - 1) * 1024;
  const uint32_t random = mixed_up(seed);
  std::array<uint32_t, 8> step{};
  const unsigned wide = count == 3 ? 6 : 5;
  const unsigned narrow = (seed & 2) != 0 ? 4 : 5;
  for (unsigned i = 0; i < step.size(); ++i) {
    const uint32_t part = random >> (4 * i) & 15;
    const bool odd = (seed & 1) != 0;
    step[i] = part * part >> ((i % 2 == 0) == odd ? narrow : wide);
  }
  std::array<uint32_t, 4> rank{};
  for (unsigned i = 0; i < count; ++i) {
    rank[i] = (step[2 * i] * x + step[2 * i + 1] * y + (random >> (14 - 4 * i))) & 63;
  }
  return static_cast<unsigned>(std::ranges::max_element(rank) - rank.begin());
}

// Moves a bit of `a` to `b`; the rest of `a` is signed.
void move_bit(int& a, int& b) {
  b = b >> 1 | (a & 0x80);
  a = a >> 1 & 0x3f;
  a -= (a & 0x20) * 2;
}

Color contracted(const Color& c) {
  return {(c[0] + c[2]) >> 1, (c[1] + c[2]) >> 1, c[2], c[3]};
}

Color clamped(Color c) {
  for (int& value : c) {
    value = std::clamp(value, 0, 255);
  }
  return c;
}

std::optional<Ends> read_ends(unsigned mode, std::array<int, 8> v) {
  const auto direct = [&](bool alpha) {
    const Color even{v[0], v[2], v[4], alpha ? v[6] : 255};
    const Color odd{v[1], v[3], v[5], alpha ? v[7] : 255};
    return v[1] + v[3] + v[5] >= v[0] + v[2] + v[4] ? Ends{even, odd} : Ends{contracted(odd), contracted(even)};
  };
  const auto offset = [&](bool alpha) {
    for (unsigned i = 0; i < (alpha ? 8u : 6u); i += 2) {
      move_bit(v[i + 1], v[i]);
    }
    const Color base{v[0], v[2], v[4], alpha ? v[6] : 255};
    const Color sum{v[0] + v[1], v[2] + v[3], v[4] + v[5], alpha ? v[6] + v[7] : 255};
    return v[1] + v[3] + v[5] >= 0 ? Ends{clamped(base), clamped(sum)}
                                   : Ends{clamped(contracted(sum)), clamped(contracted(base))};
  };
  const auto scaled = [&](int first_alpha, int second_alpha) {
    return Ends{{v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8, first_alpha}, {v[0], v[1], v[2], second_alpha}};
  };
  switch (mode) {
    case 0:
      return Ends{{v[0], v[0], v[0], 255}, {v[1], v[1], v[1], 255}};
    case 1: {
      const int low = v[0] >> 2 | (v[1] & 0xc0);
      const int high = std::min(low + (v[1] & 0x3f), 255);
      return Ends{{low, low, low, 255}, {high, high, high, 255}};
    }
    case 4:
      return Ends{{v[0], v[0], v[0], v[2]}, {v[1], v[1], v[1], v[3]}};
    case 5: {
      move_bit(v[1], v[0]);
      move_bit(v[3], v[2]);
      const int sum = v[0] + v[1];
      return Ends{{v[0], v[0], v[0], v[2]}, clamped({sum, sum, sum, v[2] + v[3]})};
    }
    case 6:
      return scaled(255, 255);
    case 8:
      return direct(false);
    case 9:
      return offset(false);
    case 10:
      return scaled(v[4], v[5]);
    case 12:
      return direct(true);
    case 13:
      return offset(true);
    default:
      return std::nullopt;  // high dynamic range
  }
}

// Returns the interpolated weight of a texel.
unsigned weight_at(const Grid& grid, const astc::Values& weights, const AstcShape& shape, unsigned x, unsigned y,
                   unsigned plane) {
  const unsigned planes = grid.two_planes ? 2 : 1;
  const unsigned across = (1024 + shape.width / 2) / (shape.width - 1) * x;
  const unsigned down = (1024 + shape.height / 2) / (shape.height - 1) * y;
  const unsigned s = (across * (grid.width - 1) + 32) >> 6;
  const unsigned t = (down * (grid.height - 1) + 32) >> 6;
  const unsigned fs = s & 15;
  const unsigned ft = t & 15;
  const unsigned both = (fs * ft + 8) >> 4;
  // Beyond the edge of the grid the factor is zero.
  const auto at = [&](unsigned column, unsigned row) -> unsigned {
    const unsigned index = (row * grid.width + column) * planes + plane;
    return index < weights.size() ? astc::widen_weight(weights[index], grid.range) : 0;
  };
  const unsigned column = s >> 4;
  const unsigned row = t >> 4;
  return (at(column, row) * (16 - fs - ft + both) + at(column + 1, row) * (fs - both) +
          at(column, row + 1) * (ft - both) + at(column + 1, row + 1) * both + 8) >>
         4;
}

// Converts 16 bits as the sampler returns them: half floats, rounded towards zero, or eight bits for sRGB.
double finished(unsigned value, bool srgb) {
  if (srgb) {
    return (value >> 8) / 255.0;
  }
  if (value == 0xffff) {
    return 1.0;
  }
  int exponent = 0;
  std::frexp(static_cast<double>(value), &exponent);  // value < 2^exponent
  const int drop = std::max(exponent - 11, 0);
  return static_cast<double>(value >> drop << drop) / 65536.0;
}

BlockColor one_color(const Block& block, bool srgb) {
  if (block.get(9, 1) != 0 || block.get(10, 2) != 3) {
    return kError;
  }
  std::array<unsigned, 4> extent{};
  for (unsigned i = 0; i < 4; ++i) {
    extent[i] = block.get(12 + 13 * i, 13);
  }
  const bool none = std::ranges::all_of(extent, [](unsigned value) { return value == 0x1fff; });
  if (!none && (extent[0] >= extent[1] || extent[2] >= extent[3])) {
    return kError;
  }
  std::array<double, 4> out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = finished(block.get(64 + 16 * i, 16), srgb);
  }
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace

BlockColor astc_color(uint64_t low, uint64_t high, unsigned x, unsigned y, const AstcShape& shape) {
  const Block block{low, high};
  if (block.get(0, 9) == 0x1fc) {
    return one_color(block, shape.srgb);
  }
  const std::optional<Grid> grid = read_grid(block);
  if (!grid || grid->width > shape.width || grid->height > shape.height) {
    return kError;
  }
  const unsigned planes = grid->two_planes ? 2 : 1;
  const unsigned weights = grid->width * grid->height * planes;
  const unsigned weight_bits = astc::sequence_bits(grid->range, weights);
  const unsigned parts = block.get(11, 2) + 1;
  if (weights > astc::kMaxValues || weight_bits < 24 || weight_bits > 96 || (parts == 4 && grid->two_planes)) {
    return kError;
  }
  // Colours lie between the header and the data below the weights: the rest of the colour modes, and the channel of the
  // second plane.
  unsigned end = 128 - weight_bits;
  const unsigned first = parts == 1 ? 17 : 29;
  std::array<unsigned, 4> modes{};
  if (parts == 1 || block.get(23, 2) == 0) {
    modes.fill(block.get(parts == 1 ? 13 : 25, 4));
  } else {
    const unsigned above = 3 * parts - 4;
    end -= above;
    const unsigned all = block.get(25, 4) | block.get(end, above) << 4;
    for (unsigned i = 0; i < parts; ++i) {
      modes[i] = (block.get(23, 2) - 1 + (all >> i & 1)) * 4 + (all >> (parts + 2 * i) & 3);
    }
  }
  end -= grid->two_planes ? 2u : 0u;
  const unsigned second_channel = grid->two_planes ? block.get(end, 2) : 4;
  unsigned count = 0;
  for (unsigned i = 0; i < parts; ++i) {
    count += (modes[i] / 4 + 1) * 2;
  }
  Range range;
  if (end < first || count > 18 || !astc::color_range(end - first, count, range)) {
    return kError;
  }
  const unsigned part = parts == 1 ? 0 : partition_of(block.get(13, 10), x, y, parts, shape.width * shape.height < 31);
  const astc::Values values = astc::read_sequence(block, first, range, count);
  unsigned at = 0;
  for (unsigned i = 0; i < part; ++i) {
    at += (modes[i] / 4 + 1) * 2;
  }
  std::array<int, 8> mine{};
  for (unsigned i = 0; i < (modes[part] / 4 + 1) * 2; ++i) {
    mine[i] = static_cast<int>(astc::widen_color(values[at + i], range));
  }
  const std::optional<Ends> ends = read_ends(modes[part], mine);
  if (!ends) {
    return kError;
  }
  const astc::Values grid_weights = astc::read_sequence(block.reversed(), 0, grid->range, weights);
  std::array<double, 4> out{};
  for (unsigned channel = 0; channel < 4; ++channel) {
    const auto wide = [&](int value) {
      const auto eight = static_cast<unsigned>(value);
      return eight << 8 | (shape.srgb && channel < 3 ? 0x80u : eight);
    };
    const unsigned weight = weight_at(*grid, grid_weights, shape, x, y, channel == second_channel ? 1 : 0);
    const unsigned mixed =
        (wide(ends->first[channel]) * (64 - weight) + wide(ends->second[channel]) * weight + 32) / 64;
    out[channel] = finished(mixed, shape.srgb);
  }
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace halogen::surface
