// Encoding of the fill and pattern commands: G45 PRM vol. 1b 8.9.8 to 8.9.14 (seed 003), and the differences between
// BR00 and the commands.
#include <gtest/gtest.h>

#include "covers.h"
#include "frame.h"
#include "hw/blt.h"

namespace halogen {
namespace {

using blt_test::expect_framed;
using blt_test::header;
using blt_test::is_reserved;
using blt_test::kRings32;
using blt_test::yx;
using spec::GenId;

constexpr uint32_t kControl = (1u << 30) | (3u << 24) | (0xf0u << 16) | 0x0400u;

// Checks dwords 1 to 4 of a drawing command that begins {header, kControl, (-2,3), (5,6), base}.
template <typename Command>
void expect_common(const Command& c) {
  EXPECT_TRUE(c.clipping_enable);
  EXPECT_EQ(c.color_depth, hw::BltColorDepth::COLOR_32BIT);
  EXPECT_EQ(c.raster_operation, 0xf0);
  EXPECT_EQ(c.destination_pitch, 0x400);
  EXPECT_EQ(c.destination_y1, -2);
  EXPECT_EQ(c.destination_x1, 3);
  EXPECT_EQ(c.destination_y2, 5);
  EXPECT_EQ(c.destination_x2, 6);
  EXPECT_EQ(c.destination_base_address, GpuVa{0x10001000});
}

template <size_t N>
constexpr std::array<uint32_t, N> with_common(uint32_t first, std::array<uint32_t, N - 5> tail, uint32_t control = 0) {
  std::array<uint32_t, N> out{first, kControl | control, yx(0xfffe, 3), yx(5, 6), 0x10001000};
  for (size_t i = 0; i < tail.size(); ++i) out[5 + i] = tail[i];
  return out;
}

// Returns {common, tail, 1000, 1001, ...}, with `data` immediate dwords at the end.
template <size_t N, size_t Tail>
constexpr std::array<uint32_t, N> with_data(uint32_t first, std::array<uint32_t, Tail> tail) {
  std::array<uint32_t, N> out{first, kControl, yx(0xfffe, 3), yx(5, 6), 0x10001000};
  for (size_t i = 0; i < Tail; ++i) out[5 + i] = tail[i];
  for (size_t i = 5 + Tail; i < N; ++i) out[i] = static_cast<uint32_t>(1000 + i - 5 - Tail);
  return out;
}

template <typename Command>
void expect_data(std::span<const uint32_t> dwords, size_t count) {
  ASSERT_EQ(Command::count_immediate_data(GenId::gen4, dwords), count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(Command::unpack_immediate_data(GenId::gen4, dwords, i).data, 1000 + i);
  }
}

TEST(PatternBlt, XyColorBltIsFramed) {
  constexpr auto kDwords = with_common<6>(header(0x50, 4, (3u << 20) | (1u << 11)), {0xdeadbeef});
  expect_framed<hw::XY_COLOR_BLT>(kDwords, kRings32);
  const auto c = hw::XY_COLOR_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_TRUE(c.dest_tiling_enable);
  EXPECT_EQ(c.byte_mask_32bpp, hw::BltByteMask::RGBA);
  EXPECT_EQ(c.solid_pattern_color, 0xdeadbeefu);
}

TEST(PatternBlt, XyPatBltIsFramed) {
  COVERS("G45-8.9.9-01");
  constexpr auto kDwords = with_common<6>(header(0x51, 4, (6u << 12) | (3u << 8)), {0xffffffff});
  expect_framed<hw::XY_PAT_BLT>(kDwords, kRings32);
  const auto c = hw::XY_PAT_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.pattern_horizontal_seed, 6);
  EXPECT_EQ(c.pattern_vertical_seed, 3);
  EXPECT_EQ(c.pattern_base_address, GpuVa{0x1fffffc0});
}

constexpr auto kPatChroma =
    with_common<8>(header(0x76, 6, (5u << 17) | (6u << 12) | (3u << 8)), {0x00000200, 0x11, 0x22});

TEST(PatternBlt, XyPatChromaBltIsFramed) {
  COVERS("G45-8.9.10-01");
  expect_framed<hw::XY_PAT_CHROMA_BLT>(kPatChroma, kRings32);
  const auto c = hw::XY_PAT_CHROMA_BLT::unpack(GenId::gen4, kPatChroma);
  expect_common(c);
  EXPECT_EQ(c.transparency_range_mode, hw::BltTransparencyMode::DESTINATION_ARGB);
  EXPECT_EQ(c.pattern_base_address, GpuVa{0x200});
  EXPECT_EQ(c.transparency_color_low, 0x11u);
  EXPECT_EQ(c.transparency_color_high, 0x22u);
}

TEST(PatternBlt, ModeAndSeedBitsDifferFromBr00) {
  COVERS("G45-8.10.1-02");
  const auto c = hw::XY_PAT_CHROMA_BLT::unpack(GenId::gen4, kPatChroma);
  EXPECT_EQ(static_cast<unsigned>(c.transparency_range_mode), (kPatChroma[0] >> 17) & 7u);
  EXPECT_EQ(c.pattern_vertical_seed, (kPatChroma[0] >> 8) & 7u);
  constexpr std::array<uint32_t, 1> kBr00 = {(7u << 8) | (2u << 5)};
  const auto br00 = hw::BR00::unpack(GenId::gen4, kBr00);
  EXPECT_EQ(br00.transparency_range_mode, hw::BltTransparencyMode::DESTINATION_RGB);
  EXPECT_EQ(br00.pattern_vertical_seed, 2);
}

TEST(PatternBlt, XyPatBltImmediateHoldsAnEightByEightPattern) {
  COVERS("G45-8.9.11-01");
  constexpr auto k8 = with_data<5 + 16, 0>(header(0x72, 3 + 16), {});
  constexpr auto k16 = with_data<5 + 32, 0>(header(0x72, 3 + 32), {});
  constexpr auto k32 = with_data<5 + 64, 0>(header(0x72, 3 + 64), {});
  expect_framed<hw::XY_PAT_BLT_IMMEDIATE>(k8, kRings32);
  expect_framed<hw::XY_PAT_BLT_IMMEDIATE>(k16, kRings32);
  expect_framed<hw::XY_PAT_BLT_IMMEDIATE>(k32, kRings32);
  expect_data<hw::XY_PAT_BLT_IMMEDIATE>(k8, 16);
  expect_data<hw::XY_PAT_BLT_IMMEDIATE>(k16, 32);
  expect_data<hw::XY_PAT_BLT_IMMEDIATE>(k32, 64);
  expect_common(hw::XY_PAT_BLT_IMMEDIATE::unpack(GenId::gen4, k32));
}

TEST(PatternBlt, XyPatChromaBltImmediateIsFramed) {
  COVERS("G45-8.9.12-01");
  constexpr auto kDwords = with_data<7 + 16, 2>(header(0x77, 5 + 16, 7u << 17), {0x11, 0x22});
  expect_framed<hw::XY_PAT_CHROMA_BLT_IMMEDIATE>(kDwords, kRings32);
  const auto c = hw::XY_PAT_CHROMA_BLT_IMMEDIATE::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.transparency_range_mode, hw::BltTransparencyMode::DESTINATION_RGB);
  EXPECT_EQ(c.transparency_color_low, 0x11u);
  EXPECT_EQ(c.transparency_color_high, 0x22u);
  expect_data<hw::XY_PAT_CHROMA_BLT_IMMEDIATE>(kDwords, 16);
}

TEST(PatternBlt, XyMonoPatBltIsFramed) {
  COVERS("G45-8.9.13-01");
  constexpr auto kDwords = with_common<9>(header(0x52, 7, (6u << 12) | (3u << 8)), {1, 2, 3, 4}, 1u << 28);
  expect_framed<hw::XY_MONO_PAT_BLT>(kDwords, kRings32);
  const auto c = hw::XY_MONO_PAT_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_TRUE(c.mono_pattern_transparency);
  EXPECT_EQ(c.pattern_background_color, 1u);
  EXPECT_EQ(c.pattern_foreground_color, 2u);
  EXPECT_EQ(c.pattern_data_0, 3u);
  EXPECT_EQ(c.pattern_data_1, 4u);
}

constexpr auto kMonoFixed = with_common<7>(header(0x59, 5, (11u << 15) | (6u << 12) | (3u << 8)), {1, 2}, 1u << 28);

TEST(PatternBlt, XyMonoPatFixedBltIsFramed) {
  expect_framed<hw::XY_MONO_PAT_FIXED_BLT>(kMonoFixed, kRings32);
  const auto c = hw::XY_MONO_PAT_FIXED_BLT::unpack(GenId::gen4, kMonoFixed);
  expect_common(c);
  EXPECT_EQ(c.fixed_pattern, hw::BltFixedPattern::WALKING_ZERO);
  EXPECT_EQ(c.pattern_background_color, 1u);
  EXPECT_EQ(c.pattern_foreground_color, 2u);
}

TEST(PatternBlt, FixedPatternNumbersZeroToFiveAndEightToElevenAreNamed) {
  COVERS("G45-8.9.14-02");
  const spec::FieldDesc* field = spec::find_field(hw::XY_MONO_PAT_FIXED_BLT::kDesc, GenId::gen4, "fixed_pattern");
  ASSERT_NE(field, nullptr);
  for (uint64_t n = 0; n < 16; ++n) {
    const bool valid = n <= 5 || (n >= 8 && n <= 11);
    EXPECT_EQ(!field->enumeration->name_of(n, GenId::gen4).empty(), valid) << n;
  }
}

TEST(PatternBlt, BitMaskEnableIsReserved) {
  COVERS("G45-8.9.14-03");
  EXPECT_TRUE(is_reserved<hw::XY_MONO_PAT_FIXED_BLT>(kMonoFixed, 1, 27));
  EXPECT_TRUE(is_reserved<hw::XY_MONO_PAT_FIXED_BLT>(kMonoFixed, 1, 26));
}

}  // namespace
}  // namespace halogen
