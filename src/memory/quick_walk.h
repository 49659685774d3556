// The short walk after a TLB miss: it reads the page table entry through a host address that an earlier walk found, and
// tests it with two masks. It serves only pages that the walker would return without a fault, an update or a rule of
// advanced contexts; everything else is left to the walker. The walker is the reference: tests compare both. The
// shortest walk is DirectEntries: page table entries of eight bytes whose pages lie in one piece of host memory.
#pragma once

#include <cstdint>

#include "memory/tlb.h"
#include "memory/walk_cache.h"
#include "memory/walker.h"

namespace halogen::memory {

// CPUs may write page tables at any time.
template <class T>
T load_shared(const T* at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

// Page table entries whose pages lie in one piece of host memory. Finding the page of an entry takes a mask, a
// difference and two comparisons.
class DirectEntries {
 public:
  // Returns the offset of the page from the start of the range. It is valid if serves() is true for it; the entry is
  // then also a valid word of a TLB slot.
  uint64_t offset(uint64_t entry, Direction direction) const {
    const auto i = static_cast<size_t>(direction);
    return (entry & keep_[i]) - base_[i];
  }
  bool serves(uint64_t offset) const { return (offset & (kFrameBytes - 1)) == 0 && offset < bytes_; }
  std::byte* frame(uint64_t offset) const { return host_ + offset; }
  // Returns the bits of TlbSlot::kWrites that a write needs.
  uint64_t written() const { return written_; }

 private:
  friend class QuickWalk;
  uint64_t keep_[2] = {};      // by Direction: tested flags, and the address
  uint64_t base_[2] = {1, 1};  // expected flags, and the address of the first page; 1 if nothing is served
  uint64_t bytes_ = 0;
  std::byte* host_ = nullptr;
  uint64_t written_ = TlbSlot::kWrites;
};

class QuickWalk {
 public:
  // Turns the context's rules into masks.
  void load(const WalkContext& context);

  // Returns the entries that lead into a range. They serve nothing if the tables are of another kind.
  DirectEntries direct_entries(MemorySpace space, const DirectRange& range) const;
  // Returns how the TLB interprets these entries.
  const Tlb::EntryRule& entry_rule() const { return entry_rule_; }

  // Keeps the result of a walk without a fault if short walks can serve the neighbouring pages.
  void learn(const PhysicalMemory& memory, const WalkContext& context, uint64_t address, const WalkResult& result,
             WalkCache& cache) const;

  struct Page {
    uint64_t address = 0;  // physical, of the 4 KB frame
    MemorySpace space = MemorySpace::system;
    bool writable = true;
    bool dirty = true;
    uint8_t type_index = 0;
    uint8_t page_bits = kFrameBits;  // of the page that holds the frame
  };
  // Finds a page. False: only a full walk can serve it.
  bool find(const WalkCache::Shortcut& shortcut, uint64_t address, Direction direction, Page& page) const {
    const Rule& rule = rules_[static_cast<size_t>(shortcut.kind)];
    const uint64_t entry = rule.in_table ? load_entry(entry_at(shortcut.table, rule, address)) : shortcut.page;
    const auto i = static_cast<size_t>(direction);
    if ((entry & rule.looked_at[i]) != rule.expected[i]) [[unlikely]] {
      return false;
    }
    const uint64_t target = (entry & rule.address) | ((entry & rule.address_high) << rule.address_high_shift);
    page.address = target | (address & rule.page_mask);
    page.page_bits = rule.page_bits;
    page.space = (entry & rule.local) != 0 ? MemorySpace::local : MemorySpace::system;
    page.writable = (entry & rule.writable) == rule.writable;
    page.dirty = (entry & rule.dirty) == rule.dirty;
    page.type_index = static_cast<uint8_t>(((entry >> rule.type_shift) & rule.type_mask) |
                                           ((entry >> rule.pat_shift) & rule.pat_mask));
    return true;
  }

 private:
  struct Rule {
    uint64_t looked_at[2] = {};  // by Direction
    uint64_t expected[2] = {};
    uint64_t address = 0;
    uint64_t address_high = 0;
    uint64_t page_mask = 0;  // address bits inside the page, above the frame's
    uint64_t local = 0;
    uint64_t writable = 0;
    uint64_t dirty = 0;
    uint64_t index_mask = 0;
    bool in_table = false;
    uint8_t page_bits = kFrameBits;
    uint8_t address_high_shift = 0;
    uint8_t type_shift = 0;  // of PCD:PWT
    uint8_t type_mask = 0;
    uint8_t pat_shift = 0;
    uint8_t pat_mask = 0;
  };

  const std::byte* entry_at(const std::byte* table, const Rule& rule, uint64_t address) const {
    return table + ((address >> kFrameBits) & rule.index_mask) * (wide_ ? sizeof(uint64_t) : sizeof(uint32_t));
  }
  uint64_t load_entry(const std::byte* at) const {
    return wide_ ? load_shared(reinterpret_cast<const uint64_t*>(at))
                 : load_shared(reinterpret_cast<const uint32_t*>(at));
  }
  void add_rule(const WalkContext& context, WalkCache::Kind kind, const EntryFormat& format, unsigned page_bits);

  void load_direct(const EntryFormat& format);

  bool usable_ = false;
  bool wide_ = true;     // entries of eight bytes
  bool direct_ = false;  // DirectEntries can serve
  Rule rules_[WalkCache::kKinds];
  Tlb::EntryRule entry_rule_;
};

}  // namespace halogen::memory
