// The environment of the work that sends messages: base addresses, tables, the group of a thread. Plain
// data but for the memory; dispatch fills it before threads run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bits.h"
#include "base/strong.h"
#include "eu/exec/thread.h"
#include "memory/address_space.h"
#include "message/urb.h"

namespace halogen::message {

// STATE_BASE_ADDRESS, as addresses. Sizes are not checked: bounds are those of surfaces.
struct StateBases {
  uint64_t general = 0;
  uint64_t surface = 0;
  uint64_t dynamic = 0;
  uint64_t indirect_object = 0;
  uint64_t instruction = 0;
  uint64_t bindless_surface = 0;
  uint64_t bindless_sampler = 0;

  bool operator==(const StateBases&) const = default;
};

// Thread groups, for messages that need them. Thread::group is the number of a thread's group.
class Groups {
 public:
  virtual ~Groups() = default;
  virtual std::span<std::byte> local_memory(uint32_t group) = 0;
  // The thread has arrived at the barrier. The last arrival wakes all threads: their notification counts go up.
  virtual void arrive(eu::Thread& thread) = 0;
};

// Where binding tables lie: what commands and descriptors point with counts from there.
struct BindingTables {
  uint64_t base = 0;
  bool wide = false;  // bits 18:8 stand where bits 15:5 do otherwise

  constexpr uint64_t address(uint64_t pointer) const { return base + (pointer << (wide ? 3 : 0)); }
  bool operator==(const BindingTables&) const = default;
};

struct Environment {
  memory::AddressSpace* space = nullptr;
  Groups* groups = nullptr;
  Urb* urb = nullptr;               // null: threads have no entries
  PixelMessages* pixels = nullptr;  // null: threads have no pixels
  StateBases bases;
  uint64_t binding_table = 0;  // address
  uint32_t sampler_table = 0;  // from the dynamic base
};

// Addresses have 48 bits; the upper ones copy bit 47.
constexpr GpuVa place(uint64_t address) {
  return GpuVa{static_cast<uint64_t>(sign_extend(address & low_mask(48), 48))};
}

}  // namespace halogen::message
