// Depth and stencil tests compared with their definitions, sample by sample, for every format.
#include "gen/depth_rules.h"
#include "pixel_world.h"

namespace halogen::pipe3d {
namespace {

using hw::CompareFunction;
using hw::DepthFormat;
using hw::StencilOperation;

constexpr uint32_t kWidth = 40;
constexpr uint32_t kHeight = 36;
constexpr uint64_t kStencilAt = PixelWorld::kVa + 0x10'0000;

bool holds(unsigned code, double value, double with) {
  const bool results[] = {true, false, value<with, value == with, value <= with, value> with, value != with,
                          value >= with};
  return results[code];
}

unsigned changed(unsigned code, unsigned old, unsigned reference) {
  const unsigned results[] = {
      old,      0, reference, std::min(old + 1, 255u), old - (old != 0 ? 1u : 0u), (old + 1) % 256, (old + 255) % 256,
      255 - old};
  return results[code];
}

struct Case {
  DepthFormat format;
  bool packed;
  uint32_t bytes;
};
constexpr Case kCases[] = {{DepthFormat::D16_UNORM, false, 2},
                           {DepthFormat::D24_UNORM_X8_UINT, false, 4},
                           {DepthFormat::D24_UNORM_S8_UINT, true, 4},
                           {DepthFormat::D32_FLOAT, false, 4},
                           {DepthFormat::D32_FLOAT_S8X24_UINT, true, 8}};

Output output_of(const Case& shape, uint32_t scale_x, uint32_t scale_y) {
  Output output;
  DepthBuffers& buffers = output.buffers;
  buffers.format = shape.format;
  buffers.packed_stencil = shape.packed;
  buffers.depth.present = true;
  buffers.depth.write = true;
  buffers.depth.address = PixelWorld::kVa;
  buffers.depth.pitch_B = (kWidth * scale_x * shape.bytes + 127) / 128 * 128;
  buffers.depth.width = kWidth;
  buffers.depth.height = kHeight;
  buffers.depth.layer_rows = (kHeight * scale_y + 31) / 32 * 32;
  buffers.depth.layers = 2;
  if (!shape.packed) {
    buffers.stencil = buffers.depth;
    buffers.stencil.address = kStencilAt;
    buffers.stencil.pitch_B = (kWidth * scale_x + 63) / 64 * 128;
    buffers.stencil.layer_rows = (kHeight * scale_y + 63) / 64 * 64;
  }
  return output;
}

uint64_t depth_address(const Output& output, uint32_t bytes, uint32_t x, uint32_t y, uint32_t layer) {
  const PlaneBuffer& buffer = output.buffers.depth;
  return buffer.address +
         surface::tile_y_offset(uint64_t{x} * bytes, y + uint64_t{layer} * buffer.layer_rows, buffer.pitch_B / 128);
}
uint64_t stencil_address(const Output& output, uint32_t x, uint32_t y, uint32_t layer) {
  const PlaneBuffer& buffer = output.buffers.stencil;
  return buffer.address + surface::tile_w_offset(x, y + uint64_t{layer} * buffer.layer_rows, buffer.pitch_B / 128);
}

TEST(DepthStencil, RandomStatesFollowTheDefinition) {
  std::mt19937 random(41);
  PixelWorld world;
  world.scramble(6);
  // Few different values, so that equality occurs.
  for (uint32_t i = 0; i < 0x10'0000; i += 4) {
    const uint32_t pick = static_cast<uint32_t>(random());
    const float value = static_cast<float>(pick % 5) / 4.0f;
    const uint32_t word = std::bit_cast<uint32_t>(value);
    if (pick % 2 == 0) {
      std::memcpy(world.at(PixelWorld::kVa + i), &word, 4);
    }
  }
  for (int round = 0; round < 6000; ++round) {
    const Case& shape = kCases[random() % std::size(kCases)];
    const uint8_t log2 = random() % 3 == 0 ? 2 : 0;
    Output output = output_of(shape, log2 != 0 ? 2 : 1, log2 != 0 ? 2 : 1);
    DepthStencil& state = output.depth_stencil;
    state.depth_test = random() % 4 != 0;
    state.depth_write = random() % 2 == 0;
    state.depth_function = static_cast<CompareFunction>(random() % 8);
    state.stencil_test = random() % 2 == 0;
    state.stencil_write = random() % 4 != 0;
    state.two_sided = random() % 2 == 0;
    for (StencilSide* side : {&state.front, &state.back}) {
      side->function = static_cast<CompareFunction>(random() % 8);
      side->fail = static_cast<StencilOperation>(random() % 8);
      side->depth_fail = static_cast<StencilOperation>(random() % 8);
      side->pass = static_cast<StencilOperation>(random() % 8);
      side->test_mask = static_cast<uint8_t>(random() % 2 == 0 ? 3 : 255);
      side->write_mask = static_cast<uint8_t>(random() % 2 == 0 ? random() : 255);
      side->reference = static_cast<uint8_t>(random());
    }
    state.bounds_test = random() % 4 == 0;
    state.bounds_min = 0.25f;
    state.bounds_max = 0.75f;
    const bool front = random() % 2 == 0;
    const bool write = random() % 4 != 0;
    const uint8_t computed = static_cast<uint8_t>(random());
    const bool computes = random() % 4 == 0;
    const PixelPlace place{static_cast<int32_t>(random() % kWidth), static_cast<int32_t>(random() % kHeight),
                           static_cast<uint32_t>(random() % 2)};
    const uint32_t mask = static_cast<uint32_t>(random()) & ((1u << (1u << log2)) - 1);
    std::array<float, kMaxSamples> depth{};
    for (float& value : depth) {
      value = static_cast<float>(static_cast<int>(random() % 7) - 1) / 4.0f;
    }
    const StencilSide& side = state.two_sided && !front ? state.back : state.front;
    const unsigned reference = computes ? computed : side.reference;

    struct Expected {
      uint64_t depth_at, stencil_at;
      uint64_t depth_word;
      unsigned stencil;
    };
    std::vector<Expected> expected;
    uint32_t passes = 0;
    for (uint32_t s = 0; s < 1u << log2; ++s) {
      uint32_t x = static_cast<uint32_t>(place.x), y = static_cast<uint32_t>(place.y);
      if (log2 == 2) {
        x = (x & ~1u) * 2 + (s & 1) * 2 + (x & 1);
        y = (y & ~1u) * 2 + (s >> 1) * 2 + (y & 1);
      }
      Expected now{};
      now.depth_at = depth_address(output, shape.bytes, x, y, place.layer);
      std::memcpy(&now.depth_word, world.at(now.depth_at), shape.bytes);
      now.stencil_at =
          shape.packed ? now.depth_at + (shape.bytes == 8 ? 4 : 3) : stencil_address(output, x, y, place.layer);
      now.stencil = world.value<uint8_t>(now.stencil_at);
      const bool floating = shape.format == DepthFormat::D32_FLOAT || shape.bytes == 8;
      const double top = shape.bytes == 2 ? 65535 : 16777215;
      const uint64_t raw_mask = shape.bytes == 2 ? 0xffff : floating ? 0xffff'ffff : 0xff'ffff;
      const uint64_t raw = now.depth_word & raw_mask;
      const double held = floating ? std::bit_cast<float>(static_cast<uint32_t>(raw)) : static_cast<double>(raw);
      const double value = floating ? depth[s] : std::floor(std::clamp<double>(depth[s], 0, 1) * top + 0.5);
      const double scaled = floating ? held : held / top;
      if ((mask >> s & 1) != 0 && (!state.bounds_test || (scaled >= 0.25 && scaled <= 0.75))) {
        const bool stencil_ok = !state.stencil_test || holds(static_cast<unsigned>(side.function),
                                                             reference & side.test_mask, now.stencil & side.test_mask);
        const bool depth_ok = !state.depth_test || holds(static_cast<unsigned>(state.depth_function), value, held);
        const StencilOperation operation = !stencil_ok ? side.fail : !depth_ok ? side.depth_fail : side.pass;
        if (write && state.stencil_test && state.stencil_write) {
          const unsigned result = changed(static_cast<unsigned>(operation), now.stencil, reference);
          now.stencil = (now.stencil & ~unsigned{side.write_mask}) | (result & side.write_mask);
        }
        if (stencil_ok && depth_ok) {
          passes |= 1u << s;
          if (write && state.depth_write) {
            const uint64_t word = floating ? std::bit_cast<uint32_t>(depth[s]) : static_cast<uint64_t>(value);
            now.depth_word = (now.depth_word & ~raw_mask) | word;
          }
        }
      }
      if (shape.packed) {
        const unsigned shift = shape.bytes == 8 ? 32 : 24;
        now.depth_word = (now.depth_word & ~(uint64_t{0xff} << shift)) | uint64_t{now.stencil} << shift;
      }
      expected.push_back(now);
    }
    DepthStencilUnit unit;
    unit.begin(output, world.space(), log2);
    ASSERT_EQ(unit.test(place, mask, depth, front, computes ? &computed : nullptr, write), passes) << "round " << round;
    for (const Expected& each : expected) {
      uint64_t word = 0;
      std::memcpy(&word, world.at(each.depth_at), shape.bytes);
      ASSERT_EQ(word, each.depth_word) << "round " << round << " format " << static_cast<int>(shape.format);
      ASSERT_EQ(world.value<uint8_t>(each.stencil_at), each.stencil) << "round " << round;
    }
    ASSERT_FALSE(unit.stopped());
  }
}

TEST(DepthStencil, WithoutBuffersEverythingPasses) {
  PixelWorld world;
  Output output;
  output.depth_stencil.depth_test = true;
  output.depth_stencil.depth_function = CompareFunction::NEVER;
  output.depth_stencil.stencil_test = true;
  output.depth_stencil.front.function = CompareFunction::NEVER;
  DepthStencilUnit unit;
  unit.begin(output, world.space(), 0);
  EXPECT_TRUE(unit.idle());
  EXPECT_EQ(unit.test({1, 1, 0}, 1, {}, true, nullptr, true), 1u);
}

TEST(DepthStencil, ClearsWriteTheRectangle) {
  PixelWorld world;
  for (const Case& shape : kCases) {
    for (const uint8_t log2 : {uint8_t{0}, uint8_t{2}}) {
      world.scramble(8);
      Output output = output_of(shape, log2 != 0 ? 2 : 1, log2 != 0 ? 2 : 1);
      output.buffers.clear_value = 0.75f;
      DepthOperation operation;
      operation.clear_depth = true;
      operation.clear_stencil = true;
      operation.stencil_value = 0x5c;
      operation.rectangle = {.x_min = 4, .y_min = 2, .x_max = 200, .y_max = 30};
      DepthStencilUnit unit;
      unit.begin(output, world.space(), log2);
      const uint32_t outside = world.value<uint32_t>(depth_address(output, shape.bytes, 0, 0, 0));
      EXPECT_TRUE(unit.clear(operation, {.x_min = 0, .y_min = 0, .x_max = 29, .y_max = 1000}, 1, 0));
      EXPECT_EQ(world.value<uint32_t>(depth_address(output, shape.bytes, 0, 0, 0)), outside);
      // A test for equality passes only inside the rectangle.
      output.depth_stencil.depth_test = true;
      output.depth_stencil.depth_function = CompareFunction::EQUAL;
      output.depth_stencil.stencil_test = true;
      output.depth_stencil.front.function = CompareFunction::EQUAL;
      output.depth_stencil.front.test_mask = 0xff;
      output.depth_stencil.front.reference = 0x5c;
      unit.begin(output, world.space(), log2);
      std::array<float, kMaxSamples> depth{};
      depth.fill(0.75f);
      const uint32_t all = (1u << (1u << log2)) - 1;
      for (int32_t y = 0; y < static_cast<int32_t>(kHeight); ++y) {
        for (int32_t x = 0; x < static_cast<int32_t>(kWidth); ++x) {
          for (uint32_t layer = 0; layer < 2; ++layer) {
            const bool in = layer == 1 && x >= 4 && x <= 29 && y >= 2 && y <= 30;
            ASSERT_EQ(unit.test({x, y, layer}, all, depth, true, nullptr, true), in ? all : 0)
                << x << " " << y << " format " << static_cast<int>(shape.format);
          }
        }
      }
    }
  }
}

TEST(DepthStencil, LevelsAreBelowAndBesideLevelZero) {
  PixelWorld world;
  Output output = output_of(kCases[3], 1, 1);
  output.buffers.stencil = {};
  output.buffers.depth.level = 2;
  output.depth_stencil.depth_write = true;
  DepthStencilUnit unit;
  unit.begin(output, world.space(), 0);
  std::array<float, kMaxSamples> depth{0.5f};
  unit.test({3, 1, 0}, 1, depth, true, nullptr, true);
  // 40x36; below it 20x18 (padded to 20x20); to its right 10x9.
  EXPECT_EQ(world.value<float>(depth_address(output, 4, 20 + 3, 36 + 1, 0)), 0.5f);
  unit.test({10, 1, 0}, 1, depth, true, nullptr, true);
  EXPECT_EQ(world.value<float>(depth_address(output, 4, 20 + 10, 36 + 1, 0)), 0.0f);
}

// Expected values are those of isl (Mesa).
TEST(DepthStencil, LevelPaddingDependsOnTheGeneration) {
  const DepthRules& first = depth_rules(spec::GenId::gen6);
  EXPECT_EQ(first.depth.x * 100 + first.depth.y, 404);
  EXPECT_EQ(first.stencil.x * 100 + first.stencil.y, 402);
  for (const spec::GenId gen : {spec::GenId::gen4, spec::GenId::gen4_5}) {
    EXPECT_EQ(depth_rules(gen).depth.x * 100 + depth_rules(gen).depth.y, 402);
    EXPECT_EQ(depth_rules(gen).depth16.x * 100 + depth_rules(gen).depth16.y, 402);
  }
  for (const spec::GenId gen : {spec::GenId::gen8, spec::GenId::gen9, spec::GenId::gen11}) {
    EXPECT_EQ(depth_rules(gen).depth16.x * 100 + depth_rules(gen).depth16.y, 804);
    EXPECT_EQ(depth_rules(gen).stencil.x * 100 + depth_rules(gen).stencil.y, 808);
  }
  const DepthRules& last = depth_rules(spec::GenId::gen12);
  EXPECT_EQ(last.depth.x * 100 + last.depth.y, 804);
  EXPECT_EQ(last.depth16.x * 100 + last.depth16.y, 808);
  EXPECT_EQ(last.stencil.x * 100 + last.stencil.y, 1608);
  // A buffer uses the alignment of its state: 40 rows, then 20 padded to 32.
  PixelWorld world;
  Output output = output_of(kCases[3], 1, 1);
  output.buffers.stencil = {};
  output.buffers.depth.level = 2;
  output.buffers.depth.align_x = 16;
  output.buffers.depth.align_y = 8;
  output.buffers.depth.pitch_B = 256;
  output.depth_stencil.depth_write = true;
  DepthStencilUnit unit;
  unit.begin(output, world.space(), 0);
  unit.test({3, 1, 0}, 1, {0.5f}, true, nullptr, true);
  EXPECT_EQ(world.value<float>(depth_address(output, 4, 32 + 3, 40 + 1, 0)), 0.5f);
}

// On Gen12 Mesa samples the stencil buffer as a Y-tiled surface.
TEST(DepthStencil, StencilTilingDependsOnTheGeneration) {
  EXPECT_TRUE(depth_rules(spec::GenId::gen6).stencil_in_w_tiles);
  EXPECT_TRUE(depth_rules(spec::GenId::gen11).stencil_in_w_tiles);
  EXPECT_FALSE(depth_rules(spec::GenId::gen12).stencil_in_w_tiles);
  PixelWorld world;
  Output output = output_of(kCases[3], 1, 1);
  PlaneBuffer& stencil = output.buffers.stencil;
  stencil.align_x = depth_rules(spec::GenId::gen12).stencil.x;
  stencil.stencil_in_w_tiles = depth_rules(spec::GenId::gen12).stencil_in_w_tiles;
  stencil.write = true;
  output.depth_stencil.stencil_test = output.depth_stencil.stencil_write = true;
  output.depth_stencil.front.pass = hw::StencilOperation::REPLACE;
  output.depth_stencil.front.write_mask = 0xff;
  output.depth_stencil.front.reference = 0x66;
  DepthStencilUnit unit;
  unit.begin(output, world.space(), 0);
  unit.test({21, 9, 0}, 1, {0.5f}, true, nullptr, true);
  // Row 9 of the second 16-byte column.
  EXPECT_EQ(world.value<uint8_t>(stencil.address + 512 + 9 * 16 + 5), 0x66);
}

TEST(DepthStencil, AFaultInMemoryStopsTheWrite) {
  PixelWorld world;
  Output output = output_of(kCases[3], 1, 1);
  output.buffers.depth.address = PixelWorld::kVa + PixelWorld::kMapped;
  output.depth_stencil.depth_write = true;
  DepthStencilUnit unit;
  unit.begin(output, world.space(), 0);
  unit.test({3, 1, 0}, 1, {}, true, nullptr, true);
  EXPECT_TRUE(unit.stopped());
}

}  // namespace
}  // namespace halogen::pipe3d
