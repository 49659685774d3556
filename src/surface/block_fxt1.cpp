// FXT1: two halves of 4x4 texels with indices of two or three bits into colours of 5 bits per channel, in four modes:
// two colours for both halves, four colours, two for each half, and three with alpha. Source: the public description of
// the format.
#include <array>
#include <cstdint>

#include "surface/astc_values.h"
#include "surface/block_codes.h"

namespace halogen::surface {
namespace {

using Bits = astc::Block;  // 128 bits with random access
using Color = std::array<unsigned, 4>;

constexpr unsigned kColorBits = 15;
constexpr unsigned kFirstColor = 64;
constexpr unsigned kFirstAlpha = 109;
constexpr unsigned kFlag = 124;

unsigned of_five(unsigned value) {
  return (value * 255 + 15) / 31;
}
unsigned of_six(unsigned value) {
  return (value * 255 + 31) / 63;
}

// Returns a colour. Blue is in the lowest bits.
Color color_at(const Bits& bits, unsigned at) {
  return {of_five(bits.get(at + 10, 5)), of_five(bits.get(at + 5, 5)), of_five(bits.get(at, 5)), 255};
}

Color mixed(const Color& a, const Color& b, unsigned share, unsigned all) {
  Color made{};
  for (unsigned i = 0; i < 4; ++i) {
    made[i] = ((all - share) * a[i] + share * b[i] + all / 2) / all;
  }
  return made;
}

// Decodes the mode with two colours and five between them, for both halves.
Color many(const Bits& bits, unsigned texel) {
  const unsigned index = bits.get(3 * texel, 3);
  return index == 7 ? Color{} : mixed(color_at(bits, 96), color_at(bits, 96 + kColorBits), index, 6);
}

// Decodes the mode with two colours for each half; green has a sixth bit.
Color halves(const Bits& bits, unsigned texel) {
  const bool right = texel >= 16;
  const unsigned index = bits.get(2 * texel, 2);
  const unsigned at = kFirstColor + (right ? 2 * kColorBits : 0);
  const unsigned low = bits.get(right ? 126 : 125, 1);
  Color first = color_at(bits, at);
  Color second = color_at(bits, at + kColorBits);
  second[1] = of_six(bits.get(at + kColorBits + 5, 5) << 1 | low);
  if (bits.get(kFlag, 1) != 0) {
    if (index == 3) {
      return {};
    }
    Color made{};
    for (unsigned i = 0; i < 4; ++i) {
      made[i] = index == 1 ? (first[i] + second[i]) / 2 : index == 0 ? first[i] : second[i];
    }
    return made;
  }
  first[1] = of_six(bits.get(at + 5, 5) << 1 | (low ^ bits.get(right ? 33 : 1, 1)));
  return mixed(first, second, index, 3);
}

// Decodes the mode with three colours and alpha: one for each half and a shared one, interpolated; or all three
// unmodified, and transparent black.
Color with_alpha(const Bits& bits, unsigned texel) {
  const bool right = texel >= 16;
  const unsigned index = bits.get(2 * texel, 2);
  const auto color = [&](unsigned number) {
    Color made = color_at(bits, kFirstColor + number * kColorBits);
    made[3] = of_five(bits.get(kFirstAlpha + number * 5, 5));
    return made;
  };
  if (bits.get(kFlag, 1) != 0) {
    return mixed(color(right ? 2 : 0), color(1), index, 3);
  }
  return index == 3 ? Color{} : color(index);
}

}  // namespace

BlockColor fxt1_color(uint64_t low, uint64_t high, unsigned x, unsigned y) {
  const Bits bits{low, high};
  const unsigned texel = 4 * y + x % 4 + (x >= 4 ? 16 : 0);
  Color made{};
  switch (bits.get(125, 3)) {
    case 0:
    case 1:
      made = many(bits, texel);
      break;
    case 2:
      made = color_at(bits, kFirstColor + kColorBits * bits.get(2 * texel, 2));
      break;
    case 3:
      made = with_alpha(bits, texel);
      break;
    default:
      made = halves(bits, texel);
      break;
  }
  return {made[0] / 255.0, made[1] / 255.0, made[2] / 255.0, made[3] / 255.0};
}

}  // namespace halogen::surface
