// Whatever the bits of a block are, every texel is a finite number in the range of its format.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>

#include "surface/block_format.h"

namespace halogen::surface {
namespace {

TEST(BlockFormats, AnyBitsDecodeToFiniteValues) {
  std::mt19937_64 random(5);
  unsigned formats = 0;
  for (unsigned number = 0; number < 1024; ++number) {
    const BlockFormat* const format = block_format(static_cast<hw::SurfaceFormat>(number));
    if (format == nullptr) {
      continue;
    }
    ++formats;
    const float most = format->code == BlockCode::bc6h ? 65504.0f : 1.0f;
    for (int round = 0; round < 200; ++round) {
      std::array<uint64_t, 2> words{random(), random()};
      if (round % 4 == 0) {
        words[0] &= random();  // codes with many zeros
      }
      std::array<std::byte, 16> bytes{};
      std::memcpy(bytes.data(), words.data(), sizeof(words));
      for (unsigned texel = 0; texel < unsigned{format->width} * format->height; ++texel) {
        for (const uint32_t raw :
             unpack_block_texel(*format, bytes.data(), texel % format->width, texel / format->width)) {
          const auto value = std::bit_cast<float>(raw);
          ASSERT_TRUE(value >= -most && value <= most) << number << ": " << std::hex << words[0] << ' ' << words[1];
        }
      }
    }
  }
  EXPECT_EQ(formats, 56u) << "25 of BC and ETC, BC6H, FXT1, 14 sizes of ASTC in two ways";
}

}  // namespace
}  // namespace halogen::surface
