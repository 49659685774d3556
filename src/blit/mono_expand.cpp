#include "blit/mono_expand.h"

#include <array>
#include <bit>
#include <cstring>

namespace halogen::blit {
namespace {

static_assert(std::endian::native == std::endian::little, "pixels are built from numbers");

// For every group of bits, a mask of the foreground bytes: 8 pixels of one byte, 4 of two, 2 of four.
template <unsigned kPixel_B>
constexpr auto make_masks() {
  constexpr unsigned kPixels = 8 / kPixel_B;
  std::array<uint64_t, 1u << kPixels> masks{};
  for (unsigned bits = 0; bits < masks.size(); ++bits) {
    for (unsigned pixel = 0; pixel < kPixels; ++pixel) {
      if ((bits >> (kPixels - 1 - pixel) & 1) != 0) {
        masks[bits] |= (kPixel_B == 4 ? 0xffff'ffffull : kPixel_B == 2 ? 0xffffull : 0xffull) << (pixel * kPixel_B * 8);
      }
    }
  }
  return masks;
}

uint64_t repeat(uint32_t color, unsigned pixel_B) {
  switch (pixel_B) {
    case 1:
      return 0x0101'0101'0101'0101ull * (color & 0xff);
    case 2:
      return 0x0001'0001'0001'0001ull * (color & 0xffff);
    default:
      return color | uint64_t{color} << 32;
  }
}

// Expands bits eight at a time; `words_of` writes the eight pixels of eight bits.
template <unsigned kPixel_B, class Words>
void walk_bits(std::byte* out, const std::byte* bits, unsigned first, size_t pixels, Words words_of) {
  const size_t whole = pixels / 8;
  if (first == 0) {
    for (size_t i = 0; i < whole; ++i) {
      words_of(static_cast<unsigned>(bits[i]), out + i * 8 * kPixel_B);
    }
  } else {
    for (size_t i = 0; i < whole; ++i) {
      const unsigned pair = static_cast<unsigned>(bits[i]) << 8 | static_cast<unsigned>(bits[i + 1]);
      words_of(pair >> (8 - first) & 0xff, out + i * 8 * kPixel_B);
    }
  }
  const size_t rest = pixels % 8;
  if (rest != 0) {
    unsigned eight = static_cast<unsigned>(bits[whole]) << first;
    if (first + rest > 8) {
      eight |= static_cast<unsigned>(bits[whole + 1]) >> (8 - first);
    }
    std::array<std::byte, 8 * kPixel_B> last;
    std::memcpy(last.data(), out + whole * 8 * kPixel_B, rest * kPixel_B);
    words_of(eight & 0xff, last.data());
    std::memcpy(out + whole * 8 * kPixel_B, last.data(), rest * kPixel_B);
  }
}

template <unsigned kPixel_B>
struct Groups {
  static constexpr auto kMasks = make_masks<kPixel_B>();
  static constexpr unsigned kPixels = 8 / kPixel_B;  // pixels in a word

  static uint64_t mask(unsigned eight, unsigned word) {
    return kMasks[eight >> (8 - kPixels * (word + 1)) & ((1u << kPixels) - 1)];
  }
};

template <unsigned kPixel_B>
void expand(std::byte* out, const std::byte* bits, unsigned first, size_t pixels, const Colors& colors) {
  const uint64_t background = repeat(colors.background, kPixel_B);
  const uint64_t change = background ^ repeat(colors.foreground, kPixel_B);
  walk_bits<kPixel_B>(out, bits, first, pixels, [&](unsigned eight, std::byte* to) {
    for (unsigned word = 0; word < kPixel_B; ++word) {
      const uint64_t value = background ^ (change & Groups<kPixel_B>::mask(eight, word));
      std::memcpy(to + word * sizeof(value), &value, sizeof(value));
    }
  });
}

template <unsigned kPixel_B>
void expand_over(std::byte* out, const std::byte* bits, unsigned first, size_t pixels, uint32_t foreground) {
  const uint64_t ink = repeat(foreground, kPixel_B);
  walk_bits<kPixel_B>(out, bits, first, pixels, [&](unsigned eight, std::byte* to) {
    for (unsigned word = 0; eight != 0 && word < kPixel_B; ++word) {
      uint64_t value = 0;
      std::memcpy(&value, to + word * sizeof(value), sizeof(value));
      value ^= (value ^ ink) & Groups<kPixel_B>::mask(eight, word);
      std::memcpy(to + word * sizeof(value), &value, sizeof(value));
    }
  });
}

}  // namespace

void expand_mono_over(std::byte* out, const std::byte* bits, unsigned first, size_t pixels, unsigned pixel_B,
                      uint32_t foreground) {
  switch (pixel_B) {
    case 1:
      return expand_over<1>(out, bits, first, pixels, foreground);
    case 2:
      return expand_over<2>(out, bits, first, pixels, foreground);
    default:
      return expand_over<4>(out, bits, first, pixels, foreground);
  }
}

void expand_mono(std::byte* out, const std::byte* bits, unsigned first, size_t pixels, unsigned pixel_B,
                 const Colors& colors) {
  switch (pixel_B) {
    case 1:
      return expand<1>(out, bits, first, pixels, colors);
    case 2:
      return expand<2>(out, bits, first, pixels, colors);
    default:
      return expand<4>(out, bits, first, pixels, colors);
  }
}

}  // namespace halogen::blit
