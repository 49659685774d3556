// Depth and stencil tests and their writes: D16, D24 with and without stencil, D32F with and without stencil, and
// separate stencil in W tiles. Samples are interleaved. Of hierarchical depth only the clear state of blocks is
// modelled. All generations.
#pragma once

#include <array>
#include <cstdint>

#include "memory/address_space.h"
#include "message/surface_uses.h"
#include "pipe3d/output/pixel_plane.h"
#include "pipe3d/output/target_writer.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// Convert depth values to and from the format of a buffer: integers or floats.
uint32_t encode_depth(hw::DepthFormat format, float depth);
float decode_depth(hw::DepthFormat format, uint32_t raw);

// Depth and stencil of one draw. Each host thread has its own unit.
class DepthStencilUnit {
 public:
  // Starts a draw. Memory is accessed directly. `output` must outlive the draw.
  void begin(const Output& output, memory::AddressSpace& space, uint8_t samples_log2);
  // Notes the depth buffer for the rules of compression state, if the draw or the operation uses it.
  void note(uint8_t samples_log2, message::SurfaceUses& uses) const;
  // Returns whether test_square() can be used: one sample, only a depth test, and depth elements of four bytes.
  bool takes_squares() const { return plain_ && !idle_ && element_B_ == 4; }
  // Tests the four pixels of a square, with the same result as one test() per pixel. Bit i of `mask` and of the result
  // is pixel i.
  uint32_t test_square(const PixelPlace& place, uint32_t mask, const std::array<float, 4>& depth);
  // Returns whether there is nothing to test and nothing to write: every sample passes.
  bool idle() const { return idle_; }
  uint32_t element_B() const { return element_B_; }  // of the depth buffer
  // Returns the samples of `mask` that pass. `depth`: a value per sample, not clamped to the buffer's range. `write`:
  // writes the results. If one test runs before the shader and one after it, only one of them may write.
  // `computed_stencil`: the pixel's stencil value that replaces the reference, or null.
  uint32_t test(const PixelPlace& place, uint32_t mask, const std::array<float, kMaxSamples>& depth, bool front,
                const uint8_t* computed_stencil, bool write);
  // Returns whether a fault stopped an access since begin().
  bool stopped() const { return depth_.stopped() || stencil_.stopped(); }
  void store_states() { depth_.store_states(); }
  void forget_states() { depth_.forget_states(); }
  // Tells that the next tests are inside a window.
  void enter(const Rectangle& window, uint32_t layer) { depth_.enter(in_buffer(window), layer); }
  // Clears a band. `layer`: index in the view. True: it was the last band.
  bool clear(const DepthOperation& operation, const Rectangle& limit, uint32_t layer, uint32_t band);
  // Resolves or ambiguates a band of the depth buffer. True: it was the last band.
  bool change_states(const DepthOperation& operation, const Rectangle& limit, uint32_t layer, uint32_t band);

 private:
  struct Stored {
    uint64_t depth_at = 0;
    uint64_t stencil_at = 0;
    uint32_t depth = 0;  // in the format of the buffer
    uint8_t stencil = 0;
  };
  void begin_plane(const PlaneBuffer& buffer, bool stencil, memory::AddressSpace& space, uint8_t samples_log2,
                   PixelPlane& plane) const;
  bool test_sample(const Stored& stored, float depth, const StencilSide& side, uint8_t reference, uint32_t& new_depth,
                   uint8_t& new_stencil) const;
  bool plain_test(const PixelPlace& place, float depth, bool write);
  bool in_clear_block(const PixelPlace& place);
  Rectangle area_of(const DepthOperation& operation, const Rectangle& limit) const;
  Rectangle in_buffer(const Rectangle& area) const;
  // Returns the word of the depth buffer at an address. A clear block keeps its state.
  uint32_t load_depth(uint64_t at) {
    if (depth_.clear_at(at)) [[unlikely]] {
      return clear_word_;
    }
    return element_B_ == 2 ? depth_.load<uint16_t>(at) : depth_.load<uint32_t>(at);
  }
  bool compare_depth(hw::CompareFunction function, uint32_t value, uint32_t with) const;

  const Output* output_ = nullptr;
  hw::DepthFormat format_{};
  PixelPlane depth_;
  PixelPlane stencil_;  // a separate stencil buffer
  bool idle_ = true;
  bool plain_ = false;  // only depth, one sample
  bool has_depth_ = false;
  bool has_stencil_ = false;  // separate or packed
  bool packed_ = false;
  bool floating_ = false;
  bool writes_depth_ = false;
  bool writes_stencil_ = false;
  uint32_t element_B_ = 4;
  uint32_t clear_word_ = 0;  // element of a clear block
};

}  // namespace halogen::pipe3d
