// Commands of the media and compute pipeline to settings, settings back to commands (a context image holds them), and
// GPGPU_WALKER and media objects to jobs. Media from Gen4 on, compute from Gen8 on. Left out: URB shares and the
// scoreboard of the media front end, which change nothing that a program sees, and the decoders of Gen4's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/compute_state.h"
#include "gen/generation.h"
#include "hw/common.h"
#include "memory/address_space.h"
#include "spec/descriptors.h"
#include "spec/item_ids.h"

namespace halogen::compute {

// True: the command is one of those that change settings, and it is done.
bool change_settings(spec::GenId gen, spec::CommandId command, std::span<const uint32_t> dwords, Settings& settings);

// Appends commands that bring the settings back.
void append_commands(spec::GenId gen, const Settings& settings, std::vector<uint32_t>& out);

// Shared local memory of a group, from its code in an interface descriptor.
uint32_t local_bytes(const Generation& generation, uint8_t code);

enum class JobFault : uint8_t { none, memory, no_descriptor, too_many_threads };

struct JobStatus {
  JobStatus(JobFault why) : fault(why) {}
  JobStatus(memory::AccessResult result) : fault(ok(result) ? JobFault::none : JobFault::memory), access(result) {}

  JobFault fault;
  memory::AccessResult access = memory::AccessResult::ok;  // not ok: JobFault::memory
};

// What an interface descriptor can count; walkers could ask for more in a group.
inline constexpr uint32_t kMostGroupThreads = 1023;

// What a walker asks for; `counts` are the groups of an indirect dispatch, or null.
JobStatus make_job(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                   std::span<const uint32_t> walker, const std::array<uint32_t, 3>* counts, memory::AddressSpace& space,
                   Job& job);

// Gen4: the media front end's state and the descriptors lie in memory, and constants are the 3D pipeline's.
bool has_media_units(spec::GenId gen);
// Brings what they say now into the settings.
JobStatus take_media_units(const Generation& generation, const message::StateBases& bases,
                           const hw::CONSTANT_BUFFER& constants, memory::AddressSpace& space, Settings& settings);

// What a MEDIA_OBJECT, a MEDIA_OBJECT_PRT (one thread) or a MEDIA_OBJECT_WALKER (one a position, media_walk.h) asks
// for. Left out: children of them, colours of a walk in the threads' headers, and the scoreboard, for which nothing
// waits that is done in order.
JobStatus make_media_job(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                         spec::CommandId command, std::span<const uint32_t> dwords, memory::AddressSpace& space,
                         Job& job);

}  // namespace halogen::compute
