// The page walker translates a graphics address to a physical one, in every mode, exactly as the tables say. It has no
// state; caches precede it (tlb.h). A recorder sees every entry that is read.
#pragma once

#include <cstdint>
#include <span>

#include "base/strong.h"
#include "memory/access.h"
#include "memory/fault.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"

namespace halogen::memory {

// Translates guest physical to host physical addresses: the second level of an advanced context with nesting. It
// applies to every table that the first level reads and to the page that it finds.
class NestedTranslation {
 public:
  struct Result {
    uint64_t address = 0;    // of the requested byte
    uint8_t page_bits = 12;  // size of the second level's page
    bool readable = false;
    bool writable = false;
    bool executable = false;
    FaultReason fault = FaultReason::none;
  };

  virtual ~NestedTranslation() = default;
  virtual Result translate(const PhysicalMemory& memory, uint64_t guest_address) const = 0;
};

// The start and the rules of a walk, from the context descriptor and the PDP registers.
struct WalkContext {
  const PageFormat* format = nullptr;
  FaultReason unusable = FaultReason::table_disabled;  // the reason, if there is no format
  MemorySpace table_space = MemorySpace::system;       // of the tables below the root
  uint64_t roots[4] = {};                              // table addresses: four for legacy32, one for the others
  uint64_t entries = 0;                                // one-level tables: number of entries
  bool local_memory = false;                           // the device honours the local memory bit
  bool medium_pages = true;  // 64 KB pages: the enable outside the tables (MMIO or PASID entry)
  // Advanced contexts:
  bool accessed_dirty = false;  // the context manages A and D bits
  bool extended_accessed = false;
  bool execute_disable = false;  // NXE
  bool write_protect = true;     // WPE: supervisor writes respect R/W
  bool supervisor = false;
  bool execute_requests = true;                // ERE: fetches of code are allowed
  bool supervisor_execute_protection = false;  // SMEP
  uint8_t root_type_index = 0;                 // memory type index of the root table
  uint8_t writeback_types = 0xff;              // bit n: tables of type index n may have A and D bits updated
  const NestedTranslation* nested = nullptr;
  bool gtt_cache = false;  // the GTT cache is on: large pages must not be used
};

// The page that a walk found.
struct Mapping {
  uint64_t address = 0;  // physical address of the page's first byte
  MemorySpace space = MemorySpace::system;
  uint8_t page_bits = 12;  // 12, 16, 21 or 30
  bool writable = true;
  bool user = true;
  bool executable = true;
  bool dirty = true;  // the leaf's D bit; true if the tables have none
  bool null = false;  // reads give zero, writes are dropped
  bool snooped = false;
  uint8_t type_index = 0;

  bool operator==(const Mapping&) const = default;
};

struct WalkStep {
  const LevelFormat* level = nullptr;
  const EntryFormat* format = nullptr;
  MemorySpace space = MemorySpace::system;
  uint64_t entry_address = 0;
  uint64_t entry = 0;
};

class WalkRecorder {
 public:
  virtual ~WalkRecorder() = default;
  virtual void on_step(const WalkStep& step) = 0;
};

// Rights of all levels so far. In legacy tables only the leaf decides.
struct Rights {
  bool writable = true;
  bool user = true;
  bool executable = true;
};

// The position of a walk, which reads an entry of `table` on a level next.
struct WalkPosition {
  uint8_t level = 0;
  bool medium = false;     // the directory entry selects 64 KB pages
  uint8_t table_type = 0;  // memory type index of the table
  Rights rights;
  uint64_t table = 0;  // physical address; guest physical with nesting
};

struct WalkResult {
  Mapping mapping;     // valid if there is no fault
  uint64_t entry = 0;  // the entry that maps the page
  Fault fault;
  WalkPosition last;          // the walk's position before its last entry
  bool reached_last = false;  // that entry is on the last level: `last` may be kept for a walk nearby
  uint8_t entry_loads = 0;
};

// Translates an address. `update` false: A and D bits are tested but not written (a debugger's view).
WalkResult walk(const PhysicalMemory& memory, const WalkContext& context, uint64_t address, Access access,
                WalkRecorder* recorder = nullptr, bool update = true);

// Continues from a position that an earlier walk reached.
WalkResult walk_from(const PhysicalMemory& memory, const WalkContext& context, WalkPosition position, uint64_t address,
                     Access access, WalkRecorder* recorder = nullptr, bool update = true);

}  // namespace halogen::memory
