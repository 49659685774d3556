// State of GM45's display plane compressor outside of registers: plain data.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "display/fbc/compression_source.h"

namespace halogen::display::dpfc {

inline constexpr unsigned kMaxLines = 2048;
inline constexpr unsigned kMaxPixels = 4096;
// The manual does not define a segment; see docs/requirements/open.md.
inline constexpr unsigned kSegmentLines = 1;
inline constexpr unsigned kMaxTargets = 4;  // back buffers whose render writes are recorded; our choice

using LineSet = std::bitset<kMaxLines>;

// Why a picture is not compressed: the rules of G45 PRM vol. 1b 7.1.1 (seed 003).
enum class Refusal : uint8_t {
  none,
  pixel_format,
  pixel_multiply,
  not_tiled,
  size,
  sprite,
  ratio,
  outside_stolen,
  nuke_disabled,  // not a refusal: reported in non-persistent mode
};

// A surface that is not visible, and its lines that were written since the last flip.
struct BackTarget {
  uint64_t base = 0;
  LineSet lines;
  bool operator==(const BackTarget&) const = default;
};

// Sampled from the registers when compression was enabled; the source also at each flip.
struct Sample {
  CompressionSource source;
  unsigned pixel_bytes = 4;
  uint64_t buffer = 0;  // physical address
  uint32_t stride_B = 0;
  uint32_t disabled = 0;  // disabled methods of compression
  bool persistent = false;
  bool operator==(const Sample&) const = default;
};

struct State {
  bool on = false;                     // effective since a vertical blank
  std::optional<Sample> sample;        // while on and allowed
  std::vector<uint16_t> lines;         // by line: 64-byte units in the compressed buffer; 0: not compressed
  LineSet failed;                      // lines that did not fit and were not modified since
  LineSet modified;                    // lines modified in this frame
  unsigned scanned = 0;                // lines of this frame
  unsigned fetched = 0;                // lines of this frame from the compressed buffer
  uint32_t status = 0;                 // DPFC_STATUS
  unsigned slb_line = 0;               // line that DPFC_SLB_DATA returns next
  bool stalled = false;                // too many modifications in a frame
  std::optional<uint8_t> frames_left;  // remaining frames of the stall, once modifications are below the watermark
  bool host_in_progress = false;       // CPU writes to the back buffer are tracked
  LineSet host_lines;                  // lines of the back buffer that the CPU wrote
  std::vector<BackTarget> targets;
  bool targets_lost = false;  // there were more surfaces than kMaxTargets
  Refusal told = Refusal::none;
  bool operator==(const State&) const = default;
};

}  // namespace halogen::display::dpfc
