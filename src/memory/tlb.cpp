#include "memory/tlb.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace halogen {
namespace {

unsigned home_of(SpaceTag space, uint64_t page, unsigned slots) {
  const uint64_t mixed = (page + (uint64_t{space} << 36)) * 0x9e37'79b9'7f4a'7c15u;
  return static_cast<unsigned>(mixed >> 48) % slots;
}

bool rights_fit(const TlbEntry& entry, Access access) {
  return (!access.write || (entry.writable && entry.dirty)) && (!access.instruction || entry.executable);
}

}  // namespace

bool TlbEntry::filters(Access access) const {
  if (fault == FaultReason::write_denied) {
    return access.write;
  }
  if (fault == FaultReason::execute_denied) {
    return access.instruction;
  }
  return fault != FaultReason::none;
}

Tlb::Tlb(unsigned entries) : entries_(entries) {
  check(entries > 0, "a TLB has at least one entry");
  const unsigned sets = std::bit_ceil((entries + kMaxPerSet - 1) / kMaxPerSet);
  sets_.resize(sets);
  for (unsigned i = 0; i < sets; ++i) {
    sets_[i].entries.resize(entries / sets + (i < entries % sets ? 1 : 0));
    sets_[i].index.assign(kSlots, 0);
  }
}

// The slot that names the entry, or the empty slot where it would go. There are twice as many slots as entries.
unsigned Tlb::find_slot(const Set& set, SpaceTag space, uint64_t page) {
  for (unsigned slot = home_of(space, page, kSlots);; slot = (slot + 1) % kSlots) {
    const uint16_t stored = set.index[slot];
    if (stored == 0) {
      return slot;
    }
    const TlbEntry& entry = set.entries[stored - 1u];
    if (entry.page == page && entry.space == space) {
      return slot;
    }
  }
}

// Moves later entries of the probe run back over the gap, so that look-ups may stop at the first empty slot.
void Tlb::remove(Set& set, unsigned slot) {
  unsigned gap = slot;
  for (unsigned at = (slot + 1) % kSlots; set.index[at] != 0; at = (at + 1) % kSlots) {
    const TlbEntry& entry = set.entries[set.index[at] - 1u];
    const unsigned home = home_of(entry.space, entry.page, kSlots);
    if ((at + kSlots - home) % kSlots >= (at + kSlots - gap) % kSlots) {
      set.index[gap] = set.index[at];
      gap = at;
    }
  }
  set.index[gap] = 0;
}

const TlbEntry* Tlb::look_up(SpaceTag space, uint64_t page, Access access) {
  Set& set = set_of(page);
  const unsigned slot = find_slot(set, space, page);
  const uint16_t stored = set.index[slot];
  if (stored == 0) {
    ++statistics_.misses;
    return nullptr;
  }
  const TlbEntry& entry = set.entries[stored - 1u];
  if (entry.fault == FaultReason::none && !rights_fit(entry, access)) {
    remove(set, slot);
    ++statistics_.rewalks;
    return nullptr;
  }
  ++statistics_.hits;
  return &entry;
}

const TlbEntry& Tlb::fill(const TlbEntry& entry) {
  Set& set = set_of(entry.page);
  unsigned slot = find_slot(set, entry.space, entry.page);
  if (set.index[slot] == 0) {
    const unsigned victim = set.next;
    set.next = (set.next + 1) % static_cast<unsigned>(set.entries.size());
    const TlbEntry& old = set.entries[victim];
    const unsigned old_slot = find_slot(set, old.space, old.page);
    if (set.index[old_slot] == victim + 1) {
      remove(set, old_slot);
      slot = find_slot(set, entry.space, entry.page);
    }
    set.index[slot] = static_cast<uint16_t>(victim + 1);
  }
  TlbEntry& stored = set.entries[set.index[slot] - 1u];
  stored = entry;
  return stored;
}

template <class Predicate>
void Tlb::remove_if(Predicate predicate) {
  for (Set& set : sets_) {
    for (const TlbEntry& entry : set.entries) {
      const unsigned slot = find_slot(set, entry.space, entry.page);
      const uint16_t stored = set.index[slot];
      if (stored != 0 && &set.entries[stored - 1u] == &entry && predicate(entry)) {
        remove(set, slot);
      }
    }
  }
}

void Tlb::invalidate_all() {
  for (Set& set : sets_) {
    std::fill(set.index.begin(), set.index.end(), uint16_t{0});
  }
}

void Tlb::invalidate_space(SpaceTag space) {
  remove_if([space](const TlbEntry& entry) { return entry.space == space; });
}

void Tlb::invalidate_page(SpaceTag space, uint64_t page) {
  Set& set = set_of(page);
  const unsigned slot = find_slot(set, space, page);
  if (set.index[slot] != 0) {
    remove(set, slot);
  }
}

void Tlb::invalidate_faults(SpaceTag space, uint64_t page) {
  Set& set = set_of(page);
  const unsigned slot = find_slot(set, space, page);
  if (set.index[slot] != 0 && set.entries[set.index[slot] - 1u].fault != FaultReason::none) {
    remove(set, slot);
  }
}

}  // namespace halogen
