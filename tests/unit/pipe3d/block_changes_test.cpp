// Planes with compression state compared with a slow model: an array of elements, and a state for each block. Random
// reads, writes, fills, clears, resolves and ambiguates, with clear values that change between uses.
#include "covers.h"
#include "message/block_states.h"
#include "pixel_world.h"

namespace halogen::pipe3d {
namespace {

using surface::BlockState;
using surface::StateForm;
using Change = PixelPlane::BlockChange;

constexpr uint64_t kStates = PixelWorld::kVa + 0x10'0000;
constexpr uint64_t kTable = PixelWorld::kVa + 0x18'0000;

struct Case {
  const char* name;
  StateForm form;
  bool x_tiles;
  hw::SurfaceFormat format;
  uint32_t width, height, level;
  bool compresses;
  bool reads_settle;
};

constexpr Case kCases[] = {
    {"one bit, Y", StateForm::one_bit, false, hw::SurfaceFormat::R8G8B8A8_UNORM, 100, 70, 0, false, true},
    {"one bit, X", StateForm::one_bit, true, hw::SurfaceFormat::R8G8B8A8_UNORM, 100, 70, 0, false, true},
    {"one bit, 128 bits", StateForm::one_bit, true, hw::SurfaceFormat::R32G32B32A32_FLOAT, 60, 37, 0, false, true},
    {"two bits", StateForm::two_bits, false, hw::SurfaceFormat::R8G8B8A8_UNORM, 130, 50, 0, false, true},
    {"two bits, compressed", StateForm::two_bits, false, hw::SurfaceFormat::R32G32_FLOAT, 77, 41, 0, true, true},
    {"two bits, level 1", StateForm::two_bits, false, hw::SurfaceFormat::R8G8B8A8_UNORM, 130, 100, 1, true, true},
    {"mapped", StateForm::four_bits, false, hw::SurfaceFormat::R8G8B8A8_UNORM, 130, 50, 0, true, true},
    {"mapped, 8 bits", StateForm::four_bits, false, hw::SurfaceFormat::R8_UNORM, 200, 33, 0, true, true},
    {"hierarchical", StateForm::hierarchical, false, hw::SurfaceFormat::R32_FLOAT, 90, 60, 0, false, false},
    {"hierarchical, 16 bits", StateForm::hierarchical, false, hw::SurfaceFormat::R16_UNORM, 90, 60, 0, false, false},
};

using Element = std::array<std::byte, 16>;

class BlockChanges : public testing::TestWithParam<Case> {
 protected:
  BlockChanges() {
    world_.scramble(3);
    surface_ = world_.target(GetParam().format, GetParam().width, GetParam().height);
    bytes_ = surface_.format->bytes();
    if (GetParam().x_tiles) {
      surface_.layout.pattern = &surface::kTileX;
    }
    surface_.layout.pitch_B = 2048;
    surface_.align_x = 16;
    surface_.levels = GetParam().level + 1;
    surface::StateMap& map = surface_.states;
    map = {.form = GetParam().form,
           .base = GetParam().form == StateForm::four_bits ? kTable : kStates,
           .pitch_tiles = 4,
           .width = surface_.width,
           .height = surface_.height,
           .block_width = GetParam().form == StateForm::hierarchical ? 8 : (GetParam().x_tiles ? 64 : 32) / bytes_,
           .block_height = GetParam().x_tiles ? 2u : 4u,
           .pad_x = 2,
           .pad_y = 2,
           .compresses = GetParam().compresses};
    std::memset(world_.at(kStates), 0, 0x1'0000);
    // One 16 MB region of the table: a level 3, a level 2 and a level 1 entry for each 64 KB.
    put(kTable + (PixelWorld::kVa >> 36 & 0xfff) * 8, (kTable + 0x8000) | 1);
    put(kTable + 0x8000 + (PixelWorld::kVa >> 24 & 0xfff) * 8, (kTable + 0x1'0000) | 1);
    for (uint64_t page = 0; page < 16; ++page) {
      put(kTable + 0x1'0000 + page * 8, (kStates + page * 256) | 1);
    }
    width_ = surface_.level_width(GetParam().level);
    height_ = surface_.level_height(GetParam().level);
    element_.resize(size_t{width_} * height_);
    state_.assign(size_t{across()} * ((height_ + high() - 1) / high()),
                  GetParam().form == StateForm::hierarchical ? BlockState::clear : BlockState::resolved);
    for (uint32_t y = 0; y < height_; ++y) {
      for (uint32_t x = 0; x < width_; ++x) element(x, y) = memory(x, y);
    }
  }
  void put(uint64_t at, uint64_t value) { std::memcpy(world_.at(at), &value, sizeof value); }
  uint32_t wide() const { return surface_.states.block_width; }
  uint32_t high() const { return surface_.states.block_height; }
  uint32_t across() const { return (width_ + wide() - 1) / wide(); }
  Element& element(uint32_t x, uint32_t y) { return element_[size_t{y} * width_ + x]; }
  BlockState& state(uint32_t x, uint32_t y) { return state_[size_t{y / high()} * across() + x / wide()]; }
  Element memory(uint32_t x, uint32_t y) {
    Element value{};
    std::memcpy(value.data(), world_.at(message::texel_address(surface_, x, y, 0, GetParam().level)), bytes_);
    return value;
  }

  // The slow model.
  void fill(uint32_t x, uint32_t y) {
    for (uint32_t row = y / high() * high(); row < std::min((y / high() + 1) * high(), height_); ++row) {
      for (uint32_t column = x / wide() * wide(); column < std::min((x / wide() + 1) * wide(), width_); ++column) {
        element(column, row) = clear_;
      }
    }
  }
  void settle(uint32_t x, uint32_t y) {
    if (state(x, y) == BlockState::clear) fill(x, y);
    state(x, y) = GetParam().compresses ? BlockState::compressed : BlockState::resolved;
  }
  template <class Act>
  void each_block(const Rectangle& area, Act act) {
    for (uint32_t y = 0; y < height_; y += high()) {
      for (uint32_t x = 0; x < width_; x += wide()) {
        const bool touched = static_cast<int32_t>(x + wide()) > area.x_min && static_cast<int32_t>(x) <= area.x_max &&
                             static_cast<int32_t>(y + high()) > area.y_min && static_cast<int32_t>(y) <= area.y_max;
        if (touched) act(x, y);
      }
    }
  }

  void compare(const char* after) {
    message::BlockStates states(surface_.states, world_.space());
    for (uint32_t y = 0; y < height_; ++y) {
      for (uint32_t x = 0; x < width_; ++x) {
        ASSERT_EQ(memory(x, y), element(x, y)) << after << " " << x << " " << y;
        const uint64_t at = message::texel_address(surface_, x, y, 0, GetParam().level);
        ASSERT_EQ(states.read(message::block_of(surface_, x, y, 0, GetParam().level), at), state(x, y))
            << after << " " << x << " " << y;
      }
    }
  }

  PixelWorld world_;
  message::Surface surface_;
  uint32_t bytes_ = 4, width_ = 0, height_ = 0;
  std::vector<Element> element_;
  std::vector<BlockState> state_;
  Element clear_{};
};

TEST_P(BlockChanges, FollowTheSlowModel) {
  COVERS("NOTES-DRV-08");
  std::mt19937 random(17);
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  PixelPlane plane;
  for (unsigned round = 0; round < 600; ++round) {
    if (round % 10 == 0) {  // the next use, with its own clear value
      for (size_t i = 0; i < bytes_; ++i) clear_[i] = static_cast<std::byte>(random());
      plane.begin(surface_, GetParam().level, 1, bytes_, world_.space());
      plane.guard(std::span(clear_).first(bytes_), GetParam().reads_settle);
    }
    Element value{};
    for (size_t i = 0; i < bytes_; ++i) value[i] = static_cast<std::byte>(random());
    const uint32_t x = below(width_), y = below(height_);
    const Rectangle area{.x_min = static_cast<int32_t>(x),
                         .y_min = static_cast<int32_t>(y),
                         .x_max = static_cast<int32_t>(x + below(width_ - x)),
                         .y_max = static_cast<int32_t>(y + below(height_ - y))};
    const uint64_t at = plane.address(x, y, 0, 0);
    const char* what = "";
    switch (below(8)) {
      case 0:
      case 1: {
        what = "store";
        plane.store(at, std::span<const std::byte>(value).first(bytes_));
        settle(x, y);
        element(x, y) = value;
        break;
      }
      case 2: {
        what = "load";
        if (!GetParam().reads_settle && state(x, y) == BlockState::clear) {
          ASSERT_TRUE(plane.clear_at(at));
          break;
        }
        Element read{};
        plane.load(at, std::span(read).first(bytes_));
        if (GetParam().reads_settle) settle(x, y);
        ASSERT_EQ(read, element(x, y)) << x << " " << y;
        break;
      }
      case 3: {
        what = "fill";
        Element all;
        all.fill(std::byte{0xff});
        plane.fill(area, 0, std::span<const std::byte>(value).first(bytes_),
                   std::span<const std::byte>(all).first(bytes_));
        each_block(area, [&](uint32_t bx, uint32_t by) { settle(bx, by); });
        for (int32_t row = area.y_min; row <= area.y_max; ++row) {
          for (int32_t column = area.x_min; column <= area.x_max; ++column) {
            element(static_cast<uint32_t>(column), static_cast<uint32_t>(row)) = value;
          }
        }
        break;
      }
      case 4:
        what = "fast clear";
        plane.change_blocks(area, 0, Change::clear);
        each_block(area, [&](uint32_t bx, uint32_t by) { state(bx, by) = BlockState::clear; });
        break;
      case 5:
        what = "full resolve";
        plane.change_blocks(area, 0, Change::full_resolve);
        each_block(area, [&](uint32_t bx, uint32_t by) {
          if (state(bx, by) == BlockState::clear) fill(bx, by);
          state(bx, by) = BlockState::resolved;
        });
        break;
      case 6:
        what = "partial resolve";
        plane.change_blocks(area, 0, Change::partial_resolve);
        each_block(area, [&](uint32_t bx, uint32_t by) {
          if (state(bx, by) == BlockState::clear) settle(bx, by);
        });
        break;
      default:
        what = "ambiguate";
        plane.change_blocks(area, 0, Change::ambiguate);
        each_block(area, [&](uint32_t bx, uint32_t by) { state(bx, by) = BlockState::resolved; });
        break;
    }
    ASSERT_FALSE(plane.stopped());
    // States reach memory with store_states(), at the latest with the next begin().
    if (below(4) != 0) {
      plane.store_states();
      compare(what);
    }
    if (HasFatalFailure()) return;
  }
}

TEST_P(BlockChanges, AClearOfPixelsLeavesStateOnlyWhereItCoversABlock) {
  PixelPlane plane;
  clear_.fill(std::byte{0x5a});
  plane.begin(surface_, GetParam().level, 1, bytes_, world_.space());
  plane.guard(std::span(clear_).first(bytes_), GetParam().reads_settle);
  const Rectangle area{.x_min = 3, .y_min = 1, .x_max = static_cast<int32_t>(width_) - 1, .y_max = 21};
  plane.clear_guarded(area, 0);
  each_block(area, [&](uint32_t x, uint32_t y) {
    const bool covered = static_cast<int32_t>(x) >= area.x_min && static_cast<int32_t>(y) >= area.y_min &&
                         static_cast<int32_t>(std::min(y + high(), height_)) - 1 <= area.y_max;
    if (covered) {
      state(x, y) = BlockState::clear;
      return;
    }
    settle(x, y);
    for (uint32_t row = y; row < std::min(y + high(), height_); ++row) {
      for (uint32_t column = x; column < std::min(x + wide(), width_); ++column) {
        const bool inside = static_cast<int32_t>(column) >= area.x_min && static_cast<int32_t>(row) >= area.y_min &&
                            static_cast<int32_t>(row) <= area.y_max;
        if (inside) {
          for (size_t i = 0; i < bytes_; ++i) element(column, row)[i] = clear_[i];
        }
      }
    }
  });
  // Bytes of an element beyond its size are not compared.
  for (Element& each : element_) std::fill(each.begin() + bytes_, each.end(), std::byte{});
  compare("clear of pixels");
}

// Two planes of one surface take turns, as the host threads of a draw do.
TEST_P(BlockChanges, PlaneThatForgetsSeesBlocksThatAnotherPlaneMadePlain) {
  clear_.fill(std::byte{0x5a});
  PixelPlane first, second;
  for (PixelPlane* const plane : {&first, &second}) {
    plane->begin(surface_, GetParam().level, 1, bytes_, world_.space());
    plane->guard(std::span(clear_).first(bytes_), GetParam().reads_settle);
  }
  const Rectangle block{.x_min = 0, .y_min = 0, .x_max = 0, .y_max = 0};
  first.change_blocks(block, 0, Change::clear);
  const uint64_t here = first.address(0, 0, 0, 0), beside = first.address(1, 0, 0, 0);
  ASSERT_TRUE(first.clear_at(here));
  Element value{}, other{};
  std::fill_n(value.begin(), bytes_, std::byte{0x11});
  std::fill_n(other.begin(), bytes_, std::byte{0x22});
  second.store(second.address(0, 0, 0, 0), std::span<const std::byte>(value).first(bytes_));
  second.store_states();
  first.forget_states();
  EXPECT_FALSE(first.clear_at(here));
  first.store(beside, std::span<const std::byte>(other).first(bytes_));
  EXPECT_EQ(memory(0, 0), value);
  EXPECT_EQ(memory(1, 0), other);
}

// Level 2 of 146x146 pixels begins 304 bytes to the right of the edge, inside a block of level 0's grid.
TEST(UnalignedLevel, ClearFillsItAndLaterUsesSeeItsPixels) {
  PixelWorld world;
  message::Surface surface = world.target(hw::SurfaceFormat::R32_FLOAT, 146, 146);
  surface.layout.pitch_B = 1024;
  surface.align_x = surface.align_y = 4;
  surface.levels = 3;
  surface.states = {.form = StateForm::hierarchical,
                    .base = kStates,
                    .pitch_tiles = 4,
                    .width = surface.width,
                    .height = surface.height,
                    .block_width = 8,
                    .block_height = 4,
                    .pad_x = 2,
                    .pad_y = 2};
  for (const bool fast : {false, true}) {
    const std::array<std::byte, 4> clear{std::byte{1}, std::byte{2}, std::byte{3}, static_cast<std::byte>(fast)};
    PixelPlane plane;
    plane.begin(surface, 2, 1, 4, world.space());
    plane.guard(clear, false);
    const Rectangle whole{.x_min = 0, .y_min = 0, .x_max = 39, .y_max = 39};
    if (fast) {
      plane.change_blocks(whole, 0, Change::clear);
    } else {
      plane.clear_guarded(whole, 0);
    }
    plane.change_blocks(whole, 0, Change::full_resolve);
    PixelPlane later;
    later.begin(surface, 2, 1, 4, world.space());
    later.guard(std::array<std::byte, 4>{}, false);
    for (uint32_t y = 0; y < 36; ++y) {
      for (uint32_t x = 0; x < 36; ++x) {
        const uint64_t at = later.address(x, y, 0, 0);
        ASSERT_FALSE(later.clear_at(at)) << x << " " << y;
        ASSERT_EQ((later.load<std::array<std::byte, 4>>(at)), clear) << x << " " << y;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, BlockChanges, testing::ValuesIn(kCases), [](const auto& each) {
  std::string name = each.param.name;
  std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
  return name;
});

}  // namespace
}  // namespace halogen::pipe3d
