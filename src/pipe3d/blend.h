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
  // Clamps before blending, whether there is any or not.
  Channels before(const Channels& colour) const { return clamp_before_ ? clamp(colour) : colour; }
  Channels blend(const Channels& source, const Channels& second, const Channels& target) const;
  Channels after(const Channels& colour) const { return clamp_after_ ? clamp(colour) : colour; }

 private:
  Channels clamp(const Channels& colour) const;

  BlendTarget target_;
  Channels constant_{};
  bool blends_ = false;
  bool clamp_before_ = false;
  bool clamp_after_ = false;
  float low_ = 0;
};

}  // namespace halogen::pipe3d
