#include "message/sampler_state.h"

#include <algorithm>
#include <bit>
#include <span>

#include "hw/struct_sizes.h"
#include "surface/texel_format.h"

namespace halogen::message {
namespace {

constexpr size_t kMaxBorderDwords = 12;
constexpr size_t kMaxSamplers = 4096;  // limits the cache, because a guest may name any number

int64_t modulo(int64_t value, int64_t size) {
  const int64_t rest = value % size;
  return rest < 0 ? rest + size : rest;
}

Sampler::Reduction reduction_of(const hw::SAMPLER_STATE& state) {
  using Type = hw::SAMPLER_STATE::ReductionType;
  if (state.reduction_type_enable && state.reduction_type == Type::minimum) {
    return Sampler::Reduction::minimum;
  }
  return state.reduction_type_enable && state.reduction_type == Type::maximum ? Sampler::Reduction::maximum
                                                                              : Sampler::Reduction::mean;
}

bool borders(hw::TextureCoordinateMode mode) {
  return mode == hw::TextureCoordinateMode::CLAMP_BORDER || mode == hw::TextureCoordinateMode::HALF_BORDER;
}

}  // namespace

Sampler decode_sampler(const hw::SAMPLER_STATE& state) {
  Sampler sampler;
  sampler.disabled = state.sampler_disable;
  sampler.min_filter = state.min_mode_filter;
  sampler.mag_filter = state.mag_mode_filter;
  sampler.mip_filter = state.mip_mode_filter;
  sampler.bias = state.texture_lod_bias;
  sampler.min_lod = state.min_lod;
  sampler.max_lod = state.max_lod;
  sampler.wrap = {state.tcx_address_control_mode, state.tcy_address_control_mode, state.tcz_address_control_mode};
  sampler.compare = state.shadow_function;
  sampler.reduction = reduction_of(state);
  sampler.unnormalized = state.non_normalized_coordinate_enable;
  sampler.seamless = state.cube_surface_control_mode == hw::CubeSurfaceControlMode::OVERRIDE ||
                     sampler.wrap[0] == hw::TextureCoordinateMode::CUBE;
  sampler.anisotropy = 2 * (static_cast<uint32_t>(state.maximum_anisotropy) + 1);
  sampler.rounds_min = {state.u_address_min_filter_rounding_enable, state.v_address_min_filter_rounding_enable,
                        state.r_address_min_filter_rounding_enable};
  sampler.rounds_mag = {state.u_address_mag_filter_rounding_enable, state.v_address_mag_filter_rounding_enable,
                        state.r_address_mag_filter_rounding_enable};
  return sampler;
}

std::optional<Sampler> read_sampler(const Generation& generation, const Environment& environment, uint64_t address,
                                    spec::UnreadFields& unread) {
  std::array<uint32_t, hw::kMaxDwords<hw::SAMPLER_STATE>> words{};
  if (!ok(environment.space->read(wrapped_address(address), std::as_writable_bytes(std::span(words))))) {
    return std::nullopt;
  }
  unread.note(hw::SAMPLER_STATE::kDesc, generation.id(), words);
  const auto state = hw::SAMPLER_STATE::unpack(generation.id(), words);
  Sampler sampler = decode_sampler(state);
  if (std::ranges::any_of(sampler.wrap, borders)) {
    std::array<uint32_t, kMaxBorderDwords> color{};
    const size_t dwords = message_rules(generation.id()).typed_borders ? kMaxBorderDwords : 4;
    if (!ok(environment.space->read(wrapped_address(environment.bases.dynamic + state.border_color_pointer),
                                    std::as_writable_bytes(std::span(color).first(dwords))))) {
      return std::nullopt;
    }
    const auto border = hw::SAMPLER_BORDER_COLOR_STATE::unpack(generation.id(), color);
    sampler.border = {std::bit_cast<uint32_t>(border.border_color_float_red),
                      std::bit_cast<uint32_t>(border.border_color_float_green),
                      std::bit_cast<uint32_t>(border.border_color_float_blue),
                      std::bit_cast<uint32_t>(border.border_color_float_alpha)};
  }
  return sampler;
}

const Sampler* SamplerTable::find(const Generation& generation, const Environment& environment, uint64_t address) {
  const auto known = by_address_.find(address);
  if (known != by_address_.end()) {
    return &known->second;
  }
  if (by_address_.size() >= kMaxSamplers) {
    forget();
  }
  const std::optional<Sampler> sampler = read_sampler(generation, environment, address, unread_);
  return sampler ? &by_address_.emplace(address, *sampler).first->second : nullptr;
}

surface::Texel border_of(const Sampler& sampler, const Surface& surface) {
  surface::Texel out = sampler.border;
  for (unsigned i = 0; i < 4; ++i) {
    const auto value = std::bit_cast<float>(out[i]);
    switch (surface.block != nullptr ? surface::channel_kind(*surface.block, i) : surface.format->channel[i].kind) {
      case surface::ChannelKind::none:
        out[i] = i < 3 ? 0 : surface.integer() ? 1 : surface::kFloatOne;
        break;
      case surface::ChannelKind::unorm:
      case surface::ChannelKind::srgb:
        out[i] = std::bit_cast<uint32_t>(value > 0.0f ? std::min(value, 1.0f) : 0.0f);
        break;
      case surface::ChannelKind::snorm:
        out[i] = std::bit_cast<uint32_t>(value > -1.0f ? std::min(value, 1.0f) : -1.0f);
        break;
      default:
        break;
    }
  }
  return out;
}

std::optional<uint32_t> wrap(hw::TextureCoordinateMode mode, int64_t index, uint32_t size) {
  const int64_t count = size;
  const auto at = [](int64_t value) { return static_cast<uint32_t>(value); };
  switch (mode) {
    case hw::TextureCoordinateMode::WRAP:
      return at(modulo(index, count));
    case hw::TextureCoordinateMode::MIRROR: {
      const int64_t twice = modulo(index, 2 * count);
      return at(twice < count ? twice : 2 * count - 1 - twice);
    }
    case hw::TextureCoordinateMode::MIRROR_101: {
      if (count == 1) {
        return 0;
      }
      const int64_t twice = modulo(index, 2 * count - 2);
      return at(twice < count ? twice : 2 * count - 2 - twice);
    }
    case hw::TextureCoordinateMode::MIRROR_ONCE:
      return at(std::clamp<int64_t>(index < 0 ? -1 - index : index, 0, count - 1));
    case hw::TextureCoordinateMode::CLAMP:
    case hw::TextureCoordinateMode::CUBE:
      return at(std::clamp<int64_t>(index, 0, count - 1));
    case hw::TextureCoordinateMode::CLAMP_BORDER:
    case hw::TextureCoordinateMode::HALF_BORDER:
      if (index < 0 || index >= count) {
        return std::nullopt;
      }
      return at(index);
  }
  return 0;
}

}  // namespace halogen::message
