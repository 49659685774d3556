// State of GM965's frame buffer compressor outside of registers: plain data.
#pragma once

#include <cstdint>
#include <optional>

#include "display/fbc/compression_source.h"
#include "display/fbc/fbc_tags.h"

namespace halogen::display::fbc {

// Why a picture is not compressed: the rules of G45 PRM vol. 1b 6.4 (seed 003).
enum class Refusal : uint8_t {
  none,
  pixel_format,
  line_duplication,
  not_tiled,
  pitch,
  width,
  height,
  interlaced,
  rotated,
  compressed_stride,
  outside_stolen,
};

// Register values that the compressor sampled at a vertical blank.
struct Sample {
  CompressionSource source;
  PixelKind pixel = PixelKind::bits32;
  uint64_t buffer = 0;   // physical address
  uint64_t lengths = 0;  // physical address
  uint32_t stride_B = 0;
  bool uncompressible_enable = false;
  bool operator==(const Sample&) const = default;
};

struct State {
  TagArray tags;
  bool on = false;            // enabled, or a pass still runs
  bool compressing = false;   // FBC_STATUS
  bool compressed = false;    // FBC_STATUS
  bool any_modified = false;  // FBC_STATUS
  uint16_t current_line = 0;  // FBC_STATUS
  bool requested = false;     // a pass is requested
  uint32_t interval_left = 0;
  uint64_t vblanks = 0;                   // vertical blanks of the pipe at the last check
  std::optional<CompressionSource> mode;  // the picture at the last vertical blank since the function was enabled
  // The running pass.
  unsigned tag = 0;              // tag whose lines are being compressed
  uint64_t pair_done_ns = 0;     // end of that pair
  std::optional<Sample> sample;  // sample of the last pass, which wrote the compressed lines
  bool processor_idle = false;
  uint64_t blocked_ns = 0;       // remaining time of the pair when the CPU went idle
  Refusal told = Refusal::none;  // the refusal that an Event reported
  bool operator==(const State&) const = default;
};

}  // namespace halogen::display::fbc
