// The layout of a RENDER_SURFACE_STATE. Before Gen8, tiling and walk have one bit each; Gen8 has a tile mode; Gen9 adds
// a tiled resource mode. Fields that a generation lacks read as zero, so one function serves all.
#pragma once

#include "hw/surface.h"
#include "surface/tiling.h"

namespace halogen::surface {

Tiling tiling_of(const hw::RENDER_SURFACE_STATE& state);

// `element_bits`: size of a pixel or compression block. The pattern is null for linear surfaces and for element sizes
// that the tiling lacks. Layers are QPitch apart from Gen8 on; before, the distance follows from the mip levels and
// layer_rows stays zero.
SurfaceLayout layout_of(const hw::RENDER_SURFACE_STATE& state, uint32_t element_bits);

}  // namespace halogen::surface
