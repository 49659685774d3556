// Caches of the upper levels of a walk: which page table serves a 2 MB range. With it a miss of the final TLB costs one
// entry load instead of four. Entries are dropped with the TLBs; a page table that appears (not present before) needs
// no invalidation because nothing is cached for it. Beside the position for the walker an entry may hold a shortcut:
// the host address of the range's 512 page table entries, or the large page that covers it (quick_walk.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/walker.h"

namespace halogen {

class WalkCache {
 public:
  struct Entry {
    uint64_t range = ~uint64_t{0};  // graphics address >> kRangeBits
    WalkPosition position;          // before the last level
  };
  // What a shortcut's value is.
  enum class Kind : uint8_t {
    none,
    table,         // `table`: host address of page table entries
    medium_table,  // the same, for 64 KB pages
    page_2m,       // `page`: the directory entry itself
    page_1g,
  };
  struct Shortcut {
    uint64_t tag = 0;  // range, age, kind
    union {
      std::byte* table;
      uint64_t page = 0;
    };
  };
  static constexpr unsigned kRangeBits = 21;
  static constexpr uint64_t kKinds = 8;

  const Entry* find(uint64_t address) const {
    const size_t index = index_of(address);
    if (positions_.empty() || position_tags_[index] != tag_of(address)) {
      return nullptr;
    }
    return &positions_[index];
  }
  void fill(const Entry& entry) {
    make_room();
    const uint64_t address = entry.range << kRangeBits;
    position_tags_[index_of(address)] = tag_of(address);
    positions_[index_of(address)] = entry;
  }

  const Shortcut* find_shortcut(uint64_t address) const {
    const Shortcut& shortcut = shortcuts_[index_of(address) & shortcut_mask_];
    return shortcut.tag - tag_of(address) < kKinds ? &shortcut : nullptr;
  }
  void fill_table(uint64_t address, Kind kind, std::byte* table) { claim(address, kind).table = table; }
  void fill_page(uint64_t address, Kind kind, uint64_t entry) { claim(address, kind).page = entry; }

  // Entries of another age do not match; when ages run out, the memory is wiped.
  void clear() {
    if (++age_ == kAges) {
      age_ = 1;
      positions_.clear();
      position_tags_.clear();
      shortcuts_.assign(1, {});
      shortcut_mask_ = 0;
    }
  }

 private:
  static constexpr size_t kEntries = 2048;
  static constexpr uint64_t kAges = (uint64_t{1} << kRangeBits) / kKinds;

  static size_t index_of(uint64_t address) { return (address >> kRangeBits) % kEntries; }
  uint64_t tag_of(uint64_t address) const { return (address >> kRangeBits << kRangeBits) + age_ * kKinds; }
  Shortcut& claim(uint64_t address, Kind kind) {
    make_room();
    Shortcut& shortcut = shortcuts_[index_of(address)];
    shortcut.tag = tag_of(address) + static_cast<uint64_t>(kind);
    return shortcut;
  }
  void make_room() {
    if (positions_.empty()) {
      positions_.resize(kEntries);
      position_tags_.resize(kEntries);
      shortcuts_.resize(kEntries);
      shortcut_mask_ = kEntries - 1;
    }
  }

  uint64_t age_ = 1;
  std::vector<uint64_t> position_tags_;
  std::vector<Entry> positions_;
  size_t shortcut_mask_ = 0;
  std::vector<Shortcut> shortcuts_ = std::vector<Shortcut>(1);  // one that matches nothing, until there is one
};

}  // namespace halogen
