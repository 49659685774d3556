// From primitives in clip space to pixels: vertices on the screen, clipping, edge functions, coverage. It knows no
// shader: attributes stay in vertex entries, and what leaves is subspans (2x2 pixels) with coverage and barycentrics.
#pragma once

#include "pipe3d/geometry/clipper.h"
#include "pipe3d/geometry/primitive.h"
#include "pipe3d/geometry/screen_setup.h"
#include "pipe3d/raster/rasteriser.h"
