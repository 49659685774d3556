// The reason why a translation did not happen. The fault model of the context decides what software sees of it (fault
// registers, interrupts, hangs).
#pragma once

#include <cstdint>
#include <string_view>

#include "memory/access.h"

namespace halogen::memory {

enum class FaultReason : uint8_t {
  none,
  not_present,       // an entry of the walk is not present
  write_denied,      // the page (advanced: any level) is read-only
  execute_denied,    // instruction fetch from a page with execute disable
  privilege_denied,  // a user context reached a supervisor entry
  reserved_bit,      // advanced tables: a reserved bit is set
  not_canonical,     // bits 63:48 do not copy bit 47
  out_of_range,      // past the end of the table that the mode defines
  table_hole,        // no memory at the address of a table
  page_hole,         // no memory at the address of the page
  table_disabled,    // the table is switched off for this client
  root_not_present,  // advanced contexts: root, context or PASID entry
  context_not_present,
  pasid_not_present,
  pasid_out_of_range,
  context_invalid,       // the extended context entry does not allow the request
  request_denied,        // the PASID entry does not allow privileged requests
  second_level_absent,   // nested: the second level has no translation
  second_level_denied,   // nested: the second level does not allow the access
  update_not_writeback,  // accessed or dirty bits in memory that is not write-back: a catastrophic error
};

std::string_view name_of(FaultReason reason);

// Returns whether a page response can repair the fault: an entry of the first level is missing or denies the access.
bool is_recoverable(FaultReason reason);

struct Fault {
  FaultReason reason = FaultReason::none;
  uint8_t level = 0;     // 0: the root; counts up along the walk
  uint64_t address = 0;  // the graphics address of the access
  uint64_t entry = 0;    // the entry that ended the walk
  uint64_t entry_address = 0;
  Direction direction = Direction::read;
  bool instruction = false;
  uint8_t below = 0;        // levels below the one that ended the walk: 0 a page table entry, 3 a PML4 entry
  bool global = false;      // the walk went through the global table
  bool tile_table = false;  // the access read an entry of the tiled resource tables
  bool repeated = false;    // the same work had a fault before: counted, without an Event of its own

  explicit operator bool() const { return reason != FaultReason::none; }
};

}  // namespace halogen::memory
