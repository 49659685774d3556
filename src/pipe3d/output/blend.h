// Colours on their way to a target: clamps, blending, alpha rules. Values are floats, and are rounded to the target's
// format once, at the end. All generations. Not modelled: dithering.
#pragma once

#include <array>
#include <cstdint>

#include "pipe3d/output/target_group.h"
#include "pipe3d/state/pipeline_state.h"
#include "surface/texel_format.h"

namespace halogen::pipe3d {

using Channels = std::array<float, 4>;  // red, green, blue, alpha

bool compare(hw::CompareFunction function, float value, float with);
bool compare(hw::CompareFunction function, uint32_t value, uint32_t with);

// Returns whether the pixel passes the alpha test.
bool alpha_test(const Blend& blend, float alpha);
// Returns the samples that alpha enables. Larger alpha enables more samples.
uint32_t alpha_to_coverage(float alpha, uint8_t samples_log2);
// Returns the same with ordered dithering: over 4 x 4 pixels, the share of enabled samples is alpha. The matrix is a
// choice of the model, because no available manual gives it.
uint32_t dithered_coverage(float alpha, uint8_t samples_log2, int32_t x, int32_t y);

// The blending of one target, prepared for a format.
class Blender {
 public:
  void begin(const BlendTarget& target, const Blend& all, const surface::TexelFormat& format);

  bool blends() const { return blends_; }
  bool uses_second() const { return uses_second_; }
  // Clamps for sources and for the target's values, applied whether or not blending is enabled.
  Channels before(const Channels& colour) const { return clamp_source_ ? clamp(colour) : colour; }
  Channels held(const Channels& colour) const { return clamp_before_ ? clamp(colour) : colour; }
  Channels blend(const Channels& source, const Channels& second, const Channels& target) const;
  Channels after(const Channels& colour) const { return clamp_after_ ? clamp(colour) : colour; }
  // Clamps, blends and clamps a group, without a second source. Inlined into code with known vectors.
  [[gnu::always_inline]] void blend_group(const GroupColours& source, const GroupColours& target,
                                          GroupColours& out) const;

 private:
  // A factor is a constant plus or minus one of the available values.
  struct Factor {
    float base = 0;
    float sign = 0;
    uint8_t value = 0;  // index of Values
    bool zero = false;  // the side is dropped, even if it is infinite
  };
  using Sides = std::array<Factor, 4>;  // by channel
  static Factor factor_of(hw::BlendFactor code, size_t channel);

  // Values that factors refer to: source, second source, target, constant, then zero and the saturation value.
  static constexpr size_t kSecond = 4, kTarget = 8, kConstant = 12, kNothing = 16, kSaturated = 17, kValues = 18;
  using Values = std::array<float, kValues>;

  [[gnu::always_inline]] float clamp(float value) const {
    // NaN becomes zero.
    const float low = value > low_ ? value : value != value ? 0.0f : low_;
    return low < 1.0f ? low : 1.0f;
  }
  Channels clamp(const Channels& colour) const {
    return {clamp(colour[0]), clamp(colour[1]), clamp(colour[2]), clamp(colour[3])};
  }
  using Row = std::array<float, kGroupLanes>;
  [[gnu::always_inline]] void part_of(const Factor& factor, const Row& side, const GroupColours& source,
                                      const GroupColours& target, Row& out) const;

  hw::BlendFunction color_{};
  hw::BlendFunction alpha_{};
  Sides source_{};
  Sides target_{};
  Channels constant_{};
  bool blends_ = false;
  bool uses_second_ = false;
  bool clamp_before_ = false;
  bool clamp_source_ = false;  // only the source is clamped
  bool clamp_after_ = false;
  float low_ = 0;
};

// Multiplies a side by its factor.
inline void Blender::part_of(const Factor& factor, const Row& side, const GroupColours& source,
                             const GroupColours& target, Row& out) const {
  if (factor.zero) {
    out.fill(0.0f);
    return;
  }
  Row value;
  if (factor.value < kSecond) {
    value = source.component[factor.value];
  } else if (factor.value >= kTarget && factor.value < kConstant) {
    value = target.component[factor.value - kTarget];
  } else if (factor.value == kSaturated) {
    for (size_t i = 0; i < kGroupLanes; ++i) {
      const float room = 1.0f - target.component[3][i];
      value[i] = room < source.component[3][i] ? room : source.component[3][i];
    }
  } else {
    value.fill(factor.value < kNothing ? constant_[factor.value - kConstant] : 0.0f);
  }
  for (size_t i = 0; i < kGroupLanes; ++i) {
    out[i] = side[i] * (factor.base + factor.sign * value[i]);
  }
}

inline void Blender::blend_group(const GroupColours& given, const GroupColours& target, GroupColours& out) const {
  GroupColours source = given;
  if (clamp_source_) {
    for (Row& row : source.component) {
      for (float& value : row) {
        value = clamp(value);
      }
    }
  }
  for (size_t c = 0; c < 4; ++c) {
    const Row& from = source.component[c];
    const Row& to = target.component[c];
    Row& result = out.component[c];
    Row first;
    Row second;
    part_of(source_[c], from, source, target, first);
    part_of(target_[c], to, source, target, second);
    result = from;
    switch (c == 3 ? alpha_ : color_) {
      case hw::BlendFunction::ADD:
        for (size_t i = 0; i < kGroupLanes; ++i) {
          result[i] = first[i] + second[i];
        }
        break;
      case hw::BlendFunction::SUBTRACT:
        for (size_t i = 0; i < kGroupLanes; ++i) {
          result[i] = first[i] - second[i];
        }
        break;
      case hw::BlendFunction::REVERSE_SUBTRACT:
        for (size_t i = 0; i < kGroupLanes; ++i) {
          result[i] = second[i] - first[i];
        }
        break;
      case hw::BlendFunction::MIN:
        for (size_t i = 0; i < kGroupLanes; ++i) {
          result[i] = to[i] < from[i] ? to[i] : from[i];
        }
        break;
      case hw::BlendFunction::MAX:
        for (size_t i = 0; i < kGroupLanes; ++i) {
          result[i] = from[i] < to[i] ? to[i] : from[i];
        }
        break;
    }
    if (clamp_after_) {
      for (float& value : result) {
        value = clamp(value);
      }
    }
  }
}

}  // namespace halogen::pipe3d
