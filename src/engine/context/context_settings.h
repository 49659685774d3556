// What the media and the 3D pipeline are set to, in a context image: the commands that set it, behind the registers and
// up to an MI_BATCH_BUFFER_END, whichever way contexts are switched (logical_context.h, legacy_context.h). The form is
// the device's own. Left out: what commands of the image have read from memory; it is read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/stream/command.h"

namespace halogen::engine {

class Engine;

// As after a reset: what an image does not hold was never sent.
void forget_settings(Engine& engine);

// Behind `words`, which may become `most`, of the image at `context`. An Event: they do not fit and are lost.
void append_settings(Engine& engine, uint64_t context, size_t most, std::vector<uint32_t>& words);

// One command of an image. Those that set nothing are reported. False: stopped by a fault.
bool restore_setting(Engine& engine, const Command& command);

}  // namespace halogen::engine
