// Processing of a pixel after its shader: depth and stencil tests, blending, logic operations, conversion to the
// target's format, and the memory access. This part knows coordinates and samples, but neither triangles nor threads.
#pragma once

#include "pipe3d/output/blend.h"
#include "pipe3d/output/depth_stencil.h"
#include "pipe3d/output/target_writer.h"
