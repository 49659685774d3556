// A surface seen through a sampler: single texels, and filtered texels. Coordinates and levels become fixed-point
// numbers with eight bits of fraction, and weights have eight bits. Sums are exact and are rounded to floats once per
// result. Not published: the sample positions of an anisotropic filter, and the result for NaN coordinates (treated as
// zero).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "memory/address_space.h"
#include "message/sampler_state.h"
#include "message/surface.h"

namespace halogen::message {

using TexturePoint = std::array<float, 4>;  // u, v, r, layer of cubes
using TexelOffset = std::array<int32_t, 3>;

// The area of a texture that a pixel covers.
struct PixelSize {
  double lod = 0.0;                   // log2 of the longer side in texels of the first level
  double narrow_lod = 0.0;            // log2 of the shorter side
  std::array<double, 3> long_side{};  // in coordinates
};

class Texture {
 public:
  // `sampler` may be null if only loads and sizes are requested.
  Texture(memory::AddressSpace& space, const Surface& surface, const Sampler* sampler)
      : space_(space), surface_(surface), sampler_(sampler) {}

  bool failed() const { return failed_; }  // a fault stopped an access

  PixelSize size_of_pixel(const TexturePoint& dx, const TexturePoint& dy) const;
  // Returns the size of pixel `pixel` of a square. Pixels are in the order upper left, upper right, lower left, lower
  // right.
  PixelSize size_of_quad(const std::array<TexturePoint, 4>& pixels, unsigned pixel) const;

  // With a reference each texel becomes 0 where the comparison holds, else 1.
  surface::Texel sample(const TexturePoint& at, const PixelSize& size, const TexelOffset& offset,
                        std::optional<float> reference);
  surface::Texel gather(const TexturePoint& at, const TexelOffset& offset, unsigned channel,
                        std::optional<float> reference);
  // Returns a texel by integer coordinates. Texels outside the surface are zero.
  surface::Texel load(const std::array<uint32_t, 3>& at, uint32_t level, uint32_t sample, const TexelOffset& offset);
  surface::Texel extent_of(uint32_t level) const;         // width, height, depth or layers, levels
  surface::Texel levels_of(const PixelSize& size) const;  // level of detail after and before clamping

  surface::Texel swizzled(const surface::Texel& texel) const;

 private:
  using Color = std::array<double, 4>;
  using Index = std::array<int64_t, 3>;
  struct Spot {
    std::array<double, 3> at{};  // u, v, r of the face or image
    uint32_t layer = 0;
  };

  Spot spot_of(const TexturePoint& at) const;
  double limited_lod(double lod) const;
  surface::Texel fetch(uint32_t x, uint32_t y, uint32_t layer, uint32_t level, uint32_t sample);
  surface::Texel clear_texel() const;
  surface::Texel resolved(uint32_t x, uint32_t y, uint32_t layer, uint32_t level);
  surface::Texel texel_at(const Index& index, uint32_t layer, uint32_t level);
  surface::Texel face_texel(const Index& index, uint32_t layer, uint32_t level);
  surface::Texel corner_texel(const Index& index, uint32_t layer, uint32_t level);
  int64_t fixed(double coordinate, unsigned axis, uint32_t level, bool linear, bool rounds, int32_t offset) const;
  surface::Texel nearest(const Spot& spot, uint32_t level, const TexelOffset& offset);
  Color linear(const Spot& spot, uint32_t level, const TexelOffset& offset, std::optional<float> reference,
               const std::array<bool, 3>& rounds);
  Color color_of(const surface::Texel& texel, std::optional<float> reference) const;
  Color filtered(const Spot& spot, uint32_t level, const TexelOffset& offset, std::optional<float> reference,
                 bool is_linear, const std::array<bool, 3>& rounds);

  unsigned axes() const;
  unsigned layer_axis() const;  // 4: none
  uint32_t extent(unsigned axis, uint32_t level) const;

  memory::AddressSpace& space_;
  const Surface& surface_;
  const Sampler* sampler_;
  bool failed_ = false;
};

// The cube face that a direction points to, and the position on it, from 0 to 1.
struct CubeSpot {
  unsigned face = 0;
  double u = 0.0;
  double v = 0.0;
};
CubeSpot cube_spot(double x, double y, double z);

}  // namespace halogen::message
