// Set-up data of a primitive: for each component of each attribute the values from which pixel shaders interpolate, {a1
// - a0, a2 - a0, 0, a0}. Gen6 and later; on Gen4 a kernel computes them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipe3d/geometry/screen_setup.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// Computes the set-up data: four dwords per component, 16 per attribute.
void set_up_attributes(const Setup& setup, uint32_t entry_slots, const ScreenPrimitive& primitive,
                       std::vector<uint32_t>& out);

}  // namespace halogen::pipe3d
