// MCS surfaces: of each pixel of a multisampled surface they say in which slice its samples lie, or that all of them
// have the clear colour. Drivers make new ones say "clear" and leave out a first clear. Here every sample has a slice
// of its own; what a map still calls clear is brought to memory when somebody looks at the surface, and the map then
// says so.
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
