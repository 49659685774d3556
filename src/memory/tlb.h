// A translation cache as the chips have it: up to 256 fully associative entries a set, sets chosen by low page bits,
// least recently allocated goes first. An entry holds the host address of its 4 KB frame, so that a hit costs a look-up
// and nothing else. Hit rules (seed 001, TLB): a write to an entry that is not writable or not dirty, or a fetch from
// an entry that is not executable, is a miss that drops the entry: only a fresh walk may fault.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/fault.h"
#include "memory/walker.h"

namespace halogen {

// Which address space an entry belongs to: the engine's context, or the global table.
using SpaceTag = uint16_t;
inline constexpr SpaceTag kGlobalSpace = 0;

// What the tiled resource tables said of the page's tile.
enum class Tile : uint8_t { mapped, null, invalid };

struct TlbEntry {
  uint64_t page = 0;           // graphics address >> 12
  std::byte* frame = nullptr;  // host bytes of the frame; null: nothing there (null page, or a fault)
  SpaceTag space = 0;
  bool writable = false;
  bool dirty = false;
  bool executable = false;
  bool user = false;
  bool null = false;
  uint8_t type_index = 0;
  Tile tile = Tile::mapped;
  FaultReason fault = FaultReason::none;  // a cached fault: filters repeated requests until invalidated

  // Whether the cached fault answers this access too; else the page is walked again.
  bool filters(Access access) const;
};

struct TlbStatistics {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t rewalks = 0;  // an entry was there but its rights did not fit
};

class Tlb {
  using Number = uint16_t;  // of a node; 0: none
  struct alignas(32) Set {
    unsigned first_slot = 0;
    unsigned slot_mask = 0;
    Number first = 0;
    Number count = 0;
    Number oldest = 0;
    Number newest = 0;
    Number free = 0;
  };

 public:
  explicit Tlb(unsigned entries);

  // The entry that serves this access, or null. Drops an entry whose rights do not fit.
  const TlbEntry* look_up(SpaceTag space, uint64_t page, Access access) {
    const Place place = find(space, page);
    const TlbEntry* entry = at(place);
    if (entry == nullptr) {
      ++statistics_.misses;
      return nullptr;
    }
    if (!rights_fit(*entry, access) && entry->fault == FaultReason::none) [[unlikely]] {
      drop_for_rewalk(place);
      return nullptr;
    }
    ++statistics_.hits;
    return entry;
  }
  const TlbEntry& fill(const TlbEntry& entry);

  // The same in two steps, for a client that has the new entry at hand: where the page is or would go, what is there,
  // and a place for the new entry that saves the second search. `serves` counts a hit. Only after `at` found nothing
  // may `claim` follow, which counts a miss; nothing else may be done with the TLB in between. The caller fills what
  // `claim` gives, except page and space.
  struct Place {
    Set* set;
    unsigned slot;
    bool is_home;  // no other entry stands between the hash and the slot
  };
  Place find(SpaceTag space, uint64_t page) {
    Set& set = set_of(page);
    const unsigned home = home_of(set, space, page);
    unsigned at = home;
    for (;; at = (at + 1) & set.slot_mask) {
      const Number number = slots_[set.first_slot + at];
      if (number == 0 || (nodes_[number].page == page && nodes_[number].space == space)) {
        return {&set, set.first_slot + at, at == home};
      }
    }
  }
  const TlbEntry* at(const Place& place) const {
    const Number number = slots_[place.slot];
    return number == 0 ? nullptr : &nodes_[number];
  }
  bool serves(const TlbEntry& entry, Access access) {
    const bool fits = rights_fit(entry, access) && entry.fault == FaultReason::none;
    statistics_.hits += fits ? 1 : 0;
    return fits;
  }
  TlbEntry& claim(Place place, SpaceTag space, uint64_t page) {
    ++statistics_.misses;
    Set& set = *place.set;
    const Number number = set.oldest;
    Node& node = nodes_[number];
    const unsigned after = set.first_slot + ((node.slot - set.first_slot + 1) & set.slot_mask);
    if (!place.is_home || set.free != 0 || number == set.newest || slots_[after] != 0) [[unlikely]] {
      return allocate(space, page);
    }
    // The common case: the set is full, and taking the oldest entry out moves no other slot.
    slots_[node.slot] = 0;
    set.oldest = node.newer;
    nodes_[set.oldest].older = 0;
    put_newest(set, number, place.slot);
    node.page = page;
    node.space = space;
    return node;
  }

  void invalidate_all();
  void invalidate_space(SpaceTag space);
  void invalidate_page(SpaceTag space, uint64_t page);
  void invalidate_faults(SpaceTag space, uint64_t page);  // after a page response

  unsigned entries() const { return entries_; }
  unsigned sets() const { return static_cast<unsigned>(sets_.size()); }
  const TlbStatistics& statistics() const { return statistics_; }

 private:
  static constexpr unsigned kMaxPerSet = 256;
  static constexpr unsigned kMostEntries = 4096;  // so that a slot's number fits 16 bits
  static constexpr unsigned kSlotsPerEntry = 8;   // sparse, so that a search nearly always ends at its first slot

  // Valid nodes of a set are chained by age, free ones by `newer` alone.
  struct Node : TlbEntry {
    Number older = 0;
    Number newer = 0;
    Number slot = 0;  // that names it
  };

  static bool rights_fit(const TlbEntry& entry, Access access) {
    return (!access.write || (entry.writable && entry.dirty)) && (!access.instruction || entry.executable);
  }
  static unsigned home_of(const Set& set, SpaceTag space, uint64_t page) {
    const uint64_t mixed = (page + (uint64_t{space} << 36)) * 0x9e37'79b9'7f4a'7c15u;
    return static_cast<unsigned>(mixed >> 40) & set.slot_mask;
  }
  Set& set_of(uint64_t page) { return sets_[page & set_mask_]; }
  void put_newest(Set& set, Number number, unsigned slot) {
    Node& node = nodes_[number];
    node.newer = 0;
    node.older = set.newest;
    (set.newest != 0 ? nodes_[set.newest].newer : set.oldest) = number;
    set.newest = number;
    node.slot = static_cast<Number>(slot);
    slots_[slot] = number;
  }
  TlbEntry& allocate(SpaceTag space, uint64_t page);
  void reset(Set& set);
  void remove(Set& set, unsigned slot);
  void drop_for_rewalk(const Place& place);
  template <class Predicate>
  void remove_if(Predicate predicate);

  unsigned entries_;
  unsigned set_mask_ = 0;
  std::vector<Set> sets_;
  std::vector<Node> nodes_;    // number 0 is not used
  std::vector<Number> slots_;  // open-addressed hash tables, one a set
  TlbStatistics statistics_;
};

}  // namespace halogen
