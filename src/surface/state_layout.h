// The layout that a RENDER_SURFACE_STATE asks for: tiled, walk and pitch in one bit each before Gen8, a tile mode from
// Gen8 on, a tiled resource mode beside it from Gen9 on. Fields that a generation lacks read as zero, so one reading
// serves all.
#pragma once

#include "hw/surface.h"
#include "surface/tiling.h"

namespace halogen::surface {

Tiling tiling_of(const hw::RENDER_SURFACE_STATE& state);

// `element_bits` is the size of a pixel or compression block of the state's format. The pattern is null for linear
// surfaces and for element sizes that the tiling does not have. Layers are the QPitch apart (Gen8 on); before that the
// distance is computed from the mip levels, and layer_rows stays zero.
SurfaceLayout layout_of(const hw::RENDER_SURFACE_STATE& state, uint32_t element_bits);

}  // namespace halogen::surface
