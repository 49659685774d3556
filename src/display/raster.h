// The beam position of a pipe. Integer arithmetic converts elapsed nanoseconds to a pixel and back, so that nothing
// drifts however long a pipe runs. A line begins with its horizontal sync, because the scan line counter steps and the
// vertical blank begins there (Linux i915, intel_vblank.c); pixel 0 is the sync before the first active line.
// Interlaced modes run as progressive modes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace halogen::display {

__extension__ typedef unsigned __int128 Pixels;  // since the start of a pipe; 64 bits would overflow within its life

// Counts, not the registers' counts minus one. Starts are relative to the first active pixel or line.
struct ModeTiming {
  uint32_t h_total = 0;
  uint32_t h_active = 0;
  uint32_t h_blank_start = 0;
  uint32_t h_blank_end = 0;
  uint32_t h_sync_start = 0;
  uint32_t v_total = 0;
  uint32_t v_active = 0;
  uint32_t v_blank_start = 0;
  uint32_t v_blank_end = 0;
  uint32_t v_sync_start = 0;
  bool interlaced = false;
  bool operator==(const ModeTiming&) const = default;
};

// Returns why a mode cannot run. Empty: it can. Moves blanks and syncs that leave the inactive part into it: a start to
// its start, an end to its end.
std::string_view settle(ModeTiming& timing);

// `hertz` / `divisor` pixels per second.
struct PixelClock {
  uint64_t hertz = 0;
  uint64_t divisor = 1;
  bool operator==(const PixelClock&) const = default;
};

// Periodic edges.
struct EdgeStream {
  uint64_t first = 0;
  uint64_t period = 1;

  // Returns the number of edges up to and including `pixel`.
  Pixels count(Pixels pixel) const { return pixel < first ? 0 : (pixel - first) / period + 1; }
  Pixels after(Pixels pixel) const { return first + count(pixel) * period; }
};

// Lines of a window that a wait tests; if `first` is above `last` the window wraps at the end of the frame.
struct LineSpan {
  uint32_t first = 0;
  uint32_t last = 0;
  bool holds(uint32_t line) const {
    return first <= last ? line >= first && line <= last : line >= first || line <= last;
  }
  bool operator==(const LineSpan&) const = default;
};

struct Raster {
  ModeTiming timing;  // checked
  PixelClock clock;

  uint64_t frame_pixels() const { return uint64_t{timing.h_total} * timing.v_total; }
  Pixels pixels(uint64_t elapsed_ns) const;
  // Returns the first nanosecond at which the pixel is reached. No value: beyond 64 bits.
  std::optional<uint64_t> when(Pixels pixel) const;

  uint32_t line(Pixels pixel) const { return static_cast<uint32_t>(pixel % frame_pixels() / timing.h_total); }
  // Returns the value of the scan line register: the line minus one, because the first active line counts as the last
  // of the frame.
  uint32_t line_counter(Pixels pixel) const { return (line(pixel) + timing.v_total - 1) % timing.v_total; }
  // Returns pixels since the first active pixel of the frame, as the pixel counter of Gen4 shows them.
  uint64_t active_offset(Pixels pixel) const;
  bool in_vblank(Pixels pixel) const;
  bool in_hblank(Pixels pixel) const;

  EdgeStream vblanks() const { return {line_start(timing.v_blank_start), frame_pixels()}; }
  EdgeStream vsyncs() const { return {line_start(timing.v_sync_start), frame_pixels()}; }
  EdgeStream hblanks() const;
  EdgeStream frames() const;  // first active pixels
  // Return the edges at which the beam enters and leaves a span of lines. No value: the beam is always inside or never.
  std::optional<EdgeStream> enters(const LineSpan& span) const;
  std::optional<EdgeStream> leaves(const LineSpan& span) const;

  bool operator==(const Raster&) const = default;

 private:
  uint64_t line_start(uint32_t line) const { return uint64_t{line} * timing.h_total; }
  uint32_t column(Pixels pixel) const;  // from the first active pixel of a line
  bool crosses(const LineSpan& span) const;
};

}  // namespace halogen::display
