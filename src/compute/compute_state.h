// Everything of compute that lasts between commands and between the parts of a long one: plain data, so that a snapshot
// is a copy. What belongs to a context is Settings; it is saved with the context as the commands that set it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eu/exec/thread.h"
#include "message/environment.h"

namespace halogen::compute {

struct Settings {
  uint64_t system_routine = 0;
  uint64_t preemption_area = 0;
  uint64_t scratch_base = 0;  // MEDIA_VFE_STATE, from the general base
  uint8_t scratch_code = 0;   // 2 to the power of it KiB a thread
  uint8_t stack_code = 0;
  uint32_t most_threads = 0;
  uint32_t constants_offset = 0;  // MEDIA_CURBE_LOAD, from the dynamic base
  uint32_t constants_B = 0;
  uint32_t descriptors_offset = 0;  // MEDIA_INTERFACE_DESCRIPTOR_LOAD, from the dynamic base
  uint32_t descriptors_B = 0;

  bool operator==(const Settings&) const = default;
};

// A dispatch in a form that no longer knows its command or where its state lay.
struct Job {
  message::StateBases bases;
  uint64_t kernel = 0;            // from the instruction base
  uint32_t binding_table = 0;     // a pointer
  message::BindingTables tables;  // ... into these: the surface base, unless the streamer knows of a pool
  uint32_t sampler_table = 0;     // from the dynamic base
  uint8_t simd = 8;
  std::array<uint32_t, 3> threads{1, 1, 1};  // of a group: width, height, depth
  uint32_t barrier_threads = 1;              // threads that release a barrier
  uint32_t right_mask = ~0u;                 // channels of the last thread of a row
  uint32_t bottom_mask = ~0u;                // ... of the last row
  uint32_t local_B = 0;
  uint32_t shared_grfs = 0;            // constants for all threads
  uint32_t thread_grfs = 0;            // ... for one thread
  bool media = false;                  // a media thread: its r0 differs
  std::array<uint32_t, 2> position{};  // ... and its position
  bool own_first = false;              // registers: the thread's own before those for all
  uint32_t control = 0;                // cr0.0
  uint32_t exceptions = 0;             // cr0.1: those that are enabled
  std::array<uint32_t, 3> first{};
  std::array<uint32_t, 3> end{};
  uint32_t slots = 1;                  // threads at a time
  std::vector<std::byte> constants{};  // for all, then a block a thread

  uint32_t group_threads() const { return threads[0] * threads[1] * threads[2]; }
  bool operator==(const Job&) const = default;
};

// Groups and threads at work.
struct Group {
  bool live = false;
  bool begun = false;            // it has had a turn
  std::array<uint32_t, 3> at{};  // which of the dispatch
  uint32_t first_slot = 0;       // its threads are there, one behind the other
  uint32_t threads = 0;
  uint32_t ended = 0;
  uint32_t arrived = 0;  // at the barrier
  std::vector<std::byte> local{};

  bool operator==(const Group&) const = default;
};

struct ThreadSlot {
  bool used = false;
  eu::Thread thread;

  bool operator==(const ThreadSlot&) const = default;
};

// A dispatch that has begun and not ended: it goes on when its command is parsed again.
struct Walk {
  Job job;
  bool all_started = false;
  std::array<uint32_t, 3> next{};  // group to start
  std::vector<Group> groups;
  std::vector<ThreadSlot> threads;
  uint64_t instructions = 0;

  bool operator==(const Walk&) const = default;
};

struct ComputeState {
  Settings settings;
  Walk walk;

  bool operator==(const ComputeState&) const = default;
};

}  // namespace halogen::compute
