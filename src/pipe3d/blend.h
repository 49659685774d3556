// What becomes of a colour on its way into a target: clamps, blending, alpha rules. Numbers are floats: rounding to the
// target's format happens once, at the end. All generations. Dithering is none.
#pragma once

#include <array>
#include <cstdint>

#include "pipe3d/pipeline_state.h"
#include "surface/texel_format.h"

namespace halogen::pipe3d {

using Channels = std::array<float, 4>;  // red, green, blue, alpha

bool compare(hw::CompareFunction function, float value, float with);
bool compare(hw::CompareFunction function, uint32_t value, uint32_t with);

// True: the pixel goes on.
bool alpha_test(const Blend& blend, float alpha);
// Samples that alpha lets pass: more of them the larger it is.
uint32_t alpha_to_coverage(float alpha, uint8_t samples_log2);

// One target's blending, prepared for a format.
class Blender {
 public:
  void begin(const BlendTarget& target, const Blend& all, const surface::TexelFormat& format);

  bool blends() const { return blends_; }
  bool uses_second() const { return uses_second_; }
  // Clamps before blending, whether there is any or not.
  Channels before(const Channels& colour) const { return clamp_before_ ? clamp(colour) : colour; }
  Channels blend(const Channels& source, const Channels& second, const Channels& target) const;
  Channels after(const Channels& colour) const { return clamp_after_ ? clamp(colour) : colour; }

 private:
  // A factor is a constant and one of the values at hand, added or taken away.
  struct Factor {
    float base = 0;
    float sign = 0;
    uint8_t value = 0;  // index of Values
    bool zero = false;  // takes its side away, infinite or not
  };
  using Sides = std::array<Factor, 4>;  // by channel
  static Factor factor_of(hw::BlendFactor code, size_t channel);

  Channels clamp(const Channels& colour) const {
    Channels out;
    for (size_t i = 0; i < 4; ++i) {
      // What is no number becomes zero.
      const float low = colour[i] > low_ ? colour[i] : colour[i] != colour[i] ? 0.0f : low_;
      out[i] = low < 1.0f ? low : 1.0f;
    }
    return out;
  }

  hw::BlendFunction color_{};
  hw::BlendFunction alpha_{};
  Sides source_{};
  Sides target_{};
  Channels constant_{};
  bool blends_ = false;
  bool uses_second_ = false;
  bool clamp_before_ = false;
  bool clamp_after_ = false;
  float low_ = 0;
};

}  // namespace halogen::pipe3d
