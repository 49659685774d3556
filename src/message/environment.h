// The environment of threads that send messages: base addresses, tables, the group of a thread. Plain data except for
// the memory; the dispatcher fills it before threads run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/graphics_address.h"
#include "base/strong.h"
#include "eu/thread.h"
#include "memory/address_space.h"
#include "message/exchange.h"
#include "message/urb.h"

namespace halogen::message {

// Base addresses of STATE_BASE_ADDRESS. Their sizes are not checked: surfaces have bounds of their own.
struct StateBases {
  uint64_t general = 0;
  uint64_t surface = 0;
  uint64_t dynamic = 0;
  uint64_t indirect_object = 0;
  uint64_t instruction = 0;
  uint64_t bindless_surface = 0;
  uint64_t bindless_sampler = 0;
  uint64_t aux_table = 0;       // level 3 auxiliary table, from a register
  bool watches_states = false;  // surfaces are noted for the rules of compression state (state_watch.h)

  bool operator==(const StateBases&) const = default;
};

// Thread groups, for messages that need them. Thread::group is the index of a thread's group.
class Groups {
 public:
  virtual ~Groups() = default;
  virtual std::span<std::byte> local_memory(uint32_t group) = 0;
  // Counts a thread at the barrier. The last arrival increments the notification counts of all threads, which wakes
  // them.
  virtual void arrive(eu::Thread& thread) = 0;
};

// The base of binding table pointers in commands and descriptors.
struct BindingTables {
  uint64_t base = 0;
  bool wide = false;  // pointers hold bits 18:8 in the position of bits 15:5

  constexpr uint64_t address(uint64_t pointer) const { return base + (pointer << (wide ? 3 : 0)); }
  bool operator==(const BindingTables&) const = default;
};

struct Environment {
  memory::AddressSpace* space = nullptr;
  Groups* groups = nullptr;
  Exchange* exchange = nullptr;     // null: the threads do not exchange messages
  Urb* urb = nullptr;               // null: the threads have no URB entries
  PixelMessages* pixels = nullptr;  // null: the threads have no pixels
  StateBases bases;
  uint64_t binding_table = 0;  // address
  uint32_t sampler_table = 0;  // offset from the dynamic base
  bool counts_work = false;    // work_tally.h
};

}  // namespace halogen::message
