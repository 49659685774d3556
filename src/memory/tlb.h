// A translation cache like those of the chips: up to 256 fully associative entries per set, low page bits select the
// set, and the least recently allocated entry is replaced. An entry holds the host address of its 4 KB frame, so a hit
// costs one look-up. Hit rules (Ice Lake PRM vol. 6, TLB, seed 001): a write to an entry that is not writable or not
// dirty, or a fetch from an entry that is not executable, is a miss that drops the entry, because only a new walk may
// fault.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "memory/fault.h"
#include "memory/tlb_front.h"
#include "memory/walker.h"

namespace halogen::memory {

// The state of the page's tile in the tiled resource tables.
enum class Tile : uint8_t { mapped, null, invalid };

struct TlbEntry {
  uint64_t page = 0;           // graphics address >> 12
  std::byte* frame = nullptr;  // host bytes of the frame; null: a null page, or a fault
  SpaceTag space = 0;
  bool writable = false;
  bool dirty = false;
  bool executable = false;
  bool user = false;
  bool null = false;
  uint8_t type_index = 0;
  uint8_t page_bits = kFrameBits;  // of the page that contains this frame
  Tile tile = Tile::mapped;
  FaultReason fault = FaultReason::none;  // a cached fault: filters repeated requests until invalidated

  // Returns whether the cached fault applies to this access. If not, the page is walked again.
  bool filters(Access access) const;
};

struct TlbStatistics {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t rewalks = 0;      // misses with an entry whose rights did not allow the access
  uint64_t short_walks = 0;  // misses that a client served without a call, by one entry load
};

class Tlb {
 public:
  explicit Tlb(unsigned entries);

  // Returns a copy of the entry that serves this access, valid until the next call. Drops an entry whose rights do not
  // allow the access. Null: a miss.
  const TlbEntry* look_up(SpaceTag space, uint64_t page, Access access);
  void fill(const TlbEntry& entry);
  // Returns the entry of a page without any effect.
  std::optional<TlbEntry> peek(SpaceTag space, uint64_t page) const;

  // A client may keep the front as long as the TLB lives. Unlike the front, find() also searches the pages that were
  // moved out of their home, and put() can add a page when both slots of the home are live. put() counts a miss.
  const TlbFront& front() const { return front_; }
  TlbSlot* find(const TlbFront::Place& at) const;
  void put(const TlbFront::Place& at, std::byte* frame, uint64_t word);
  void put(const TlbEntry& entry);
  // The bits of the page table entries that clients of a space add.
  struct EntryRule {
    uint64_t writable = 0;
    uint64_t dirty = 0;
    uint64_t pwt = 0;
    uint64_t pcd = 0;
    uint64_t pat = 0;
  };
  void set_rule(SpaceTag space, const EntryRule& rule);

  void invalidate_all();
  void invalidate_space(SpaceTag space);
  // Drops every frame of the page, which may be a large one.
  void invalidate_page(SpaceTag space, uint64_t page);
  // Drop cached faults of a page or of a whole space, after a page response.
  void invalidate_faults(SpaceTag space, uint64_t page);
  void invalidate_faults(SpaceTag space);

  unsigned entries() const { return entries_; }
  unsigned sets() const { return static_cast<unsigned>(sides_.size()); }
  TlbStatistics statistics() const;

 private:
  static constexpr unsigned kMaxPerSet = 256;
  static constexpr unsigned kHomesPerEntry = 8;  // sparse: the first slot of a home is seldom in use

  // Rarely used state of a set.
  struct Side {
    std::vector<uint64_t> holes;  // numbers of entries that were dropped early: a heap, the oldest on top
    std::vector<TlbSlot> aside;   // some may be dead
  };
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Place = TlbFront::Place;

  Place place(SpaceTag space, uint64_t page) const;
  TlbSetState& set(size_t number) const { return front_.header().sets[number]; }
  size_t number_of(const Place& at) const { return static_cast<size_t>(at.set - front_.header().sets); }
  bool is_crowded(const Place& at) const;
  void make_room(TlbSetState& set, Side& side);
  void judge(TlbSetState& set, const Side& side);
  TlbSlot& allocate(const Place& at);
  void remove(const Place& at, TlbSlot& slot);
  template <class Predicate>
  void remove_if(size_t number, Predicate predicate);
  TlbEntry entry_of(const TlbSlot& slot) const;

  unsigned entries_;
  TlbFront front_;
  std::unique_ptr<std::byte, Free> memory_;  // of the front
  std::vector<Side> sides_;                  // by set
  std::vector<EntryRule> rules_;             // by space
  TlbEntry found_;
  bool has_large_ = false;  // frames of large pages may be cached
  uint64_t misses_ = 0;
  uint64_t rewalks_ = 0;
  uint64_t allocations_ = 0;  // without those of the front
};

}  // namespace halogen::memory
