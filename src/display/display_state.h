// Display state outside of registers: plain data, so that a snapshot is a copy. Also the requests of command streams:
// flips of planes and of the overlay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/strong.h"
#include "display/cursor.h"
#include "display/fbc/dpfc_state.h"
#include "display/fbc/fbc_state.h"
#include "display/plane_source.h"
#include "display/plane_table.h"
#include "display/raster.h"

namespace halogen::display {

// The fourth dword of MI_DISPLAY_FLIP, applied to the plane's pipe together with the flip.
struct PanelFitter {
  bool enabled = false;
  bool three_by_three = false;   // else seven by five
  uint16_t horizontal_size = 0;  // size of the source, minus one
  uint16_t vertical_size = 0;
  bool operator==(const PanelFitter&) const = default;
};

// MI_DISPLAY_FLIP.
struct FlipRequest {
  unsigned plane = 0;   // the command's plane select
  bool async = false;   // immediately, else at the next vertical blank
  bool queued = false;  // after the pending flips, one per vertical blank
  uint32_t base = 0;    // address in the global table
  uint32_t pitch = 0;   // bytes; universal planes: units of their stride register times 64. Ignored if async
  uint8_t tiled = 0;    // 0 linear, 1 X; universal planes: their tiling code. Ignored if async
  std::optional<PanelFitter> fitter = std::nullopt;
};

// MI_OVERLAY_FLIP.
enum class OverlayMode : uint8_t { flip_continue, flip_on, flip_off, reserved };
struct OverlayFlip {
  OverlayMode mode = OverlayMode::flip_continue;
  GgttOffset address;         // address of the page with registers and coefficients
  bool coefficients = false;  // load coefficients too
  unsigned pipe = 0;          // pipe of the overlay
  bool operator==(const OverlayFlip&) const = default;
};

// A plane image that waits for a vertical blank.
struct PendingFlip {
  PlaneImage image;
  unsigned pipe = 0;  // the pipe whose vertical blank it waits for
  bool command = false;
  bool queued = false;
  std::optional<PanelFitter> fitter = std::nullopt;
  bool async = false;
  bool operator==(const PendingFlip&) const = default;
};

struct PlaneState {
  PlaneImage active;                 // visible now
  std::vector<PendingFlip> waiting;  // in order; a flip is pending while the list is not empty
  bool operator==(const PlaneState&) const = default;
};

struct ScanLineWindow {
  LineSpan span;
  bool inclusive = true;  // the wait continues inside the window; false: outside it
  bool operator==(const ScanLineWindow&) const = default;
};

struct PipeState {
  bool running = false;
  bool refused = false;  // enabled with invalid timings
  Raster raster;         // while running
  uint64_t start_ns = 0;
  uint64_t vblanks = 0;  // before the last start
  uint64_t frames = 0;
  uint64_t last_vblank_ns = 0;  // before the last start
  std::optional<ScanLineWindow> window;
  bool in_window = false;  // last value reported to the listener
  PanelFitter fitter;
  Extent source;        // size of the image, as sampled at the last vertical blank
  bool event = false;   // an enabled status bit is set
  uint8_t watched = 0;  // bit n: PipeEdge n
  bool operator==(const PipeState&) const = default;
};

struct OverlayState {
  bool on = false;                   // as last requested, even if that flip is still waiting
  bool coefficients_loaded = false;  // at least once
  std::optional<OverlayFlip> waiting;
  std::optional<OverlayFlip> active;  // the last performed flip
  std::vector<uint32_t>
      registers;  // as last read from memory, then the filter coefficients; empty before the first flip
  bool operator==(const OverlayState&) const = default;
};

struct DisplayState {
  uint64_t now_ns = 0;
  std::vector<PipeState> pipes;
  std::vector<PlaneState> planes;    // in the order of find_planes
  std::vector<CursorState> cursors;  // in the order of find_cursors
  OverlayState overlay;
  uint64_t skipped_edges = 0;  // edges that were not reported, see Display::advance_to
  bool assumed_clock = false;  // a pipe ran without a clock from its registers
  fbc::State fbc;              // of GM965
  dpfc::State dpfc;            // of GM45
  bool operator==(const DisplayState&) const = default;
};

}  // namespace halogen::display
