// Filters, wrap modes, levels, comparisons, cubes and samples, compared with slow formulas in this file.
#include <random>

#include "sampler_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using Filter = hw::MapFilter;
using Mip = hw::MipFilter;
constexpr auto kR32 = hw::SurfaceFormat::R32_FLOAT;

class SamplerMessages : public SamplerBench {};
class NewSampler : public SamplerBench {};
class OldSamples : public SamplerBench {};

// Wraps an index step by step. -1: border.
int walked(hw::TextureCoordinateMode mode, int index, int size) {
  using Mode = hw::TextureCoordinateMode;
  switch (mode) {
    case Mode::WRAP:
      while (index < 0) index += size;
      while (index >= size) index -= size;
      return index;
    case Mode::MIRROR:
      while (index < 0 || index >= size) index = index < 0 ? -1 - index : 2 * size - 1 - index;
      return index;
    case Mode::CLAMP:
      return index < 0 ? 0 : index >= size ? size - 1 : index;
    case Mode::MIRROR_ONCE:
      if (index < 0) index = -1 - index;
      return index >= size ? size - 1 : index;
    default:
      return index < 0 || index >= size ? -1 : index;
  }
}

double tent(double at, int index) {
  const double away = std::fabs(at - index);
  return away < 1.0 ? 1.0 - away : 0.0;
}

TEST_P(SamplerMessages, LinearFilterWeightsHaveEightBits) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-10.0f, 10.0f);
  std::uniform_real_distribution<float> place(-1.6f, 2.6f);
  constexpr int kWidth = 5;
  constexpr int kHeight = 3;
  bind_state(1, image(kR32, kWidth, kHeight));
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      texel(x, y) = value(random);
    }
  }
  constexpr float kBorder = 3.5f;
  set_border(0x3000, {kBorder, 0, 0, 0});
  for (const Mode mode : {Mode::WRAP, Mode::MIRROR, Mode::CLAMP, Mode::CLAMP_BORDER, Mode::MIRROR_ONCE}) {
    hw::SAMPLER_STATE state = filter(Filter::LINEAR, Mip::NONE, mode);
    state.border_color_pointer = 0x3000;
    set_state(state);
    for (unsigned i = 0; i < 60; ++i) {
      const float u = place(random);
      const float v = place(random);
      const auto steps = [](double at) { return std::floor(at * 256.0 + 0.5) / 256.0; };
      const double at_x = steps(double{u} * kWidth - 0.5);
      const double at_y = steps(double{v} * kHeight - 0.5);
      double sum = 0.0;
      for (int y = -20; y < 20; ++y) {
        for (int x = -20; x < 20; ++x) {
          const double share = tent(at_x, x) * tent(at_y, y);
          if (share > 0.0) {
            const int from_x = walked(mode, x, kWidth);
            const int from_y = walked(mode, y, kHeight);
            sum += share * (from_x < 0 || from_y < 0
                                ? double{kBorder}
                                : double{texel(static_cast<uint32_t>(from_x), static_cast<uint32_t>(from_y))});
          }
        }
      }
      ASSERT_NEAR(sample_level(u, v, 0, 0)[0], sum, 1e-5) << static_cast<int>(mode) << " " << u << " " << v;
    }
  }
}

// Each level has one colour. The location of the levels is computed here.
struct Level {
  uint32_t x, y, width, height;
};
std::vector<Level> levels_of(uint32_t size, uint32_t count, uint32_t align_y) {
  std::vector<Level> out;
  const auto up = [](uint32_t value, uint32_t to) { return (value + to - 1) / to * to; };
  uint32_t x = 0;
  uint32_t y = 0;
  for (uint32_t level = 0; level < count; ++level) {
    const uint32_t now = std::max(1u, size >> level);
    out.push_back({x, y, now, now});
    if (level == 1) {
      x += up(now, 4);
    } else {
      y += up(now, align_y);
    }
  }
  return out;
}

TEST_P(SamplerMessages, LevelsAreMixedWithEightBitWeights) {
  constexpr uint32_t kLevels = 5;
  bind_state(1, image(kR32, 16, 16, kLevels));
  const auto levels = levels_of(16, kLevels, old() ? 2 : 4);
  const auto color = [](size_t level) { return static_cast<float>(level * level * 10); };
  for (size_t level = 0; level < kLevels; ++level) {
    for (uint32_t y = 0; y < levels[level].height; ++y) {
      for (uint32_t x = 0; x < levels[level].width; ++x) {
        texel(levels[level].x + x, levels[level].y + y) = color(level);
      }
    }
  }
  set_state(filter(Filter::LINEAR, Mip::LINEAR, Mode::CLAMP));
  for (const float lod : {-3.0f, 0.0f, 0.25f, 0.5f, 1.3f, 2.99f, 3.75f, 4.0f, 9.0f}) {
    const double steps = std::clamp(std::floor(double{lod} * 256 + 0.5) / 256, 0.0, 4.0);
    double expected = 0.0;
    for (int level = 0; level < 5; ++level) {
      expected += tent(steps, level) * double{color(static_cast<size_t>(level))};
    }
    EXPECT_NEAR(sample_level(0.4f, 0.6f, 0, lod)[0], expected, 1e-4) << lod;
  }
  hw::SAMPLER_STATE nearest = filter(Filter::NEAREST, Mip::NEAREST, Mode::CLAMP);
  nearest.texture_lod_bias = 0.25;
  nearest.max_lod = 3.0;
  set_state(nearest);
  EXPECT_EQ(sample_level(0.4f, 0.6f, 0, 1.2f)[0], color(1));
  EXPECT_EQ(sample_level(0.4f, 0.6f, 0, 1.3f)[0], color(2));
  EXPECT_EQ(sample_level(0.4f, 0.6f, 0, 8.0f)[0], color(3)) << "limited to the last level";
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  EXPECT_EQ(sample_level(0.4f, 0.6f, 0, 3.0f)[0], color(0));

  // Squares of pixels. A pixel is 2^(n/2) texels wide and a quarter of that high, so the level is n/2.
  set_state(filter(Filter::NEAREST, Mip::NEAREST, Mode::WRAP));
  for (int n = -2; n < 9; ++n) {
    const float wide = std::exp2(static_cast<float>(n) / 2) / 16.0f;
    Lanes u = all(0.1f);
    Lanes v = all(0.1f);
    for (size_t lane = 0; lane < 16; ++lane) {
      u[lane] += wide * static_cast<float>(lane % 2);
      v[lane] += wide / 4 * static_cast<float>(lane / 2 % 2);
    }
    sample_pixels(u, v, all(0));
    const auto level = static_cast<size_t>(std::clamp(std::floor(n / 2.0 + 0.5), 0.0, 4.0));
    if (n % 2 == 0) {
      EXPECT_EQ(result(2)[0], color(level)) << n;
      EXPECT_EQ(result(7)[0], color(level)) << n;
    }
  }
}

TEST_P(SamplerMessages, LargerSideOfAPixelSelectsTheLevel) {
  constexpr uint32_t kLevels = 4;
  bind_state(1, image(kR32, 8, 8, kLevels));
  const auto levels = levels_of(8, kLevels, old() ? 2 : 4);
  for (size_t level = 0; level < kLevels; ++level) {
    for (uint32_t y = 0; y < levels[level].height; ++y) {
      for (uint32_t x = 0; x < levels[level].width; ++x) {
        texel(levels[level].x + x, levels[level].y + y) = static_cast<float>(level);
      }
    }
  }
  Lanes u = all(0.3f);
  Lanes v = all(0.3f);
  for (size_t lane = 0; lane < 16; ++lane) {
    u[lane] += 0.125f * static_cast<float>(lane % 2);    // one texel
    v[lane] += 0.5f * static_cast<float>(lane / 2 % 2);  // four texels
  }
  set_state(filter(Filter::LINEAR, Mip::NEAREST, Mode::WRAP));
  sample_pixels(u, v, all(0));
  EXPECT_EQ(result()[0], 2.0f);
  hw::SAMPLER_STATE state = filter(Filter::ANISOTROPIC, Mip::NEAREST, Mode::WRAP);
  state.maximum_anisotropy = hw::SAMPLER_STATE::MaximumAnisotropy::ratio_4;
  set_state(state);
  sample_pixels(u, v, all(0));
  EXPECT_EQ(result()[0], 0.0f) << "four samples along the longer side of the pixel";
  state.maximum_anisotropy = hw::SAMPLER_STATE::MaximumAnisotropy::ratio_2;
  set_state(state);
  sample_pixels(u, v, all(0));
  EXPECT_EQ(result()[0], 1.0f);
}

TEST_P(SamplerMessages, AnisotropicFilterAveragesAlongTheLongSide) {
  bind_state(1, image(kR32, 16, 1));
  for (uint32_t x = 0; x < 16; ++x) {
    texel(x, 0) = static_cast<float>(x * x);
  }
  hw::SAMPLER_STATE state = filter(Filter::ANISOTROPIC, Mip::NONE, Mode::CLAMP);
  state.maximum_anisotropy = hw::SAMPLER_STATE::MaximumAnisotropy::ratio_4;
  set_state(state);
  Lanes u = all(8.0f / 16);
  Lanes v = all(0.5f);
  for (size_t lane = 0; lane < 16; ++lane) {
    u[lane] += 4.0f / 16 * static_cast<float>(lane % 2);
    v[lane] += 1.0f * static_cast<float>(lane / 2 % 2);
  }
  sample_pixels(u, v, all(0));
  double mean = 0;
  for (const double at : {6.0, 7.0, 8.0, 9.0}) {
    mean += at * at / 4;  // the samples are at centres of texels
  }
  EXPECT_NEAR(result(0)[0], mean, 1e-4);
}

// The table of cube faces in GL 4.6: the face, then the coordinates that become s and t, with signs.
struct FaceRow {
  int major, s_axis, s_sign, t_axis, t_sign;
};
constexpr FaceRow kFaceRows[] = {{1, 3, -1, 2, -1}, {-1, 3, 1, 2, -1}, {2, 1, 1, 3, 1},
                                 {-2, 1, 1, 3, -1}, {3, 1, 1, 2, -1},  {-3, 1, -1, 2, -1}};

TEST_P(SamplerMessages, DirectionsSelectTheFaceOfACube) {
  constexpr uint32_t kSize = 4;
  hw::RENDER_SURFACE_STATE state = image(kR32, kSize, kSize);
  state.surface_type = hw::SurfaceType::SURFTYPE_CUBE;
  uint32_t distance = 8;
  if (old()) {
    distance = kSize + 2 + 11 * 2;
    state.cube_face_enable_negative_x = state.cube_face_enable_positive_x = state.cube_face_enable_negative_y = true;
    state.cube_face_enable_positive_y = state.cube_face_enable_negative_z = state.cube_face_enable_positive_z = true;
  } else {
    state.surface_qpitch = static_cast<uint16_t>(distance / 4);
  }
  if (first()) {
    distance = kSize;  // faces are below each other, as slices (G45 PRM vol. 1a, 6.17.4.1)
  }
  bind_state(1, state);
  for (uint32_t face = 0; face < 6; ++face) {
    for (uint32_t y = 0; y < kSize; ++y) {
      for (uint32_t x = 0; x < kSize; ++x) {
        texel(x, face * distance + y) = static_cast<float>(face * 100 + y * 10 + x);
      }
    }
  }
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  std::mt19937 random(11);
  std::uniform_real_distribution<float> side(-0.99f, 0.99f);
  for (unsigned i = 0; i < 100; ++i) {
    const FaceRow& row = kFaceRows[i % 6];
    float direction[4] = {};
    const float s = side(random);
    const float t = side(random);
    direction[std::abs(row.major)] = row.major < 0 ? -1.0f : 1.0f;
    direction[row.s_axis] = s * static_cast<float>(row.s_sign);
    direction[row.t_axis] = t * static_cast<float>(row.t_sign);
    const auto column = std::floor((s + 1) / 2 * 4);
    const auto line = std::floor((t + 1) / 2 * 4);
    const float expected = static_cast<float>(i % 6 * 100) + line * 10 + column;
    ASSERT_EQ(sample_level(direction[1], direction[2], direction[3], 0)[0], expected) << i;
  }
  // At the edge x = z, half of +X and half of +Z contribute.
  hw::SAMPLER_STATE seamless = filter(Filter::LINEAR, Mip::NONE, Mode::CUBE);
  seamless.cube_surface_control_mode = hw::CubeSurfaceControlMode::OVERRIDE;
  set_state(seamless);
  // y = 0 (t = 0.5) is between rows 1 and 2. The right column of +Z is next to the left column of +X.
  const float expected = (413.0f + 423.0f + 10.0f + 20.0f) / 4;
  EXPECT_NEAR(sample_level(1.0f, 0.0f, 1.0f, 0)[0], expected, 1e-3);
  // At a corner: the mean of its three texels.
  EXPECT_NEAR(sample_level(1.0f, 1.0f, 1.0f, 0)[0], (0.0f + 403.0f + 233.0f) / 3, 2.0f);
}

// A square of pixels across an edge of the cube. The size of a pixel is the distance to its neighbours in the plane of
// its own face.
TEST_P(SamplerMessages, PixelsOfACubeHaveTheSizeOnTheirOwnFace) {
  if (first()) {
    GTEST_SKIP() << "levels of cubes have another layout on this generation";
  }
  constexpr uint32_t kSize = 8;
  constexpr uint32_t kLevels = 4;
  constexpr uint32_t kFront = 4;  // +Z
  hw::RENDER_SURFACE_STATE state = image(kR32, kSize, kSize, kLevels);
  state.surface_type = hw::SurfaceType::SURFTYPE_CUBE;
  uint32_t distance = 16;
  if (old()) {
    distance = kSize + kSize / 2 + 11 * 2;
    state.cube_face_enable_negative_x = state.cube_face_enable_positive_x = state.cube_face_enable_negative_y = true;
    state.cube_face_enable_positive_y = state.cube_face_enable_negative_z = state.cube_face_enable_positive_z = true;
  } else {
    state.surface_qpitch = static_cast<uint16_t>(distance / 4);
  }
  bind_state(1, state);
  const auto levels = levels_of(kSize, kLevels, old() ? 2 : 4);
  for (size_t level = 0; level < kLevels; ++level) {
    for (uint32_t y = 0; y < levels[level].height; ++y) {
      for (uint32_t x = 0; x < levels[level].width; ++x) {
        texel(levels[level].x + x, kFront * distance + levels[level].y + y) = static_cast<float>(level + 1);
      }
    }
  }
  set_state(filter(Filter::NEAREST, Mip::NEAREST, Mode::CLAMP));
  Lanes x = all(0);
  Lanes y = all(0);
  for (size_t lane = 0; lane < 16; ++lane) {
    x[lane] = lane % 2 == 0 ? -1.3f : -0.3f;  // the left pixels are on -X; the distance is half a face: four texels
    y[lane] = lane / 2 % 2 == 0 ? 0.0f : 0.2f;
  }
  sample_pixels(x, y, all(1.0f));
  EXPECT_EQ(result(1)[0], 3.0f) << "four texels: level 2";
  EXPECT_EQ(result(3)[0], 3.0f);
}

TEST_P(SamplerMessages, LayersAreRoundedAndLimited) {
  hw::RENDER_SURFACE_STATE state = image(kR32, 4, 4);
  state.depth = 2;
  uint32_t distance = 8;
  if (old()) {
    distance = 4 + 2 + 11 * 2;
  } else {
    state.surface_array = true;
    state.surface_qpitch = 2;
  }
  bind_state(1, state);
  for (uint32_t layer = 0; layer < 3; ++layer) {
    texel(1, layer * distance + 2) = static_cast<float>(layer + 1);
  }
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  const auto at = [&](float layer) { return sample_level(0.3f, 0.6f, layer, 0)[0]; };
  EXPECT_EQ(at(0.0f), 1.0f);
  EXPECT_EQ(at(0.6f), 2.0f);
  EXPECT_EQ(at(1.5f), 3.0f) << "rounded to even";
  EXPECT_EQ(at(0.5f), 1.0f) << "rounded to even";
  EXPECT_EQ(at(7.0f), 3.0f);
  EXPECT_EQ(at(-2.0f), 1.0f);
}

TEST_P(SamplerMessages, VolumesAreFilteredAlongThreeAxes) {
  hw::RENDER_SURFACE_STATE state = image(kR32, 4, 4, 2);
  state.surface_type = hw::SurfaceType::SURFTYPE_3D;
  state.depth = 3;
  const bool layered = !old() && GetParam() != "bdw";
  if (!old()) {
    state.surface_qpitch = 2;
  }
  bind_state(1, state);
  for (uint32_t slice = 0; slice < 4; ++slice) {
    for (uint32_t y = 0; y < 4; ++y) {
      for (uint32_t x = 0; x < 4; ++x) {
        texel(x, slice * (layered ? 8 : 4) + y) = static_cast<float>(slice * 8);
      }
    }
  }
  set_state(filter(Filter::LINEAR, Mip::NONE, Mode::CLAMP));
  EXPECT_NEAR(sample_level(0.5f, 0.5f, 0.5f, 0)[0], 12.0f, 1e-4) << "between slices 1 and 2";
  EXPECT_NEAR(sample_level(0.5f, 0.5f, 0.0f, 0)[0], 0.0f, 1e-4);
  if (!layered) {
    // Level 1 has two slices of 2x2 texels, side by side below the four slices of level 0.
    texel(0, 16) = texel(1, 16) = texel(0, 17) = texel(1, 17) = 50.0f;
    for (uint32_t i = 0; i < 4; ++i) {
      texel(4 + i % 2, 16 + i / 2) = 60.0f;
    }
    hw::SAMPLER_STATE mips = filter(Filter::LINEAR, Mip::NEAREST, Mode::CLAMP);
    set_state(mips);
    EXPECT_NEAR(sample_level(0.5f, 0.5f, 0.5f, 1.0f)[0], 55.0f, 1e-4);
  }
}

TEST_P(SamplerMessages, CompressedBlocksAreDecodedInEveryLevel) {
  bind_state(1, image(hw::SurfaceFormat::BC1_UNORM, 8, 8, 2));
  const auto block = [&](uint32_t column, uint32_t row, uint32_t color) {
    word(kImage + row * kPitch + column * 8) = color;  // both colours, all indices 0
  };
  block(0, 0, 0xf800);
  block(1, 1, 0x07e0);
  // Level 0 has two rows of blocks. Up to Gen8 alignments count texels, so four are one block. Later they count blocks.
  const bool in_blocks = !old() && GetParam() != "bdw";
  block(0, in_blocks ? 4 : 2, 0x001f);
  set_state(filter(Filter::NEAREST, Mip::NEAREST, Mode::CLAMP));
  using Four = std::array<float, 4>;
  EXPECT_EQ(sample_level(0.1f, 0.1f, 0, 0), (Four{1, 0, 0, 1}));
  EXPECT_EQ(sample_level(0.9f, 0.6f, 0, 0), (Four{0, 1, 0, 1}));
  EXPECT_EQ(sample_level(0.9f, 0.6f, 0, 1), (Four{0, 0, 1, 1}));
}

TEST_P(SamplerMessages, NanAndHugeCoordinatesAreHarmless) {
  bind_state(1, image(kR32, 4, 4, 3));
  set_state(filter(Filter::LINEAR, Mip::LINEAR, Mode::MIRROR));
  const float nan = std::nanf("");
  const float far = std::numeric_limits<float>::infinity();
  for (const float value : {nan, far, -far, 3e38f}) {
    sample_level(value, 0.5f, value, value);
    sample_pixels(all(value), all(-value), all(value));
  }
  SUCCEED();
}

// Four samples occupy a 2x2 block. A filtered texel is their mean.
TEST_P(OldSamples, AreAveraged) {
  hw::RENDER_SURFACE_STATE state = image(kR32, 4, 4);
  state.number_of_multisamples = hw::SampleCount::MULTISAMPLECOUNT_4;
  bind_state(1, state);
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  // Pixel (3, 1): its column is {x1, sample bit 0, x0}, its row {y1, sample bit 1, y0}.
  texel(4 + 1, 0 + 1) = 1.0f;
  texel(4 + 3, 0 + 1) = 2.0f;
  texel(4 + 1, 2 + 1) = 5.0f;
  texel(4 + 3, 2 + 1) = 10.0f;
  EXPECT_EQ(sample_level(3.5f / 4, 1.5f / 4, 0, 0)[0], 4.5f);
}

INSTANTIATE_TEST_SUITE_P(Chips, OldSamples, testing::Values("snb"), [](const auto& chip) { return chip.param; });
INSTANTIATE_TEST_SUITE_P(Chips, SamplerMessages, testing::Values("i965", "g45", "snb", "bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
