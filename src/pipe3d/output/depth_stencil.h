// Depth and stencil tests, and what they write: D16, D24 with and without stencil, D32F with and without stencil,
// stencil in W tiles of its own. Samples lie side by side. Memory is always exact: hierarchical depth is neither read
// nor written. All generations.
#pragma once

#include <array>
#include <cstdint>

#include "memory/address_space.h"
#include "pipe3d/output/pixel_plane.h"
#include "pipe3d/output/target_writer.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// Depth values in a buffer: integers of so many bits, or floats.
uint32_t encode_depth(hw::DepthFormat format, float depth);
float decode_depth(hw::DepthFormat format, uint32_t raw);

// Depth and stencil of one draw. Each thread of the host has its own one.
class DepthStencilUnit {
 public:
  // The buffers belong to the draw; memory is read and written at once. `output` must stay.
  void begin(const Output& output, memory::AddressSpace& space, uint8_t samples_log2);
  // No test and no write: every sample passes.
  // Four pixels of one sample, where nothing but depth is asked for: bit i of `mask` and of the answer is pixel i of
  // the square. The same as one test after another.
  bool takes_squares() const { return plain_ && !idle_ && element_B_ == 4; }
  uint32_t test_square(const PixelPlace& place, uint32_t mask, const std::array<float, 4>& depth);
  bool idle() const { return idle_; }
  uint32_t element_B() const { return element_B_; }  // of the depth buffer
  // Samples of `mask` that pass. `depth`: a value a sample, not yet clamped to the buffer's range. Writes happen when
  // `write` is set: a test before the shader and one after must not both write. `computed_stencil`: one value of the
  // pixel that stands for the reference, or null.
  uint32_t test(const PixelPlace& place, uint32_t mask, const std::array<float, kMaxSamples>& depth, bool front,
                const uint8_t* computed_stencil, bool write);
  // Memory refused an access since begin().
  bool stopped() const { return depth_.stopped() || stencil_.stopped(); }
  // A band of what is to be cleared. `layer`: of the view. True: it was the last one.
  bool clear(const DepthOperation& operation, const Rectangle& limit, uint32_t layer, uint32_t band);

 private:
  struct Stored {
    uint64_t depth_at = 0;
    uint64_t stencil_at = 0;
    uint32_t depth = 0;  // as the buffer holds it
    uint8_t stencil = 0;
  };
  void begin_plane(const PlaneBuffer& buffer, bool stencil, memory::AddressSpace& space, uint8_t samples_log2,
                   PixelPlane& plane) const;
  bool test_sample(const Stored& stored, float depth, const StencilSide& side, uint8_t reference, uint32_t& new_depth,
                   uint8_t& new_stencil) const;
  bool plain_test(const PixelPlace& place, float depth, bool write);
  bool compare_depth(hw::CompareFunction function, uint32_t value, uint32_t with) const;

  const Output* output_ = nullptr;
  hw::DepthFormat format_{};
  PixelPlane depth_;
  PixelPlane stencil_;  // of its own
  bool idle_ = true;
  bool plain_ = false;  // depth alone, one sample
  bool has_depth_ = false;
  bool has_stencil_ = false;  // of any kind
  bool packed_ = false;
  bool floating_ = false;
  bool writes_depth_ = false;
  bool writes_stencil_ = false;
  uint32_t element_B_ = 4;
};

}  // namespace halogen::pipe3d
