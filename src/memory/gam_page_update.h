// The atomic operations by which the page walker updates accessed, extended accessed and dirty bits (Ice Lake PRM
// vol. 6, Updating A/D Bits, seed 001): opcodes C0 to CF. Their low four bits describe the access and the entry. The
// format of an entry gives the positions of its bits. The manual's rows for a write through an intermediate entry set
// the dirty bit too, but only an entry that maps a page has one (TLB Accessed and Dirty Flags). The formats of
// intermediate entries have no dirty bit, so nothing is set there.
#pragma once

#include <cstdint>

#include "memory/access.h"
#include "memory/page_format.h"

namespace halogen::memory {

inline constexpr uint8_t kPageUpdateBase = 0xc0;
inline constexpr uint8_t kPageUpdateWrite = 1;
inline constexpr uint8_t kPageUpdateExtendedAccess = 2;
inline constexpr uint8_t kPageUpdateWriteProtect = 4;
inline constexpr uint8_t kPageUpdateIntermediate = 8;

constexpr uint8_t page_update_opcode(Direction direction, bool extended_access, bool write_protect, bool intermediate) {
  return static_cast<uint8_t>(kPageUpdateBase | (direction == Direction::write ? kPageUpdateWrite : 0) |
                              (extended_access ? kPageUpdateExtendedAccess : 0) |
                              (write_protect ? kPageUpdateWriteProtect : 0) |
                              (intermediate ? kPageUpdateIntermediate : 0));
}

// Returns the entry after the operation; hardware returns the same. Other opcodes change nothing.
constexpr uint64_t page_update(uint8_t opcode, uint64_t entry, const EntryFormat& format) {
  if ((opcode & 0xf0) != kPageUpdateBase) {
    return entry;
  }
  return entry | format.accessed | ((opcode & kPageUpdateWrite) != 0 ? format.dirty : 0) |
         ((opcode & kPageUpdateExtendedAccess) != 0 ? format.extended_accessed : 0);
}

}  // namespace halogen::memory
