// Cursors: one per pipe, above all planes. Three sizes with alpha, and 64 by 64 with two bits per pixel. Registers are
// double buffered: a write of the base arms all of them, and a write of the control register disarms them. The position
// arms itself unless the control register was written before (Linux i915, intel_cursor.c, which handles chips of both
// kinds without naming them). The vertical blank applies armed values.
//
// Two bits per pixel: a line is 16 bytes, eight with the first bit of each pixel and eight with the second, leftmost
// pixel first.
// Not implemented, reported with an Event: the 32-bit modes without alpha, and a reduced height.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "display/display_memory.h"
#include "mmio/register_bank.h"
#include "picture/image.h"

namespace halogen::display {

struct CursorImage {
  uint32_t control = 0;
  uint32_t base = 0;
  uint32_t position = 0;
  bool operator==(const CursorImage&) const = default;
};

struct CursorState {
  CursorImage active;                // on the screen
  std::optional<CursorImage> armed;  // for the next vertical blank
  bool control_written = false;      // since the last write of the base
  bool operator==(const CursorState&) const = default;
};

struct CursorModel {
  unsigned pipe = 0;
  bool selects_pipe = false;  // the control register selects the pipe
  bool universal = false;     // CUR_* registers, from Broadwell on
  bool walks_back = false;    // if rotated, the base is the last pixel
  const mmio::RegisterSlot* control = nullptr;
  const mmio::RegisterSlot* base = nullptr;
  const mmio::RegisterSlot* position = nullptr;
  std::array<const mmio::RegisterSlot*, 4> palette{};
};

std::vector<CursorModel> find_cursors(mmio::RegisterBank& bank);

enum class CursorKind : uint8_t {
  off,
  argb,
  three_colors,  // three colours, and transparent
  and_xor,       // two colours, transparent, inverted
  four_colors,
  unknown,  // a mode that is not implemented
};

struct CursorShape {
  CursorKind kind = CursorKind::off;
  unsigned pipe = 0;
  uint32_t size = 0;  // width and height
  int32_t x = 0;
  int32_t y = 0;
  uint64_t base = 0;
  bool rotated = false;
  bool walks_back = false;
  bool gamma = false;
  std::array<picture::Rgba, 4> palette{};
};

unsigned cursor_pipe(const CursorModel& cursor, spec::GenId gen, uint32_t control);
CursorShape cursor_shape(const CursorModel& cursor, spec::GenId gen, const CursorImage& image,
                         const mmio::RegisterBank& bank);

struct CursorPixel {
  picture::Rgba color;  // premultiplied
  bool invert = false;  // inverts the pixel below
};

// Reads a line of the cursor, at its full width, into `out`.
void read_cursor_line(DisplayReader& memory, const CursorShape& cursor, uint32_t line, std::span<CursorPixel> out);

}  // namespace halogen::display
