// Which uses of a surface with states are found: by level, by rectangle, by address and by what is mapped there. The
// places of states are computed here: a line of 64 bytes has 16x16 blocks of two bits.
#include "message/state_watch.h"

#include <gtest/gtest.h>

#include "hw/surface.h"
#include "support/mapped_memory.h"

namespace halogen::message {
namespace {

using surface::BlockState;
using surface::StateForm;
using Cause = StateWatch::Cause;

constexpr uint64_t kVa = uint64_t{1} << 40;
constexpr uint64_t kMain = kVa + 0x1'0000, kStates = kVa + 0x8'0000;
constexpr uint32_t kPitch = 1024, kWidth = 128, kHeight = 64;

class WatchedStates : public testing::Test {
 protected:
  WatchedStates() {
    main_.kind = Surface::Kind::image;
    main_.type = hw::SurfaceType::SURFTYPE_2D;
    main_.format = &surface::texel_format(hw::SurfaceFormat::R8G8B8A8_UNORM);
    main_.base = kMain;
    main_.width = kWidth;
    main_.height = kHeight;
    main_.depth = 1;
    main_.levels = 2;
    main_.layout.pattern = &surface::kTileY;
    main_.layout.pitch_B = kPitch;
    main_.states = {.form = StateForm::two_bits,
                    .base = kStates,
                    .pitch_tiles = 1,
                    .width = kWidth,
                    .height = kHeight,
                    .block_width = 8,
                    .block_height = 4,
                    .compresses = true};
  }
  void set(uint32_t block_x, uint32_t block_y, unsigned bits) {
    memory_.at<uint8_t>(kStates - kVa + block_y % 16 * 4 + block_x / 4 % 4 + block_y / 16 * 64 + block_x / 16 * 512) |=
        static_cast<uint8_t>(bits << block_x % 4 * 2);
  }
  SurfaceBinding binding(MemoryClient client, bool with_states) const {
    SurfaceBinding binding{.client = client, .surface = main_, .element_B = 4, .writes = client == MemoryClient::color};
    if (!with_states) binding.surface.states = {};
    return binding;
  }
  void know() { EXPECT_FALSE(watch_.check(binding(MemoryClient::color, true), memory_.space())); }
  std::optional<StateWatch::Finding> sampled() {
    return watch_.check(binding(MemoryClient::sampler, false), memory_.space());
  }
  std::optional<StateWatch::Finding> copied(uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                                            bool writes = false) {
    return watch_.check({.client = MemoryClient::blit,
                         .base = kMain,
                         .pattern = &surface::kTileY,
                         .pitch_B = kPitch,
                         .bytes = uint64_t{kPitch} * kHeight,
                         .boxes = {{.x_B = x * 4, .end_x_B = (x + width) * 4, .row = y, .end_row = y + height}},
                         .writes = writes},
                        memory_.space());
  }

  test::MappedMemory memory_{2 << 20, kVa};
  Surface main_;
  StateWatch watch_;
};

TEST_F(WatchedStates, ASurfaceThatWasNeverUsedWithStatesIsNotChecked) {
  set(0, 0, 3);
  EXPECT_FALSE(sampled());
}

TEST_F(WatchedStates, TheFirstClearBlockIsFoundOnce) {
  know();
  set(5, 7, 3);
  const auto found = sampled();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::reads_clear);
  EXPECT_EQ(found->base, kMain);
  EXPECT_EQ(found->states, kStates);
  EXPECT_EQ(found->block.x, 40u);
  EXPECT_EQ(found->block.y, 28u);
  EXPECT_FALSE(sampled());
}

TEST_F(WatchedStates, ResolvedBlocksAreNotFound) {
  know();
  EXPECT_FALSE(sampled());
  EXPECT_FALSE(copied(0, 0, kWidth, kHeight));
}

TEST_F(WatchedStates, ACompressedBlockIsFoundAndAStateWithoutCompressionFindsItToo) {
  know();
  set(2, 2, 1);
  SurfaceBinding other = binding(MemoryClient::sampler, true);
  other.surface.states.compresses = false;
  const auto found = watch_.check(other, memory_.space());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::reads_compressed);
  EXPECT_TRUE(copied(0, 0, kWidth, kHeight));
}

TEST_F(WatchedStates, AStateWithoutCompressionDecodesClearBlocks) {
  know();
  set(2, 2, 3);
  SurfaceBinding other = binding(MemoryClient::sampler, true);
  other.surface.states.compresses = false;
  EXPECT_FALSE(watch_.check(other, memory_.space()));
}

TEST_F(WatchedStates, OnlyTheLevelsOfAUseCount) {
  know();
  set(5, 7, 3);
  SurfaceBinding lower = binding(MemoryClient::sampler, false);
  lower.surface.first_level = 1;
  lower.surface.levels = 1;
  EXPECT_FALSE(watch_.check(lower, memory_.space()));
  SurfaceBinding upper = binding(MemoryClient::sampler, false);
  upper.surface.levels = 1;
  EXPECT_TRUE(watch_.check(upper, memory_.space()));
}

TEST_F(WatchedStates, OnlyTheRectangleOfABltCounts) {
  know();
  set(5, 7, 3);  // pixels 40 to 47 of rows 28 to 31
  EXPECT_FALSE(copied(0, 0, 40, kHeight));
  EXPECT_FALSE(copied(48, 0, 80, kHeight));
  EXPECT_FALSE(copied(0, 0, kWidth, 28));
  EXPECT_FALSE(copied(0, 32, kWidth, 32));
  EXPECT_TRUE(copied(47, 31, 1, 1));
}

TEST_F(WatchedStates, AUseThatStartsInsideTheSurfaceIsPlacedByItsAddress) {
  know();
  set(5, 7, 3);
  SurfaceBinding part = binding(MemoryClient::sampler, false);
  part.surface.levels = 1;
  part.surface.width = 32;
  part.surface.height = 32;
  part.surface.base = kMain + 2 * 4096;  // the tile of pixels 64 to 95
  EXPECT_FALSE(watch_.check(part, memory_.space()));
  part.surface.base = kMain + 4096;  // the tile of pixels 32 to 63
  EXPECT_TRUE(watch_.check(part, memory_.space()));
}

TEST_F(WatchedStates, AWriteIsHidden) {
  know();
  set(0, 0, 3);
  const auto found = watch_.check(binding(MemoryClient::color, false), memory_.space());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::hides_write);
}

TEST_F(WatchedStates, TheSurfaceIsKnownAtAnotherAddressOfTheSameMemory) {
  know();
  set(5, 7, 3);
  memory_.map_low();
  SurfaceBinding low = binding(MemoryClient::sampler, false);
  low.surface.base = kMain - kVa;
  EXPECT_TRUE(watch_.check(low, memory_.space()));
}

TEST_F(WatchedStates, OtherMemoryAtTheAddressIsAnotherSurface) {
  know();
  set(5, 7, 3);
  memory_.lead_page((kMain - kVa) / 4096, 0x18'0000 / 4096);
  EXPECT_FALSE(sampled());
}

TEST_F(WatchedStates, OtherMemoryAtTheAddressOfTheStatesIsAnotherSurface) {
  know();
  set(5, 7, 3);
  memory_.lead_page((kStates - kVa) / 4096, 0x18'0000 / 4096);
  EXPECT_FALSE(sampled());
}

TEST_F(WatchedStates, AWriteOfOtherDataForgetsTheSurface) {
  know();
  set(5, 7, 3);
  EXPECT_FALSE(watch_.check({.client = MemoryClient::blit, .base = kMain, .pitch_B = 64, .bytes = 4096, .writes = true},
                            memory_.space()));
  EXPECT_FALSE(sampled());
}

TEST_F(WatchedStates, ALargerSurfaceInTheSamePlaceReplacesIt) {
  know();
  main_.width = main_.states.width = 256;
  know();
  set(5, 7, 3);
  EXPECT_EQ(sampled()->width, 256u);
}

// A guest may name surfaces of any size; a check ends.
TEST_F(WatchedStates, HugeSurfacesAreCheckedInBoundedTime) {
  main_.width = main_.states.width = main_.height = main_.states.height = 16384;
  main_.depth = 2048;
  main_.levels = 15;
  main_.layout.pitch_B = 1 << 18;
  know();
  sampled();
  copied(0, 0, 16384, 16384);
}

}  // namespace
}  // namespace halogen::message
