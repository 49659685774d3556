// The quick path of a sampler returns the same texels as the general path.
#include "message/quick_texture.h"

#include <limits>
#include <random>

#include "message/clear_blocks.h"
#include "message_bench.h"

namespace halogen::message {
namespace {

using hw::MapFilter;
using hw::MipFilter;
using hw::SurfaceFormat;
using Mode = hw::TextureCoordinateMode;

class Draws {
 public:
  explicit Draws(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(engine_() % count); }
  bool half() { return below(2) != 0; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<uint32_t>(from.size()))];
  }
  double part() { return static_cast<double>(below(1u << 20)) / (1u << 20); }
  float coordinate() {
    switch (below(10)) {
      case 0:
        return pick({0.0f, 1.0f, -1.0f, 0.5f, 1e30f, -1e30f, std::numeric_limits<float>::infinity(),
                     std::numeric_limits<float>::quiet_NaN()});
      case 1:
        return static_cast<float>(below(64)) / 32.0f;
      default:
        return static_cast<float>(part() * 6 - 3);
    }
  }

 private:
  std::mt19937 engine_;
};

Surface random_surface(Draws& random, uint64_t base) {
  Surface surface;
  surface.kind = Surface::Kind::image;
  surface.type = hw::SurfaceType::SURFTYPE_2D;
  surface.format_id =
      random.pick({SurfaceFormat::R8G8B8A8_UNORM, SurfaceFormat::B8G8R8A8_UNORM, SurfaceFormat::B8G8R8X8_UNORM,
                   SurfaceFormat::R8G8B8A8_UNORM_SRGB, SurfaceFormat::R8_UNORM, SurfaceFormat::R8G8_UNORM});
  surface.format = &surface::texel_format(surface.format_id);
  surface.width = random.half() ? 1u << random.below(7) : 1 + random.below(70);
  surface.height = random.half() ? 1u << random.below(7) : 1 + random.below(70);
  surface.depth = 1;
  surface.array = random.half();
  surface.levels = 1 + random.below(7);
  surface.first_level = random.below(2);
  surface.resource_min_lod = random.below(4) == 0 ? random.part() * 2 : 0.0;
  surface.layout.pattern = random.pick<const surface::TilePattern*>({nullptr, &surface::kTileX, &surface::kTileY});
  surface.layout.pitch_B = 1024;
  surface.layout.layer_rows = 128;
  surface.first_layer = random.below(2);
  surface.base = base;
  for (auto& select : surface.select) {
    if (random.below(4) == 0) {
      select = random.pick({hw::ShaderChannelSelect::ZERO, hw::ShaderChannelSelect::ONE, hw::ShaderChannelSelect::RED,
                            hw::ShaderChannelSelect::ALPHA});
    }
  }
  return surface;
}

// Adds states to a tiled surface; memory holds random ones.
void add_states(Draws& random, uint64_t at, Surface& surface) {
  const bool x_tiles = surface.layout.pattern == &surface::kTileX;
  surface.align_x = 64;
  surface.layout.pitch_B = 2048;  // levels do not overlap
  surface.states = {.form = random.pick({surface::StateForm::one_bit, surface::StateForm::two_bits}),
                    .base = at,
                    .pitch_tiles = 1,
                    .layer_rows = 32,
                    .width = surface.width,
                    .height = surface.height,
                    .block_width = (x_tiles ? 64 : 32) / surface.element_bytes(),
                    .block_height = x_tiles ? 2u : 4u};
  for (std::byte& byte : surface.sampled_clear) {
    byte = static_cast<std::byte>(random.below(256));
  }
}

// A surface for the general path, which reads states texel by texel, and the same one with its clear blocks noted.
struct Pair {
  Surface general;
  Surface quick;
  ClearBlocks blocks;
  bool has_blocks = false;

  Pair(Draws& random, uint64_t base, uint64_t states, memory::AddressSpace& space)
      : general(random_surface(random, base)) {
    if (general.layout.pattern != nullptr && random.half()) {
      add_states(random, states, general);
    }
    quick = general;
    if (general.states.form != surface::StateForm::none) {
      has_blocks = blocks.read(quick, space);
      EXPECT_TRUE(has_blocks);
      quick.clear_blocks = &blocks;
    }
  }
};

Sampler random_sampler(Draws& random) {
  Sampler sampler;
  sampler.min_filter = random.pick({MapFilter::NEAREST, MapFilter::LINEAR});
  sampler.mag_filter = random.pick({MapFilter::NEAREST, MapFilter::LINEAR});
  sampler.mip_filter = random.pick({MipFilter::NONE, MipFilter::NEAREST, MipFilter::LINEAR});
  sampler.bias = random.half() ? 0.0 : random.part() * 4 - 2;
  sampler.min_lod = random.half() ? 0.0 : random.part() * 2;
  sampler.max_lod = random.half() ? 14.0 : random.part() * 6;
  for (Mode& mode : sampler.wrap) {
    mode = random.pick({Mode::WRAP, Mode::WRAP, Mode::CLAMP, Mode::MIRROR, Mode::MIRROR_ONCE, Mode::MIRROR_101});
  }
  for (size_t i = 0; i < 3; ++i) {
    sampler.rounds_min[i] = random.half();
    sampler.rounds_mag[i] = random.half();
  }
  return sampler;
}

class QuickTextureBench : public MessageBench {
 protected:
  void scramble() {
    std::mt19937 random(5);
    for (uint64_t at = 0; at < kBytes; at += 4) {
      word(at) = static_cast<uint32_t>(random());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(One, QuickTextureBench, testing::Values("icl"));

TEST_P(QuickTextureBench, QuickAndGeneralSamplingAgree) {
  scramble();
  memory_.set_action(memory::FaultAction::skip);
  unsigned quickly = 0;
  unsigned asked = 0;
  unsigned with_blocks = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    Draws random(seed);
    // Some surfaces are at the end of the mapped memory.
    const uint64_t base = seed % 16 == 0 ? kVa + kBytes - 0x2000 : kVa + random.below(16) * 4096;
    const Pair surface(random, base, kVa, memory_.space());
    const Sampler sampler = random_sampler(random);
    QuickTexture quick;
    ASSERT_TRUE(quick.begin(surface.quick, sampler)) << "seed " << seed;
    Texture texture(memory_.space(), surface.general, &sampler);
    with_blocks += surface.has_blocks ? 1 : 0;
    for (int i = 0; i < 40; ++i) {
      const TexturePoint at{random.coordinate(), random.coordinate(), 0.0f, 0.0f};
      PixelSize size;
      size.lod = size.narrow_lod =
          random.below(10) == 0 ? std::numeric_limits<double>::quiet_NaN() : random.part() * 9 - 2;
      const TexelOffset offset{static_cast<int32_t>(random.below(16)) - 8, static_cast<int32_t>(random.below(16)) - 8,
                               0};
      ++asked;
      const auto texel = quick.sample(memory_.space(), at[0], at[1], size.lod, offset);
      const surface::Texel judge = texture.sample(at, size, offset, std::nullopt);
      if (texel) {
        ++quickly;
        ASSERT_EQ(*texel, judge) << "seed " << seed << " point " << at[0] << " " << at[1] << " level " << size.lod;
      }
    }
  }
  EXPECT_GT(quickly, asked * 8 / 10);
  EXPECT_GT(with_blocks, 200u);
}

// Samples four pixels at once, or none. Each result is that of a single pixel.
TEST_P(QuickTextureBench, SquaresAreFourPixels) {
  scramble();
  memory_.set_action(memory::FaultAction::skip);
  unsigned together = 0;
  unsigned together_with_blocks = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    Draws random(seed);
    const uint64_t base = seed % 16 == 0 ? kVa + kBytes - 0x2000 : kVa + random.below(16) * 4096;
    const Pair surface(random, base, kVa, memory_.space());
    Sampler sampler = random_sampler(random);
    if (random.half()) {
      sampler.wrap = {random.pick({Mode::WRAP, Mode::CLAMP}), random.pick({Mode::WRAP, Mode::CLAMP}), Mode::WRAP};
    }
    QuickTexture quick;
    ASSERT_TRUE(quick.begin(surface.quick, sampler)) << "seed " << seed;
    Texture texture(memory_.space(), surface.general, &sampler);
    for (int i = 0; i < 10; ++i) {
      std::array<float, 4> u{};
      std::array<float, 4> v{};
      for (size_t k = 0; k < 4; ++k) {
        const bool near = k != 0 && random.below(4) != 0;
        u[k] = near ? u[0] + static_cast<float>(random.part() * 0.1) : random.coordinate();
        v[k] = near ? v[0] + static_cast<float>(random.part() * 0.1) : random.coordinate();
      }
      PixelSize size;
      size.lod = size.narrow_lod = random.part() * 9 - 2;
      const TexelOffset offset{static_cast<int32_t>(random.below(16)) - 8, static_cast<int32_t>(random.below(16)) - 8,
                               0};
      const uint32_t live = random.half() ? 0xf : 1 + random.below(15);
      // The general path is first, so that the pages are known.
      std::array<surface::Texel, 4> judges;
      for (size_t k = 0; k < 4; ++k) {
        judges[k] = texture.sample({u[k], v[k], 0.0f, 0.0f}, size, offset, std::nullopt);
      }
      QuickTexture::SquareTexels texels{};
      if (!quick.sample_square(memory_.space(), u.data(), v.data(), size.lod, offset, live, texels)) {
        continue;
      }
      ++together;
      together_with_blocks += surface.has_blocks ? 1 : 0;
      for (size_t k = 0; k < 4; ++k) {
        if ((live >> k & 1) == 0) {
          continue;
        }
        for (size_t c = 0; c < 4; ++c) {
          ASSERT_EQ(std::bit_cast<uint32_t>(texels[c][k]), judges[k][c])
              << "seed " << seed << " pixel " << k << " at " << u[k] << " " << v[k] << " level " << size.lod;
        }
      }
    }
  }
  EXPECT_GT(together, 500u);
  EXPECT_GT(together_with_blocks, 100u);
}

TEST_P(QuickTextureBench, UnsupportedStatesAreNotSampledQuickly) {
  Draws random(1);
  const Surface surface = random_surface(random, kVa);
  const Sampler sampler = random_sampler(random);
  const auto fits = [](const Surface& image, const Sampler& state) { return QuickTexture().begin(image, state); };
  EXPECT_TRUE(fits(surface, sampler));
  Sampler other = sampler;
  other.wrap[1] = Mode::CLAMP_BORDER;
  EXPECT_FALSE(fits(surface, other));
  other = sampler;
  other.min_filter = MapFilter::ANISOTROPIC;
  EXPECT_FALSE(fits(surface, other));
  other = sampler;
  other.reduction = Sampler::Reduction::minimum;
  EXPECT_FALSE(fits(surface, other));
  other = sampler;
  other.unnormalized = true;
  EXPECT_FALSE(fits(surface, other));
  Surface image = surface;
  image.type = hw::SurfaceType::SURFTYPE_3D;
  EXPECT_FALSE(fits(image, sampler));
  image = surface;
  image.format = &surface::texel_format(SurfaceFormat::R8G8B8A8_UINT);
  EXPECT_FALSE(fits(image, sampler));
  image = surface;
  image.format = &surface::texel_format(SurfaceFormat::R32_FLOAT);
  EXPECT_FALSE(fits(image, sampler));
  image = surface;
  image.array = true;
  image.depth = 2;
  EXPECT_FALSE(fits(image, sampler));
  image = surface;
  image.samples = 4;
  EXPECT_FALSE(fits(image, sampler));
}

}  // namespace
}  // namespace halogen::message
