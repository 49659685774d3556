// Sampler messages on every chip. State is packed by the generated descriptions, payloads are in the order that
// compilers of the chip use.
#pragma once

#include <vector>

#include "hw/sampler.h"
#include "hw/surface.h"
#include "message_bench.h"

namespace halogen::message {

class SamplerBench : public MessageBench {
 protected:
  static constexpr uint32_t kImage = 0x1'0000;
  static constexpr uint32_t kPitch = 512;
  using Mode = hw::TextureCoordinateMode;

  SamplerBench() { map_low(); }
  bool first() const { return GetParam() == "i965" || GetParam() == "g45"; }
  bool old() const { return first() || GetParam() == "snb"; }
  bool late_level() const { return GetParam() == "bdw"; }

  hw::RENDER_SURFACE_STATE image(hw::SurfaceFormat format, uint32_t width, uint32_t height, uint32_t levels = 1) const {
    hw::RENDER_SURFACE_STATE state{};
    state.surface_type = hw::SurfaceType::SURFTYPE_2D;
    state.surface_format = format;
    state.width = static_cast<uint16_t>(width - 1);
    state.height = static_cast<uint16_t>(height - 1);
    state.surface_pitch = kPitch - 1;
    state.mip_count_lod = static_cast<uint8_t>(levels - 1);
    state.surface_base_address = GpuVa{kImage};
    if (!old()) {
      state.surface_horizontal_alignment = hw::RENDER_SURFACE_STATE::SurfaceHorizontalAlignment::halign_4;
      state.surface_vertical_alignment = hw::VerticalAlignment::VALIGN_4;
      state.shader_channel_select_red = hw::ShaderChannelSelect::RED;
      state.shader_channel_select_green = hw::ShaderChannelSelect::GREEN;
      state.shader_channel_select_blue = hw::ShaderChannelSelect::BLUE;
      state.shader_channel_select_alpha = hw::ShaderChannelSelect::ALPHA;
    }
    return state;
  }
  void bind_state(uint8_t index, const hw::RENDER_SURFACE_STATE& state) {
    std::vector<uint32_t> words(GetParam() == "i965" ? 5 : old() ? 6 : 16);
    const auto packed = state.pack(generation_.id(), words);
    ASSERT_TRUE(packed.ok()) << packed.field;
    bind(index, words);
  }
  hw::SAMPLER_STATE filter(hw::MapFilter map, hw::MipFilter mip, Mode mode) const {
    hw::SAMPLER_STATE state{};
    state.min_mode_filter = state.mag_mode_filter = map;
    state.mip_mode_filter = mip;
    state.max_lod = 14.0;
    state.tcx_address_control_mode = state.tcy_address_control_mode = state.tcz_address_control_mode = mode;
    const bool rounds = map != hw::MapFilter::NEAREST;
    state.u_address_mag_filter_rounding_enable = state.u_address_min_filter_rounding_enable = rounds;
    state.v_address_mag_filter_rounding_enable = state.v_address_min_filter_rounding_enable = rounds;
    state.r_address_mag_filter_rounding_enable = state.r_address_min_filter_rounding_enable = rounds;
    return state;
  }
  void set_state(const hw::SAMPLER_STATE& state) {
    std::array<uint32_t, 4> words{};
    const auto packed = state.pack(generation_.id(), words);
    ASSERT_TRUE(packed.ok()) << packed.field;
    for (size_t i = 0; i < words.size(); ++i) {
      word(kStates + kSamplers + i * 4) = words[i];
    }
    begin();
  }
  // Sets the four channels of a border colour. Gen6 stores it in several formats; floats are the second one.
  void set_border(uint32_t offset, std::array<float, 4> color) {
    for (size_t i = 0; i < 4; ++i) {
      real(kStates + offset + (GetParam() == "snb" ? 4 : 0) + i * 4) = color[i];
    }
    begin();
  }

  // One parameter of all lanes.
  using Lanes = std::array<float, 16>;
  static Lanes all(float value) {
    Lanes lanes;
    lanes.fill(value);
    return lanes;
  }
  static constexpr float kAbsent = 0.0f;

  // Returns the response for a lane: SIMD8, or SIMD16 on the first chips.
  std::array<float, 4> result(size_t lane = 0) {
    const size_t wide = first() ? 2 : 1;
    std::array<float, 4> out{};
    for (size_t channel = 0; channel < 4; ++channel) {
      out[channel] = std::bit_cast<float>(grf(kResponse + channel * wide + lane / 8, lane % 8));
    }
    return out;
  }
  void put(size_t slot, const Lanes& lanes, size_t wide) {
    for (size_t lane = 0; lane < 8 * wide; ++lane) {
      grf(kPayload + header_ + slot * wide + lane / 8, lane % 8) = std::bit_cast<uint32_t>(lanes[lane]);
    }
  }
  void clear_payload() {
    for (size_t reg = 0; reg < 16; ++reg) {
      for (size_t i = 0; i < 8; ++i) {
        grf(kPayload + reg, i) = 0;
      }
    }
  }
  eu::SendOutcome send_sampler(uint32_t type, size_t slots, uint32_t extra = 0) {
    const size_t wide = first() ? 2 : 1;
    const auto length = static_cast<uint32_t>(header_ + slots * wide);
    uint32_t descriptor = length << 25 | static_cast<uint32_t>(4 * wide) << 20 | extra | 1;
    if (header_ != 0) {
      descriptor |= 1u << 19;
    }
    if (GetParam() == "i965") {
      descriptor |= type << 14;
    } else if (first()) {
      descriptor |= type << 12;
    } else if (old()) {
      descriptor |= type << 12 | 1u << 16;
    } else {
      descriptor |= type << 12 | 1u << 17;
    }
    return send(kSampler, descriptor, first() ? 0xffff : 0xff, first() ? 16 : 8);
  }
  // Sends sample_l for one point.
  std::array<float, 4> sample_level(float u, float v, float r, float lod) {
    clear_payload();
    header_ = first() ? 1 : 0;
    if (first()) {
      put(0, all(u), 2), put(1, all(v), 2), put(2, all(r), 2), put(3, all(lod), 2);
      EXPECT_EQ(send_sampler(1, 4), eu::SendOutcome::done);
    } else if (old()) {
      put(0, all(u), 1), put(1, all(v), 1), put(2, all(r), 1), put(4, all(lod), 1);
      EXPECT_EQ(send_sampler(2, 5), eu::SendOutcome::done);
    } else {
      put(0, all(lod), 1), put(1, all(u), 1), put(2, all(v), 1), put(3, all(r), 1);
      EXPECT_EQ(send_sampler(2, 4), eu::SendOutcome::done);
    }
    return result();
  }
  // Sends sample for squares of pixels.
  void sample_pixels(const Lanes& u, const Lanes& v, const Lanes& r) {
    clear_payload();
    header_ = first() ? 1 : 0;
    const size_t wide = first() ? 2 : 1;
    put(0, u, wide), put(1, v, wide), put(2, r, wide);
    EXPECT_EQ(send_sampler(0, 3), eu::SendOutcome::done);
  }
  // Returns texel (x, y) of a linear R32_FLOAT image.
  float& texel(uint32_t x, uint32_t y) { return real(kImage + y * kPitch + x * 4); }

  size_t header_ = 0;
};

}  // namespace halogen::message
