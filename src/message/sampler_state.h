// A SAMPLER_STATE of any generation in plain form, with its border colour, and how coordinates become texels. Left out:
// chroma keys, palettes, filter kernels of video.
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

  bool disabled = false;  // gives zero
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
  bool seamless = false;  // filters go over the edges of cube faces
  uint32_t anisotropy = 2;
  // Whether coordinates are rounded to their last bit (else cut off): u, v, r.
  std::array<bool, 3> rounds_min{};
  std::array<bool, 3> rounds_mag{};
  surface::Texel border{};  // raw bits: floats, or integers for integer surfaces
};

Sampler decode_sampler(const hw::SAMPLER_STATE& state);

// The state at an address, with its border colour. Nothing: memory refused.
std::optional<Sampler> read_sampler(const Generation& generation, const Environment& environment, uint64_t address,
                                    spec::UnreadFields& unread);

// Samplers by address, each read once and kept until forget() is called, as surfaces are.
class SamplerTable {
 public:
  void forget() {
    by_address_.clear();
    ++age_;
  }
  const spec::UnreadFields& unread() const { return unread_; }  // as a SurfaceTable's
  spec::UnreadFields& unread() { return unread_; }
  uint64_t age() const { return age_; }  // as a SurfaceTable's
  // Null: memory refused to give the state.
  const Sampler* find(const Generation& generation, const Environment& environment, uint64_t address);

 private:
  std::unordered_map<uint64_t, Sampler> by_address_;
  uint64_t age_ = 0;
  spec::UnreadFields unread_;
};

// Where a texel index lands in a row of `size`; nothing: the border.
std::optional<uint32_t> wrap(hw::TextureCoordinateMode mode, int64_t index, uint32_t size);

// The border as a surface shows it: brought into the range of its format, absent channels as the format has them.
surface::Texel border_of(const Sampler& sampler, const Surface& surface);

}  // namespace halogen::message
