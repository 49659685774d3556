// The atomic operations by which the page walker keeps accessed, extended accessed and dirty bits (seed 001, "Updating
// A/D Bits"): opcodes C0 to CF, each a set of bits that it sets in the entry it returns. The seed's rows for a write
// through an intermediate entry name bit 6 too, but the dirty flag exists only in the entry that maps the page (its
// "TLB Accessed and Dirty Flags"; bit 6 of the others is ignored): those rows leave bit 6 alone here.
#pragma once

#include <array>
#include <cstdint>

namespace halogen {

inline constexpr uint8_t kPageUpdateBase = 0xc0;
inline constexpr uint8_t kPageUpdateWrite = 1;
inline constexpr uint8_t kPageUpdateExtendedAccess = 2;
inline constexpr uint8_t kPageUpdateWriteProtect = 4;
inline constexpr uint8_t kPageUpdateIntermediate = 8;

struct PageUpdate {
  uint8_t opcode;
  bool sets_accessed;
  bool sets_dirty;
  bool sets_extended_accessed;

  constexpr uint64_t bits() const {
    return (sets_accessed ? uint64_t{1} << 5 : 0) | (sets_dirty ? uint64_t{1} << 6 : 0) |
           (sets_extended_accessed ? uint64_t{1} << 10 : 0);
  }
};

inline constexpr std::array<PageUpdate, 16> kPageUpdates{{
    {0xc0, true, false, false},  // read, final entry
    {0xc1, true, true, false},   // write
    {0xc2, true, false, true},   // read, extended access
    {0xc3, true, true, true},    // write, extended access
    {0xc4, true, false, false},  // the same four with write protection on
    {0xc5, true, true, false},
    {0xc6, true, false, true},
    {0xc7, true, true, true},
    {0xc8, true, false, false},  // intermediate entries
    {0xc9, true, false, false},
    {0xca, true, false, true},
    {0xcb, true, false, true},
    {0xcc, true, false, false},
    {0xcd, true, false, false},
    {0xce, true, false, true},
    {0xcf, true, false, true},
}};

constexpr uint8_t page_update_opcode(bool write, bool extended_access, bool write_protect, bool intermediate) {
  return static_cast<uint8_t>(
      kPageUpdateBase | (write ? kPageUpdateWrite : 0) | (extended_access ? kPageUpdateExtendedAccess : 0) |
      (write_protect ? kPageUpdateWriteProtect : 0) | (intermediate ? kPageUpdateIntermediate : 0));
}

// The entry after the operation, which is also what it returns. Other opcodes change nothing.
constexpr uint64_t page_update(uint8_t opcode, uint64_t entry) {
  return (opcode & 0xf0) == kPageUpdateBase ? entry | kPageUpdates[opcode & 0x0f].bits() : entry;
}

}  // namespace halogen
