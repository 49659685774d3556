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
 public:
  explicit Tlb(unsigned entries);

  // The entry that serves this access, or null. Drops an entry whose rights do not fit.
  const TlbEntry* look_up(SpaceTag space, uint64_t page, Access access);
  const TlbEntry& fill(const TlbEntry& entry);

  void invalidate_all();
  void invalidate_space(SpaceTag space);
  void invalidate_page(SpaceTag space, uint64_t page);
  void invalidate_faults(SpaceTag space, uint64_t page);  // after a page response

  unsigned entries() const { return entries_; }
  unsigned sets() const { return static_cast<unsigned>(sets_.size()); }
  const TlbStatistics& statistics() const { return statistics_; }

 private:
  static constexpr unsigned kMaxPerSet = 256;
  static constexpr unsigned kSlots = 512;  // of the hash index of a set

  // `index` is an open-addressed hash table of entry numbers plus one; an entry is valid while the index names it.
  struct Set {
    std::vector<TlbEntry> entries;
    std::vector<uint16_t> index;
    unsigned next = 0;  // least recently allocated
  };

  Set& set_of(uint64_t page) { return sets_[page & (sets_.size() - 1)]; }
  static unsigned find_slot(const Set& set, SpaceTag space, uint64_t page);
  static void remove(Set& set, unsigned slot);
  template <class Predicate>
  void remove_if(Predicate predicate);

  unsigned entries_;
  std::vector<Set> sets_;
  TlbStatistics statistics_;
};

}  // namespace halogen
