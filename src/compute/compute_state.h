// The state of compute between commands and between the parts of a long command. It is plain data, so a snapshot is a
// copy. Settings belong to a context and are saved with it as the commands that set them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "eu/thread.h"
#include "message/environment.h"

namespace halogen::compute {

struct Settings {
  uint64_t system_routine = 0;
  uint64_t preemption_area = 0;
  uint64_t scratch_base = 0;  // MEDIA_VFE_STATE, from the general base
  uint8_t scratch_code = 0;   // log2 of the scratch space of a thread in KiB
  uint8_t stack_code = 0;
  uint32_t max_threads = 0;
  uint32_t constants_offset = 0;  // MEDIA_CURBE_LOAD, from the dynamic base
  uint32_t constants_B = 0;
  uint32_t descriptors_offset = 0;  // MEDIA_INTERFACE_DESCRIPTOR_LOAD, from the dynamic base
  uint32_t descriptors_B = 0;

  bool operator==(const Settings&) const = default;
};

// The kernel of a thread and its state, as the interface descriptor gives them.
struct KernelState {
  uint64_t kernel = 0;         // from the instruction base
  uint32_t binding_table = 0;  // an offset from the base of Job::tables
  uint32_t sampler_table = 0;  // from the dynamic base
  uint32_t control = 0;        // cr0.0
  uint32_t exceptions = 0;     // cr0.1: enabled exceptions

  bool operator==(const KernelState&) const = default;
};

// A child thread that waits for its start.
struct Child {
  KernelState kernel_state;
  uint32_t first_row = 0;  // of the URB: r0
  uint32_t rows = 0;

  bool operator==(const Child&) const = default;
};

// A dispatch, independent of its command and of where its state was stored.
struct Job : KernelState {
  message::StateBases bases;
  message::BindingTables tables;  // the surface base, or a pool of binding tables
  uint8_t simd = 8;
  std::array<uint32_t, 3> threads{1, 1, 1};  // of a group: width, height, depth
  uint32_t barrier_threads = 1;              // threads that release a barrier
  uint32_t right_mask = ~0u;                 // channels of the last thread of a row
  uint32_t bottom_mask = ~0u;                // channels of the threads of the last row
  uint32_t local_B = 0;
  uint32_t shared_grfs = 0;            // constants for all threads
  uint32_t thread_grfs = 0;            // constants for one thread
  bool media = false;                  // a media thread, which has a different r0
  std::array<uint32_t, 2> position{};  // position of a media thread
  uint64_t descriptor = 0;             // interface descriptor of a media thread, from the general state base
  bool own_first = false;              // the thread's own constants precede the shared ones in registers
  std::array<uint32_t, 3> first{};
  std::array<uint32_t, 3> end{};
  uint32_t slots = 1;                  // maximum number of threads at a time
  std::vector<std::byte> constants{};  // shared constants, then a block per thread

  uint32_t group_threads() const { return threads[0] * threads[1] * threads[2]; }
  bool operator==(const Job&) const = default;
};

// Groups and threads that are running.
struct Group {
  bool live = false;
  bool begun = false;            // it has run at least one turn
  std::array<uint32_t, 3> at{};  // index in the dispatch
  uint32_t first_slot = 0;       // its threads have consecutive slots
  uint32_t threads = 0;
  uint32_t ended = 0;
  uint32_t arrived = 0;  // at the barrier
  std::vector<std::byte> local{};
  std::optional<KernelState> child{};  // the group is a child thread

  bool operator==(const Group&) const = default;
};

struct ThreadSlot {
  bool used = false;
  message::Gateway gateway{};
  eu::Thread thread;

  bool operator==(const ThreadSlot&) const = default;
};

// A dispatch that has begun and not ended. It continues when its command is parsed again.
struct Walk {
  Job job;
  bool all_started = false;
  std::array<uint32_t, 3> next{};  // next group to start
  std::vector<Group> groups;
  std::vector<ThreadSlot> threads;
  uint64_t instructions = 0;
  // Threads that exchange messages (exchange.h of the room message).
  uint64_t exchanged = 0;      // messages; from the first one on, turns run one after the other
  std::vector<Child> waiting;  // children to start
  std::vector<uint32_t> urb;   // rows that children start with; empty: not used yet
  uint32_t mistakes = 0;       // those that were reported: bit n is ExchangeMistake n

  bool operator==(const Walk&) const = default;
};

struct ComputeState {
  Settings settings;
  Walk walk;

  bool operator==(const ComputeState&) const = default;
};

}  // namespace halogen::compute
