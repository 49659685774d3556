// Cursors: one for each pipe, above all planes. Three sizes with alpha, and 64 by 64 with two bits a pixel. Registers
// are double buffered: a write of the base arms all of them, a write of the control register takes that back, and the
// position arms by itself unless the control register was written before (Linux i915, intel_cursor.c; it knows chips of
// both kinds and does not name them). The vertical blank takes what is armed.
//
// Two bits a pixel: a line is 16 bytes, eight of one bit for each pixel and eight of the other, leftmost pixel first.
// Left out, with an Event: the 32 bit modes without alpha, and cuts of the height.
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
  bool control_written = false;      // since the last base
  bool operator==(const CursorState&) const = default;
};

struct CursorModel {
  unsigned pipe = 0;
  bool selects_pipe = false;  // the control register says it
  bool universal = false;     // registers of Broadwell on, CUR_*
  bool walks_back = false;    // rotated, the base is the last pixel
  const mmio::RegisterSlot* control = nullptr;
  const mmio::RegisterSlot* base = nullptr;
  const mmio::RegisterSlot* position = nullptr;
  std::array<const mmio::RegisterSlot*, 4> palette{};
};

std::vector<CursorModel> find_cursors(const mmio::RegisterMap& map);

enum class CursorKind : uint8_t {
  off,
  argb,
  three_colors,  // and transparent
  and_xor,       // two colours, transparent, inverted
  four_colors,
  unknown,  // a mode that is left out
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
  bool invert = false;  // what is below
};

// A line of the cursor, as wide as it is.
void read_cursor_line(DisplayReader& memory, const CursorShape& cursor, uint32_t line, std::span<CursorPixel> out);

}  // namespace halogen::display
