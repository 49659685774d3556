// Compressed blocks built bit by bit, with texels computed by hand.
#include "surface/block_format.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace halogen::surface {
namespace {

using F = hw::SurfaceFormat;

// A block written from the lowest bit up, as BC blocks are.
class Upward {
 public:
  Upward& add(uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i, ++at_) {
      if ((value >> i & 1) != 0) {
        bytes[at_ / 8] |= std::byte{static_cast<uint8_t>(1u << (at_ % 8))};
      }
    }
    return *this;
  }
  unsigned size() const { return at_; }
  std::array<std::byte, 16> bytes{};

 private:
  unsigned at_ = 0;
};

// A block written from the highest bit down, in big-endian 64-bit words, as ETC blocks are.
class Downward {
 public:
  explicit Downward(size_t first = 0) : first_(first) {}
  Downward& add(uint64_t value, unsigned count) {
    for (unsigned i = count; i-- > 0; ++at_) {
      if ((value >> i & 1) != 0) {
        bytes[first_ + at_ / 8] |= std::byte{static_cast<uint8_t>(0x80u >> (at_ % 8))};
      }
    }
    return *this;
  }
  std::array<std::byte, 16> bytes{};

 private:
  size_t first_;
  unsigned at_ = 0;
};

std::array<double, 4> texel(F format, const std::array<std::byte, 16>& bytes, unsigned x, unsigned y) {
  const BlockFormat* const is = block_format(format);
  EXPECT_NE(is, nullptr);
  const Texel raw = unpack_block_texel(*is, bytes.data(), x, y);
  std::array<double, 4> out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = static_cast<double>(std::bit_cast<float>(raw[i]));
  }
  return out;
}

void expect_texel(const std::array<double, 4>& got, const std::array<double, 4>& wanted) {
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_NEAR(got[i], wanted[i], 1e-6) << "channel " << i;
  }
}

TEST(BlockFormats, Bc1MixesTwoColors) {
  Upward four;
  four.add(0xf800, 16).add(0x001f, 16);
  for (const unsigned index : {0u, 1u, 2u, 3u}) {
    four.add(index, 2);
  }
  expect_texel(texel(F::BC1_UNORM, four.bytes, 0, 0), {1, 0, 0, 1});
  expect_texel(texel(F::BC1_UNORM, four.bytes, 1, 0), {0, 0, 1, 1});
  expect_texel(texel(F::BC1_UNORM, four.bytes, 2, 0), {2.0 / 3, 0, 1.0 / 3, 1});
  expect_texel(texel(F::BC1_UNORM, four.bytes, 3, 0), {1.0 / 3, 0, 2.0 / 3, 1});
  Upward three;
  three.add(0x001f, 16).add(0xf800, 16).add(0, 2).add(0, 2).add(2, 2).add(3, 2);
  expect_texel(texel(F::BC1_UNORM, three.bytes, 2, 0), {0.5, 0, 0.5, 1});
  expect_texel(texel(F::BC1_UNORM, three.bytes, 3, 0), {0, 0, 0, 0});
  expect_texel(texel(F::DXT1_RGB, three.bytes, 3, 0), {0, 0, 0, 1});
  const double half = std::pow((0.5 + 0.055) / 1.055, 2.4);
  expect_texel(texel(F::BC1_UNORM_SRGB, three.bytes, 2, 0), {half, 0, half, 1});
}

TEST(BlockFormats, Bc2AndBc3StoreAlphaFirst) {
  Upward two;
  two.add(0xa5, 8);
  for (unsigned i = 0; i < 7; ++i) {
    two.add(0, 8);
  }
  two.add(0x07e0, 16).add(0xffff, 16);  // in BC2 and BC3 the order of colours has no effect
  expect_texel(texel(F::BC2_UNORM, two.bytes, 0, 0), {0, 1, 0, 5.0 / 15});
  expect_texel(texel(F::BC2_UNORM, two.bytes, 1, 0), {0, 1, 0, 10.0 / 15});
  Upward three;
  three.add(200, 8)
      .add(25, 8)
      .add(0, 3)
      .add(1, 3)
      .add(2, 3)
      .add(7, 3)
      .add(0, 36)
      .add(0x07e0, 16)
      .add(0, 16)
      .add(0xff, 8);
  EXPECT_NEAR(texel(F::BC3_UNORM, three.bytes, 1, 0)[3], 25 / 255.0, 1e-6);
  EXPECT_NEAR(texel(F::BC3_UNORM, three.bytes, 2, 0)[3], (6 * 200 + 25) / 7.0 / 255, 1e-6);
  EXPECT_NEAR(texel(F::BC3_UNORM, three.bytes, 3, 0)[3], (200 + 6 * 25) / 7.0 / 255, 1e-6);
  EXPECT_NEAR(texel(F::BC3_UNORM, three.bytes, 3, 0)[1], 1.0 / 3, 1e-6);
}

TEST(BlockFormats, Bc4AndBc5InterpolateOneAndTwoChannels) {
  Upward block;
  block.add(10, 8).add(60, 8).add(2, 3).add(5, 3).add(6, 3).add(7, 3).add(0, 36);
  expect_texel(texel(F::BC4_UNORM, block.bytes, 0, 0), {(4 * 10 + 60) / 5.0 / 255, 0, 0, 1});
  expect_texel(texel(F::BC4_UNORM, block.bytes, 1, 0), {(10 + 4 * 60) / 5.0 / 255, 0, 0, 1});
  expect_texel(texel(F::BC4_UNORM, block.bytes, 2, 0), {0, 0, 0, 1});
  expect_texel(texel(F::BC4_UNORM, block.bytes, 3, 0), {1, 0, 0, 1});
  Upward both;
  both.add(0x7f, 8).add(0x80, 8).add(0, 3).add(1, 3).add(0, 42).add(0x81, 8).add(0x10, 8).add(0, 3).add(6, 3);
  expect_texel(texel(F::BC5_SNORM, both.bytes, 0, 0), {1, -1, 0, 1});
  expect_texel(texel(F::BC5_SNORM, both.bytes, 1, 0), {-1, -1, 0, 1});
}

TEST(BlockFormats, Bc7BlocksMayHaveOneSubset) {
  Upward block;  // mode 6: colours and alpha of seven bits and a p-bit each, indices of four bits
  block.add(1u << 6, 7);
  for (unsigned channel = 0; channel < 4; ++channel) {
    block.add(0, 7).add(127, 7);
  }
  block.add(0, 1).add(1, 1);
  block.add(7, 3);  // the index of the first texel lacks its highest bit
  block.add(8, 4).add(15, 4).add(0, 4);
  const auto at = [](unsigned weight) { return (weight * 255 + 32) / 64 / 255.0; };
  expect_texel(texel(F::BC7_UNORM, block.bytes, 0, 0), {at(30), at(30), at(30), at(30)});
  expect_texel(texel(F::BC7_UNORM, block.bytes, 1, 0), {at(34), at(34), at(34), at(34)});
  expect_texel(texel(F::BC7_UNORM, block.bytes, 2, 0), {1, 1, 1, 1});
  expect_texel(texel(F::BC7_UNORM, block.bytes, 3, 0), {0, 0, 0, 0});
}

TEST(BlockFormats, Bc7BlocksMayHaveTwoSubsets) {
  Upward block;  // mode 1, partition 13: the lower half is the second subset
  block.add(2, 2).add(13, 6);
  for (unsigned channel = 0; channel < 3; ++channel) {
    block.add(0, 6).add(0, 6).add(channel == 0 ? 63 : 0, 6).add(channel == 0 ? 63 : 32, 6);
  }
  block.add(0, 1).add(1, 1);
  block.add(0, 2);
  for (unsigned i = 1; i < 15; ++i) {
    block.add(i == 14 ? 7 : 0, 3);
  }
  block.add(0, 2);
  expect_texel(texel(F::BC7_UNORM, block.bytes, 1, 1), {0, 0, 0, 1});
  // With a p-bit of one, 63 becomes 127 of 127; 0 becomes 1 of 127, which is 2 of 255; 32 becomes 65, which is 131.
  expect_texel(texel(F::BC7_UNORM, block.bytes, 0, 2), {1, 2 / 255.0, 2 / 255.0, 1});
  expect_texel(texel(F::BC7_UNORM, block.bytes, 2, 3), {1, 131 / 255.0, 131 / 255.0, 1});
}

TEST(BlockFormats, Bc7RotatesChannels) {
  Upward block;  // mode 5: rotation 2 exchanges alpha and green
  block.add(1u << 5, 6).add(2, 2);
  for (const unsigned value : {127u, 64u, 0u}) {
    block.add(value, 7).add(value, 7);
  }
  block.add(9, 8).add(9, 8);
  expect_texel(texel(F::BC7_UNORM, block.bytes, 2, 2), {1, 9 / 255.0, 0, 129 / 255.0});
  const std::array<std::byte, 16> reserved{};
  expect_texel(texel(F::BC7_UNORM, reserved, 0, 0), {0, 0, 0, 0});
}

TEST(BlockFormats, EtcIndividualModeHasTwoBaseColours) {
  Downward block;  // red and blue with four bits; tables 0 and 7; halves side by side
  block.add(15, 4).add(0, 4).add(0, 4).add(0, 4).add(0, 4).add(15, 4).add(0, 3).add(7, 3).add(0, 2);
  // The high bits of all texels precede the low bits. Texel 15 is first; texels are numbered column by column.
  block.add(0x0001, 16).add(0x8000, 16);
  expect_texel(texel(F::ETC1_RGB8, block.bytes, 1, 0), {1, 2 / 255.0, 2 / 255.0, 1});
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 0, 0), {253 / 255.0, 0, 0, 1});
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 2, 2), {47 / 255.0, 47 / 255.0, 1, 1});
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 3, 3), {183 / 255.0, 183 / 255.0, 1, 1});
}

TEST(BlockFormats, EtcDifferentialModeAddsADelta) {
  Downward block;  // base colours 10 and 10 - 2 with five bits; one half above the other
  for (unsigned channel = 0; channel < 3; ++channel) {
    block.add(10, 5).add(6, 3);
  }
  block.add(1, 3).add(1, 3).add(3, 2).add(0, 32);
  const double upper = (10 * 8 + 2 + 5) / 255.0;
  const double lower = (8 * 8 + 2 + 5) / 255.0;
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 3, 1), {upper, upper, upper, 1});
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 0, 2), {lower, lower, lower, 1});
}

TEST(BlockFormats, EtcTModeHasFourPaintColours) {
  Downward block;  // red overflows, which selects T mode: the first colour is plain, the second has the distance 11
  block.add(31, 5).add(1, 3).add(4, 4).add(5, 4);                      // first colour: red 13, green 4, blue 5
  block.add(8, 4).add(9, 4).add(10, 4).add(1, 2).add(1, 1).add(0, 1);  // second colour; distance index 2; bit 33 is set
  block.add(0x000c, 16).add(0x000a, 16);                               // indices of texels 0 to 3: 0, 1, 2, 3
  const auto of = [](int r, int g, int b) { return std::array{r / 255.0, g / 255.0, b / 255.0, 1.0}; };
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 0, 0), of(221, 68, 85));
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 0, 1), of(136 + 11, 153 + 11, 170 + 11));
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 0, 2), of(136, 153, 170));
  expect_texel(texel(F::ETC2_RGB8, block.bytes, 0, 3), of(136 - 11, 153 - 11, 170 - 11));
}

TEST(BlockFormats, EtcPunchthroughAlphaIsTransparentBlack) {
  Downward block;  // bit 33 clear: index 2 is transparent, index 0 is the base colour
  for (unsigned channel = 0; channel < 3; ++channel) {
    block.add(16, 5).add(0, 3);
  }
  block.add(3, 3).add(3, 3).add(0, 2).add(0x0006, 16).add(0x000c, 16);  // indices of texels 0 to 3: 0, 2, 3, 1
  const double middle = 132 / 255.0;
  expect_texel(texel(F::ETC2_RGB8_PTA, block.bytes, 0, 0), {middle, middle, middle, 1});
  expect_texel(texel(F::ETC2_RGB8_PTA, block.bytes, 0, 1), {0, 0, 0, 0});
  EXPECT_NEAR(texel(F::ETC2_RGB8_PTA, block.bytes, 0, 2)[0], (132 - 42) / 255.0, 1e-6);
  EXPECT_NEAR(texel(F::ETC2_RGB8_PTA, block.bytes, 0, 3)[0], (132 + 42) / 255.0, 1e-6);
}

TEST(BlockFormats, EacValuesFollowBaseMultiplierAndTable) {
  Downward block;
  block.add(100, 8).add(2, 4).add(13, 4).add(7, 3).add(0, 3).add(3, 3);  // modifiers of the first column: 9, -1, -10
  expect_texel(texel(F::EAC_R11, block.bytes, 0, 0), {(804 + 9 * 16) / 2047.0, 0, 0, 1});
  expect_texel(texel(F::EAC_R11, block.bytes, 0, 1), {(804 - 16) / 2047.0, 0, 0, 1});
  EXPECT_NEAR(texel(F::EAC_SIGNED_R11, block.bytes, 0, 2)[0], (800 - 160) / 1023.0, 1e-6);
  EXPECT_NEAR(texel(F::ETC2_EAC_RGBA8, block.bytes, 0, 0)[3], 118 / 255.0, 1e-6);
  EXPECT_NEAR(texel(F::ETC2_EAC_RGBA8, block.bytes, 0, 2)[3], 80 / 255.0, 1e-6);
}

TEST(BlockFormats, UnsupportedFormatsHaveNoRow) {
  EXPECT_EQ(block_format(F::R8G8B8A8_UNORM), nullptr);
  EXPECT_EQ(block_format(static_cast<F>(0x3fff)), nullptr);
}

}  // namespace
}  // namespace halogen::surface
