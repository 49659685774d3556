// Why a translation did not happen. What software sees of it (fault registers, interrupts, hangs) is decided by the
// fault model of the context; this is only the finding.
#pragma once

#include <cstdint>
#include <string_view>

namespace halogen {

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
  tile_invalid,  // TR-TT: an invalid tile
};

std::string_view name_of(FaultReason reason);

struct Fault {
  FaultReason reason = FaultReason::none;
  uint8_t level = 0;     // 0: the root; counts down the walk
  uint64_t address = 0;  // the graphics address that was asked for
  uint64_t entry = 0;    // the entry that ended the walk
  uint64_t entry_address = 0;
  bool write = false;
  bool instruction = false;

  explicit operator bool() const { return reason != FaultReason::none; }
};

}  // namespace halogen
