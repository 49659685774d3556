#include "base/bits.h"

#include <gtest/gtest.h>

#include <array>

namespace halogen {
namespace {

TEST(Bits, RunsCrossDwords) {
  const std::array<uint32_t, 2> dwords{0xdead'beef, 0x0123'4567};
  EXPECT_EQ(get_bits(dwords, 0, 64), 0x0123'4567'dead'beefu);
  EXPECT_EQ(get_bits(dwords, 28, 8), 0x7du);
  EXPECT_EQ(get_bits(dwords, 63, 1), 0u);
}

TEST(Bits, AccessesPastTheEndReadZeroAndDropWrites) {
  std::array<uint32_t, 1> dwords{0xffff'ffff};
  EXPECT_EQ(get_bits(dwords, 16, 32), 0xffffu);
  put_bits(dwords, 24, 16, 0);
  EXPECT_EQ(dwords[0], 0x00ff'ffffu);
  put_bits(dwords, 64, 8, 0xff);
  EXPECT_EQ(dwords[0], 0x00ff'ffffu);
}

TEST(Bits, PutKeepsOtherBits) {
  std::array<uint32_t, 3> dwords{0x1111'1111, 0x2222'2222, 0x3333'3333};
  put_bits(dwords, 20, 40, 0xab'cdef'0123);
  EXPECT_EQ(get_bits(dwords, 20, 40), 0xab'cdef'0123u);
  EXPECT_EQ(get_bits(dwords, 0, 20), 0x1'1111u);
  EXPECT_EQ(get_bits(dwords, 60, 36), (0x3333'3333ull << 4) | 2u);
}

TEST(Bits, SignExtensionCopiesTheHighestBit) {
  EXPECT_EQ(sign_extend(0x8, 4), -8);
  EXPECT_EQ(sign_extend(0x7, 4), 7);
}

}  // namespace
}  // namespace halogen
