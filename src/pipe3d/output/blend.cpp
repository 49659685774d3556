#include "pipe3d/output/blend.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/bits.h"
#include "surface/compare.h"

namespace halogen::pipe3d {
namespace {

using hw::BlendFactor;

float combine(hw::BlendFunction function, float source, float source_part, float target, float target_part) {
  switch (function) {
    case hw::BlendFunction::ADD:
      return source_part + target_part;
    case hw::BlendFunction::SUBTRACT:
      return source_part - target_part;
    case hw::BlendFunction::REVERSE_SUBTRACT:
      return target_part - source_part;
    case hw::BlendFunction::MIN:
      return std::min(source, target);
    case hw::BlendFunction::MAX:
      return std::max(source, target);
  }
  return source;
}

// Returns the kind of the first existing channel.
surface::ChannelKind kind_of(const surface::TexelFormat& format) {
  for (const surface::TexelChannel& channel : format.channel) {
    if (channel.bits != 0) {
      return channel.kind;
    }
  }
  return surface::ChannelKind::none;
}

}  // namespace

bool compare(hw::CompareFunction function, float value, float with) {
  return surface::compare_values(function, value, with);
}
bool compare(hw::CompareFunction function, uint32_t value, uint32_t with) {
  return surface::compare_values(function, value, with);
}

bool alpha_test(const Blend& blend, float alpha) {
  return !blend.alpha_test || compare(blend.alpha_function, alpha, blend.alpha_reference);
}

uint32_t dithered_coverage(float alpha, uint8_t samples_log2, int32_t x, int32_t y) {
  constexpr std::array<std::array<uint8_t, 4>, 4> kRanks{
      {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}};
  const unsigned samples = 1u << std::min<unsigned>(samples_log2, 4);
  const float wanted = alpha > 0.0f ? std::min(alpha, 1.0f) * static_cast<float>(samples) : 0.0f;
  const float threshold =
      (static_cast<float>(kRanks[static_cast<size_t>(y & 3)][static_cast<size_t>(x & 3)]) + 0.5f) / 16;
  return static_cast<uint32_t>(low_mask(static_cast<unsigned>(wanted + threshold)));
}

uint32_t alpha_to_coverage(float alpha, uint8_t samples_log2) {
  const unsigned samples = 1u << std::min<unsigned>(samples_log2, 4);
  uint32_t mask = 0;
  for (unsigned i = 0; i < samples; ++i) {
    mask |= alpha > static_cast<float>(i) / static_cast<float>(samples) ? 1u << i : 0;
  }
  return mask;
}

Blender::Factor Blender::factor_of(BlendFactor code, size_t channel) {
  constexpr Factor kZero{.base = 0, .sign = 0, .value = kNothing, .zero = true};
  constexpr Factor kOne{.base = 1, .sign = 0, .value = kNothing};
  const auto plain = [](size_t value) { return Factor{.base = 0, .sign = 1, .value = static_cast<uint8_t>(value)}; };
  const auto inverse = [](size_t value) { return Factor{.base = 1, .sign = -1, .value = static_cast<uint8_t>(value)}; };
  switch (code) {
    case BlendFactor::ONE:
      return kOne;
    case BlendFactor::SRC_COLOR:
      return plain(channel);
    case BlendFactor::SRC_ALPHA:
      return plain(3);
    case BlendFactor::DST_ALPHA:
      return plain(kTarget + 3);
    case BlendFactor::DST_COLOR:
      return plain(kTarget + channel);
    case BlendFactor::SRC_ALPHA_SATURATE:
      return channel == 3 ? kOne : plain(kSaturated);
    case BlendFactor::CONST_COLOR:
      return plain(kConstant + channel);
    case BlendFactor::CONST_ALPHA:
      return plain(kConstant + 3);
    case BlendFactor::SRC1_COLOR:
      return plain(kSecond + channel);
    case BlendFactor::SRC1_ALPHA:
      return plain(kSecond + 3);
    case BlendFactor::ZERO:
      return kZero;
    case BlendFactor::INV_SRC_COLOR:
      return inverse(channel);
    case BlendFactor::INV_SRC_ALPHA:
      return inverse(3);
    case BlendFactor::INV_DST_ALPHA:
      return inverse(kTarget + 3);
    case BlendFactor::INV_DST_COLOR:
      return inverse(kTarget + channel);
    case BlendFactor::INV_CONST_COLOR:
      return inverse(kConstant + channel);
    case BlendFactor::INV_CONST_ALPHA:
      return inverse(kConstant + 3);
    case BlendFactor::INV_SRC1_COLOR:
      return inverse(kSecond + channel);
    case BlendFactor::INV_SRC1_ALPHA:
      return inverse(kSecond + 3);
  }
  return kZero;
}

void Blender::begin(const BlendTarget& target, const Blend& all, const surface::TexelFormat& format) {
  color_ = target.color;
  alpha_ = target.alpha;
  uses_second_ = false;
  for (size_t i = 0; i < 4; ++i) {
    source_[i] = factor_of(i == 3 ? target.source_alpha : target.source_color, i);
    target_[i] = factor_of(i == 3 ? target.dest_alpha : target.dest_color, i);
    for (const Factor& factor : {source_[i], target_[i]}) {
      uses_second_ = uses_second_ || (factor.value >= kSecond && factor.value < kTarget);
    }
  }
  blends_ = target.blend && !target.logic && !format.integer;
  constant_ = all.constant;
  clamp_before_ = target.clamp_before && !format.integer;
  clamp_source_ = (target.clamp_before || target.clamp_source) && !format.integer;
  clamp_after_ = target.clamp_after && !format.integer;
  low_ = target.range == hw::ColorClampRange::SNORM ? -1.0f : 0.0f;
  if (target.range == hw::ColorClampRange::RTFORMAT) {
    const surface::ChannelKind kind = kind_of(format);
    const bool normalised = kind == surface::ChannelKind::unorm || kind == surface::ChannelKind::srgb ||
                            kind == surface::ChannelKind::snorm;
    clamp_before_ = clamp_before_ && normalised;
    clamp_source_ = clamp_source_ && normalised;
    clamp_after_ = clamp_after_ && normalised;
    low_ = kind == surface::ChannelKind::snorm ? -1.0f : 0.0f;
  }
  constant_ = held(constant_);
}

Channels Blender::blend(const Channels& source, const Channels& second, const Channels& target) const {
  Values values;
  for (size_t i = 0; i < 4; ++i) {
    values[i] = source[i];
    values[kSecond + i] = second[i];
    values[kTarget + i] = target[i];
    values[kConstant + i] = constant_[i];
  }
  values[kNothing] = 0;
  values[kSaturated] = std::min(source[3], 1.0f - target[3]);
  Channels source_part;
  Channels target_part;
  for (size_t i = 0; i < 4; ++i) {
    const Factor& by_source = source_[i];
    const Factor& by_target = target_[i];
    const float first = source[i] * (by_source.base + by_source.sign * values[by_source.value]);
    const float second_part = target[i] * (by_target.base + by_target.sign * values[by_target.value]);
    source_part[i] = by_source.zero ? 0.0f : first;
    target_part[i] = by_target.zero ? 0.0f : second_part;
  }
  Channels out;
  if (color_ == hw::BlendFunction::ADD && alpha_ == hw::BlendFunction::ADD) {
    for (size_t i = 0; i < 4; ++i) {
      out[i] = source_part[i] + target_part[i];
    }
    return out;
  }
  for (size_t i = 0; i < 4; ++i) {
    out[i] = combine(i == 3 ? alpha_ : color_, source[i], source_part[i], target[i], target_part[i]);
  }
  return out;
}

}  // namespace halogen::pipe3d
