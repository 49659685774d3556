// What happens to a pixel behind its shader: depth and stencil tests, blending, logic operations, conversion to the
// target's format, and the way into memory. It knows coordinates and samples, not triangles and not threads.
#pragma once

#include "pipe3d/output/blend.h"
#include "pipe3d/output/depth_stencil.h"
#include "pipe3d/output/target_writer.h"
