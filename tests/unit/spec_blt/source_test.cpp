// Encoding of the commands with a source rectangle: G45 PRM vol. 1b 8.9.15 to 8.9.24 (seed 003).
#include <gtest/gtest.h>

#include "covers.h"
#include "frame.h"
#include "hw/blt_source.h"

namespace halogen {
namespace {

using blt_test::expect_framed;
using blt_test::header;
using blt_test::is_reserved;
using blt_test::kRings32;
using blt_test::yx;
using spec::GenId;

constexpr uint32_t kControl = (1u << 24) | (0xccu << 16) | 0xffc0u;  // 565, copy, pitch -64

template <typename Command>
void expect_common(const Command& c) {
  EXPECT_FALSE(c.clipping_enable);
  EXPECT_EQ(c.color_depth, hw::BltColorDepth::COLOR_565);
  EXPECT_EQ(c.raster_operation, 0xcc);
  EXPECT_EQ(c.destination_pitch, -64);
  EXPECT_EQ(c.destination_y1, 1);
  EXPECT_EQ(c.destination_x1, 2);
  EXPECT_EQ(c.destination_y2, 3);
  EXPECT_EQ(c.destination_x2, 4);
  EXPECT_EQ(c.destination_base_address, GpuVa{0x00500000});
}

template <size_t N>
constexpr std::array<uint32_t, N> with_common(uint32_t first, std::array<uint32_t, N - 5> tail, uint32_t control = 0) {
  std::array<uint32_t, N> out{first, kControl | control, yx(1, 2), yx(3, 4), 0x00500000};
  for (size_t i = 0; i < tail.size(); ++i) out[5 + i] = tail[i];
  return out;
}

template <typename Command>
void expect_data(std::span<const uint32_t> dwords, size_t first, size_t count) {
  ASSERT_EQ(Command::count_immediate_data(GenId::gen4, dwords), count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(Command::unpack_immediate_data(GenId::gen4, dwords, i).data, dwords[first + i]);
  }
}

TEST(SourceBlt, XySrcCopyBltIsFramed) {
  COVERS("G45-8.9.15-01");
  constexpr auto kDwords = with_common<8>(header(0x53, 6, 1u << 15), {yx(0xfffb, 6), 0xff00, 0x00700000});
  expect_framed<hw::XY_SRC_COPY_BLT>(kDwords, kRings32);
  const auto c = hw::XY_SRC_COPY_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_TRUE(c.src_tiling_enable);
  EXPECT_FALSE(c.dest_tiling_enable);
  EXPECT_EQ(c.source_y1, -5);
  EXPECT_EQ(c.source_x1, 6);
  EXPECT_EQ(c.source_pitch, -256);
  EXPECT_EQ(c.source_base_address, GpuVa{0x00700000});
}

TEST(SourceBlt, XySrcCopyChromaBltIsFramed) {
  COVERS("G45-8.9.16-01");
  constexpr auto kDwords = with_common<10>(header(0x73, 8, (3u << 17) | (1u << 15)), {yx(5, 6), 7, 8, 9, 10});
  expect_framed<hw::XY_SRC_COPY_CHROMA_BLT>(kDwords, kRings32);
  const auto c = hw::XY_SRC_COPY_CHROMA_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.transparency_range_mode, hw::BltTransparencyMode::SOURCE_ARGB);
  EXPECT_TRUE(c.src_tiling_enable);
  EXPECT_EQ(c.transparency_color_low, 9u);
  EXPECT_EQ(c.transparency_color_high, 10u);
}

TEST(SourceBlt, XyMonoSrcCopyBltIsFramed) {
  COVERS("G45-8.9.17-01");
  constexpr auto kDwords = with_common<8>(header(0x54, 6, 5u << 17), {0x00600003, 7, 8}, 1u << 29);
  expect_framed<hw::XY_MONO_SRC_COPY_BLT>(kDwords, kRings32);
  const auto c = hw::XY_MONO_SRC_COPY_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.mono_source_start, 5);
  EXPECT_TRUE(c.mono_source_transparency);
  EXPECT_EQ(c.source_address, GpuVa{0x00600003});
  EXPECT_EQ(c.source_background_color, 7u);
  EXPECT_EQ(c.source_foreground_color, 8u);
}

TEST(SourceBlt, XyMonoSrcCopyImmediateDataBeginsAtDword7) {
  COVERS("G45-8.9.18-01");
  COVERS("G45-8.9.18-02");
  constexpr auto kDwords = with_common<7 + 4>(header(0x71, 5 + 4, 5u << 17), {7, 8, 100, 101, 102, 103});
  expect_framed<hw::XY_MONO_SRC_COPY_IMMEDIATE_BLT>(kDwords, kRings32);
  const auto c = hw::XY_MONO_SRC_COPY_IMMEDIATE_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.source_background_color, 7u);
  EXPECT_EQ(c.source_foreground_color, 8u);
  expect_data<hw::XY_MONO_SRC_COPY_IMMEDIATE_BLT>(kDwords, 7, 4);
}

TEST(SourceBlt, XyFullBltHasPitchBeforeCoordinates) {
  COVERS("G45-8.9.19-01");
  COVERS("G45-8.9.19-02");
  constexpr std::array<uint32_t, 4> kTail = {0x0040, yx(5, 6), 0x00700000, 0x00800040};
  constexpr auto kDwords = with_common<9>(header(0x55, 7, (1u << 15) | (1u << 11)), kTail);
  expect_framed<hw::XY_FULL_BLT>(kDwords, kRings32);
  const auto c = hw::XY_FULL_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.source_pitch, 0x40);
  EXPECT_EQ(c.source_y1, 5);
  EXPECT_EQ(c.source_x1, 6);
  EXPECT_EQ(c.source_base_address, GpuVa{0x00700000});
  EXPECT_EQ(c.pattern_base_address, GpuVa{0x00800040});
  // XY_SRC_COPY_BLT has them in the opposite order.
  constexpr auto kCopy = with_common<8>(header(0x53, 6), {yx(5, 6), 0x0040, 0});
  const auto copy = hw::XY_SRC_COPY_BLT::unpack(GenId::gen4, kCopy);
  EXPECT_EQ(copy.source_x1, 6);
  EXPECT_EQ(copy.source_pitch, 0x40);
}

TEST(SourceBlt, XyFullImmediatePatternBltIsFramed) {
  COVERS("G45-8.9.20-01");
  std::array<uint32_t, 16 + 3> tail{0x0040, yx(5, 6), 0x00700000};
  for (size_t i = 3; i < tail.size(); ++i) tail[i] = static_cast<uint32_t>(200 + i);
  const auto dwords = with_common<8 + 16>(header(0x74, 6 + 16), tail);
  expect_framed<hw::XY_FULL_IMMEDIATE_PATTERN_BLT>(dwords, kRings32);
  expect_common(hw::XY_FULL_IMMEDIATE_PATTERN_BLT::unpack(GenId::gen4, dwords));
  expect_data<hw::XY_FULL_IMMEDIATE_PATTERN_BLT>(dwords, 8, 16);
}

TEST(SourceBlt, XyFullMonoSrcBltIsFramed) {
  COVERS("G45-8.9.21-01");
  constexpr auto kDwords = with_common<9>(header(0x56, 7, 3u << 17), {0x00600000, 7, 8, 0x00800080}, 1u << 29);
  expect_framed<hw::XY_FULL_MONO_SRC_BLT>(kDwords, kRings32);
  const auto c = hw::XY_FULL_MONO_SRC_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.mono_source_start, 3);
  EXPECT_EQ(c.source_address, GpuVa{0x00600000});
  EXPECT_EQ(c.source_background_color, 7u);
  EXPECT_EQ(c.source_foreground_color, 8u);
  EXPECT_EQ(c.pattern_base_address, GpuVa{0x00800080});
}

TEST(SourceBlt, XyFullMonoSrcImmediatePatternBltIsFramed) {
  COVERS("G45-8.9.22-01");
  std::array<uint32_t, 32 + 3> tail{0x00600000, 7, 8};
  for (size_t i = 3; i < tail.size(); ++i) tail[i] = static_cast<uint32_t>(300 + i);
  const auto dwords = with_common<8 + 32>(header(0x75, 6 + 32, 3u << 17), tail);
  expect_framed<hw::XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT>(dwords, kRings32);
  expect_common(hw::XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT::unpack(GenId::gen4, dwords));
  expect_data<hw::XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT>(dwords, 8, 32);
}

constexpr auto kFullMonoPattern =
    with_common<12>(header(0x57, 10, 1u << 15), {0x0040, yx(5, 6), 0x00700000, 8, 9, 10, 11}, (1u << 31) | (1u << 28));

TEST(SourceBlt, XyFullMonoPatternBltIsFramed) {
  COVERS("G45-8.9.23-01");
  expect_framed<hw::XY_FULL_MONO_PATTERN_BLT>(kFullMonoPattern, kRings32);
  const auto c = hw::XY_FULL_MONO_PATTERN_BLT::unpack(GenId::gen4, kFullMonoPattern);
  expect_common(c);
  EXPECT_TRUE(c.solid_pattern_select);
  EXPECT_TRUE(c.mono_pattern_transparency);
  EXPECT_EQ(c.source_pitch, 0x40);
  EXPECT_EQ(c.source_y1, 5);
  EXPECT_EQ(c.source_x1, 6);
  EXPECT_EQ(c.source_base_address, GpuVa{0x00700000});
  EXPECT_EQ(c.pattern_background_color, 8u);
  EXPECT_EQ(c.pattern_foreground_color, 9u);
  EXPECT_EQ(c.pattern_data_0, 10u);
  EXPECT_EQ(c.pattern_data_1, 11u);
}

TEST(SourceBlt, FullMonoPatternHasOneTransparencyBitAndTheStandardDepths) {
  COVERS("G45-8.9.23-02");
  EXPECT_TRUE(is_reserved<hw::XY_FULL_MONO_PATTERN_BLT>(kFullMonoPattern, 1, 27));
  const struct {
    uint32_t code;
    hw::BltColorDepth depth;
    std::string_view name;
  } depths[] = {{0, hw::BltColorDepth::COLOR_8BIT, "COLOR_8BIT"},
                {1, hw::BltColorDepth::COLOR_565, "COLOR_565"},
                {2, hw::BltColorDepth::COLOR_1555, "COLOR_1555"},
                {3, hw::BltColorDepth::COLOR_32BIT, "COLOR_32BIT"}};
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const spec::FieldDesc* field = spec::find_field(hw::XY_FULL_MONO_PATTERN_BLT::kDesc, gen, "color_depth");
    ASSERT_NE(field, nullptr);
    for (const auto& row : depths) {
      auto dwords = kFullMonoPattern;
      dwords[1] = row.code << 24;
      EXPECT_EQ(hw::XY_FULL_MONO_PATTERN_BLT::unpack(gen, dwords).color_depth, row.depth);
      EXPECT_EQ(field->enumeration->name_of(row.code, gen), row.name);
    }
    auto dwords = kFullMonoPattern;
    dwords[1] = 1u << 28;
    EXPECT_TRUE(hw::XY_FULL_MONO_PATTERN_BLT::unpack(gen, dwords).mono_pattern_transparency);
    dwords[1] = 1u << 27;
    EXPECT_FALSE(hw::XY_FULL_MONO_PATTERN_BLT::unpack(gen, dwords).mono_pattern_transparency);
  }
}

TEST(SourceBlt, XyFullMonoPatternMonoSrcBltIsFramed) {
  COVERS("G45-8.9.24-01");
  constexpr auto kDwords = with_common<12>(header(0x58, 10, 3u << 17), {0x00600001, 6, 7, 8, 9, 10, 11});
  expect_framed<hw::XY_FULL_MONO_PATTERN_MONO_SRC_BLT>(kDwords, kRings32);
  const auto c = hw::XY_FULL_MONO_PATTERN_MONO_SRC_BLT::unpack(GenId::gen4, kDwords);
  expect_common(c);
  EXPECT_EQ(c.mono_source_start, 3);
  EXPECT_EQ(c.source_address, GpuVa{0x00600001});
  EXPECT_EQ(c.source_background_color, 6u);
  EXPECT_EQ(c.source_foreground_color, 7u);
  EXPECT_EQ(c.pattern_background_color, 8u);
  EXPECT_EQ(c.pattern_foreground_color, 9u);
  EXPECT_EQ(c.pattern_data_0, 10u);
  EXPECT_EQ(c.pattern_data_1, 11u);
}

}  // namespace
}  // namespace halogen
