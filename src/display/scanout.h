// Composes one frame of a pipe from latched state: the background colour, planes from the bottom up, the cursor.
//
// - Planes are stacked by their index on the pipe: display planes A, B, C, then sprites; universal planes by number
// (Linux i915). The cursor is on top.
// - The palette is applied to each plane that enables it, before planes are blended.
// - A page that cannot be read shows as zeros. The memory side reports its fault once per frame, and `starved` says
// that the pipe has an underrun.
// - Not modelled: the overlay, VGA, colour keys, scalers and panel fitting (the frame has the size of the pipe's
// source), matrices, tables of more than eight bits, dithering, compressed surfaces other than through a LineProvider.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "display/cursor.h"
#include "display/plane_source.h"
#include "picture/image.h"

namespace halogen::display {

inline constexpr size_t kPaletteEntries = 256;
using Palette = std::array<picture::Rgba, kPaletteEntries>;

struct FrameParts {
  Extent size;
  picture::Rgba below;
  std::vector<PlaneLines> planes;  // enabled, from the bottom up
  std::vector<CursorShape> cursors;
  Palette palette{};      // for indexed formats, and for gamma if it is on
  bool gamma_on = false;  // gamma uses the eight-bit table
};

struct Frame {
  picture::Image image;
  bool starved = false;  // a plane or cursor could not be read completely
};
Frame compose_frame(const FrameParts& parts, DisplayMemory& memory, LineProvider* provider);

}  // namespace halogen::display
