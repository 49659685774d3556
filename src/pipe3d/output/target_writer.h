// Writes colours to a render target: blending or a logic operation, conversion, write masks, samples. Formats are those
// of surface/texel_format.h. Four 8-bit normalised channels have a fast path that gives the same bits. Not modelled:
// rotation. Compressed blocks hold plain pixels.
#pragma once

#include <array>
#include <cstdint>

#include "base/bits.h"
#include "memory/address_space.h"
#include "message/surface.h"
#include "pipe3d/output/blend.h"
#include "pipe3d/output/pixel_plane.h"
#include "pipe3d/output/target_group.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

using Colour = std::array<uint32_t, 4>;  // raw bits: floats, or integers for integer targets

// A pixel for the back end. Sample i is bit i of masks.
struct PixelPlace {
  int32_t x = 0;
  int32_t y = 0;
  uint32_t layer = 0;
};

// A bound render target. Pixels outside it, and all pixels of a null surface, are dropped.
class TargetWriter {
 public:
  void begin(const message::Surface& surface, const BlendTarget& blend, const Blend& all, memory::AddressSpace& space);
  // Writes the colour of a pixel to the samples of `mask`. `second` is for dual source blending.
  void write(const PixelPlace& place, uint32_t mask, const Colour& colour, const Colour& second);
  // Returns whether write_group() can be used: one sample, and a format and blending that it supports.
  bool takes_groups() const;
  // Writes a group of pixels. The resulting bytes are the same as those of one write() per pixel.
  void write_group(const PixelGroupPlace& place, const GroupColours& colours);
  // Write one colour to all pixels of a rectangle, if the result does not depend on the old values. The resulting bytes
  // are the same as with one write() per pixel. Only the order of the writes differs.
  bool takes_fills() const {
    return (way_ == Way::plain || way_ == Way::bytes4) && !reads_ && plane_.samples() == 1 && plane_.gapless();
  }
  bool reaches(const Rectangle& rectangle, uint32_t layer) { return plane_.reaches(rectangle, layer); }
  void fill_plain(const Rectangle& rectangle, uint32_t layer, const Colour& colour);
  // Changes the compression state of the blocks that a rectangle (inclusive) touches.
  void change_blocks(const Rectangle& rectangle, uint32_t layer, PixelPlane::BlockChange change) {
    plane_.change_blocks(rectangle, layer, change);
  }
  // Return what a write with these arguments changes: samples of `mask`, or blocks of 2x2 pixels (with one sample) that
  // have a pixel inside. A write mask without channels changes nothing.
  uint32_t changes(const PixelPlace& place, uint32_t mask) const {
    const bool inside = way_ != Way::nothing && plane_.contains(place.x, place.y, place.layer);
    return inside ? mask & static_cast<uint32_t>(low_mask(plane_.samples())) : 0;
  }
  uint64_t blocks_in(const PixelGroupPlace& place) const;
  uint64_t blocks_in(const Rectangle& rectangle, uint32_t layer) const;
  bool blends() const { return blender_.blends(); }
  // Returns the value of a pixel as a shader sees it.
  Colour read(const PixelPlace& place, uint32_t sample);
  bool stopped() const { return plane_.stopped(); }
  void store_states() { plane_.store_states(); }
  void forget_states() { plane_.forget_states(); }
  void enter(const Rectangle& window, uint32_t layer) { plane_.enter(window, layer); }
  uint32_t width() const { return plane_.width(); }
  uint32_t height() const { return plane_.height(); }

 private:
  using Bytes = std::array<std::byte, 16>;
  enum class Way : uint8_t { nothing, plain, general, bytes4 };

  void put(const Rectangle& rectangle, uint32_t layer, const Bytes& packed);
  Bytes pack_plain(const Colour& colour) const;
  Bytes merged(const Bytes& old, const Bytes& packed) const;
  void write_plain4(const PixelPlace& place, uint32_t mask, const Channels& colour);
  void blend_bytes4(const PixelPlace& place, uint32_t mask, const Channels& source, const Channels& second);
  uint32_t pack_plain4(const Channels& colour) const;
  uint32_t pack_bytes4(const Channels& colour) const;
  void write_lanes(const PixelGroupPlace& place, const GroupColours& colours, uint32_t lanes);
  static void store_pair(std::byte* to, const uint32_t* pixels, uint32_t live);

  PixelPlane plane_;
  Blender blender_;
  const surface::TexelFormat* format_ = nullptr;
  Way way_ = Way::nothing;
  bool alpha_to_one_ = false;
  bool reads_ = false;
  bool logic_ = false;
  uint8_t logic_op_ = 0;
  uint32_t bytes_ = 0;
  Bytes bit_mask_{};                // bits that may change
  uint32_t mask4_ = 0;              // the same for four bytes
  std::array<uint8_t, 4> shift_{};  // of channels, for four bytes
  uint8_t has_ = 0xf;               // mask of existing channels
};

}  // namespace halogen::pipe3d
