// Decoding of a plane's pixel format from its control register (Linux i915: i9xx_plane_regs.h, intel_sprite_regs.h,
// skl_universal_plane_regs.h). Not implemented: formats of two surfaces (NV12 and relatives), packed YUV of more than
// eight bits, the extended range format of Broadwell's sprites, full range YUV.
#pragma once

#include <optional>

#include "display/plane_table.h"
#include "picture/pixel_format.h"

namespace halogen::display {

enum class AlphaMode : uint8_t {
  opaque,
  premultiplied,  // colours are already multiplied by alpha
  straight,       // the display multiplies by alpha
};

struct PlanePixels {
  picture::PixelFormat format = picture::PixelFormat::xrgb8888;
  picture::YuvMatrix matrix = picture::YuvMatrix::bt601;
  AlphaMode alpha = AlphaMode::opaque;
  bool gamma = false;  // through the palette of the pipe
  bool keyed = false;  // a colour key is enabled, which the model ignores
  bool operator==(const PlanePixels&) const = default;
};

// Returns the format of a plane's pixels. `color_control` is PLANE_COLOR_CTL if the device has it. No value: a reserved
// code, or a format that is not implemented.
std::optional<PlanePixels> plane_pixels(const PlaneModel& plane, spec::GenId gen, uint32_t control,
                                        std::optional<uint32_t> color_control);

}  // namespace halogen::display
