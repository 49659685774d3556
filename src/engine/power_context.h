// Power context of an engine: the state that exists once for all contexts, saved before its power goes and restored
// when it comes. Seed 000, "Global State" and "Power Context Image". Only DG1's copy, video and video enhancement
// engines have images in the seed, in three forms.
//
// Domains of the model keep their registers while they sleep, so software never sees the image; whoever takes power
// from an engine for good calls this.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace halogen::engine {

class Engine;

// Forms of the image: "dg1_power_no_display", "dg1_power_display", "dg1_power_full". Empty where there is none.
std::vector<uint32_t> save_power_context(Engine& engine, std::string_view form);
// The ring is written disabled first and as it was at last, with its pointers between (only the full form has them).
void restore_power_context(Engine& engine, std::string_view form, std::span<const uint32_t> image);

}  // namespace halogen::engine
