// Encoding of the linear BLT commands, the setup commands and the commands that use the setup: G45 PRM vol. 1b 8.8,
// 8.9.1 to 8.9.7 (seed 003).
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

constexpr std::array<uint32_t, 5> kColorBlt = {
    header(0x40, 3, 3u << 20),             // both byte masks
    (3u << 24) | (0xf0u << 16) | 0xfc00u,  // 32 bpp, copy pattern, pitch -1024
    yx(0x8001, 0xfffe),
    0x01234567,
    0x89abcdef,
};

TEST(LinearBlt, ColorBltHasFiveDwordsAndItsFields) {
  COVERS("G45-8.8.1-01");
  COVERS("G45-8.10.10-02");  // 16 bits of height and width, although BR14 shows 13
  expect_framed<hw::COLOR_BLT>(kColorBlt, kRings32);
  const auto c = hw::COLOR_BLT::unpack(GenId::gen4, kColorBlt);
  EXPECT_EQ(c.byte_mask_32bpp, hw::BltByteMask::RGBA);
  EXPECT_EQ(c.color_depth, hw::BltColorDepth::COLOR_32BIT);
  EXPECT_EQ(c.raster_operation, 0xf0);
  EXPECT_EQ(c.destination_pitch, -1024);
  EXPECT_EQ(c.destination_height, 0x8001);
  EXPECT_EQ(c.destination_width, 0xfffe);
  EXPECT_EQ(c.destination_address, GpuVa{0x01234567});
  EXPECT_EQ(c.solid_pattern_color, 0x89abcdefu);
  // The length field ends at bit 4, and only the mask is above it: there are no tiling bits.
  for (unsigned bit = 5; bit <= 19; ++bit) EXPECT_TRUE(is_reserved<hw::COLOR_BLT>(kColorBlt, 0, bit)) << bit;
}

TEST(LinearBlt, DepthOneIs565) {
  COVERS("G45-8.8.1-03");
  COVERS("G45-8.10.9-02");  // two is 1555, three is 32 bits
  constexpr std::array kNames = {hw::BltColorDepth::COLOR_8BIT, hw::BltColorDepth::COLOR_565,
                                 hw::BltColorDepth::COLOR_1555, hw::BltColorDepth::COLOR_32BIT};
  for (uint32_t depth = 0; depth < 4; ++depth) {
    std::array<uint32_t, 5> dwords = kColorBlt;
    dwords[1] = (depth << 24) | 0xcc0000u;
    EXPECT_EQ(hw::COLOR_BLT::unpack(GenId::gen4, dwords).color_depth, kNames[depth]);
    const std::array<uint32_t, 1> br13 = {dwords[1]};
    EXPECT_EQ(hw::BR13::unpack(GenId::gen4, br13).color_depth, kNames[depth]);
  }
}

constexpr std::array<uint32_t, 6> kSrcCopyBlt = {
    header(0x43, 4, 1u << 20),
    (1u << 30) | (1u << 24) | (0xccu << 16) | 0x0200u,
    yx(0x0011, 0x2233),
    0x1fedcba9,
    0xff80u,
    0x00112233,
};

TEST(LinearBlt, SrcCopyBltHasSixDwordsAndItsFields) {
  COVERS("G45-8.8.2-01");
  expect_framed<hw::SRC_COPY_BLT>(kSrcCopyBlt, kRings32);
  const auto c = hw::SRC_COPY_BLT::unpack(GenId::gen4, kSrcCopyBlt);
  EXPECT_EQ(c.byte_mask_32bpp, hw::BltByteMask::RGB);
  EXPECT_EQ(c.x_direction, hw::BltXDirection::RIGHT_TO_LEFT);
  EXPECT_EQ(c.color_depth, hw::BltColorDepth::COLOR_565);
  EXPECT_EQ(c.raster_operation, 0xcc);
  EXPECT_EQ(c.destination_pitch, 0x200);
  EXPECT_EQ(c.destination_height, 0x11);
  EXPECT_EQ(c.destination_width, 0x2233);
  EXPECT_EQ(c.destination_address, GpuVa{0x1fedcba9});
  EXPECT_EQ(c.source_pitch, -128);
  EXPECT_EQ(c.source_address, GpuVa{0x00112233});
}

TEST(LinearBlt, SourcePitchHasSixteenBits) {
  COVERS("G45-8.8.2-03");
  for (unsigned bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(is_reserved<hw::SRC_COPY_BLT>(kSrcCopyBlt, 4, bit), bit >= 16) << bit;
  }
}

TEST(LinearBlt, CommandsWithoutALayoutInTheManualAreAbsent) {
  COVERS("G45-8.2.2.2-02");
  EXPECT_EQ(spec::find_command("IMMEDIATE_INDIRECT_BLT"), nullptr);
  EXPECT_EQ(spec::find_command("PAT_BLT"), nullptr);
}

constexpr std::array<uint32_t, 8> kSetupBlt = {
    header(0x01, 6, (2u << 20) | (1u << 11)),
    (1u << 30) | (1u << 29) | (2u << 24) | (0x5au << 16) | 0x0080u,
    yx(0x7fff, 1),
    yx(2, 0x7ffe),
    0x12345000,
    0xaaaa5555,
    0x5555aaaa,
    0x1fffffc0,
};

TEST(SetupBlt, XySetupBltHasEightDwordsAndItsFields) {
  COVERS("G45-8.9.1-01");
  expect_framed<hw::XY_SETUP_BLT>(kSetupBlt, kRings32);
  const auto c = hw::XY_SETUP_BLT::unpack(GenId::gen4, kSetupBlt);
  EXPECT_EQ(c.byte_mask_32bpp, hw::BltByteMask::ALPHA);
  EXPECT_TRUE(c.dest_tiling_enable);
  EXPECT_TRUE(c.clipping_enable);
  EXPECT_TRUE(c.mono_source_transparency);
  EXPECT_EQ(c.color_depth, hw::BltColorDepth::COLOR_1555);
  EXPECT_EQ(c.raster_operation, 0x5a);
  EXPECT_EQ(c.destination_pitch, 0x80);
  EXPECT_EQ(c.clip_y1, 0x7fff);
  EXPECT_EQ(c.clip_x1, 1);
  EXPECT_EQ(c.clip_y2, 2);
  EXPECT_EQ(c.clip_x2, 0x7ffe);
  EXPECT_EQ(c.destination_base_address, GpuVa{0x12345000});
  EXPECT_EQ(c.background_color, 0xaaaa5555u);
  EXPECT_EQ(c.foreground_color, 0x5555aaaau);
  EXPECT_EQ(c.pattern_base_address, GpuVa{0x1fffffc0});
  // Clip coordinates are positive 15-bit numbers.
  for (size_t dword : {2u, 3u}) {
    EXPECT_TRUE(is_reserved<hw::XY_SETUP_BLT>(kSetupBlt, dword, 31));
    EXPECT_TRUE(is_reserved<hw::XY_SETUP_BLT>(kSetupBlt, dword, 15));
  }
}

TEST(SetupBlt, PatternAddressHasBits28To6) {
  COVERS("G45-8.9.1-02");
  COVERS("G45-8.10.5-01");
  std::array<uint32_t, 8> dwords = kSetupBlt;
  dwords[7] = 0xffffffff;
  EXPECT_EQ(hw::XY_SETUP_BLT::unpack(GenId::gen4, dwords).pattern_base_address, GpuVa{0x1fffffc0});
  const std::array<uint32_t, 1> br07 = {0xffffffff};
  EXPECT_EQ(hw::BR07::unpack(GenId::gen4, br07).pattern_address, GpuVa{0x1fffffc0});
}

TEST(SetupBlt, XySetupMonoPatternHasNineDwordsAndItsFields) {
  COVERS("G45-8.9.2-01");
  constexpr std::array<uint32_t, 9> kDwords = {
      header(0x11, 7, 3u << 20),
      (1u << 31) | (1u << 30) | (1u << 28) | (3u << 24) | (0xf0u << 16) | 0x1000u,
      yx(10, 20),
      yx(30, 40),
      0x00aa0000,
      0x01020304,
      0x05060708,
      0x11223344,
      0x55667788,
  };
  expect_framed<hw::XY_SETUP_MONO_PATTERN_SL_BLT>(kDwords, kRings32);
  const auto c = hw::XY_SETUP_MONO_PATTERN_SL_BLT::unpack(GenId::gen4, kDwords);
  EXPECT_TRUE(c.solid_pattern_select);
  EXPECT_TRUE(c.clipping_enable);
  EXPECT_TRUE(c.mono_pattern_transparency);
  EXPECT_FALSE(c.dest_tiling_enable);
  EXPECT_EQ(c.clip_y1, 10);
  EXPECT_EQ(c.clip_x1, 20);
  EXPECT_EQ(c.clip_y2, 30);
  EXPECT_EQ(c.clip_x2, 40);
  EXPECT_EQ(c.destination_base_address, GpuVa{0x00aa0000});
  EXPECT_EQ(c.background_color, 0x01020304u);
  EXPECT_EQ(c.foreground_color, 0x05060708u);
  EXPECT_EQ(c.pattern_data_0, 0x11223344u);
  EXPECT_EQ(c.pattern_data_1, 0x55667788u);
  EXPECT_TRUE(is_reserved<hw::XY_SETUP_MONO_PATTERN_SL_BLT>(kDwords, 1, 29));
}

// The ledger rows of these commands also describe their effect, which an encoding test does not prove.
TEST(SetupBlt, CommandsThatUseTheSetupAreFramed) {
  constexpr std::array<uint32_t, 3> kClip = {header(0x03, 1), yx(1, 2), yx(3, 4)};
  expect_framed<hw::XY_SETUP_CLIP_BLT>(kClip, kRings32);
  EXPECT_EQ(hw::XY_SETUP_CLIP_BLT::unpack(GenId::gen4, kClip).clip_x2, 4);

  constexpr std::array<uint32_t, 2> kPixel = {header(0x24, 0, 1u << 11), yx(0xffff, 7)};
  expect_framed<hw::XY_PIXEL_BLT>(kPixel, kRings32);
  EXPECT_EQ(hw::XY_PIXEL_BLT::unpack(GenId::gen4, kPixel).destination_y1, -1);

  constexpr std::array<uint32_t, 3> kLines = {header(0x25, 1, (5u << 12) | (2u << 8)), yx(1, 2), yx(3, 4)};
  expect_framed<hw::XY_SCANLINES_BLT>(kLines, kRings32);
  const auto lines = hw::XY_SCANLINES_BLT::unpack(GenId::gen4, kLines);
  EXPECT_EQ(lines.pattern_horizontal_seed, 5);
  EXPECT_EQ(lines.pattern_vertical_seed, 2);

  constexpr std::array<uint32_t, 4> kText = {header(0x26, 2, 1u << 16), yx(1, 2), yx(3, 4), 0x00ab00cd};
  expect_framed<hw::XY_TEXT_BLT>(kText, kRings32);
  const auto text = hw::XY_TEXT_BLT::unpack(GenId::gen4, kText);
  EXPECT_EQ(text.packing, hw::BltTextPacking::BYTE);
  EXPECT_EQ(text.source_address, GpuVa{0x00ab00cd});
}

TEST(SetupBlt, TextImmediateHasItsBitmapAfterTheCoordinates) {
  COVERS("G45-8.9.7-01");
  constexpr std::array<uint32_t, 7> kDwords = {header(0x31, 1 + 4), yx(1, 2), yx(3, 4), 10, 11, 12, 13};
  expect_framed<hw::XY_TEXT_IMMEDIATE_BLT>(kDwords, kRings32);
  const auto c = hw::XY_TEXT_IMMEDIATE_BLT::unpack(GenId::gen4, kDwords);
  EXPECT_EQ(c.destination_y1, 1);
  EXPECT_EQ(c.destination_x1, 2);
  EXPECT_EQ(c.destination_y2, 3);
  EXPECT_EQ(c.destination_x2, 4);
  ASSERT_EQ(hw::XY_TEXT_IMMEDIATE_BLT::count_immediate_data(GenId::gen4, kDwords), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(hw::XY_TEXT_IMMEDIATE_BLT::unpack_immediate_data(GenId::gen4, kDwords, i).data, 10 + i);
  }
}

}  // namespace
}  // namespace halogen
