// The state of the media and 3D pipelines in a context image. It is stored after the registers as the commands that set
// it, up to an MI_BATCH_BUFFER_END, for both kinds of context (logical_context.h, legacy_context.h). The format is the
// model's own. Not saved: data that these commands have read from memory; it is read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/stream/command.h"

namespace halogen::engine {

class Engine;

// Resets the pipeline state. A restore sets only what its image holds.
void forget_settings(Engine& engine);

// Appends the pipeline state to `words`, which may grow to `max` dwords. `context` is the address of the image. If the
// state does not fit, it is lost and an Event is raised.
void append_settings(Engine& engine, uint64_t context, size_t max, std::vector<uint32_t>& words);

// Executes one command of an image. Reports a command that does not set state. False: stopped by a fault.
bool restore_setting(Engine& engine, const Command& command);

}  // namespace halogen::engine
