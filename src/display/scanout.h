// One frame of a pipe, put together from what is latched: the colour below, planes from the bottom up, the cursor.
//
// - Planes lie in the order of their place on the pipe: display planes A, B, C, then sprites; universal planes by
// number
//   (Linux i915). The cursor is on top.
// - The palette applies to each plane that asks for it, before planes are mixed.
// - A page that cannot be read shows as zeros; the fault is reported as the memory side reports it, once a frame, and
//   its plane runs empty: `starved`.
// - Left out: the overlay, VGA, colour keys, scalers and panel fitting (the frame has the size of the pipe's source),
//   matrices, tables of more than eight bits, dithering, compressed surfaces other than by a LineProvider.
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
  Palette palette{};      // of indexed formats, and of gamma where it is on
  bool gamma_on = false;  // the eight bit table is what gamma means now
};

struct Frame {
  picture::Image image;
  bool starved = false;  // a plane or cursor got less than it asked for
};
Frame compose_frame(const FrameParts& parts, DisplayMemory& memory, LineProvider* provider);

}  // namespace halogen::display
