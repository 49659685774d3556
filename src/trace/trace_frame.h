// A frame of the display while a trace is played: what a pipe shows at a vertical blank.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "picture/image.h"
#include "trace/aub_reader.h"
#include "trace/player.h"

namespace halogen::trace {

struct FrameWish {
  unsigned pipe = 0;               // 0 is A
  std::optional<uint64_t> vblank;  // of the pipe, the first one is 1; nothing: when the trace has ended
};

// Plays the trace as far as it is needed. A vertical blank after its end is waited for, within bounds.
Result<picture::Image> frame_of_trace(aub::Reader& reader, Player& player, const FrameWish& wish);

}  // namespace halogen::trace
