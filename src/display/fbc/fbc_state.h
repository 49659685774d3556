// What changes in the frame buffer compressor of GM965, beside its registers: plain data.
#pragma once

#include <cstdint>
#include <optional>

#include "display/fbc/compression_source.h"
#include "display/fbc/fbc_tags.h"

namespace halogen::display::fbc {

// Why a picture is not compressed: the rules of seed 003 6.4.
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

// What the compressor took from the registers at a vertical blank.
struct Sample {
  CompressionSource source;
  PixelKind pixel = PixelKind::bits32;
  uint64_t buffer = 0;   // physical
  uint64_t lengths = 0;  // physical
  uint32_t stride_B = 0;
  bool uncompressible_enable = false;
  bool operator==(const Sample&) const = default;
};

struct State {
  TagArray tags;
  bool on = false;            // the function: until a pass that runs has ended
  bool compressing = false;   // FBC_STATUS
  bool compressed = false;    // likewise
  bool any_modified = false;  // likewise
  uint16_t current_line = 0;  // likewise
  bool requested = false;     // a pass
  uint32_t interval_left = 0;
  uint64_t vblanks = 0;  // of the pipe, when it was looked at last
  // The pass, while compressing.
  unsigned tag = 0;              // whose lines are being compressed
  uint64_t pair_done_ns = 0;     // when they will be
  std::optional<Sample> sample;  // of the last pass, which made the compressed lines
  bool processor_idle = false;
  uint64_t blocked_ns = 0;       // left of the pair when the processor went idle
  Refusal told = Refusal::none;  // an Event was raised for it
  bool operator==(const State&) const = default;
};

}  // namespace halogen::display::fbc
