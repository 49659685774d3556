// Blending compared with a simple implementation in doubles.
#include "pixel_world.h"

namespace halogen::pipe3d {
namespace {

using hw::BlendFactor;
using hw::BlendFunction;
using hw::SurfaceFormat;

constexpr BlendFactor kFactors[] = {BlendFactor::ONE,
                                    BlendFactor::SRC_COLOR,
                                    BlendFactor::SRC_ALPHA,
                                    BlendFactor::DST_ALPHA,
                                    BlendFactor::DST_COLOR,
                                    BlendFactor::SRC_ALPHA_SATURATE,
                                    BlendFactor::CONST_COLOR,
                                    BlendFactor::CONST_ALPHA,
                                    BlendFactor::SRC1_COLOR,
                                    BlendFactor::SRC1_ALPHA,
                                    BlendFactor::ZERO,
                                    BlendFactor::INV_SRC_COLOR,
                                    BlendFactor::INV_SRC_ALPHA,
                                    BlendFactor::INV_DST_ALPHA,
                                    BlendFactor::INV_DST_COLOR,
                                    BlendFactor::INV_CONST_COLOR,
                                    BlendFactor::INV_CONST_ALPHA,
                                    BlendFactor::INV_SRC1_COLOR,
                                    BlendFactor::INV_SRC1_ALPHA};
constexpr BlendFunction kFunctions[] = {BlendFunction::ADD, BlendFunction::SUBTRACT, BlendFunction::REVERSE_SUBTRACT,
                                        BlendFunction::MIN, BlendFunction::MAX};

using Doubles = std::array<double, 4>;

// Factors from 16 on are one minus the factor 16 below.
double factor_of(BlendFactor code, const Doubles& s, const Doubles& s1, const Doubles& d, const Doubles& k, size_t i) {
  const auto number = static_cast<unsigned>(code);
  const unsigned low = number & 15;
  const double sources[] = {0,    1,    s[i],  s[3], d[3], d[i], i == 3 ? 1.0 : std::min(s[3], 1 - d[3]),
                            k[i], k[3], s1[i], s1[3]};
  return number >= 16 ? 1 - sources[low] : sources[low];
}

double blend_of(BlendFunction function, double s, double sf, double d, double df) {
  const double results[] = {s * sf + d * df, s * sf - d * df, d * df - s * sf, std::min(s, d), std::max(s, d)};
  return results[static_cast<size_t>(function)];
}

Colour bits_of(const Doubles& value) {
  Colour colour{};
  for (size_t i = 0; i < 4; ++i) {
    colour[i] = std::bit_cast<uint32_t>(static_cast<float>(value[i]));
  }
  return colour;
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t below(size_t count) { return static_cast<uint32_t>(engine_() % count); }
  // Returns values slightly outside the range.
  Doubles colour() {
    Doubles value{};
    for (double& each : value) {
      each = static_cast<float>(below(1400)) / 1000.0f - 0.2f;
      each = static_cast<double>(static_cast<float>(each));
    }
    return value;
  }

 private:
  std::mt19937 engine_;
};

TEST(Blend, EightBitTargetsHoldTheRoundedSum) {
  PixelWorld world;
  world.scramble(3);
  Random random(1);
  for (int round = 0; round < 4000; ++round) {
    const SurfaceFormat formats[] = {SurfaceFormat::R8G8B8A8_UNORM, SurfaceFormat::B8G8R8A8_UNORM,
                                     SurfaceFormat::B8G8R8X8_UNORM};
    const message::Surface surface = world.target(formats[random.below(3)], 64, 64);
    const bool swapped = surface.format_id != SurfaceFormat::R8G8B8A8_UNORM;
    const bool has_alpha = surface.format_id != SurfaceFormat::B8G8R8X8_UNORM;
    BlendTarget blend;
    blend.blend = random.below(8) != 0;
    blend.source_color = kFactors[random.below(std::size(kFactors))];
    blend.dest_color = kFactors[random.below(std::size(kFactors))];
    blend.source_alpha = kFactors[random.below(std::size(kFactors))];
    blend.dest_alpha = kFactors[random.below(std::size(kFactors))];
    blend.color = kFunctions[random.below(5)];
    blend.alpha = kFunctions[random.below(5)];
    blend.write_mask = static_cast<uint8_t>(random.below(4) == 0 ? random.below(16) : 15);
    blend.clamp_before = true;
    blend.clamp_after = true;
    blend.range = hw::ColorClampRange::RTFORMAT;
    Blend all;
    const Doubles constant = random.colour();
    for (size_t i = 0; i < 4; ++i) {
      all.constant[i] = static_cast<float>(constant[i]);
    }
    TargetWriter writer;
    writer.begin(surface, blend, all, world.space());
    const PixelPlace place{static_cast<int32_t>(random.below(64)), static_cast<int32_t>(random.below(64)), 0};
    const uint64_t at =
        message::texel_address(surface, static_cast<uint32_t>(place.x), static_cast<uint32_t>(place.y), 0, 0);
    const auto before = world.value<uint32_t>(at);
    Doubles s = random.colour(), s1 = random.colour(), k = constant;
    writer.write(place, 1, bits_of(s), bits_of(s1));
    for (Doubles* value : {&s, &s1, &k}) {
      for (double& each : *value) {
        each = std::clamp(each, 0.0, 1.0);
      }
    }
    Doubles d{};
    const unsigned shifts[] = {swapped ? 16u : 0u, 8, swapped ? 0u : 16u, 24};
    for (size_t i = 0; i < 4; ++i) {
      d[i] = i == 3 && !has_alpha ? 1.0 : (before >> shifts[i] & 0xff) / 255.0;
    }
    const auto after = world.value<uint32_t>(at);
    for (size_t i = 0; i < (has_alpha ? 4u : 3u); ++i) {
      const BlendFactor sf = i == 3 ? blend.source_alpha : blend.source_color;
      const BlendFactor df = i == 3 ? blend.dest_alpha : blend.dest_color;
      const double sum = blend_of(i == 3 ? blend.alpha : blend.color, s[i], factor_of(sf, s, s1, d, k, i), d[i],
                                  factor_of(df, s, s1, d, k, i));
      const double wanted =
          (blend.write_mask >> i & 1) == 0 ? d[i] * 255 : std::clamp(blend.blend ? sum : s[i], 0.0, 1.0) * 255;
      const double got = after >> shifts[i] & 0xff;
      ASSERT_NEAR(got, wanted, 0.5005) << "round " << round << " channel " << i;
    }
  }
  EXPECT_EQ(world.faults(), 0u);
}

// The path for four bytes and the general path (selected by a logic operation that copies) write the same bits.
TEST(Blend, VectorAndScalarConversionOfFourBytesAgree) {
  PixelWorld world;
  world.scramble(4);
  Random random(2);
  const message::Surface surface = world.target(SurfaceFormat::R8G8B8A8_UNORM, 64, 64);
  BlendTarget fast;
  BlendTarget general;
  general.logic = true;
  general.logic_op = hw::LogicOp::COPY;
  TargetWriter one, other;
  one.begin(surface, fast, {}, world.space());
  other.begin(surface, general, {}, world.space());
  for (int round = 0; round < 20000; ++round) {
    const Colour colour = bits_of(random.colour());
    one.write({1, 2, 0}, 1, colour, {});
    other.write({1, 3, 0}, 1, colour, {});
    ASSERT_EQ(world.value<uint32_t>(message::texel_address(surface, 1, 2, 0, 0)),
              world.value<uint32_t>(message::texel_address(surface, 1, 3, 0, 0)));
  }
}

TEST(Blend, LogicOperationsAreTruthTables) {
  PixelWorld world;
  for (const SurfaceFormat format :
       {SurfaceFormat::R8G8B8A8_UNORM, SurfaceFormat::R8_UINT, SurfaceFormat::R16G16_UINT}) {
    const message::Surface surface = world.target(format, 64, 64);
    const bool integer = surface.format->integer;
    for (unsigned code = 0; code < 16; ++code) {
      BlendTarget blend;
      blend.blend = true;  // ignored
      blend.source_color = BlendFactor::ZERO;
      blend.logic = true;
      blend.logic_op = static_cast<hw::LogicOp>(code);
      TargetWriter writer;
      writer.begin(surface, blend, {}, world.space());
      const uint32_t old = 0x3cc35aa5;
      const uint64_t at = message::texel_address(surface, 5, 5, 0, 0);
      std::memcpy(world.at(at), &old, 4);
      const Colour colour = integer ? Colour{0xa5, 0x3c, 0, 0} : bits_of({0xa5 / 255.0, 0x0f / 255.0, 1, 0});
      writer.write({5, 5, 0}, 1, colour, {});
      const uint32_t source = format == SurfaceFormat::R8_UINT       ? 0xa5
                              : format == SurfaceFormat::R16G16_UINT ? 0x003c00a5
                                                                     : 0x00ff0fa5;
      const uint32_t mask = surface.format->bytes() == 1 ? 0xff : ~0u;
      uint32_t wanted = 0;
      for (unsigned bit = 0; bit < 32; ++bit) {
        const unsigned s = source >> bit & 1, d = old >> bit & 1;
        wanted |= (code >> (2 * s + d) & 1) << bit;
      }
      ASSERT_EQ(world.value<uint32_t>(at), (old & ~mask) | (wanted & mask)) << code;
    }
  }
}

TEST(Blend, FloatTargetsAreClampedOnlyIfEnabled) {
  PixelWorld world;
  const message::Surface surface = world.target(SurfaceFormat::R32G32B32A32_FLOAT, 16, 16);
  BlendTarget blend;
  blend.clamp_before = true;
  blend.range = hw::ColorClampRange::RTFORMAT;
  TargetWriter writer;
  writer.begin(surface, blend, {}, world.space());
  writer.write({3, 4, 0}, 1, bits_of({-2, 7, 0.5, 1e20}), {});
  const uint64_t at = message::texel_address(surface, 3, 4, 0, 0);
  EXPECT_EQ(world.value<Colour>(at), bits_of({-2, 7, 0.5, 1e20}));
  blend.range = hw::ColorClampRange::SNORM;
  writer.begin(surface, blend, {}, world.space());
  writer.write({3, 4, 0}, 1, bits_of({-2, 7, 0.5, 1e20}), {});
  EXPECT_EQ(world.value<Colour>(at), bits_of({-1, 1, 0.5, 1}));
  // A factor of zero removes an infinite target value.
  const Colour infinite = bits_of({INFINITY, INFINITY, INFINITY, INFINITY});
  std::memcpy(world.at(at), &infinite, sizeof infinite);
  blend = {};
  blend.blend = true;
  blend.source_color = blend.source_alpha = BlendFactor::ONE;
  blend.dest_color = blend.dest_alpha = BlendFactor::ZERO;
  writer.begin(surface, blend, {}, world.space());
  writer.write({3, 4, 0}, 1, bits_of({1, 2, 3, 4}), {});
  EXPECT_EQ(world.value<Colour>(at), bits_of({1, 2, 3, 4}));
}

// The clamp applies to both sources, not to the constant and the target value.
TEST(Blend, SourceOnlyClampLeavesTheTargetUnclamped) {
  PixelWorld world;
  const message::Surface surface = world.target(SurfaceFormat::R32G32B32A32_FLOAT, 16, 16);
  const uint64_t at = message::texel_address(surface, 3, 4, 0, 0);
  Blend all;
  all.constant = {5, 5, 5, 5};
  BlendTarget blend;
  blend.blend = true;
  blend.clamp_source = true;
  blend.range = hw::ColorClampRange::UNORM;
  blend.source_color = blend.source_alpha = BlendFactor::CONST_COLOR;
  blend.dest_color = blend.dest_alpha = BlendFactor::SRC1_COLOR;
  const Colour held = bits_of({8, -16, 32, 64});
  std::memcpy(world.at(at), &held, sizeof held);
  TargetWriter writer;
  writer.begin(surface, blend, all, world.space());
  writer.write({3, 4, 0}, 1, bits_of({-2, 7, 0.5, 0.25}), bits_of({2, 0.5, -3, 0.25}));
  EXPECT_EQ(world.value<Colour>(at),
            bits_of({0 * 5 + 8 * 1, 1 * 5 - 16 * 0.5, 0.5 * 5 + 32 * 0, 0.25 * 5 + 64 * 0.25}));
}

TEST(Blend, SrgbTargetsBlendLinearValues) {
  PixelWorld world;
  const message::Surface surface = world.target(SurfaceFormat::R8G8B8A8_UNORM_SRGB, 16, 16);
  const auto encode = [](double v) { return v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055; };
  const auto decode = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  BlendTarget blend;
  blend.blend = true;
  blend.source_color = blend.source_alpha = BlendFactor::SRC_ALPHA;
  blend.dest_color = blend.dest_alpha = BlendFactor::INV_SRC_ALPHA;
  TargetWriter writer;
  writer.begin(surface, blend, {}, world.space());
  const uint64_t at = message::texel_address(surface, 1, 1, 0, 0);
  for (unsigned old = 0; old < 256; old += 5) {
    const uint32_t word = old * 0x01010101u;
    std::memcpy(world.at(at), &word, 4);
    writer.write({1, 1, 0}, 1, bits_of({0.7, 0.1, 0.0, 0.25}), {});
    const auto now = world.value<uint32_t>(at);
    const double s[] = {0.7, 0.1, 0.0};
    for (unsigned i = 0; i < 3; ++i) {
      const double wanted = encode(s[i] * 0.25 + decode(old / 255.0) * 0.75) * 255;
      ASSERT_NEAR(now >> (8 * i) & 0xff, wanted, 0.501) << old;
    }
    ASSERT_NEAR(now >> 24, (0.25 * 0.25 + old / 255.0 * 0.75) * 255, 0.501);
  }
}

TEST(Blend, IntegerTargetsStoreTheBits) {
  PixelWorld world;
  const message::Surface surface = world.target(SurfaceFormat::R8G8B8A8_UINT, 16, 16);
  BlendTarget blend;
  blend.blend = true;
  TargetWriter writer;
  writer.begin(surface, blend, {.alpha_to_one = true}, world.space());
  writer.write({1, 1, 0}, 1, {7, 300, 0xffff'ffff, 9}, {});
  EXPECT_EQ(world.value<uint32_t>(message::texel_address(surface, 1, 1, 0, 0)), 0x09ffff07u);
}

TEST(Blend, AlphaTestAlphaToCoverageAndAlphaToOneFollowTheState) {
  Blend blend;
  EXPECT_TRUE(alpha_test(blend, 0));
  blend.alpha_test = true;
  blend.alpha_function = hw::CompareFunction::GREATER;
  blend.alpha_reference = 0.5f;
  EXPECT_FALSE(alpha_test(blend, 0.5f));
  EXPECT_TRUE(alpha_test(blend, 0.75f));
  EXPECT_EQ(alpha_to_coverage(0, 2), 0u);
  EXPECT_EQ(alpha_to_coverage(0.5f, 2), 3u);
  EXPECT_EQ(alpha_to_coverage(1, 4), 0xffffu);
  EXPECT_EQ(alpha_to_coverage(NAN, 2), 0u);
  // Dithering: the ends stay exact; over 4 x 4 pixels the share of samples is alpha, to a sixteenth of a sample.
  for (uint8_t log2 = 1; log2 <= 4; ++log2) {
    const int samples = 1 << log2;
    for (int step = 0; step <= 16 * samples; ++step) {
      const float alpha = static_cast<float>(step) / static_cast<float>(16 * samples);
      int enabled = 0;
      for (int32_t y = 8; y < 12; ++y) {
        for (int32_t x = 4; x < 8; ++x) {
          const uint32_t mask = dithered_coverage(alpha, log2, x, y);
          EXPECT_EQ(mask & (mask + 1), 0u) << "samples are enabled from the first on";
          enabled += std::popcount(mask);
        }
      }
      EXPECT_EQ(enabled, step) << "of " << samples << " samples in 16 pixels, alpha " << alpha;
    }
    EXPECT_EQ(dithered_coverage(NAN, log2, 0, 0), 0u);
    EXPECT_EQ(dithered_coverage(7, log2, 3, 3), (1u << samples) - 1);
  }

  PixelWorld world;
  const message::Surface surface = world.target(SurfaceFormat::R8G8B8A8_UNORM, 16, 16);
  TargetWriter writer;
  writer.begin(surface, {}, {.alpha_to_one = true}, world.space());
  writer.write({1, 1, 0}, 1, bits_of({0, 0, 0, 0}), {});
  EXPECT_EQ(world.value<uint32_t>(message::texel_address(surface, 1, 1, 0, 0)), 0xff000000u);
}

// On Gen4 the write disables are in dword 0 of the surface state: blue, green, red, alpha from bit 14 on. Bit 13
// enables blending.
TEST(Blend, WriteMasksOfGen4AreInTheSurfaceState) {
  PixelWorld world;
  constexpr uint32_t kNoGreen = 2, kNoBlue = 1, kNoAlpha = 8;
  for (const bool blends : {false, true}) {
    const std::array<uint32_t, 5> words{
        1u << 29 | uint32_t{0x0c7} << 18 | (kNoGreen | kNoBlue | kNoAlpha) << 14 | (blends ? 1u << 13 : 0), 0,
        15u << 19 | 15u << 6, 63u << 3, 0};
    const auto state = hw::RENDER_SURFACE_STATE::unpack(spec::GenId::gen4, words);
    message::Surface surface = message::decode_surface(Generation(*spec::find_device("i965")), state);
    surface.base = PixelWorld::kVa;
    const uint64_t at = message::texel_address(surface, 3, 2, 0, 0);
    std::memset(world.at(at), 0x40, 4);
    TargetWriter writer;
    BlendTarget add;
    add.blend = true;
    add.source_color = add.dest_color = add.source_alpha = add.dest_alpha = hw::BlendFactor::ONE;
    writer.begin(surface, add, {}, world.space());
    writer.write({3, 2, 0}, 1, bits_of({32 / 255.0, 1, 1, 1}), {});
    EXPECT_EQ(world.value<uint32_t>(at), blends ? 0x4040'4060u : 0x4040'4020u);
  }
}

TEST(Blend, SamplesAndLayersHaveSeparateAddresses) {
  PixelWorld world;
  for (const bool beside : {false, true}) {
    for (const uint32_t samples : {2u, 4u, 8u, 16u}) {
      world.scramble(samples);
      message::Surface surface = world.target(SurfaceFormat::R8G8B8A8_UNORM, 16, 16);
      surface.samples = samples;
      surface.samples_beside = beside;
      surface.depth = 3;
      surface.first_layer = 1;
      surface.render_layers = 2;
      surface.layout.pitch_B = 64 * 4;
      surface.layout.layer_rows = 64;
      TargetWriter writer;
      writer.begin(surface, {}, {}, world.space());
      for (uint32_t sample = 0; sample < samples; ++sample) {
        const uint32_t number = sample + 1;
        writer.write({5, 6, 1}, 1u << sample, bits_of({number / 255.0, 0, 0, 0}), {});
      }
      std::vector<uint64_t> seen;
      for (uint32_t sample = 0; sample < samples; ++sample) {
        const uint64_t at = message::texel_address(surface, 5, 6, 1, 0, sample);
        EXPECT_EQ(world.value<uint32_t>(at), sample + 1);
        EXPECT_EQ(std::count(seen.begin(), seen.end(), at), 0);
        seen.push_back(at);
      }
      // Writes to a layer, sample or pixel that does not exist are dropped.
      std::vector<std::byte> before(world.at(PixelWorld::kVa), world.at(PixelWorld::kVa) + PixelWorld::kMapped);
      writer.write({5, 6, 2}, 1, {}, {});
      writer.write({16, 6, 0}, 1, {}, {});
      writer.write({-1, 6, 0}, 1, {}, {});
      writer.write({5, 16, 0}, ~0u, {}, {});
      writer.write({5, 6, 0}, 0, {}, {});
      EXPECT_EQ(std::memcmp(before.data(), world.at(PixelWorld::kVa), before.size()), 0);
    }
  }
}

TEST(Blend, FillsChangeTheRectangleAndNothingElse) {
  PixelWorld world;
  for (const auto* pattern : {&surface::kTileY, &surface::kTileX, static_cast<const surface::TilePattern*>(nullptr)}) {
    for (const SurfaceFormat format : {SurfaceFormat::R8G8B8A8_UNORM, SurfaceFormat::R8_UNORM,
                                       SurfaceFormat::R16G16B16A16_FLOAT, SurfaceFormat::R32G32B32A32_FLOAT}) {
      world.scramble(9);
      message::Surface surface = world.target(format, 100, 40);
      surface.layout.pattern = pattern;
      surface.layout.pitch_B = 2048;
      TargetWriter writer;
      writer.begin(surface, {}, {}, world.space());
      std::vector<std::byte> before(world.at(PixelWorld::kVa), world.at(PixelWorld::kVa) + PixelWorld::kMapped);
      const Rectangle area{.x_min = 3, .y_min = 5, .x_max = 90, .y_max = 60};
      writer.fill_plain(area, 0, bits_of({1, 0, 1, 1}));
      std::array<std::byte, 16> element{};
      surface::pack_texel(*surface.format, bits_of({1, 0, 1, 1}), element.data());
      for (uint32_t y = 5; y < 40; ++y) {
        for (uint32_t x = 3; x <= 90; ++x) {
          const uint64_t at = message::texel_address(surface, x, y, 0, 0) - PixelWorld::kVa;
          std::memcpy(before.data() + at, element.data(), surface.format->bytes());
        }
      }
      EXPECT_EQ(std::memcmp(before.data(), world.at(PixelWorld::kVa), before.size()), 0);
    }
  }
}

TEST(Blend, AFaultInMemoryStopsTheWrite) {
  PixelWorld world;
  message::Surface surface = world.target(SurfaceFormat::R8G8B8A8_UNORM, 16, 16);
  surface.base = PixelWorld::kVa + PixelWorld::kMapped;
  TargetWriter writer;
  writer.begin(surface, {}, {}, world.space());
  writer.write({1, 1, 0}, 1, {}, {});
  EXPECT_TRUE(writer.stopped());
  EXPECT_EQ(world.faults(), 1u);
  world.set_action(memory::FaultAction::skip);
  writer.begin(surface, {}, {}, world.space());
  writer.write({1, 1, 0}, 1, {}, {});
  EXPECT_FALSE(writer.stopped());
  // A null surface.
  writer.begin({}, {}, {}, world.space());
  writer.write({1, 1, 0}, 1, {}, {});
  EXPECT_EQ(world.faults(), 2u);
}

}  // namespace
}  // namespace halogen::pipe3d
