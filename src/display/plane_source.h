// The location of a plane's pixels according to the latched registers, and the reading of one line. Scan-out asks a
// LineProvider first: a line may come from a compressed copy instead of the surface.
//
// - Planes A and B before Gen9 fill their pipe; plane C of the 965, sprites and universal planes have a window.
// - A plane with a linear offset register starts linear surfaces at that offset and tiled surfaces at the tile offset;
// rotated by 180 degrees it reads backwards from there. A plane without the register starts every surface at its x and
// y offset and computes the far corner itself (Linux i915, i9xx_plane.c: Haswell on).
// - Not implemented: rotation by 90 and 270 degrees (shown upright, with an Event), scalers, render compression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "display/display_memory.h"
#include "display/plane_formats.h"
#include "display/plane_table.h"
#include "surface/tiling.h"

namespace halogen::display {

struct Extent {
  uint32_t width = 0;
  uint32_t height = 0;
  bool operator==(const Extent&) const = default;
};

struct PlaneLines {
  unsigned plane = 0;  // number of the plane
  unsigned pipe = 0;
  bool enabled = false;
  bool known_format = false;  // false: nothing is shown
  bool turned = false;        // by 90 or 270 degrees, which is not implemented
  PlanePixels pixels;
  unsigned pixel_B = 0;

  uint64_t base = 0;      // address of the surface in the global table
  uint32_t stride_B = 0;  // distance between lines
  uint8_t tiling = 0;     // 0 linear, 1 X; universal planes also 4 Y, 5 Yf
  uint64_t offset_B = 0;  // of the first pixel, from the base; zero without a linear offset register
  uint32_t x_start = 0;   // of the first pixel in the surface, in pixels
  uint32_t y_start = 0;
  bool rotated = false;     // by 180 degrees
  bool mirrored = false;    // left and right exchanged, by rotation or otherwise
  bool walks_back = false;  // the start is the first visible pixel, whatever the direction

  uint32_t x = 0;  // position on the pipe
  uint32_t y = 0;
  uint32_t width = 0;
  uint32_t height = 0;

  uint64_t line_B() const { return uint64_t{width} * pixel_B; }
  surface::SurfaceLayout layout() const;
  // Returns the surface row that the plane shows on `line`, which counts from the plane's top.
  uint64_t row(uint32_t line) const;
  // Returns the leftmost visible pixel of a row.
  uint64_t left() const;
};

// Returns what a plane shows. `pipe` is the image size of its pipe.
PlaneLines plane_lines(const PlaneModel& plane, spec::GenId gen, const PlaneImage& image, Extent pipe);

// Reads pixels of one line as they are in memory, from the leftmost in the surface on; a mirrored line is not reversed.
// Fills `out`.
void read_line(DisplayReader& memory, const PlaneLines& plane, uint32_t line, std::span<std::byte> out);

class LineProvider {
 public:
  virtual ~LineProvider() = default;
  // Fills `out` as read_line would and returns true, or leaves the line to the surface.
  virtual bool provide(const PlaneLines& plane, uint32_t line, std::span<std::byte> out) = 0;
};

// Returns the stream through which a plane reads memory.
memory::Stream plane_stream(const PlaneLines& plane);

}  // namespace halogen::display
