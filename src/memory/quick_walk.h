// The short way through a TLB miss: the page table entry is read through a host address that an earlier walk found, and
// judged by two masks. It serves only pages that the walker would give without a fault, an update or a rule of advanced
// contexts; for everything else it steps aside and the walker decides. The walker is the judge: tests compare both.
#pragma once

#include <atomic>
#include <cstdint>

#include "memory/tlb.h"
#include "memory/walk_cache.h"
#include "memory/walker.h"

namespace halogen {

class QuickWalk {
 public:
  // Turns the context's rules into masks.
  void load(const WalkContext& context);

  // Remembers what a walk without a fault found, when the short way can serve its neighbours.
  void learn(const PhysicalMemory& memory, const WalkContext& context, uint64_t address, const WalkResult& result,
             WalkCache& cache) const;

  struct Page {
    uint64_t address = 0;  // physical, of the 4 KB frame
    MemorySpace space = MemorySpace::system;
    bool writable = true;
    bool dirty = true;
    uint8_t type_index = 0;
  };
  // Brings the entry that `find` will read nearer.
  void prefetch(const WalkCache::Shortcut& shortcut, uint64_t address) const {
    const Rule& rule = rules_[shortcut.tag % WalkCache::kKinds];
    if (rule.in_table) {
      __builtin_prefetch(entry_at(shortcut.table, rule, address));
    }
  }
  // False: take the long way.
  bool find(const WalkCache::Shortcut& shortcut, uint64_t address, bool write, Page& page) const {
    const Rule& rule = rules_[shortcut.tag % WalkCache::kKinds];
    const uint64_t entry = rule.in_table ? load_entry(entry_at(shortcut.table, rule, address)) : shortcut.page;
    if ((entry & rule.looked_at[write]) != rule.expected[write]) [[unlikely]] {
      return false;
    }
    const uint64_t target = (entry & rule.address) | ((entry & rule.address_high) << rule.address_high_shift);
    page.address = target | (address & rule.page_mask);
    page.space = (entry & rule.local) != 0 ? MemorySpace::local : MemorySpace::system;
    page.writable = (entry & rule.writable) == rule.writable;
    page.dirty = (entry & rule.dirty) == rule.dirty;
    page.type_index = static_cast<uint8_t>(((entry >> rule.type_shift) & rule.type_mask) |
                                           ((entry >> rule.pat_shift) & rule.pat_mask));
    return true;
  }

 private:
  static constexpr uint64_t kEntriesInRange = 512;

  struct Rule {
    uint64_t looked_at[2] = {};  // to read, to write
    uint64_t expected[2] = {};
    uint64_t address = 0;
    uint64_t address_high = 0;
    uint64_t page_mask = 0;  // address bits inside the page, above the frame's
    uint64_t local = 0;
    uint64_t writable = 0;
    uint64_t dirty = 0;
    uint64_t index_mask = 0;
    bool in_table = false;
    uint8_t address_high_shift = 0;
    uint8_t type_shift = 0;  // of PCD:PWT
    uint8_t type_mask = 0;
    uint8_t pat_shift = 0;
    uint8_t pat_mask = 0;
  };

  std::byte* entry_at(std::byte* table, const Rule& rule, uint64_t address) const {
    return table + ((address >> kFrameBits) & rule.index_mask) * (wide_ ? sizeof(uint64_t) : sizeof(uint32_t));
  }
  uint64_t load_entry(std::byte* at) const { return wide_ ? load_host<uint64_t>(at) : load_host<uint32_t>(at); }
  template <class T>
  static uint64_t load_host(std::byte* at) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).load(std::memory_order_relaxed);
  }
  void add_rule(const WalkContext& context, WalkCache::Kind kind, const EntryFormat& format, unsigned page_bits);

  bool usable_ = false;
  bool wide_ = true;  // entries of eight bytes
  Rule rules_[WalkCache::kKinds];
};

}  // namespace halogen
