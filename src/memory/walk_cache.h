// Caches of the upper levels of a walk: which page table serves a 2 MB range. With it a miss of the final TLB costs one
// entry load instead of four. Entries are dropped with the TLBs; a page table that appears (not present before) needs
// no invalidation because nothing is cached for it.
#pragma once

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
  static constexpr unsigned kRangeBits = 21;

  const Entry* find(uint64_t address) const {
    if (entries_.empty()) {
      return nullptr;
    }
    const Entry& entry = entries_[(address >> kRangeBits) % kEntries];
    return entry.range == address >> kRangeBits ? &entry : nullptr;
  }
  void fill(const Entry& entry) {
    if (entries_.empty()) {
      entries_.resize(kEntries);
    }
    entries_[entry.range % kEntries] = entry;
  }
  void clear() { entries_.clear(); }

 private:
  static constexpr size_t kEntries = 2048;
  std::vector<Entry> entries_;
};

}  // namespace halogen
