// A second implementation of page walks for the tests: one function per mode, every bit number typed from the manuals
// (seed 001 for Gen8 and later, G45 PRM vol. 1b 4.6 (seed 003) and the public GTT drivers for Gen4 and Gen6), nothing
// taken from spec/. It is slow and literal on purpose: src/memory must agree with it. Only the result types are shared.
// Not covered: nesting, supervisor mode execution prevention, memory types of tables, tiled resources.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/fault.h"
#include "memory/walker.h"

namespace halogen::memory::slow {

// Memory as numbered frames of 4096 bytes. Null: unmapped.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual uint8_t* frame(memory::MemorySpace space, uint64_t number) = 0;
};

struct Context {
  uint64_t root[4] = {};
  uint64_t entries = 0;  // entries of the top table; 0: as many as the address can name
  memory::MemorySpace table_space = memory::MemorySpace::system;
  unsigned haw = 39;  // host address width
  bool local_memory = false;
  bool medium_pages = true;
  bool accessed_dirty = false;
  bool extended_accessed = false;
  bool execute_disable = false;
  bool write_protect = true;
  bool supervisor = false;
};

struct Outcome {
  memory::FaultReason reason = memory::FaultReason::none;
  memory::Mapping mapping;
  std::vector<uint64_t> entries;  // addresses of the entries that were read, the root's entry first
};

using Walk = Outcome (*)(Memory& memory, const Context& context, uint64_t address, memory::Access access);

Outcome ggtt_gen4(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome ggtt_gen6(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome ggtt_gen8(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome ggtt_gen12(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome ppgtt_flat_gen4(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome ppgtt_directory_gen6(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome legacy32(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome legacy48(Memory& memory, const Context& context, uint64_t address, memory::Access access);
Outcome advanced48(Memory& memory, const Context& context, uint64_t address, memory::Access access);

// Returns the function for a device's generation and a mode. Null: the manuals do not define such a walk.
Walk find_walk(spec::GenId gen, memory::WalkMode mode);

}  // namespace halogen::memory::slow
