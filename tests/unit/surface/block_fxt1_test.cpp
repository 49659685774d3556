// FXT1: random blocks of each mode, with texels of both halves as Mesa's software rasteriser decodes them; and a block
// computed by hand.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "surface/block_format.h"

namespace halogen::surface {
namespace {

struct Sample {
  unsigned x, y;
  std::array<long, 4> color;  // in units of 1/255
};
struct Vector {
  uint64_t low, high;
  std::array<Sample, 2> samples;
};

constexpr Vector kVectors[] = {
    {0xc11f6531eb66d9a7, 0xf30567547a34c162, {{{2, 3, {239, 28, 74, 255}}, {6, 0, {0, 0, 0, 0}}}}},
    {0x1e0edcc1206967ce, 0xe4546c04d9ff7cf6, {{{2, 0, {255, 57, 181, 255}}, {6, 1, {88, 61, 112, 255}}}}},
    {0x242a5f87d0a7dedd, 0x0e1a95d201fdd96c, {{{2, 3, {0, 0, 0, 0}}, {6, 0, {41, 115, 148, 255}}}}},
    {0xd52039de8d0ea181, 0xe694f6378f1c4446, {{{0, 2, {85, 101, 148, 255}}, {4, 3, {156, 48, 184, 255}}}}},
    {0x41d51c773e6f53e1, 0xb7c8aabd2e11cae4, {{{2, 0, {189, 12, 25, 255}}, {6, 1, {102, 167, 103, 255}}}}},
    {0xc17881b052b6a73e, 0x989fd3f3af7be2f1, {{{3, 1, {189, 186, 189, 255}}, {7, 2, {148, 152, 181, 255}}}}},
    {0x65befc3ca8d0cb6f, 0x4efbbcebcab6d1fe, {{{1, 2, {165, 123, 247, 255}}, {5, 3, {41, 90, 107, 255}}}}},
    {0xd508fc881e90b418, 0x4dd3484f06240dc9, {{{1, 0, {66, 74, 230, 255}}, {5, 1, {222, 165, 214, 255}}}}},
    {0xddd5bae10f5afceb, 0x44822da5eb247b16, {{{1, 0, {107, 165, 189, 255}}, {5, 1, {107, 165, 189, 255}}}}},
    {0x0b108bd5460f2054, 0x089011480bdf99cf, {{{0, 1, {33, 79, 44, 255}}, {4, 2, {33, 81, 55, 255}}}}},
    {0x5dfaafc1290f151f, 0x54b802b2f20e27f0, {{{0, 0, {74, 115, 0, 255}}, {4, 1, {74, 115, 0, 255}}}}},
    {0xaabe336043197207, 0xa462a1b0e7f4494a, {{{1, 1, {148, 81, 82, 255}}, {5, 2, {66, 194, 173, 255}}}}},
    {0x984358220a86bba7, 0x5960033f3f4c84bb, {{{0, 0, {148, 197, 0, 255}}, {4, 1, {8, 41, 222, 255}}}}},
    {0xb7b7c578e938634a, 0x1617ff535d759328, {{{3, 3, {90, 8, 123, 255}}, {7, 0, {173, 111, 140, 255}}}}},
    {0x47f84990b25f0c1c, 0x129afa40281bf99e, {{{1, 2, {74, 74, 173, 255}}, {5, 3, {247, 148, 0, 255}}}}},
    {0x43679c2f2357a3ba, 0x744d750208007848, {{{1, 0, {104, 5, 22, 134}}, {5, 1, {33, 0, 0, 156}}}}},
    {0xaf9ce248414e21aa, 0x71df1b0821d418ea, {{{0, 1, {77, 118, 77, 194}}, {4, 2, {222, 8, 0, 25}}}}},
    {0x3c858bc232f36785, 0x6dfa662652b42465, {{{3, 0, {49, 33, 206, 222}}, {7, 1, {49, 33, 206, 222}}}}},
    {0x380ffcd052a07860, 0x54cb281084d43847, {{{2, 1, {74, 148, 206, 255}}, {6, 2, {115, 16, 58, 255}}}}},
    {0xa903af514ac976ba, 0x6636c3ee0353812b, {{{0, 1, {25, 239, 197, 99}}, {4, 2, {0, 0, 0, 0}}}}},
    {0x2e33bed54bfa4f84, 0x74bffc00ab287ad2, {{{3, 1, {222, 170, 143, 211}}, {7, 2, {230, 0, 16, 74}}}}},
    {0xde0c50992dc9e891, 0x63161e980e657c6b, {{{0, 0, {58, 49, 82, 41}}, {4, 1, {255, 25, 90, 132}}}}},
};

std::array<long, 4> texel(uint64_t low, uint64_t high, unsigned x, unsigned y) {
  std::array<std::byte, 16> bytes{};
  std::memcpy(bytes.data(), &low, 8);
  std::memcpy(bytes.data() + 8, &high, 8);
  const Texel raw = unpack_block_texel(*block_format(hw::SurfaceFormat::FXT1), bytes.data(), x, y);
  std::array<long, 4> out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = std::lround(std::bit_cast<float>(raw[i]) * 255.0f);
  }
  return out;
}

TEST(Fxt1, RandomBlocksMatchTheReference) {
  for (const Vector& one : kVectors) {
    for (const Sample& sample : one.samples) {
      EXPECT_EQ(texel(one.low, one.high, sample.x, sample.y), sample.color) << std::hex << one.low << ' ' << one.high;
    }
  }
}

// Four colours: blue, green, red and white, by the indices of the first row of each half.
TEST(Fxt1, FourColourBlocksSelectColoursDirectly) {
  const uint64_t low = 0xe4 | uint64_t{0x1b} << 32;  // 0, 1, 2, 3 and 3, 2, 1, 0
  const uint64_t high = uint64_t{0x1f} | uint64_t{0x1f << 5} << 15 | uint64_t{0x1f << 10} << 30 |
                        uint64_t{0x7fff} << 45 | uint64_t{2} << 61;
  using Color = std::array<long, 4>;
  EXPECT_EQ(texel(low, high, 0, 0), (Color{0, 0, 255, 255}));
  EXPECT_EQ(texel(low, high, 1, 0), (Color{0, 255, 0, 255}));
  EXPECT_EQ(texel(low, high, 2, 0), (Color{255, 0, 0, 255}));
  EXPECT_EQ(texel(low, high, 3, 0), (Color{255, 255, 255, 255}));
  EXPECT_EQ(texel(low, high, 4, 0), (Color{255, 255, 255, 255}));
  EXPECT_EQ(texel(low, high, 7, 0), (Color{0, 0, 255, 255}));
}

}  // namespace
}  // namespace halogen::surface
