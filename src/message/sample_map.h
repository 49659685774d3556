// MCS surfaces: for each pixel of a multisampled surface they hold the slice of each sample, or the fact that all
// samples have the clear colour. Drivers initialise new maps to "clear" and omit the first clear. In the model every
// sample has its own slice. When the surface is first accessed, pixels that the map marks as clear are written to
// memory and the map is updated.
#pragma once

#include "memory/address_space.h"
#include "message/surface.h"

namespace halogen::message {

// Returns the result of ld_mcs for a pixel whose samples have their own slices.
surface::Texel identity_map(uint32_t samples);

// Reads the clear colour. False: stopped by a fault.
bool clear_colour(const hw::RENDER_SURFACE_STATE& state, bool integer, memory::AddressSpace& space,
                  surface::Texel& colour);

// Sets the map of a surface with several samples, if it has one. False: stopped by a fault.
bool attach_map(const Generation& generation, const hw::RENDER_SURFACE_STATE& state, memory::AddressSpace& space,
                Surface& surface);

// Resolves the map of a surface, if it has one: clear pixels get the clear colour, as samplers or as render targets
// read it. False: stopped by a fault.
bool settle_samples(const Surface& surface, bool sampled, memory::AddressSpace& space);

// Makes pixels of a layer clear in the map. The ends are exclusive. False: stopped by a fault.
struct MapArea {
  uint32_t x_first = 0;
  uint32_t y_first = 0;
  uint32_t x_end = 0;
  uint32_t y_end = 0;
  uint32_t layer = 0;
};
bool clear_samples(const Surface& surface, const MapArea& area, memory::AddressSpace& space);

}  // namespace halogen::message
