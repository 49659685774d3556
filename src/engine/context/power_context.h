// Power context of an engine: the state that exists once for all contexts. It is saved before the engine's power is
// removed and restored afterwards. DG1 PRM vol. 13, "Global State" and "Power Context Image" (seed 000). The manual has
// images, in three forms, for the copy, video and video enhancement engines of DG1 only.
//
// The device calls power_off when the domain of an idle engine goes to sleep and power_on when it wakes. Registers of
// the image are lost in between. Other registers keep their values, because the manual does not say what saves them. It
// does not say where hardware keeps the image either; here the image is part of the engine's state.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/context/power_state.h"

namespace halogen::engine {

class Engine;

// Returns the form of the image that the engine saves. The image of the copy engine includes display registers. An
// engine whose ring is not part of a context saves the ring too.
PowerForm power_form(Engine& engine);
void power_off(Engine& engine);
void power_on(Engine& engine);

// Returns the image in a form: "dg1_power_no_display", "dg1_power_display" or "dg1_power_full". Empty: there is no such
// image.
std::vector<uint32_t> save_power_context(Engine& engine, std::string_view form);
// Restores an image. RING_CTL is written twice: disabled before the ring's pointers and with its saved value after them
// (full form only).
void restore_power_context(Engine& engine, std::string_view form, std::span<const uint32_t> image);

}  // namespace halogen::engine
