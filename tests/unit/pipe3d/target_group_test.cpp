// Writing groups of pixels gives the same bytes as writing the same pixels one by one, for all formats, blending,
// masks, edges and tilings.
#include <limits>

#include "pixel_world.h"

namespace halogen::pipe3d {
namespace {

using hw::SurfaceFormat;

struct Case {
  message::Surface surface;
  Blend all;
};

class Draws {
 public:
  explicit Draws(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(engine_() % count); }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<uint32_t>(from.size()))];
  }
  float colour() {
    switch (below(12)) {
      case 0:
        return pick({0.0f, -0.0f, 1.0f, -1.0f, 1e30f, 1e-40f, std::numeric_limits<float>::infinity(),
                     std::numeric_limits<float>::quiet_NaN()});
      case 1:
        return (static_cast<float>(below(255)) + 0.5f) / 255.0f;  // between two steps
      default:
        return static_cast<float>(below(1u << 24)) / static_cast<float>(1u << 24) * 1.2f - 0.1f;
    }
  }
  hw::BlendFactor factor() {
    using hw::BlendFactor;
    return pick({BlendFactor::ONE, BlendFactor::SRC_COLOR, BlendFactor::SRC_ALPHA, BlendFactor::DST_ALPHA,
                 BlendFactor::DST_COLOR, BlendFactor::SRC_ALPHA_SATURATE, BlendFactor::CONST_COLOR,
                 BlendFactor::CONST_ALPHA, BlendFactor::ZERO, BlendFactor::INV_SRC_COLOR, BlendFactor::INV_SRC_ALPHA,
                 BlendFactor::INV_DST_ALPHA, BlendFactor::INV_DST_COLOR, BlendFactor::INV_CONST_COLOR,
                 BlendFactor::INV_CONST_ALPHA});
  }
  hw::BlendFunction function() {
    using hw::BlendFunction;
    return pick({BlendFunction::ADD, BlendFunction::ADD, BlendFunction::SUBTRACT, BlendFunction::REVERSE_SUBTRACT,
                 BlendFunction::MIN, BlendFunction::MAX});
  }
  BlendTarget target() {
    BlendTarget target;
    target.blend = below(2) != 0;
    target.source_color = factor();
    target.dest_color = factor();
    target.source_alpha = factor();
    target.dest_alpha = factor();
    target.color = function();
    target.alpha = function();
    target.clamp_before = below(2) != 0;
    target.clamp_after = below(2) != 0;
    target.range = pick({hw::ColorClampRange::UNORM, hw::ColorClampRange::SNORM, hw::ColorClampRange::RTFORMAT});
    target.write_mask = below(3) != 0 ? 0xf : static_cast<uint8_t>(below(16));
    return target;
  }
  message::Surface surface(const PixelWorld& world) {
    const auto format = pick({SurfaceFormat::R8G8B8A8_UNORM, SurfaceFormat::B8G8R8A8_UNORM,
                              SurfaceFormat::B8G8R8X8_UNORM, SurfaceFormat::R8G8B8X8_UNORM});
    message::Surface surface = world.target(format, 40 + below(60), 20 + below(60));
    switch (below(3)) {
      case 0:
        surface.layout.pattern = &surface::kTileX;
        surface.layout.pitch_B = 512;
        break;
      case 1:
        surface.layout.pattern = nullptr;
        surface.layout.pitch_B = surface.width * 4 + below(3) * 4;
        break;
      default:
        break;
    }
    return surface;
  }

 private:
  std::mt19937 engine_;
};

TEST(TargetGroup, GroupWriteEqualsSinglePixelWrites) {
  PixelWorld groups;
  PixelWorld singles;
  unsigned taken = 0;
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    Draws random(seed);
    if (seed % 100 == 1) {
      groups.scramble(seed);
      singles.scramble(seed);
    }
    const message::Surface surface = random.surface(groups);
    const BlendTarget target = random.target();
    Blend all;
    all.constant = {random.colour(), random.colour(), random.colour(), random.colour()};
    TargetWriter one;
    TargetWriter two;
    one.begin(surface, target, all, groups.space());
    two.begin(surface, target, all, singles.space());
    taken += one.takes_groups() ? 1u : 0u;
    if (!one.takes_groups()) {
      continue;
    }
    for (int message = 0; message < 4; ++message) {
      GroupColours colours;
      for (auto& row : colours.component) {
        for (float& value : row) {
          value = random.colour();
        }
      }
      PixelGroupPlace place;
      place.lanes = random.pick({8u, 16u});
      place.live = (random.below(2) != 0 ? 0xffff : random.below(0x10000)) & ((1u << place.lanes) - 1);
      // Also across edges, with gaps between squares.
      const auto left = static_cast<int32_t>(random.below(surface.width / 2 + 2)) * 2 - 2;
      const auto top = static_cast<int32_t>(random.below(surface.height / 2 + 2)) * 2 - 2;
      for (int32_t i = 0; i < 4; ++i) {
        place.squares[static_cast<size_t>(i)] = {left + i % 2 * 2, top + i / 2 * 2};
      }
      one.write_group(place, colours);
      for (uint32_t i = 0; i < place.lanes; ++i) {
        if ((place.live >> i & 1) != 0) {
          Colour colour{};
          for (size_t c = 0; c < 4; ++c) {
            colour[c] = std::bit_cast<uint32_t>(colours.component[c][i]);
          }
          const Square& square = place.squares[i / 4];
          two.write({square.x + static_cast<int32_t>(i & 1), square.y + static_cast<int32_t>(i >> 1 & 1), 0}, 1, colour,
                    {});
        }
      }
    }
    ASSERT_EQ(std::memcmp(groups.at(PixelWorld::kVa), singles.at(PixelWorld::kVa), 1 << 17), 0) << "seed " << seed;
  }
  EXPECT_GT(taken, 1000u);
}

}  // namespace
}  // namespace halogen::pipe3d
