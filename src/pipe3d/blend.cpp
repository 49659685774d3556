#include "pipe3d/blend.h"

#include <algorithm>
#include <cmath>

namespace halogen::pipe3d {
namespace {

using hw::BlendFactor;

template <class T>
bool compare_values(hw::CompareFunction function, T value, T with) {
  switch (function) {
    case hw::CompareFunction::ALWAYS:
      return true;
    case hw::CompareFunction::NEVER:
      return false;
    case hw::CompareFunction::LESS:
      return value < with;
    case hw::CompareFunction::EQUAL:
      return value == with;
    case hw::CompareFunction::LEQUAL:
      return value <= with;
    case hw::CompareFunction::GREATER:
      return value > with;
    case hw::CompareFunction::NOTEQUAL:
      return value != with;
    case hw::CompareFunction::GEQUAL:
      return value >= with;
  }
  return true;
}

struct Sources {
  const Channels& source;
  const Channels& second;
  const Channels& target;
  const Channels& constant;
};

float factor(BlendFactor code, const Sources& from, size_t channel) {
  switch (code) {
    case BlendFactor::ONE:
      return 1.0f;
    case BlendFactor::SRC_COLOR:
      return from.source[channel];
    case BlendFactor::SRC_ALPHA:
      return from.source[3];
    case BlendFactor::DST_ALPHA:
      return from.target[3];
    case BlendFactor::DST_COLOR:
      return from.target[channel];
    case BlendFactor::SRC_ALPHA_SATURATE:
      return channel == 3 ? 1.0f : std::min(from.source[3], 1.0f - from.target[3]);
    case BlendFactor::CONST_COLOR:
      return from.constant[channel];
    case BlendFactor::CONST_ALPHA:
      return from.constant[3];
    case BlendFactor::SRC1_COLOR:
      return from.second[channel];
    case BlendFactor::SRC1_ALPHA:
      return from.second[3];
    case BlendFactor::ZERO:
      return 0.0f;
    case BlendFactor::INV_SRC_COLOR:
      return 1.0f - from.source[channel];
    case BlendFactor::INV_SRC_ALPHA:
      return 1.0f - from.source[3];
    case BlendFactor::INV_DST_ALPHA:
      return 1.0f - from.target[3];
    case BlendFactor::INV_DST_COLOR:
      return 1.0f - from.target[channel];
    case BlendFactor::INV_CONST_COLOR:
      return 1.0f - from.constant[channel];
    case BlendFactor::INV_CONST_ALPHA:
      return 1.0f - from.constant[3];
    case BlendFactor::INV_SRC1_COLOR:
      return 1.0f - from.second[channel];
    case BlendFactor::INV_SRC1_ALPHA:
      return 1.0f - from.second[3];
  }
  return 0.0f;
}

// A factor of zero takes its side away, infinite or not.
float scaled(float value, BlendFactor code, const Sources& from, size_t channel) {
  return code == BlendFactor::ZERO ? 0.0f : value * factor(code, from, channel);
}

float combine(hw::BlendFunction function, BlendFactor source_factor, BlendFactor target_factor, const Sources& from,
              size_t channel) {
  const float source = from.source[channel];
  const float target = from.target[channel];
  switch (function) {
    case hw::BlendFunction::ADD:
      return scaled(source, source_factor, from, channel) + scaled(target, target_factor, from, channel);
    case hw::BlendFunction::SUBTRACT:
      return scaled(source, source_factor, from, channel) - scaled(target, target_factor, from, channel);
    case hw::BlendFunction::REVERSE_SUBTRACT:
      return scaled(target, target_factor, from, channel) - scaled(source, source_factor, from, channel);
    case hw::BlendFunction::MIN:
      return std::min(source, target);
    case hw::BlendFunction::MAX:
      return std::max(source, target);
  }
  return source;
}

// Of the first channel there is.
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
  return compare_values(function, value, with);
}
bool compare(hw::CompareFunction function, uint32_t value, uint32_t with) {
  return compare_values(function, value, with);
}

bool alpha_test(const Blend& blend, float alpha) {
  return !blend.alpha_test || compare(blend.alpha_function, alpha, blend.alpha_reference);
}

uint32_t alpha_to_coverage(float alpha, uint8_t samples_log2) {
  const unsigned samples = 1u << std::min<unsigned>(samples_log2, 4);
  uint32_t mask = 0;
  for (unsigned i = 0; i < samples; ++i) {
    mask |= alpha > static_cast<float>(i) / static_cast<float>(samples) ? 1u << i : 0;
  }
  return mask;
}

void Blender::begin(const BlendTarget& target, const Blend& all, const surface::TexelFormat& format) {
  target_ = target;
  blends_ = target.blend && !target.logic && !format.integer;
  constant_ = all.constant;
  clamp_before_ = target.clamp_before && !format.integer;
  clamp_after_ = target.clamp_after && !format.integer;
  low_ = target.range == hw::ColorClampRange::SNORM ? -1.0f : 0.0f;
  if (target.range == hw::ColorClampRange::RTFORMAT) {
    const surface::ChannelKind kind = kind_of(format);
    const bool normalised = kind == surface::ChannelKind::unorm || kind == surface::ChannelKind::srgb ||
                            kind == surface::ChannelKind::snorm;
    clamp_before_ = clamp_before_ && normalised;
    clamp_after_ = clamp_after_ && normalised;
    low_ = kind == surface::ChannelKind::snorm ? -1.0f : 0.0f;
  }
  constant_ = before(constant_);
}

Channels Blender::clamp(const Channels& colour) const {
  Channels out;
  for (size_t i = 0; i < 4; ++i) {
    // What is no number becomes zero.
    out[i] = colour[i] > low_ ? std::min(colour[i], 1.0f) : std::isnan(colour[i]) ? 0.0f : low_;
  }
  return out;
}

Channels Blender::blend(const Channels& source, const Channels& second, const Channels& target) const {
  const Sources from{source, second, target, constant_};
  Channels out;
  for (size_t i = 0; i < 3; ++i) {
    out[i] = combine(target_.color, target_.source_color, target_.dest_color, from, i);
  }
  out[3] = combine(target_.alpha, target_.source_alpha, target_.dest_alpha, from, 3);
  return out;
}

}  // namespace halogen::pipe3d
