// Where a member of a generated item lies.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "spec/descriptors.h"
#include "spec/pack_result.h"

namespace halogen::spec {

// Returns the first bit of a member, counted from the start of the item. No value: the generation does not have it. The
// member must be a number, a flag or an enumeration, because the bit is found by packing a one.
template <class Item, class Member>
std::optional<unsigned> first_bit_of(GenId gen, Member Item::*member) {
  constexpr unsigned kDwordBits = 32;
  const size_t dwords = Item::kDesc.dwords_of_gen[static_cast<size_t>(gen)];
  std::vector<uint32_t> without(dwords), with(dwords);
  Item item{};
  item.*member = Member{};
  if (!item.pack(gen, without).ok()) return {};
  item.*member = static_cast<Member>(1);
  if (!item.pack(gen, with).ok()) return {};
  for (size_t i = 0; i < dwords; ++i) {
    const uint32_t changed = with[i] ^ without[i];
    if (changed != 0) return static_cast<unsigned>(i * kDwordBits) + static_cast<unsigned>(std::countr_zero(changed));
  }
  return {};
}

}  // namespace halogen::spec
