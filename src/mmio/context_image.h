// Context and power context images as tables: where in an image a register stands, and an image ready for memory.
// Seed 000, "CSFE Execlist Context" and "Power Context Image"; the render image from public driver facts.
// Left out: when an image is loaded and saved; the command streamer does that.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "spec/tables.h"

namespace halogen {

const spec::ContextImageDesc* find_image(std::string_view name);
// The image of this kind ("context", "power") for an engine class on a device; null when we have none.
const spec::ContextImageDesc* find_image(spec::DeviceId device, spec::EngineClass engine, std::string_view kind);

// Total dwords that the entries describe.
uint32_t image_dwords(const spec::ContextImageDesc& image);

// Dword of the value of the `nth` occurrence of a register; nothing when the image does not hold it.
std::optional<uint32_t> image_value_at(const spec::ContextImageDesc& image, uint32_t offset, unsigned nth = 0);

// Headers, register offsets and zero values. An LRI header without the CS-relative and remap bits carries absolute
// offsets: `engine_base` is added to offsets below 0x1000 there.
std::vector<uint32_t> build_image(const spec::ContextImageDesc& image, uint32_t engine_base);

}  // namespace halogen
