// A SAMPLER_STATE with its border colour, and how coordinates become texels: Gen8 and later.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "hw/sampler.h"
#include "message/environment.h"
#include "message/surface.h"

namespace halogen::message {

struct Sampler {
  hw::SAMPLER_STATE state;
  surface::Texel border{};  // raw bits, in the number format of the surface
};

// Nothing: memory refused. `table` counts from the dynamic base.
std::optional<Sampler> read_sampler(const Generation& generation, const Environment& environment, uint32_t table,
                                    uint32_t index);

// Where a texel index lands in a row of `size`; nothing: the border.
std::optional<uint32_t> wrap(hw::TextureCoordinateMode mode, int64_t index, uint32_t size);

}  // namespace halogen::message
