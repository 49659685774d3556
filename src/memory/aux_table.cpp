#include "memory/aux_table.h"

#include "base/bits.h"
#include "base/graphics_address.h"

namespace halogen::memory {
namespace {

struct Level {
  unsigned index_shift;
  unsigned index_bits;
  unsigned address_shift;  // lowest bit of the address in an entry
};
constexpr std::array<Level, 3> kLevels{{{36, 12, 15}, {24, 12, 13}, {16, 8, 8}}};
constexpr unsigned kAddressBits = 48;

}  // namespace

std::optional<uint64_t> AuxTable::walk(uint64_t main) const {
  if (space_ == nullptr || base_ == 0) {
    return std::nullopt;
  }
  uint64_t table = base_;
  for (const Level& level : kLevels) {
    const uint64_t index = main >> level.index_shift & low_mask(level.index_bits);
    uint64_t entry = 0;
    if (!ok(space_->read(wrapped_address(table + index * sizeof(entry)),
                         std::as_writable_bytes(std::span(&entry, 1)))) ||
        (entry & 1) == 0) {
      return std::nullopt;
    }
    table = entry & low_mask(kAddressBits) & ~low_mask(level.address_shift);
  }
  return table;
}

std::optional<uint64_t> AuxTable::find(uint64_t main) {
  const uint64_t page = (main & low_mask(kAddressBits)) >> kPageBits;
  Known& known = known_[page % kKnown];
  if (known.page != page) {
    known = {page, walk(main)};
  }
  return known.states;
}

}  // namespace halogen::memory
