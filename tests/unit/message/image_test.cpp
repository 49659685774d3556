// Typed messages and the sampler: formats, tilings, levels, layers, filters, borders, sizes.
#include <utility>
#include <vector>

#include "covers.h"
#include "message_bench.h"
#include "surface/texel_format.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

constexpr uint32_t kRgba8Unorm = 0x0c7, kRgba8Uint = 0x0cb, kR32Uint = 0x0d7, kR32Float = 0x0d8;

struct Shape {
  uint32_t type = 1;  // 2D
  uint32_t format = kRgba8Uint;
  uint32_t tiling = 0;
  uint32_t width = 16, height = 16, depth = 1, pitch = 64;
  uint32_t levels = 1;
  uint32_t first_level = 0;
  bool array = false;
  uint32_t qpitch = 0;
  uint64_t base = 0x10000;
};

class Images : public MessageBench {
 protected:
  void bind_image(uint8_t index, const Shape& shape) {
    const uint64_t address = kVa + shape.base;
    bind(index, {shape.type << 29 | (shape.array ? 1u << 28 : 0) | shape.format << 18 | 1u << 16 | 1u << 14 |
                     shape.tiling << 12,
                 shape.qpitch / 4, (shape.height - 1) << 16 | (shape.width - 1),
                 (shape.depth - 1) << 21 | (shape.pitch - 1), (shape.depth - 1) << 7,
                 shape.first_level << 4 | (shape.levels - 1) | 0xf00, 0, 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16,
                 static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), 0, 0, 0, 0, 0, 0});
  }
  bool typed_header() const { return GetParam() == "bdw"; }
  // `at`: coordinates of lane 0. `data`: the four channels.
  void typed_write(uint8_t index, std::initializer_list<uint32_t> at, std::initializer_list<uint32_t> data) {
    size_t reg = kPayload;
    if (typed_header()) {
      set_lanes(reg++, {0, 0, 0, 0, 0, 0, 0, 0xffff});
    }
    for (const uint32_t value : at) {
      grf(reg++) = value;
    }
    for (const uint32_t value : data) {
      grf(reg++) = value;
    }
    const auto length = static_cast<uint32_t>(reg - kPayload);
    const uint32_t header = typed_header() ? 1u << 19 : 0;
    EXPECT_EQ(send(kPort1, length << 25 | header | 13u << 14 | 0x1000 | index, 1, 8), SendOutcome::done);
  }
  std::array<uint32_t, 4> typed_read(uint8_t index, std::initializer_list<uint32_t> at) {
    size_t reg = kPayload;
    for (const uint32_t value : at) {
      grf(reg++) = value;
    }
    const auto length = static_cast<uint32_t>(reg - kPayload);
    EXPECT_EQ(send(kPort1, length << 25 | 4u << 20 | 5u << 14 | 0x1000 | index, 1, 8), SendOutcome::done);
    return {response(0, 0), response(1, 0), response(2, 0), response(3, 0)};
  }
  // Sends a SIMD8 sampler message. `parameters` are those of lane 0.
  std::array<uint32_t, 4> sample(uint8_t index, uint32_t type, std::initializer_list<uint32_t> parameters) {
    size_t reg = kPayload;
    for (const uint32_t value : parameters) {
      grf(reg++) = value;
    }
    const auto length = static_cast<uint32_t>(reg - kPayload);
    EXPECT_EQ(send(kSampler, length << 25 | 4u << 20 | 1u << 17 | type << 12 | index, 1, 8), SendOutcome::done);
    return {response(0, 0), response(1, 0), response(2, 0), response(3, 0)};
  }
  static uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
  static float number(uint32_t value) { return std::bit_cast<float>(value); }
  std::array<uint32_t, 4> load(uint8_t index, uint32_t x, uint32_t y, uint32_t lod) {
    return GetParam() == "bdw" ? sample(index, 7, {x, lod, y}) : sample(index, 7, {x, y, lod});
  }
  void set_sampler(uint32_t dword0, uint32_t dword2, uint32_t dword3) {
    word(kStates + kSamplers) = dword0;
    word(kStates + kSamplers + 4) = 0x000e'0000;  // levels up to 14
    word(kStates + kSamplers + 8) = dword2;
    word(kStates + kSamplers + 12) = dword3;
    begin();
  }
};

TEST_P(Images, TypedWritesConvert) {
  bind_image(1, {.format = kRgba8Unorm});
  typed_write(1, {3, 2}, {bits(1.0f), bits(0.5f), bits(-3.0f), bits(2.0f)});
  EXPECT_EQ(word(0x10000 + 2 * 64 + 3 * 4), 0xff00'80ffu);
  const auto texel = typed_read(1, {3, 2});
  EXPECT_EQ(number(texel[0]), 1.0f);
  EXPECT_FLOAT_EQ(number(texel[1]), 128.0f / 255.0f);
  EXPECT_EQ(number(texel[2]), 0.0f);
  bind_image(2, {.format = kRgba8Uint});
  typed_write(2, {0, 0}, {1, 2, 300, 4});
  EXPECT_EQ(word(0x10000), 0x04ff'0201u) << "integers saturate";
}

TEST_P(Images, TypedAccessOutsideDoesNothing) {
  bind_image(1, {});
  typed_write(1, {16, 0}, {1, 1, 1, 1});
  typed_write(1, {0, 16}, {1, 1, 1, 1});
  typed_write(1, {0xffff'ffff, 0}, {1, 1, 1, 1});
  for (uint32_t i = 0; i < 64 * 32; i += 4) {
    ASSERT_EQ(word(0x10000 + i), 0u) << i;
  }
  EXPECT_EQ(typed_read(1, {16, 3}), (std::array<uint32_t, 4>{0, 0, 0, 0}));
}

TEST_P(Images, YTiledImagesAreAddressedByTile) {
  bind_image(1, {.tiling = 3, .width = 64, .height = 64, .pitch = 256});
  typed_write(1, {37, 33}, {1, 2, 3, 4});
  // Byte 148 of row 33 is in the second tile of the second row of tiles. A tile has columns of 16 bytes and 32 rows.
  const uint64_t at = (1 * 2 + 1) * 4096 + (20 / 16) * 512 + 1 * 16 + 20 % 16;
  EXPECT_EQ(word(0x10000 + at), 0x0403'0201u);
  EXPECT_EQ(typed_read(1, {37, 33}), (std::array<uint32_t, 4>{1, 2, 3, 4}));
}

TEST_P(Images, LayersAreOneQPitchApart) {
  bind_image(1, {.format = kR32Uint, .depth = 3, .array = true, .qpitch = 20});
  typed_write(1, {1, 1, 2}, {7, 0, 0, 0});
  EXPECT_EQ(word(0x10000 + (2 * 20 + 1) * 64 + 4), 7u);
  typed_write(1, {1, 1, 3}, {8, 0, 0, 0});
  EXPECT_EQ(word(0x10000 + (3 * 20 + 1) * 64 + 4), 0u) << "layer 3 does not exist";
}

// Levels of a 16x16 image: level 1 is below level 0, level 2 is to the right of level 1.
TEST_P(Images, TypedMessagesAccessTheFirstLevelOfTheView) {
  bind_image(1, {.format = kR32Uint, .levels = 3, .first_level = 1});
  typed_write(1, {7, 7}, {5, 0, 0, 0});
  EXPECT_EQ(word(0x10000 + (16 + 7) * 64 + 7 * 4), 5u);
  EXPECT_EQ(typed_read(1, {7, 7})[0], 5u);
  typed_write(1, {8, 0}, {6, 0, 0, 0});
  EXPECT_EQ(word(0x10000 + 16 * 64 + 8 * 4), 0u) << "level 1 is 8 wide";
  bind_image(2, {.format = kR32Uint, .levels = 1, .first_level = 2});
  typed_write(2, {3, 3}, {9, 0, 0, 0});
  EXPECT_EQ(word(0x10000 + (16 + 3) * 64 + (8 + 3) * 4), 9u);
}

// On Gen9 and later, QPitch of a 1D image counts texels. Earlier it counts rows.
TEST_P(Images, LayersOf1DImagesFollowEachOther) {
  bind_image(1, {.type = 0, .format = kR32Uint, .height = 1, .depth = 3, .array = true, .qpitch = 20});
  typed_write(1, {1, 2}, {7, 0, 0, 0});
  EXPECT_EQ(word(0x10000 + (GetParam() == "bdw" ? 2 * 20 * 64 : 2 * 20 * 4) + 4), 7u);
}

TEST_P(Images, TypedAtomicsReturnOldTexels) {
  bind_image(1, {.format = kR32Uint});
  word(0x10000 + 64) = 10;
  size_t reg = kPayload;
  if (typed_header()) {
    set_lanes(reg++, {0, 0, 0, 0, 0, 0, 0, 0xff});
  }
  set_lanes(reg, {0, 0, 99});
  set_lanes(reg + 1, {1, 1, 0});
  set_lanes(reg + 2, {5, 6, 7});
  const auto length = static_cast<uint32_t>(reg + 3 - kPayload);
  const uint32_t header = typed_header() ? 1u << 19 : 0;
  EXPECT_EQ(send(kPort1, length << 25 | 1u << 20 | header | 6u << 14 | 0x2701, 7, 8), SendOutcome::done);
  EXPECT_EQ(word(0x10000 + 64), 21u);
  EXPECT_EQ(response(0, 0), 10u);
  EXPECT_EQ(response(0, 1), 15u);
  EXPECT_EQ(response(0, 2), 0u);
}

TEST_P(Images, TypedMessagesAccessBuffers) {
  bind(1, {0x8000'0000 | kR32Uint << 18 | 0x4000, 0, 9, 3, 0, 0, 0, 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16,
           static_cast<uint32_t>(kVa + 0x20000), static_cast<uint32_t>(kVa >> 32), 0, 0, 0, 0, 0, 0});
  typed_write(1, {9}, {5, 0, 0, 0});
  typed_write(1, {10}, {6, 0, 0, 0});
  EXPECT_EQ(word(0x20000 + 36), 5u);
  EXPECT_EQ(word(0x20000 + 40), 0u);
  EXPECT_EQ(sample(1, 7, {9, 0, 0}), (std::array<uint32_t, 4>{5, 0, 0, 1})) << "missing channels are 0, 0 and 1";
  EXPECT_EQ(sample(1, 7, {10, 0, 0}), (std::array<uint32_t, 4>{0, 0, 0, 0}));
  EXPECT_EQ(sample(1, 10, {0})[0], 10u);
}

TEST_P(Images, UniformBuffersAreLoadedByBytes) {
  bind(1, {0x8001'4000, 0, 0x3f, 0, 0, 0, 0, 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16,
           static_cast<uint32_t>(kVa + 0x20000), static_cast<uint32_t>(kVa >> 32), 0, 0, 0, 0, 0, 0});
  for (uint32_t i = 0; i < 32; ++i) {
    word(0x20000 + i * 4) = i;
  }
  EXPECT_EQ(sample(1, 7, {20, 0, 0}), (std::array<uint32_t, 4>{5, 6, 7, 8}));
  EXPECT_EQ(sample(1, 7, {64, 0, 0}), (std::array<uint32_t, 4>{0, 0, 0, 0}));
}

TEST_P(Images, LoadsReadTheirLevel) {
  bind_image(1, {.format = kR32Uint, .levels = 3});
  word(0x10000 + 5 * 64 + 8) = 100;                   // level 0, (2, 5)
  word(0x10000 + (16 + 5) * 64 + 8) = 101;            // level 1 below
  word(0x10000 + (16 + 3) * 64 + (8 + 2) * 4) = 102;  // level 2 right of level 1
  EXPECT_EQ(load(1, 2, 5, 0)[0], 100u);
  EXPECT_EQ(load(1, 2, 5, 1)[0], 101u);
  EXPECT_EQ(load(1, 2, 3, 2)[0], 102u);
  EXPECT_EQ(load(1, 2, 5, 2)[0], 0u) << "outside a level with four columns";
  EXPECT_EQ(load(1, 2, 5, 3)[3], 0u) << "the level does not exist";
}

TEST_P(Images, SizeMessagesReturnTheExtent) {
  bind_image(1, {.width = 40, .height = 20, .depth = 5, .levels = 3, .array = true});
  EXPECT_EQ(sample(1, 10, {1}), (std::array<uint32_t, 4>{20, 10, 5, 3}));
  bind_image(1, {.type = 2, .width = 40, .height = 20, .depth = 5});
  EXPECT_EQ(sample(1, 10, {0}), (std::array<uint32_t, 4>{40, 20, 5, 1}));
}

TEST_P(Images, NearestFilterFollowsEveryWrapMode) {
  bind_image(1, {.format = kR32Uint, .width = 4, .height = 1});
  for (uint32_t i = 0; i < 4; ++i) {
    word(0x10000 + i * 4) = 10 + i;
  }
  word(kStates + 0x3000) = 77;
  struct Row {
    uint32_t mode;
    int at;
    uint32_t value;
  };
  constexpr Row kRows[] = {{0, -1, 13}, {0, 5, 11},  {1, -1, 10}, {1, 4, 13}, {1, 8, 10},  {2, -7, 10},
                           {2, 9, 13},  {4, -1, 77}, {4, 4, 77},  {4, 3, 13}, {5, -2, 11}, {5, 9, 13}};
  for (const Row& row : kRows) {
    set_sampler(0, 0x3000, 1u << 10 | row.mode << 6 | 2u << 3 | 2);
    const float at = static_cast<float>(row.at) + 0.5f;
    EXPECT_EQ(sample(1, 2, {0, bits(at), bits(0.5f)})[0], row.value) << row.mode << " " << row.at;
    set_sampler(0, 0x3000, row.mode << 6 | 2u << 3 | 2);
    EXPECT_EQ(sample(1, 2, {0, bits(at / 4), bits(0.5f)})[0], row.value) << "normalised " << row.mode << " " << row.at;
  }
}

TEST_P(Images, LinearFiltersWeightNeighbouringTexels) {
  bind_image(1, {.format = kR32Float, .width = 4, .height = 4});
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t x = 0; x < 4; ++x) {
      real(0x10000 + y * 64 + x * 4) = static_cast<float>(x + 10 * y);
    }
  }
  set_sampler(1u << 14 | 1u << 17, 0, 1u << 10 | 2u << 6 | 2u << 3 | 2);
  // Half way between texels 1 and 2, and a quarter of the way between rows 0 and 1.
  EXPECT_FLOAT_EQ(number(sample(1, 2, {0, bits(2.0f), bits(0.75f)})[0]), 1.5f + 2.5f);
  EXPECT_FLOAT_EQ(number(sample(1, 2, {0, bits(0.0f), bits(0.5f)})[0]), 0.0f) << "clamped to the edge";
  set_sampler(1u << 14 | 1u << 17, 0x3000, 1u << 10 | 4u << 6 | 4u << 3 | 4);
  real(kStates + 0x3000) = 100.0f;
  EXPECT_FLOAT_EQ(number(sample(1, 2, {0, bits(0.0f), bits(0.5f)})[0]), 50.0f) << "the mean of a texel and the border";
}

TEST_P(Images, GatherOrderStartsAtTheLowerLeftTexel) {
  bind_image(1, {.format = kR32Float, .width = 4, .height = 4});
  for (uint32_t i = 0; i < 4; ++i) {
    real(0x10000 + i * 4) = static_cast<float>(i);
    real(0x10000 + 64 + i * 4) = static_cast<float>(10 + i);
  }
  set_sampler(0, 0, 2u << 6 | 2u << 3 | 2);
  const auto texel = sample(1, 8, {bits(0.5f), bits(0.25f)});
  EXPECT_EQ(number(texel[0]), 11.0f);
  EXPECT_EQ(number(texel[1]), 12.0f);
  EXPECT_EQ(number(texel[2]), 2.0f);
  EXPECT_EQ(number(texel[3]), 1.0f);
}

TEST_P(Images, ChannelSelectsApplyToTheSampler) {
  bind_image(1, {.format = kRgba8Uint});
  word(kStates + 0x4000 + 64 + 28) = 6u << 25 | 5u << 22 | 1u << 19 | 0u << 16;  // blue, green, one, zero
  begin();
  word(0x10000) = 0x0403'0201;
  EXPECT_EQ(load(1, 0, 0, 0), (std::array<uint32_t, 4>{3, 2, 1, 0}));
}

TEST_P(Images, HalfAndSmallFloatFormatsAreConverted) {
  EXPECT_EQ(surface::half_to_float(0x3c00), 1.0f);
  EXPECT_EQ(surface::half_to_float(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(surface::half_to_float(0xfbff), -65504.0f);
  EXPECT_EQ(surface::float_to_half(65520.0f), 0x7c00) << "a value half way to the next one rounds to infinity";
  EXPECT_EQ(surface::float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(surface::float_to_half(2049.0f), 0x6800) << "ties are rounded to even";
  EXPECT_EQ(surface::float_to_half(2051.0f), 0x6802);
  EXPECT_EQ(surface::float_to_half(std::ldexp(1.0f, -25)), 0x0000);
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    ASSERT_EQ(surface::float_to_half(surface::half_to_float(static_cast<uint16_t>(half))), half);
  }
  const surface::TexelFormat& packed = surface::texel_format(hw::SurfaceFormat::R11G11B10_FLOAT);
  const uint32_t one = 15u << 6 | 15u << 17 | 15u << 27;
  EXPECT_EQ(surface::unpack_texel(packed, reinterpret_cast<const std::byte*>(&one))[2], bits(1.0f));
  const surface::TexelFormat& shared = surface::texel_format(hw::SurfaceFormat::R9G9B9E5_SHAREDEXP);
  uint32_t word = 0;
  surface::pack_texel(shared, {bits(1.0f), bits(0.5f), bits(0.0f), 0}, reinterpret_cast<std::byte*>(&word));
  EXPECT_EQ(word, 0x100u | 0x80u << 9 | 16u << 27);
}

class Notes final : public memory::PreTranslation {
 public:
  bool covers(uint64_t /*address*/) override { return false; }
  Result translate(uint64_t /*address*/, memory::Access /*access*/) override { return {}; }
  void on_unmapped_tile(uint64_t /*address*/, memory::Tile /*tile*/) override {}
  void on_x_tiled_surface(uint64_t base, uint64_t bytes) override { seen.emplace_back(base, bytes); }
  std::vector<std::pair<uint64_t, uint64_t>> seen;
};

// X-tiled images, and no others, are named to the memory with an extent that holds all of their tiles.
TEST_P(Images, XTiledImagesAreNotedForTiledResources) {
  COVERS("ICL-TRTT-17");  // with Trtt.UnmappedTilesOfXTiledSurfacesAreReported
  for (const bool samples : {false, true}) {
    for (uint32_t tiling = 0; tiling < 4; ++tiling) {
      if (tiling == 1) continue;  // W: stencil only
      Notes notes;
      memory_.space().set_pre_translation(&notes);
      bind_image(1, {.format = kRgba8Unorm, .tiling = tiling, .width = 128, .height = 32, .pitch = 512});
      static_cast<void>(samples ? load(1, 3, 4, 0) : typed_read(1, {3, 4}));
      static_cast<void>(load(1, 5, 6, 0));
      memory_.space().set_pre_translation(nullptr);
      ASSERT_EQ(notes.seen.size(), tiling == 2 ? 1u : 0u) << tiling;
      if (tiling == 2) {
        EXPECT_EQ(notes.seen[0].first, kVa + 0x10000);
        EXPECT_GE(notes.seen[0].second, 512u * 32);
        EXPECT_LE(notes.seen[0].second, 512u * 64) << "half as much again for levels, rounded up";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Images, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
