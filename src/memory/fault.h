// Why a translation did not happen. What software sees of it (fault registers, interrupts, hangs) is decided by the
// fault model of the context; this is only the finding.
#pragma once

#include <cstdint>
#include <string_view>

#include "memory/access.h"

namespace halogen::memory {

enum class FaultReason : uint8_t {
  none,
  not_present,       // an entry on the way is not present
  write_denied,      // the page (advanced: any level) is read-only
  execute_denied,    // instruction fetch from a page with execute disable
  privilege_denied,  // a user context met a supervisor entry
  reserved_bit,      // advanced tables: a reserved bit is set
  not_canonical,     // bits 63:48 do not copy bit 47
  out_of_range,      // past the end of the table that the mode defines
  table_hole,        // a table lies where there is no memory
  page_hole,         // the page itself lies where there is no memory
  table_disabled,    // the table is switched off for this client
  root_not_present,  // advanced contexts: root, context or PASID entry
  context_not_present,
  pasid_not_present,
  pasid_out_of_range,
  context_invalid,       // the extended context entry does not let the request through
  request_denied,        // the PASID entry does not allow privileged requests
  second_level_absent,   // nested: the second level has no translation
  second_level_denied,   // nested: the second level does not allow the access
  update_not_writeback,  // accessed or dirty bits in memory that is not write-back: a catastrophic error
};

std::string_view name_of(FaultReason reason);

// Whether software can mend it with a page response: something is missing or denied in the first level of tables.
bool is_recoverable(FaultReason reason);

struct Fault {
  FaultReason reason = FaultReason::none;
  uint8_t level = 0;     // 0: the root; counts down the walk
  uint64_t address = 0;  // the graphics address that was asked for
  uint64_t entry = 0;    // the entry that ended the walk
  uint64_t entry_address = 0;
  Direction direction = Direction::read;
  bool instruction = false;
  uint8_t below = 0;        // levels below the one that ended the walk: 0 a page table entry, 3 a PML4 entry
  bool global = false;      // the walk went through the global table
  bool tile_table = false;  // it was done for an entry of the tiled resource tables
  bool repeated = false;    // of work that met another before: counted, no Event of its own

  explicit operator bool() const { return reason != FaultReason::none; }
};

}  // namespace halogen::memory
