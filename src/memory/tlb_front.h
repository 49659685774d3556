// The part of a translation cache that its clients use without a call: finding a page, and adding one. Entries of a set
// are numbered in the order of allocation. An entry is live while fewer than `window` entries are newer. So the oldest
// entry expires without any work, and clearing a set is one store. Each page has two slots, its home. If other live
// entries occupy both, one of them is moved aside and the home is marked. tlb.h handles all rare cases. The number of
// stores matters most, because a CPU stops looking ahead when too many stores are pending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "memory/walker.h"

namespace halogen::memory {

// The address space of an entry: an engine's context, or the global table. Below kSpaces.
using SpaceTag = uint16_t;
inline constexpr SpaceTag kGlobalSpace = 0;
inline constexpr unsigned kSpaces = 4096;

struct alignas(32) TlbSlot {
  // The word is a page table entry, which has kRaw, or is made from a TlbEntry. Then it has kExecutable if the page may
  // be executed, and both bits of kWrites if it may be written: the positions of R/W and dirty in page table entries.
  static constexpr uint64_t kRaw = 1;
  static constexpr uint64_t kWrites = 0x42;
  static constexpr uint64_t kExecutable = uint64_t{1} << 10;
  static constexpr uint64_t kCrowded = uint64_t{1} << 63;  // in the stamps of both slots: pages may be aside

  uint64_t key;      // page and space
  std::byte* frame;  // null: no memory
  uint64_t word;
  uint64_t stamp;  // its number in the set; 0: never used, or dropped

  // `written`: the bits of kWrites that page table entries of the space have; all bits if no such entries are added.
  bool serves(Access access, uint64_t written) const {
    return frame != nullptr && (!access.writes() || (word & written) == written) &&
           (!access.instruction || (word & (kRaw | kExecutable)) != 0);
  }
};

struct alignas(64) TlbSetState {
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  uint64_t newest;       // number of the last entry
  uint64_t window;       // the last entries that are live
  int64_t quick_window;  // window while the set is full and has no holes, else kNever
  uint32_t capacity;
  uint32_t live;

  bool is_live(uint64_t stamp) const { return newest - (stamp & ~TlbSlot::kCrowded) < window; }
};

class TlbFront {
 public:
  struct Place {
    TlbSetState* set;
    TlbSlot* home;  // the first of its two slots
    uint64_t key;
  };

  static uint64_t space_key(SpaceTag space) { return uint64_t{space} << kSpaceShift; }

  Place place(uint64_t page, uint64_t space_key) const {
    const uint64_t key = page | space_key;
    std::byte* set = block_ + ((page * sizeof(TlbSetState)) & set_mask_);
    std::byte* home = set + sizeof(Header) + ((key * mix_ >> kMixShift) & home_mask_);
    return {reinterpret_cast<TlbSetState*>(set), reinterpret_cast<TlbSlot*>(home), key};
  }
  // Null: the page is not in its home, but may have been moved aside. At most one slot of a home has the key of a live
  // page.
  static TlbSlot* find(Place at) {
    if (at.home[0].key == at.key) [[unlikely]] {
      return at.set->newest - at.home[0].stamp < at.set->window ? at.home : nullptr;
    }
    if (at.home[1].key == at.key) [[unlikely]] {
      return at.set->newest - at.home[1].stamp < at.set->window ? at.home + 1 : nullptr;
    }
    return nullptr;
  }
  void count_hit() const { ++header().hits; }

  // Add a page that is not cached, in two steps. choose() finds a slot and writes nothing. Null: only Tlb::put can add
  // the page.
  static TlbSlot* choose(Place at, uint64_t& stamp) {
    stamp = at.set->newest + 1;
    const int64_t window = at.set->quick_window;
    if (static_cast<int64_t>(stamp - at.home[0].stamp) >= window) [[likely]] {
      return at.home;
    }
    return static_cast<int64_t>(stamp - at.home[1].stamp) >= window ? at.home + 1 : nullptr;
  }
  static void put(Place at, TlbSlot* slot, uint64_t stamp, std::byte* frame, uint64_t word) {
    at.set->newest = stamp;
    slot->key = at.key;
    slot->frame = frame;
    slot->word = word;
    __atomic_store_n(&slot->stamp, stamp,
                     __ATOMIC_RELAXED);  // a plain store that the compiler does not merge with the one before
  }

 private:
  friend class Tlb;
  static constexpr unsigned kMaxSets = 16;
  static constexpr unsigned kSpaceShift = 52;
  static constexpr unsigned kMixShift = 44;

  // Precedes the slots. The homes of all sets alternate.
  struct alignas(64) Header {
    TlbSetState sets[kMaxSets];
    uint64_t hits;
  };
  Header& header() const { return *reinterpret_cast<Header*>(block_); }
  TlbSlot* slots() const { return reinterpret_cast<TlbSlot*>(block_ + sizeof(Header)); }
  size_t slot_count() const { return (home_mask_ + set_mask_) / sizeof(TlbSlot) + 2; }

  std::byte* block_ = nullptr;
  uint64_t set_mask_ = 0;                  // of the byte offset of a set
  uint64_t home_mask_ = 0;                 // of the byte offset of a home in its set
  uint64_t mix_ = 0x9e37'79b9'7f4a'7c15u;  // golden ratio: spreads neighbours; a member, so that it needs no register
};
static_assert(sizeof(TlbSlot) == 32 && sizeof(TlbSetState) == 2 * sizeof(TlbSlot));

}  // namespace halogen::memory
