// The formats of page tables as data: the levels of a walk and the bits of an entry. The bits come from the structures
// in spec/structs/page_tables.toml. This file turns them into masks, once per device.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "memory/physical_memory.h"
#include "spec/device_model.h"

namespace halogen::spec {
struct StructDesc;
}

namespace halogen::memory {

// Kinds of walk. The features of a device say which of them it has.
enum class WalkMode : uint8_t {
  ggtt,             // one level, the global table
  ppgtt_flat,       // one level, per process (Gen4: PGTBL_CTL2)
  ppgtt_directory,  // two levels, the directory inside the global table's memory (Gen6)
  legacy32,         // four directory pointers, two levels
  legacy48,         // four levels
  advanced48,       // four levels with IA-32e semantics, root found through PASID
};

std::string_view name_of(WalkMode mode);

// One kind of entry, as masks over its raw value. Zero: the entry does not have the bit.
struct EntryFormat {
  const spec::StructDesc* desc = nullptr;
  uint8_t bytes = 8;
  uint64_t present = 0;
  uint64_t writable = 0;
  uint64_t user = 0;
  uint64_t execute_disable = 0;
  uint64_t accessed = 0;
  uint64_t dirty = 0;
  uint64_t extended_accessed = 0;
  uint64_t page_size = 0;
  uint64_t intermediate_page_size = 0;
  uint64_t null = 0;
  uint64_t local_memory = 0;
  uint64_t pwt = 0;
  uint64_t pcd = 0;
  uint64_t pat = 0;
  uint64_t snooped = 0;
  uint64_t reserved = 0;           // must be zero
  uint64_t address = 0;            // not shifted
  uint64_t address_high = 0;       // Gen4, Gen6: bits that continue the address above bit 31
  uint8_t address_high_shift = 0;  // distance by which those bits move to the left

  uint64_t target(uint64_t entry) const { return (entry & address) | ((entry & address_high) << address_high_shift); }
  // Returns PAT:PCD:PWT, the index of the memory type.
  uint8_t type_index(uint64_t entry) const {
    return static_cast<uint8_t>(((entry & pat) != 0 ? 4 : 0) | ((entry & pcd) != 0 ? 2 : 0) |
                                ((entry & pwt) != 0 ? 1 : 0));
  }
};

struct LevelFormat {
  std::string_view name;  // "PML4", "PDP", "PD", "PT", "GTT"
  uint8_t shift = 0;      // lowest address bit that the index uses
  uint8_t index_bits = 0;
  EntryFormat table;   // an entry that points to a table (on the last level: to a page)
  EntryFormat leaf;    // an entry with page_size set, for a large page; desc is null if the level has no such entry
  EntryFormat medium;  // last level: the entry of a 64 KB page; desc is null if the level has no such entry
};

struct PageFormat {
  WalkMode mode = WalkMode::ggtt;
  uint8_t address_bits = 32;               // of a graphics address; above: out of range
  bool canonical = false;                  // bits above address_bits must copy the top bit
  bool permissions_of_all_levels = false;  // advanced: AND of R/W and U/S, OR of XD
  bool reserved_bits_fault = false;
  bool has_write_permission = true;  // false on Gen4 and Gen6
  std::vector<LevelFormat> levels;   // from the root down
};

// The formats of one device. `host_address_bits` cuts the addresses in entries (39 on client parts).
class PageFormats {
 public:
  PageFormats(const spec::DeviceModel& model, unsigned host_address_bits);

  // Null: the device does not have this kind of walk.
  const PageFormat* find(WalkMode mode) const;

 private:
  std::vector<PageFormat> formats_;
};

}  // namespace halogen::memory
