// A SAMPLER_STATE of any generation in plain form, with its border colour, and the mapping of coordinates to texels.
// Not modelled: chroma keys, palettes, filter kernels of video.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "hw/sampler.h"
#include "message/environment.h"
#include "message/surface.h"
#include "spec/unread.h"

namespace halogen::message {

struct Sampler {
  enum class Reduction : uint8_t { mean, minimum, maximum };

  bool disabled = false;  // returns zero
  hw::MapFilter min_filter{};
  hw::MapFilter mag_filter{};
  hw::MipFilter mip_filter{};
  double bias = 0.0;
  double min_lod = 0.0;
  double max_lod = 0.0;
  std::array<hw::TextureCoordinateMode, 3> wrap{};
  hw::CompareFunction compare{};
  Reduction reduction = Reduction::mean;
  bool unnormalized = false;
  bool seamless = false;  // filters cross the edges of cube faces
  uint32_t anisotropy = 2;
  // Whether coordinates u, v and r are rounded to their last bit; otherwise they are truncated.
  std::array<bool, 3> rounds_min{};
  std::array<bool, 3> rounds_mag{};
  surface::Texel border{};  // raw bits: floats, or integers for integer surfaces
};

Sampler decode_sampler(const hw::SAMPLER_STATE& state);

// Reads the state at an address with its border colour. No value: stopped by a fault.
std::optional<Sampler> read_sampler(const Generation& generation, const Environment& environment, uint64_t address,
                                    spec::UnreadFields& unread);

// Samplers by address. Each is read once and kept until forget(), like surfaces.
class SamplerTable {
 public:
  void forget() {
    by_address_.clear();
    ++age_;
  }
  const spec::UnreadFields& unread() const { return unread_; }  // as in SurfaceTable
  spec::UnreadFields& unread() { return unread_; }
  uint64_t age() const { return age_; }  // as in SurfaceTable
  // Returns the sampler at an address. Null: stopped by a fault.
  const Sampler* find(const Generation& generation, const Environment& environment, uint64_t address);

 private:
  std::unordered_map<uint64_t, Sampler> by_address_;
  uint64_t age_ = 0;
  spec::UnreadFields unread_;
};

// Returns the texel that an index in a row of `size` selects. No value: the index selects the border.
std::optional<uint32_t> wrap(hw::TextureCoordinateMode mode, int64_t index, uint32_t size);

// Returns the border colour for a surface: clamped to the range of its format, with the format's values for missing
// channels.
surface::Texel border_of(const Sampler& sampler, const Surface& surface);

}  // namespace halogen::message
