#include "memory/tlb.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace halogen {

bool TlbEntry::filters(Access access) const {
  if (fault == FaultReason::write_denied) {
    return access.write;
  }
  if (fault == FaultReason::execute_denied) {
    return access.instruction;
  }
  return fault != FaultReason::none;
}

Tlb::Tlb(unsigned entries) : entries_(entries), nodes_(entries + 1) {
  check(entries > 0 && entries <= kMostEntries, "a TLB has from one to 4096 entries");
  const unsigned sets = std::bit_ceil((entries + kMaxPerSet - 1) / kMaxPerSet);
  unsigned first = 1;
  unsigned first_slot = 0;
  for (unsigned i = 0; i < sets; ++i) {
    Set set;
    set.first = static_cast<Number>(first);
    set.count = static_cast<Number>(entries / sets + (i < entries % sets ? 1 : 0));
    set.first_slot = first_slot;
    set.slot_mask = std::bit_ceil(set.count * kSlotsPerEntry) - 1;
    first += set.count;
    first_slot += set.slot_mask + 1;
    sets_.push_back(set);
  }
  set_mask_ = sets - 1;
  slots_.resize(first_slot);
  invalidate_all();
}

// Every node of the set is free.
void Tlb::reset(Set& set) {
  std::fill_n(slots_.begin() + set.first_slot, set.slot_mask + 1, Number{0});
  set.oldest = set.newest = set.free = 0;
  for (auto number = static_cast<Number>(set.first + set.count); number-- > set.first;) {
    nodes_[number].newer = set.free;
    set.free = number;
  }
}

// Moves later entries of the probe run back over the gap, so that look-ups may stop at the first empty slot.
void Tlb::remove(Set& set, unsigned slot) {
  const Number number = slots_[slot];
  Node& removed = nodes_[number];
  (removed.older != 0 ? nodes_[removed.older].newer : set.oldest) = removed.newer;
  (removed.newer != 0 ? nodes_[removed.newer].older : set.newest) = removed.older;
  removed.newer = set.free;
  set.free = number;
  unsigned gap = slot - set.first_slot;
  for (unsigned at = (gap + 1) & set.slot_mask; slots_[set.first_slot + at] != 0; at = (at + 1) & set.slot_mask) {
    Node& node = nodes_[slots_[set.first_slot + at]];
    const unsigned home = home_of(set, node.space, node.page);
    if (((at - home) & set.slot_mask) >= ((at - gap) & set.slot_mask)) {
      slots_[set.first_slot + gap] = slots_[set.first_slot + at];
      node.slot = static_cast<Number>(set.first_slot + gap);
      gap = at;
    }
  }
  slots_[set.first_slot + gap] = 0;
}

void Tlb::drop_for_rewalk(const Place& place) {
  remove(*place.set, place.slot);
  ++statistics_.rewalks;
}

TlbEntry& Tlb::allocate(SpaceTag space, uint64_t page) {
  Place place = find(space, page);
  if (slots_[place.slot] == 0) {
    Set& set = *place.set;
    if (set.free == 0) {
      remove(set, nodes_[set.oldest].slot);
      place = find(space, page);
    }
    const Number number = set.free;
    set.free = nodes_[number].newer;
    put_newest(set, number, place.slot);
  }
  Node& node = nodes_[slots_[place.slot]];
  node.page = page;
  node.space = space;
  return node;
}

const TlbEntry& Tlb::fill(const TlbEntry& entry) {
  return allocate(entry.space, entry.page) = entry;
}

template <class Predicate>
void Tlb::remove_if(Predicate predicate) {
  for (Set& set : sets_) {
    for (Number number = set.oldest; number != 0;) {
      const Node& node = nodes_[number];
      const Number next = node.newer;
      if (predicate(node)) {
        remove(set, node.slot);
      }
      number = next;
    }
  }
}

void Tlb::invalidate_all() {
  for (Set& set : sets_) {
    reset(set);
  }
}

void Tlb::invalidate_space(SpaceTag space) {
  remove_if([space](const TlbEntry& entry) { return entry.space == space; });
}

void Tlb::invalidate_page(SpaceTag space, uint64_t page) {
  const Place place = find(space, page);
  if (slots_[place.slot] != 0) {
    remove(*place.set, place.slot);
  }
}

void Tlb::invalidate_faults(SpaceTag space, uint64_t page) {
  const Place place = find(space, page);
  if (slots_[place.slot] != 0 && nodes_[slots_[place.slot]].fault != FaultReason::none) {
    remove(*place.set, place.slot);
  }
}

}  // namespace halogen
