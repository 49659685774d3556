// MCS surfaces: for each pixel of a multisampled surface they hold the slice of each sample, or that all samples have
// the clear colour. Drivers initialise new maps to "clear" and omit the first clear. Here every sample has a slice of
// its own. Pixels that a map still calls clear are written to memory when the surface is first read or written, and the
// map is updated.
#pragma once

#include "memory/address_space.h"
#include "message/surface.h"

namespace halogen::message {

// Each sample in its own slice, as ld_mcs tells it.
surface::Texel identity_map(uint32_t samples);

// False: memory refused.
bool clear_colour(const hw::RENDER_SURFACE_STATE& state, bool integer, memory::AddressSpace& space,
                  surface::Texel& colour);

// False: memory refused. Nothing to do without a map.
bool settle_samples(const Surface& surface, const hw::RENDER_SURFACE_STATE& state, memory::AddressSpace& space);

}  // namespace halogen::message
