// The picture that a compressor works on: the current register values of one plane and its pipe. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/strong.h"
#include "display/fbc/fbc_run_code.h"

namespace halogen::display {

class CompressionMemory;

// A range of screen lines.
struct ScreenLines {
  unsigned first = 0;
  unsigned count = 0;
};

struct CompressionSource {
  bool on = false;  // the plane is enabled, on a pipe that runs
  unsigned plane = 0;
  unsigned pipe = 0;
  uint8_t format = 0;    // code in DSPCNTR
  uint32_t surface = 0;  // graphics address, page-aligned
  uint32_t stride_B = 0;
  uint32_t x = 0;  // start of the picture in the surface; rotated, it is read backwards from there
  uint32_t y = 0;
  uint32_t width = 0;  // active pixels and lines
  uint32_t lines = 0;
  bool tiled = false;
  bool line_double = false;
  bool rotated_180 = false;
  bool interlaced = false;
  bool sprite = false;  // a video sprite is on the same pipe

  bool odd_start() const { return y % 2 != 0; }
  // Returns the lines that show these rows of the surface, the last row included.
  ScreenLines lines_of_rows(uint64_t first, uint64_t last) const;
  bool operator==(const CompressionSource&) const = default;
};

// Returns the bytes per pixel of formats that have two or four.
std::optional<unsigned> pixel_bytes(uint8_t format);
// Returns the kind of pixel for run codes. No value: the format has none.
std::optional<fbc::PixelKind> run_pixel_kind(uint8_t format);

// Reads one line of an X-tiled source, from its leftmost pixel in the surface on. Addresses wrap within graphics
// memory.
void read_source_line(CompressionMemory& memory, const CompressionSource& source, unsigned bytes_per_pixel,
                      unsigned line, std::span<std::byte> into);

}  // namespace halogen::display
