// The two forms of a graphics address: bits 63:48 are copies of bit 47, or zeros.
#include "base/graphics_address.h"

#include <gtest/gtest.h>

namespace halogen {
namespace {

constexpr uint64_t kLow = 0x0000'7fff'ffff'f000, kHighPlain = 0x0000'8000'0000'1000, kHigh = 0xffff'8000'0000'1000;
constexpr uint64_t kNeither = 0x0001'0000'0000'1000, kNeitherHigh = 0x7fff'8000'0000'1000;

TEST(GraphicsAddress, BothFormsAreAddressesAndNothingElseIs) {
  for (const uint64_t address : {uint64_t{0}, kLow, kHighPlain, kHigh, ~uint64_t{0}}) {
    EXPECT_TRUE(is_graphics_address(address)) << std::hex << address;
  }
  EXPECT_FALSE(is_graphics_address(kNeither));
  EXPECT_FALSE(is_graphics_address(kNeitherHigh));
}

TEST(GraphicsAddress, CanonicalFormCopiesBit47) {
  EXPECT_TRUE(is_canonical(kLow));
  EXPECT_TRUE(is_canonical(kHigh));
  EXPECT_FALSE(is_canonical(kHighPlain));
  EXPECT_TRUE(is_canonical(0xffff'ffff'8000'0000, 32));
  EXPECT_FALSE(is_canonical(0x8000'0000, 32));
  EXPECT_EQ(canonical(GpuVa{kLow}).value, kLow);
  EXPECT_EQ(canonical(GpuVa{kHighPlain}).value, kHigh);
  EXPECT_EQ(canonical(GpuVa{kHigh}).value, kHigh);
}

TEST(GraphicsAddress, AddressInNeitherFormIsKeptForThePageWalkToReject) {
  EXPECT_EQ(canonical(GpuVa{kNeither}).value, kNeither);
  EXPECT_EQ(canonical(GpuVa{kNeitherHigh}).value, kNeitherHigh);
}

TEST(GraphicsAddress, SumOfABaseAndAnOffsetWrapsAt48Bits) {
  EXPECT_EQ(wrapped_address(kLow + 0x1000).value, 0xffff'8000'0000'0000);
  EXPECT_EQ(wrapped_address(0xffff'ffff'ffff'f000 + 0x3000).value, 0x2000u);
  EXPECT_EQ(wrapped_address(kNeither).value, 0x1000u);
  EXPECT_EQ(plain_address(kHigh), kHighPlain);
  EXPECT_EQ(plain_address(kHighPlain), kHighPlain);
}

}  // namespace
}  // namespace halogen
