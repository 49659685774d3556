// 64-bit forms from Gen8 on, and the commands that Gen9 and Gen12 added. Expected lengths and positions are those that
// public drivers emit; no ledger row covers them.
#include <gtest/gtest.h>

#include "frame.h"
#include "hw/blt.h"
#include "hw/blt_gen9.h"
#include "hw/blt_source.h"

namespace halogen {
namespace {

using blt_test::expect_framed;
using blt_test::header;
using blt_test::kRings64;
using blt_test::Ring;
using blt_test::yx;
using spec::DeviceId;
using spec::EngineClass;
using spec::GenId;

constexpr uint32_t kControl = (3u << 24) | (0xccu << 16) | 0x1000u;

TEST(WideBlt, AddressesTakeTwoDwords) {
  constexpr std::array<uint32_t, 7> kColor = {header(0x50, 5, 3u << 20), kControl, 0, yx(3, 4), 0x2000, 0x7f, 0xcafe};
  expect_framed<hw::XY_COLOR_BLT>(kColor, kRings64);
  const auto color = hw::XY_COLOR_BLT::unpack(GenId::gen8, kColor);
  EXPECT_EQ(color.destination_base_address, GpuVa{0x7f'0000'2000});
  EXPECT_EQ(color.solid_pattern_color, 0xcafeu);

  constexpr std::array<uint32_t, 10> kCopy = {
      header(0x53, 8, 3u << 20), kControl, 0, yx(3, 4), 0x2000, 1, yx(5, 6), 0x1000, 0x3000, 2};
  expect_framed<hw::XY_SRC_COPY_BLT>(kCopy, kRings64);
  const auto copy = hw::XY_SRC_COPY_BLT::unpack(GenId::gen12, kCopy);
  EXPECT_EQ(copy.destination_base_address, GpuVa{0x1'0000'2000});
  EXPECT_EQ(copy.source_x1, 6);
  EXPECT_EQ(copy.source_pitch, 0x1000);
  EXPECT_EQ(copy.source_base_address, GpuVa{0x2'0000'3000});

  constexpr std::array<uint32_t, 10> kSetup = {header(0x01, 8), kControl, 0, 0, 0x2000, 1, 7, 8, 0x3040, 2};
  expect_framed<hw::XY_SETUP_BLT>(kSetup, kRings64);
  const auto setup = hw::XY_SETUP_BLT::unpack(GenId::gen9, kSetup);
  EXPECT_EQ(setup.background_color, 7u);
  EXPECT_EQ(setup.foreground_color, 8u);
  EXPECT_EQ(setup.pattern_base_address, GpuVa{0x2'0000'3040});

  constexpr std::array<uint32_t, 10> kMonoPattern = {header(0x52, 8), kControl, 0, 0, 0x2000, 1, 7, 8, 9, 10};
  expect_framed<hw::XY_MONO_PAT_BLT>(kMonoPattern, kRings64);
  EXPECT_EQ(hw::XY_MONO_PAT_BLT::unpack(GenId::gen8, kMonoPattern).pattern_data_1, 10u);

  constexpr std::array<uint32_t, 10> kMonoSource = {header(0x54, 8), kControl, 0, 0, 0x2000, 1, 0x3000, 2, 7, 8};
  expect_framed<hw::XY_MONO_SRC_COPY_BLT>(kMonoSource, kRings64);
  const auto mono = hw::XY_MONO_SRC_COPY_BLT::unpack(GenId::gen8, kMonoSource);
  EXPECT_EQ(mono.source_address, GpuVa{0x2'0000'3000});
  EXPECT_EQ(mono.source_foreground_color, 8u);
}

TEST(WideBlt, ImmediateDataMovesByOneDword) {
  constexpr std::array<uint32_t, 10> kDwords = {header(0x71, 6 + 2), kControl, 0, 0, 0x2000, 1, 7, 8, 100, 101};
  expect_framed<hw::XY_MONO_SRC_COPY_IMMEDIATE_BLT>(kDwords, kRings64);
  ASSERT_EQ(hw::XY_MONO_SRC_COPY_IMMEDIATE_BLT::count_immediate_data(GenId::gen8, kDwords), 2u);
  EXPECT_EQ(hw::XY_MONO_SRC_COPY_IMMEDIATE_BLT::unpack_immediate_data(GenId::gen8, kDwords, 1).data, 101u);
}

TEST(WideBlt, RenderRingHasNoBltCommandsFromGen6On) {
  for (DeviceId device : {DeviceId::snb, DeviceId::bdw, DeviceId::dg1}) {
    EXPECT_EQ(spec::CommandTable::get(device, EngineClass::render).find(header(0x50, 4)), nullptr);
  }
}

constexpr std::array<uint32_t, 10> kFastCopy = {header(0x42, 8, (1u << 20) | (2u << 13)),
                                                (1u << 30) | (3u << 24) | 0x0400u,
                                                0,
                                                yx(3, 4),
                                                0x2000,
                                                1,
                                                yx(5, 6),
                                                0x80,
                                                0x3000,
                                                2};

TEST(Gen9Blt, FastCopyHasATileModeForEachSide) {
  constexpr std::array kRings = {Ring{DeviceId::skl, EngineClass::blit}, Ring{DeviceId::icl, EngineClass::blit},
                                 Ring{DeviceId::tgl, EngineClass::blit}, Ring{DeviceId::dg1, EngineClass::blit}};
  expect_framed<hw::XY_FAST_COPY_BLT>(kFastCopy, kRings);
  const auto c = hw::XY_FAST_COPY_BLT::unpack(GenId::gen9, kFastCopy);
  EXPECT_EQ(c.src_tiling_method, hw::FastCopyTiling::TILE_X);
  EXPECT_EQ(c.dest_tiling_method, hw::FastCopyTiling::Y_FAMILY);
  EXPECT_EQ(c.src_tile_type, hw::FastCopyTileType::LEGACY_Y);
  EXPECT_EQ(c.dest_tile_type, hw::FastCopyTileType::TILE_YF);
  EXPECT_EQ(c.color_depth, hw::FastCopyColorDepth::COLOR_32BIT);
  EXPECT_EQ(c.destination_pitch, 0x400);
  EXPECT_EQ(c.source_pitch, 0x80);
  EXPECT_EQ(c.destination_base_address, GpuVa{0x1'0000'2000});
  EXPECT_EQ(c.source_base_address, GpuVa{0x2'0000'3000});
  EXPECT_EQ(spec::CommandTable::get(DeviceId::bdw, EngineClass::blit).find(kFastCopy[0]), nullptr);
}

TEST(Gen12Blt, BlockCopyAndFastColorAreFramed) {
  constexpr std::array kRings = {Ring{DeviceId::tgl, EngineClass::blit}, Ring{DeviceId::dg1, EngineClass::blit}};
  constexpr std::array<uint32_t, 12> kBlock = {header(0x41, 10, 2u << 19),
                                               (1u << 30) | (5u << 21) | 0x3ffu,
                                               0,
                                               yx(3, 4),
                                               0x2000,
                                               1,
                                               yx(7, 8),
                                               yx(5, 6),
                                               (6u << 21) | 0x7fu,
                                               0x3000,
                                               2,
                                               yx(9, 10)};
  expect_framed<hw::XY_BLOCK_COPY_BLT>(kBlock, kRings);
  const auto block = hw::XY_BLOCK_COPY_BLT::unpack(GenId::gen12, kBlock);
  EXPECT_EQ(block.color_depth, hw::BlockCopyColorDepth::COLOR_32BIT);
  EXPECT_EQ(block.destination_tiling, hw::BlockCopyTiling::TILE_Y);
  EXPECT_EQ(block.destination_mocs, 5);
  EXPECT_EQ(block.destination_pitch, 0x3ffu);
  EXPECT_EQ(block.destination_x_offset, 8);
  EXPECT_EQ(block.source_mocs, 6);
  EXPECT_EQ(block.source_base_address, GpuVa{0x2'0000'3000});
  EXPECT_EQ(block.source_y_offset, 9);

  // The length that the public driver programs ends with the fourth colour.
  constexpr std::array<uint32_t, 11> kFill = {
      header(0x44, 9, 5u << 19), 0xfffu, 0, yx(3, 4), 0x2000, 1, 0, 11, 12, 13, 14};
  expect_framed<hw::XY_FAST_COLOR_BLT>(kFill, kRings);
  const auto fill = hw::XY_FAST_COLOR_BLT::unpack(GenId::gen12, kFill);
  EXPECT_EQ(fill.color_depth, hw::BlockCopyColorDepth::COLOR_128BIT);
  EXPECT_EQ(fill.fill_color_0, 11u);
  EXPECT_EQ(fill.fill_color_3, 14u);
  EXPECT_EQ(spec::CommandTable::get(DeviceId::icl, EngineClass::blit).find(kBlock[0]), nullptr);
}

}  // namespace
}  // namespace halogen
