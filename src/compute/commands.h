// Converts commands of the media and compute pipeline to settings, settings back to commands (for context images), and
// GPGPU_WALKER and media objects to jobs. Media exists from Gen4 on, compute from Gen8 on. Not modelled: URB allocation
// and the scoreboard of the media front end, which have no visible effect, and the stream decoders of Gen4.
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

// Applies a command. True: the command sets part of the settings.
bool change_settings(spec::GenId gen, spec::CommandId command, std::span<const uint32_t> dwords, Settings& settings);

// Appends commands that restore the settings.
void append_commands(spec::GenId gen, const Settings& settings, std::vector<uint32_t>& out);

// Returns the size of a group's shared local memory from its code in an interface descriptor.
uint32_t local_bytes(const Generation& generation, uint8_t code);

enum class JobFault : uint8_t { none, memory, no_descriptor, too_many_threads };

// The result of making a job: a fault, and for JobFault::memory the result of the access.
struct JobStatus {
  JobStatus(JobFault why) : fault(why) {}
  JobStatus(memory::AccessResult result) : fault(ok(result) ? JobFault::none : JobFault::memory), access(result) {}

  JobFault fault;
  memory::AccessResult access = memory::AccessResult::ok;  // result of the failed access; only for JobFault::memory
};

// The largest thread count that an interface descriptor can hold. A walker with larger groups is rejected
// (JobFault::too_many_threads).
inline constexpr uint32_t kMaxGroupThreads = 1023;

// Makes the job of a walker. `counts` are the groups of an indirect dispatch, or null.
JobStatus make_job(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                   std::span<const uint32_t> walker, const std::array<uint32_t, 3>* counts, memory::AddressSpace& space,
                   Job& job);

// Returns whether media state is in memory (Gen4): the state of the front end and the descriptors. Constants are then
// those of the 3D pipeline.
bool has_media_units(spec::GenId gen);
// Copies the front end's state and the place of the constants into the settings (Gen4).
JobStatus take_media_units(const Generation& generation, const message::StateBases& bases,
                           const hw::CONSTANT_BUFFER& constants, memory::AddressSpace& space, Settings& settings);

// Reads the interface descriptor of a child thread, from the general state base. It is on chips with unit states.
memory::AccessResult read_kernel_state(const Generation& generation, const message::StateBases& bases,
                                       uint64_t descriptor, memory::AddressSpace& space, KernelState& kernel_state);

// Makes the job of a MEDIA_OBJECT or MEDIA_OBJECT_PRT (one thread) or a MEDIA_OBJECT_WALKER (one thread per position,
// media_walk.h). Not modelled: colours of a walk in the headers of threads, and the scoreboard, because
// threads that use it run in order.
JobStatus make_media_job(const Generation& generation, const Settings& settings, const message::StateBases& bases,
                         spec::CommandId command, std::span<const uint32_t> dwords, memory::AddressSpace& space,
                         Job& job);

}  // namespace halogen::compute
