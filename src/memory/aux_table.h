// The auxiliary table of Gen12: gives the address of the compression state of each 64 KB of a surface. Three levels of
// 4096, 4096 and 256 entries (layout: docs/sources.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "memory/address_space.h"

namespace halogen::memory {

class AuxTable {
 public:
  AuxTable() = default;
  AuxTable(AddressSpace& space, uint64_t base) : space_(&space), base_(base) {}

  // Returns the address of the states of the 64 KB that hold the address. No value: an entry is not valid, or the table
  // cannot be read. The last pages are remembered.
  std::optional<uint64_t> find(uint64_t main);

 private:
  static constexpr unsigned kPageBits = 16;
  static constexpr size_t kKnown = 32;
  struct Known {
    uint64_t page = ~uint64_t{0};
    std::optional<uint64_t> states;
  };

  std::optional<uint64_t> walk(uint64_t main) const;

  AddressSpace* space_ = nullptr;
  uint64_t base_ = 0;
  std::array<Known, kKnown> known_{};
};

}  // namespace halogen::memory
