// From primitives in clip space to pixels: vertices on the screen, clipping, edge functions, coverage. This part does
// not run shaders: attributes stay in vertex entries, and the output is subspans (2x2 pixels) with coverage and
// barycentrics.
#pragma once

#include "pipe3d/geometry/clipper.h"
#include "pipe3d/geometry/primitive.h"
#include "pipe3d/geometry/screen_setup.h"
#include "pipe3d/raster/rasteriser.h"
