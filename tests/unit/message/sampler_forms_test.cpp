// Forms of sampler messages: order of parameters, comparisons, gathers, gradients, samples, 16-bit and SIMD4x2 results.
#include "sampler_bench.h"
#include "surface/texel_format.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using Filter = hw::MapFilter;
using Mip = hw::MipFilter;
constexpr auto kR32 = hw::SurfaceFormat::R32_FLOAT;

class SamplerForms : public SamplerBench {
 protected:
  // Sends a SIMD8 message of Gen5 and later. The parameters are the same for all lanes.
  std::array<float, 4> ask(uint32_t type, std::initializer_list<float> parameters, uint32_t extra = 0) {
    const size_t header = header_;
    size_t slot = 0;
    for (const float value : parameters) {
      put(slot++, all(value), 1);
    }
    header_ = header;
    EXPECT_EQ(send_sampler(type, parameters.size(), extra), SendOutcome::done);
    return result();
  }
  static float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
  uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }
  // Fills an image with x + 10 y.
  void ramp(uint32_t width, uint32_t height) {
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; ++x) {
        texel(x, y) = static_cast<float>(x + 10 * y);
      }
    }
  }
};

TEST_P(SamplerForms, ShadowComparisonsReturnZeroWhereTheyHold) {
  bind_state(1, image(kR32, 4, 1));
  for (uint32_t i = 0; i < 4; ++i) {
    texel(i, 0) = static_cast<float>(i);
  }
  // Compares texels 0 to 3 with 2: always, never, less, equal, less or equal, greater, not equal, greater or equal.
  constexpr uint8_t kHolds[8] = {0xf, 0x0, 0x3, 0x4, 0x7, 0x8, 0xb, 0xc};
  for (unsigned function = 0; function < 8; ++function) {
    hw::SAMPLER_STATE state = filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP);
    state.shadow_function = static_cast<hw::CompareFunction>(function);
    set_state(state);
    for (unsigned i = 0; i < 4; ++i) {
      const float u = (static_cast<float>(i) + 0.5f) / 4;
      const float expected = (kHolds[function] >> i & 1) != 0 ? 0.0f : 1.0f;
      const float got = old() ? ask(6, {u, 0.5f, 0, 0, 2.0f, 0})[0]  // u v r ai, reference, level
                              : ask(6, {2.0f, 0, u, 0.5f})[0];       // reference, level, u v
      EXPECT_EQ(got, expected) << function << " " << i;
      const float plain = old() ? ask(3, {u, 0.5f, 0, 0, 2.0f})[0] : ask(3, {2.0f, u, 0.5f})[0];
      EXPECT_EQ(plain, expected) << function << " " << i;
    }
  }
  hw::SAMPLER_STATE state = filter(Filter::LINEAR, Mip::NONE, Mode::CLAMP);
  state.shadow_function = hw::CompareFunction::LESS;
  set_state(state);
  // A quarter of texel 1, for which the comparison holds, and three quarters of texel 2, for which it does not.
  const float u = 2.25f / 4;
  EXPECT_EQ(old() ? ask(3, {u, 0.5f, 0, 0, 2.0f})[0] : ask(3, {2.0f, u, 0.5f})[0], 0.75f);
}

TEST_P(SamplerForms, BiasAndGradientsSelectTheLevel) {
  bind_state(1, image(kR32, 8, 8, 4));
  const uint32_t below = 8;
  texel(2, below + 1) = 0;
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t x = 0; x < 4; ++x) {
      texel(x, below + y) = 5.0f;  // level 1
    }
  }
  for (uint32_t y = 0; y < 2; ++y) {
    for (uint32_t x = 0; x < 2; ++x) {
      texel(4 + x, below + y) = 7.0f;  // level 2
    }
  }
  set_state(filter(Filter::NEAREST, Mip::NEAREST, Mode::CLAMP));
  // All lanes sample one point, so the level is the lowest possible one and a bias does not change it.
  EXPECT_EQ(old() ? ask(1, {0.5f, 0.5f, 0, 0, 2.0f})[0] : ask(1, {2.0f, 0.5f, 0.5f})[0], 0.0f);
  // Two texels in x and four in y: level 2.
  const auto gradients = [&](float dudx, float dvdy) {
    return old() ? ask(4, {0.5f, 0.5f, 0, 0, dudx, 0, 0, dvdy})[0]  // u v r ai, then pairs
                 : ask(4, {0.5f, dudx, 0, 0.5f, 0, dvdy})[0];       // each with its pair
  };
  EXPECT_EQ(gradients(2.0f / 8, 4.0f / 8), 7.0f);
  EXPECT_EQ(gradients(2.0f / 8, 1.0f / 8), 5.0f);
  EXPECT_EQ(gradients(1.0f / 8, 1.0f / 8), 0.0f);
}

TEST_P(SamplerForms, HeaderOffsetsMoveTheTexels) {
  bind_state(1, image(kR32, 8, 8));
  ramp(8, 8);
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  header_ = 1;
  grf(kPayload, 2) = 0x1f0;  // one to the right, one up
  const float u = 3.5f / 8;
  const float v = 4.5f / 8;
  EXPECT_EQ(ask(0, {u, v, 0, 0})[0], 4.0f + 30.0f);
  grf(kPayload, 2) = 1u << 12;  // without red: green comes first
  EXPECT_EQ(ask(0, {u, v, 0, 0})[2], 1.0f) << "alpha is third";
  grf(kPayload, 2) = 0;
  // Another sampler state table, with a linear filter.
  set_state(filter(Filter::LINEAR, Mip::NONE, Mode::CLAMP));
  for (uint32_t i = 0; i < 4; ++i) {
    word(kStates + 0x2800 + 4 * i) = word(kStates + kSamplers + 4 * i);
  }
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  EXPECT_EQ(ask(0, {0.5f, 4.5f / 8, 0, 0})[0], 44.0f);
  grf(kPayload, 3) = 0x2800;
  EXPECT_EQ(ask(0, {0.5f, 4.5f / 8, 0, 0})[0], 43.5f);
}

TEST_P(SamplerForms, Simd4x2SamplesTwoVertices) {
  if (!old()) {
    GTEST_SKIP() << "compilers of later chips do not send it";
  }
  bind_state(1, image(kR32, 8, 8));
  ramp(8, 8);
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  header_ = 1;
  clear_payload();
  // u, v and r of vertex 0, then of vertex 1. The level is the first dword of the next register.
  set_lanes(kPayload + 1, {bits_of(1.5f / 8), bits_of(2.5f / 8), 0, 0, bits_of(6.5f / 8), bits_of(0.5f / 8), 0, 0});
  grf(kResponse, 5) = 0xdead;
  const uint32_t descriptor = 3u << 25 | 1u << 20 | 1u << 19 | 2u << 12 | 1;
  EXPECT_EQ(send(kSampler, descriptor, 0xdf, 8), SendOutcome::done);
  EXPECT_EQ(as_float(response(0, 0)), 21.0f);
  EXPECT_EQ(as_float(response(0, 3)), 1.0f);
  EXPECT_EQ(as_float(response(0, 4)), 6.0f);
  EXPECT_EQ(response(0, 5), 0xdeadu) << "its channel is disabled";
}

// The order is that of textureGather in GL: counterclockwise from the lower left texel.
TEST_P(SamplerForms, GathersFourTexels) {
  bind_state(1, image(kR32, 8, 8));
  ramp(8, 8);
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  const std::array<float, 4> got = ask(8, {3.0f / 8, 5.0f / 8, 0, 0});
  EXPECT_EQ(got, (std::array{52.0f, 53.0f, 43.0f, 42.0f}));
}

TEST_P(SamplerForms, CubeArrayLayersCountCubes) {
  hw::RENDER_SURFACE_STATE state = image(kR32, 8, 8, 4);
  state.surface_type = hw::SurfaceType::SURFTYPE_CUBE;
  state.surface_array = !old();  // Gen4 has no such bit
  state.depth = 3 - 1;
  bind_state(1, state);
  const std::array<float, 4> got = ask(10, {0});
  EXPECT_EQ(bits_of(got[0]), 8u);
  EXPECT_EQ(bits_of(got[1]), 8u);
  EXPECT_EQ(bits_of(got[2]), 3u);
  EXPECT_EQ(bits_of(got[3]), 4u);
}

INSTANTIATE_TEST_SUITE_P(Chips, SamplerForms, testing::Values("snb", "bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

class NewForms : public SamplerForms {};

TEST_P(NewForms, GathersSupportComparisonAndOffsets) {
  bind_state(1, image(kR32, 8, 8));
  ramp(8, 8);
  hw::SAMPLER_STATE state = filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP);
  state.shadow_function = hw::CompareFunction::GEQUAL;
  set_state(state);
  // Between texels 2 and 3 of rows 4 and 5.
  const float u = 3.0f / 8;
  const float v = 5.0f / 8;
  using Four = std::array<float, 4>;
  EXPECT_EQ(ask(8, {u, v}), (Four{52, 53, 43, 42}));
  EXPECT_EQ(ask(16, {52.0f, u, v}), (Four{0, 0, 1, 1})) << "two texels are at least 52";
  EXPECT_EQ(ask(17, {u, v, as_float(1), as_float(0xffff'fffe)}), (Four{33, 34, 24, 23}));
  EXPECT_EQ(ask(18, {24.0f, u, v, as_float(1), as_float(0xffff'fffe)}), (Four{0, 0, 0, 1}));
  clear_payload();
  header_ = 1;
  grf(kPayload, 2) = 3u << 16;  // alpha
  EXPECT_EQ(ask(8, {u, v}), (Four{1, 1, 1, 1}));
}

TEST_P(NewForms, SamplesCanHaveTheirOwnLayers) {
  hw::RENDER_SURFACE_STATE state = image(hw::SurfaceFormat::R32_UINT, 4, 4);
  state.number_of_multisamples = hw::SampleCount::MULTISAMPLECOUNT_4;
  state.surface_qpitch = 2;
  bind_state(1, state);
  for (uint32_t sample = 0; sample < 4; ++sample) {
    word(kImage + (sample * 8 + 2) * kPitch + 3 * 4) = 100 + sample;
  }
  for (uint32_t sample = 0; sample < 4; ++sample) {
    ask(30, {as_float(sample), 0, as_float(3), as_float(2)});
    EXPECT_EQ(response(0, 0), 100 + sample);
    if (GetParam() != "bdw") {
      ask(28, {as_float(sample), 0, 0, as_float(3), as_float(2)});
      EXPECT_EQ(response(0, 0), 100 + sample);
    }
  }
  ask(30, {as_float(4), 0, as_float(3), as_float(2)});
  EXPECT_EQ(response(0, 0), 0u) << "sample 4 does not exist";
  ask(29, {as_float(3), as_float(2)});
  EXPECT_EQ(response(0, 0), 0xe4u) << "each sample has its own slice";
  ask(11, {0});
  EXPECT_EQ(response(0, 0), 4u);
}

TEST_P(NewForms, SamplesCanBeInterleaved) {
  hw::RENDER_SURFACE_STATE state = image(hw::SurfaceFormat::R32_UINT, 8, 8);
  state.number_of_multisamples = hw::SampleCount::MULTISAMPLECOUNT_4;
  state.multisampled_surface_storage_format = hw::RENDER_SURFACE_STATE::MultisampledSurfaceStorageFormat::depth_stencil;
  bind_state(1, state);
  // Pixel (3, 2) is column 1, row 0 of the second 2x2 block, which is four texels wide. Samples are two texels apart.
  word(kImage + 4 * kPitch + 5 * 4) = 1;
  word(kImage + 4 * kPitch + 7 * 4) = 2;
  word(kImage + 6 * kPitch + 5 * 4) = 3;
  word(kImage + 6 * kPitch + 7 * 4) = 4;
  for (uint32_t sample = 0; sample < 4; ++sample) {
    ask(30, {as_float(sample), 0, as_float(3), as_float(2)});
    EXPECT_EQ(response(0, 0), sample + 1);
  }
}

TEST_P(NewForms, LodMessageReturnsTheLevelAfterAndBeforeClamping) {
  bind_state(1, image(kR32, 16, 16, 3));
  set_state(filter(Filter::LINEAR, Mip::LINEAR, Mode::CLAMP));
  Lanes u = all(0.2f);
  for (size_t lane = 0; lane < 8; ++lane) {
    u[lane] += 0.5f * static_cast<float>(lane % 2);  // eight texels: level 3 of 0 to 2
  }
  put(0, u, 1);
  put(1, all(0.5f), 1);
  EXPECT_EQ(send_sampler(9, 2), SendOutcome::done);
  EXPECT_NEAR(result()[0], 2.0f, 1e-6);
  EXPECT_NEAR(result()[1], 3.0f, 1e-6);
}

TEST_P(NewForms, ResultsCanHaveSixteenBits) {
  bind_state(1, image(kR32, 8, 8));
  ramp(8, 8);
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  grf(kResponse, 0) = grf(kResponse + 1, 0) = 0;
  ask(0, {3.5f / 8, 4.5f / 8}, 1u << 30);
  const auto low = static_cast<uint16_t>(response(0, 0));
  EXPECT_EQ(surface::half_to_float(low), 43.0f);
  EXPECT_EQ(surface::half_to_float(static_cast<uint16_t>(response(0, 3) >> 16)), 43.0f) << "lane 7";
  EXPECT_EQ(surface::half_to_float(static_cast<uint16_t>(response(3, 1))), 1.0f) << "alpha has its own register";
}

TEST_P(NewForms, SixteenLanesCanSampleLevelZero) {
  if (GetParam() == "bdw") {
    GTEST_SKIP() << "this generation has no such message";
  }
  bind_state(1, image(kR32, 8, 8));
  ramp(8, 8);
  set_state(filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP));
  for (uint32_t lane = 0; lane < 16; ++lane) {
    grf(kPayload + lane / 8, lane % 8) = bits_of((static_cast<float>(lane % 8) + 0.5f) / 8);
    grf(kPayload + 2 + lane / 8, lane % 8) = bits_of((static_cast<float>(lane / 4) + 0.5f) / 8);
  }
  EXPECT_EQ(send(kSampler, 4u << 25 | 8u << 20 | 2u << 17 | 24u << 12 | 1, 0xffff), SendOutcome::done);
  for (uint32_t lane = 0; lane < 16; ++lane) {
    EXPECT_EQ(as_float(response(lane / 8, lane % 8)), static_cast<float>(lane % 8 + lane / 4 * 10));
  }
}

TEST_P(NewForms, BorderColoursAreConvertedToTheFormat) {
  bind_state(1, image(hw::SurfaceFormat::R8G8_UNORM, 4, 4));
  hw::SAMPLER_STATE state = filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP_BORDER);
  state.border_color_pointer = 0x3000;
  set_state(state);
  set_border(0x3000, {-1.0f, 3.0f, 0.5f, 0.25f});
  EXPECT_EQ(sample_level(-1.0f, 0.5f, 0, 0), (std::array<float, 4>{0.0f, 1.0f, 0.0f, 1.0f}));
  bind_state(1, image(hw::SurfaceFormat::R32_SINT, 4, 4));
  word(kStates + 0x3000) = 0xffff'fff0;
  EXPECT_EQ(bits_of(sample_level(-1.0f, 0.5f, 0, 0)[0]), 0xffff'fff0u);
}

// Every format of normalised values has their range: border colours outside of it are clamped (OpenGL ES 3.2, 8.14.2:
// border values are converted as texels of the format are). Channels that the format lacks are 0, alpha is 1.
TEST_P(NewForms, BorderColoursOfCompressedFormatsAreClamped) {
  using F = hw::SurfaceFormat;
  struct Row {
    F format;
    std::array<float, 4> border;
  };
  constexpr Row kRows[] = {
      {F::EAC_R11, {0.0f, 0.0f, 0.0f, 1.0f}},        {F::EAC_SIGNED_R11, {-1.0f, 0.0f, 0.0f, 1.0f}},
      {F::EAC_RG11, {0.0f, 1.0f, 0.0f, 1.0f}},       {F::EAC_SIGNED_RG11, {-1.0f, 1.0f, 0.0f, 1.0f}},
      {F::BC4_UNORM, {0.0f, 0.0f, 0.0f, 1.0f}},      {F::BC4_SNORM, {-1.0f, 0.0f, 0.0f, 1.0f}},
      {F::BC5_UNORM, {0.0f, 1.0f, 0.0f, 1.0f}},      {F::BC5_SNORM, {-1.0f, 1.0f, 0.0f, 1.0f}},
      {F::BC1_UNORM, {0.0f, 1.0f, 0.5f, 0.0f}},      {F::BC3_UNORM_SRGB, {0.0f, 1.0f, 0.5f, 0.0f}},
      {F::BC7_UNORM, {0.0f, 1.0f, 0.5f, 0.0f}},      {F::ETC2_RGB8, {0.0f, 1.0f, 0.5f, 1.0f}},
      {F::ETC2_EAC_RGBA8, {0.0f, 1.0f, 0.5f, 0.0f}}, {F::BC6H_SF16, {-2.5f, 3.0f, 0.5f, 1.0f}}};
  hw::SAMPLER_STATE state = filter(Filter::NEAREST, Mip::NONE, Mode::CLAMP_BORDER);
  state.border_color_pointer = 0x3000;
  set_state(state);
  set_border(0x3000, {-2.5f, 3.0f, 0.5f, -0.25f});
  for (const Row& row : kRows) {
    bind_state(1, image(row.format, 8, 8));
    EXPECT_EQ(sample_level(-1.0f, 0.5f, 0, 0), row.border) << static_cast<int>(row.format);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, NewForms, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

class FirstForms : public SamplerForms {};

TEST_P(FirstForms, MessageLengthSelectsTheForm) {
  bind_state(1, image(kR32, 8, 8, 2));
  ramp(8, 8);
  for (uint32_t i = 0; i < 16; ++i) {
    texel(i % 4, 8 + i / 4) = 500.0f;
  }
  hw::SAMPLER_STATE state = filter(Filter::NEAREST, Mip::NEAREST, Mode::CLAMP);
  state.shadow_function = hw::CompareFunction::LESS;
  set_state(state);
  header_ = 1;
  clear_payload();
  const uint32_t at = GetParam() == "i965" ? 14 : 12;
  // SIMD8: header, u, v, r. All lanes sample one point.
  put(0, all(3.5f / 8), 1), put(1, all(4.5f / 8), 1);
  EXPECT_EQ(send(kSampler, 4u << 25 | 4u << 20 | 1u << 19 | 1, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(as_float(response(0, 0)), 43.0f);
  EXPECT_EQ(as_float(response(3, 7)), 1.0f);
  // SIMD8 with a bias and a reference, then with a level and a reference.
  put(4, all(43.5f), 1);
  EXPECT_EQ(send(kSampler, 6u << 25 | 4u << 20 | 1u << 19 | 1, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(as_float(response(0, 0)), 0.0f);
  put(3, all(1.0f), 1);
  EXPECT_EQ(send(kSampler, 6u << 25 | 4u << 20 | 1u << 19 | 1u << at | 1, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(as_float(response(0, 0)), 1.0f) << "the comparison fails for 500";
  // SIMD8 with gradients of two coordinates: two texels in x.
  put(2, all(2.0f / 8), 1), put(3, all(0), 1), put(4, all(0), 1), put(5, all(1.0f / 8), 1);
  EXPECT_EQ(send(kSampler, 7u << 25 | 4u << 20 | 1u << 19 | 2u << at | 1, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(as_float(response(0, 0)), 500.0f);
  // SIMD16: size of level 1.
  put(0, all(as_float(1)), 2);
  EXPECT_EQ(send(kSampler, 3u << 25 | 8u << 20 | 1u << 19 | 2u << at | 1, 0xffff, 16), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 4u);
  EXPECT_EQ(response(6, 0), 2u) << "levels";
  // SIMD16: load from level 0.
  clear_payload();
  put(0, all(as_float(2)), 2), put(1, all(as_float(6)), 2);
  EXPECT_EQ(send(kSampler, 9u << 25 | 8u << 20 | 1u << 19 | 3u << at | 1, 0xffff, 16), SendOutcome::done);
  EXPECT_EQ(as_float(response(1, 7)), 62.0f);
  // The same with only the first coordinate, as for pull constants.
  clear_payload();
  put(0, all(as_float(5)), 2);
  EXPECT_EQ(send(kSampler, 3u << 25 | 8u << 20 | 1u << 19 | 3u << at | 1, 0xffff, 16), SendOutcome::done);
  EXPECT_EQ(as_float(response(1, 7)), 5.0f);
  // Two vertices. The level is the fourth parameter.
  clear_payload();
  set_lanes(kPayload + 1,
            {bits_of(1.5f / 8), bits_of(2.5f / 8), 0, 0, bits_of(6.5f / 8), bits_of(0.5f / 8), 0, bits_of(1.0f)});
  EXPECT_EQ(send(kSampler, 2u << 25 | 1u << 20 | 1u << 19 | 1u << at | 1, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(as_float(response(0, 0)), 21.0f);
  EXPECT_EQ(as_float(response(0, 4)), 500.0f);
}

INSTANTIATE_TEST_SUITE_P(Chips, FirstForms, testing::Values("i965", "g45"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
