// A frame of the display during a trace: the output of a pipe at a vertical blank.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "picture/image.h"
#include "trace/aub_reader.h"
#include "trace/player.h"

namespace halogen::trace {

struct FrameWish {
  unsigned pipe = 0;               // 0: pipe A
  std::optional<uint64_t> vblank;  // number of the vertical blank, from 1; no value: at the end of the trace
};

// Plays the trace as far as needed. Waits for a vertical blank after its end, within limits. Errors start with the name
// of the trace.
Result<picture::Image> frame_of_trace(aub::Reader& reader, Player& player, const FrameWish& wish);

}  // namespace halogen::trace
