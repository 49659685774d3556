// Power context of an engine: the state that exists once for all contexts, saved before its power is removed and
// restored afterwards. Seed 000, "Global State" and "Power Context Image". Only DG1's copy, video and video enhancement
// engines have images in the seed, in three forms.
//
// The device calls power_off when an idle engine's domain falls asleep and power_on when it wakes. Registers of the
// image are lost in between; the others keep their values, because the seed does not say what saves them. Where
// hardware keeps the image is not said either: it is part of the engine's state.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/context/power_state.h"

namespace halogen::engine {

class Engine;

// The copy engine has the display's registers. An engine whose ring is not part of a context saves it too.
PowerForm power_form(Engine& engine);
void power_off(Engine& engine);
void power_on(Engine& engine);

// Forms of the image: "dg1_power_no_display", "dg1_power_display", "dg1_power_full". Empty where there is none.
std::vector<uint32_t> save_power_context(Engine& engine, std::string_view form);
// The ring is written disabled first and as it was at last, with its pointers between (only the full form has them).
void restore_power_context(Engine& engine, std::string_view form, std::span<const uint32_t> image);

}  // namespace halogen::engine
