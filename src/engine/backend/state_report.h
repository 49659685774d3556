// Events for uses of surfaces that cannot decode the compression state of a block (message/state_watch.h): software has
// forgotten a resolve or an ambiguate. Hardware does not check, so the use shows the bytes of memory.
#pragma once

#include <span>
#include <string_view>

#include "blit/blit_job.h"
#include "memory/address_space.h"
#include "message/surface_uses.h"

namespace halogen::engine {

class Engine;

// `work`: the name of the command that used the surfaces. Does nothing if rules are not checked.
void report_states(Engine& engine, std::string_view work, std::span<const message::SurfaceBinding> bindings,
                   memory::AddressSpace& space);
void report_states(Engine& engine, std::string_view work, const blit::BlitJob& job, memory::AddressSpace& space);

}  // namespace halogen::engine
