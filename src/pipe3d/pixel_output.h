// What happens to a pixel behind its shader: depth and stencil tests, blending, logic operations, conversion to the
// target's format, and the way into memory. It knows coordinates and samples, not triangles and not threads.
#pragma once

#include <array>
#include <cstdint>

#include "memory/address_space.h"
#include "message/surface.h"
#include "pipe3d/pipeline_state.h"

namespace halogen::pipe3d {

using Colour = std::array<uint32_t, 4>;  // raw bits: floats, or integers for integer targets

// One pixel as the back end sees it. Sample i is bit i of masks.
struct PixelPlace {
  int32_t x = 0;
  int32_t y = 0;
  uint32_t layer = 0;
};

// Depth and stencil of one draw.
class DepthStencilUnit {
 public:
  // The buffers belong to the draw; memory is read and written at once.
  void begin(const Output& output, AddressSpace& space, uint8_t samples_log2);
  bool idle() const;  // no test and no write: every sample passes
  // The samples of `mask` that pass. `depth`: a value a sample, not yet clamped to the buffer's range. Writes happen
  // when `write` is set: a test before the shader and one after must not both write.
  uint32_t test(const PixelPlace& place, uint32_t mask, const std::array<float, kMostSamples>& depth, bool front,
                const uint8_t* computed_stencil, bool write);
  // Memory refused an access since begin().
  bool stopped() const;
  void clear(const DepthOperation& operation, const Rectangle& limit);

 private:
  const Output* output_ = nullptr;
  AddressSpace* space_ = nullptr;
  uint8_t samples_log2_ = 0;
  bool stopped_ = false;
};

// A render target at work.
class TargetWriter {
 public:
  void begin(const message::Surface& surface, const BlendTarget& blend, const Blend& all, AddressSpace& space);
  // Colours of one pixel to the samples of `mask`; `second` for dual source blending.
  void write(const PixelPlace& place, uint32_t mask, const Colour& colour, const Colour& second);
  // Fast clears: raw colour to a rectangle (inclusive) of all samples.
  void fill(const Rectangle& rectangle, uint32_t layer, const Colour& colour);
  bool stopped() const;

 private:
  const message::Surface* surface_ = nullptr;
  const BlendTarget* blend_ = nullptr;
  const Blend* all_ = nullptr;
  AddressSpace* space_ = nullptr;
  bool stopped_ = false;
};

}  // namespace halogen::pipe3d
