// What changes in the display plane compressor of GM45, beside its registers: plain data.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "display/fbc/compression_source.h"

namespace halogen::display::dpfc {

inline constexpr unsigned kMostLines = 2048;
inline constexpr unsigned kMostPixels = 4096;
// The manual does not say what a segment is; see docs/requirements/open.md.
inline constexpr unsigned kSegmentLines = 1;
inline constexpr unsigned kMostTargets = 4;  // back buffers that render writes are kept for; of our choice

using LineSet = std::bitset<kMostLines>;

// Why a picture is not compressed: the rules of seed 003 7.1.1.
enum class Refusal : uint8_t {
  none,
  pixel_format,
  pixel_multiply,
  not_tiled,
  size,
  sprite,
  ratio,
  outside_stolen,
  nuke_disabled,  // not a refusal: said of non-persistent mode
};

// A surface that is not on the screen, and its lines that were written since the last flip.
struct BackTarget {
  uint64_t base = 0;
  LineSet lines;
  bool operator==(const BackTarget&) const = default;
};

// Taken from the registers when compression was switched on; the source at each flip too.
struct Sample {
  CompressionSource source;
  unsigned pixel_bytes = 4;
  uint64_t buffer = 0;  // physical
  uint32_t stride_B = 0;
  uint32_t disabled = 0;  // means of compression
  bool persistent = false;
  bool operator==(const Sample&) const = default;
};

struct State {
  bool on = false;                     // since a vertical blank
  std::optional<Sample> sample;        // while on and allowed
  std::vector<uint16_t> lines;         // by line: 64-byte units in the compressed buffer; 0: none
  LineSet failed;                      // did not fit, and were not modified since
  LineSet modified;                    // in this frame
  unsigned scanned = 0;                // lines of this frame
  unsigned fetched = 0;                // of them, from the compressed buffer
  uint32_t status = 0;                 // DPFC_STATUS
  unsigned slb_line = 0;               // that DPFC_SLB_DATA shows next
  bool stalled = false;                // too many modifications in a frame
  std::optional<uint8_t> frames_left;  // of the stall, once they have become few
  bool host_in_progress = false;       // processor writes to the back buffer are tracked
  LineSet host_lines;                  // that they met
  std::vector<BackTarget> targets;
  bool targets_lost = false;  // there were more
  Refusal told = Refusal::none;
  bool operator==(const State&) const = default;
};

}  // namespace halogen::display::dpfc
