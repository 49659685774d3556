// Pixels that an MCS surface marks as clear have the clear colour in every sample. Other pixels are read from memory.
#include "message/sample_map.h"

#include "sampler_bench.h"

namespace halogen::message {
namespace {

class SampleMaps : public SamplerBench {
 protected:
  static constexpr uint32_t kMap = 0x8000;
  static constexpr uint32_t kWidth = 40;
  static constexpr uint32_t kHeight = 37;  // more than a tile
  static constexpr uint32_t kRows = 48;    // of a slice

  struct Chosen {
    hw::SampleCount count;
    uint32_t samples;
    uint32_t pixel_B;  // of the map
    uint64_t identity;
  };
  static constexpr Chosen kChosen[] = {{hw::SampleCount::MULTISAMPLECOUNT_2, 2, 1, 0x02},
                                       {hw::SampleCount::MULTISAMPLECOUNT_4, 4, 1, 0xe4},
                                       {hw::SampleCount::MULTISAMPLECOUNT_8, 8, 4, 0x7654'3210}};

  hw::RENDER_SURFACE_STATE surface(const Chosen& chosen) const {
    hw::RENDER_SURFACE_STATE state = image(hw::SurfaceFormat::R8G8B8A8_UNORM, kWidth, kHeight);
    state.number_of_multisamples = chosen.count;
    state.surface_qpitch = kRows / 4;
    state.auxiliary_surface_mode = hw::AuxiliarySurfaceMode::AUX_CCS_D;
    state.auxiliary_surface_base_address = GpuVa{kMap};
    state.auxiliary_surface_pitch = 1;  // two tiles
    if (GetParam() == "bdw") {
      state.red_clear_color_one = state.alpha_clear_color_one = true;
    } else if (GetParam() == "skl") {
      state.red_clear_color = state.alpha_clear_color = 0x3f80'0000;
    } else {
      state.clear_value_address_enable = true;
      state.clear_value_address = GpuVa{kColour};
    }
    return state;
  }
  bool settle(const hw::RENDER_SURFACE_STATE& state) {
    Surface decoded = decode_surface(generation_, state);
    return attach_map(generation_, state, memory_.space(), decoded) && settle_samples(decoded, false, memory_.space());
  }
  // Y tiles: 128 bytes by 32 rows, in columns of 16 bytes.
  static uint64_t map_place(uint32_t x, uint32_t y, const Chosen& chosen) {
    const uint32_t x_B = x * chosen.pixel_B;
    return kMap + (y / 32 * 2 + x_B / 128) * 4096 + x_B % 128 / 16 * 512 + y % 32 * 16 + x_B % 16;
  }
  uint32_t& sample(uint32_t x, uint32_t y, uint32_t number) {
    return word(kImage + (number * kRows + y) * kPitch + x * 4);
  }
  static bool is_clear(uint32_t x, uint32_t y) { return (x * 7 + y * 3) % 5 < 2; }

  static constexpr uint32_t kColour = 0x7000;
};

TEST_P(SampleMaps, ClearPixelsGetTheClearColour) {
  constexpr uint32_t kRed = 0xff00'00ff;
  real(kColour) = real(kColour + 12) = 1.0f;
  for (const Chosen& chosen : kChosen) {
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        for (uint32_t i = 0; i < chosen.pixel_B; ++i) {
          byte(map_place(x, y, chosen) + i) = is_clear(x, y) ? 0xff : static_cast<uint8_t>(chosen.identity >> 8 * i);
        }
        for (uint32_t number = 0; number < chosen.samples; ++number) {
          sample(x, y, number) = x << 16 | y << 8 | number;
        }
      }
    }
    const hw::RENDER_SURFACE_STATE state = surface(chosen);
    ASSERT_TRUE(settle(state));
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        for (uint32_t number = 0; number < chosen.samples; ++number) {
          ASSERT_EQ(sample(x, y, number), is_clear(x, y) ? kRed : x << 16 | y << 8 | number) << x << " " << y;
        }
        for (uint32_t i = 0; i < chosen.pixel_B; ++i) {
          ASSERT_EQ(byte(map_place(x, y, chosen) + i), static_cast<uint8_t>(chosen.identity >> 8 * i));
        }
      }
    }
  }
}

TEST_P(SampleMaps, SurfacesWithoutAMapAreNotTouched) {
  for (uint32_t i = 0; i < 0x4000; ++i) {
    byte(kMap + i) = 0xff;
  }
  hw::RENDER_SURFACE_STATE state = surface(kChosen[1]);
  state.auxiliary_surface_mode = hw::AuxiliarySurfaceMode::AUX_NONE;
  sample(3, 4, 1) = 77;
  ASSERT_TRUE(settle(state));
  EXPECT_EQ(sample(3, 4, 1), 77u);
  state = surface(kChosen[1]);
  state.number_of_multisamples =
      hw::SampleCount::MULTISAMPLECOUNT_1;  // without multisampling the auxiliary surface is not an MCS surface
  ASSERT_TRUE(settle(state));
  EXPECT_EQ(sample(3, 4, 0), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, SampleMaps, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
