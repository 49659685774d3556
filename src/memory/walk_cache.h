// Caches the upper levels of a walk: the page table that serves a 2 MB range. With it a TLB miss costs one entry load
// instead of four. Entries are dropped with the TLBs. A new page table needs no invalidation, because nothing is cached
// for an entry that is not present. Beside the position for the walker there may be a shortcut: the host address of the
// range's 512 page table entries, or the large page that covers it (quick_walk.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory/walker.h"

namespace halogen::memory {

class WalkCache {
 public:
  static constexpr unsigned kRangeBits = 21;
  static constexpr uint64_t kPagesInRange = uint64_t{1} << (kRangeBits - kFrameBits);

  struct Entry {
    uint64_t range = ~uint64_t{0};  // graphics address >> kRangeBits
    WalkPosition position;          // before the last level
  };
  // The meaning of a shortcut's value.
  enum class Kind : uint8_t {
    none,
    table,         // `table`: host address of page table entries
    medium_table,  // the same, for 64 KB pages
    page_2m,       // `page`: the directory entry itself
    page_1g,
  };
  static constexpr size_t kKinds = 8;
  struct Shortcut {
    uint64_t range = ~uint64_t{0};
    Kind kind = Kind::none;
    union {
      const std::byte* table;
      uint64_t page = 0;
    };
  };
  // The most common shortcut: entries of eight bytes, aligned. An empty one has a table of zeros.
  struct Table {
    uint64_t first_page;  // graphics address >> 12
    const uint64_t* entries;
  };

  WalkCache() = default;
  WalkCache(const WalkCache&) = delete;
  WalkCache& operator=(const WalkCache&) = delete;

  // Returns the only table that may serve the page. The table serves kPagesInRange pages from `first_page` on.
  const Table& table_at(uint64_t page) const { return tables_[page / kPagesInRange % kEntries]; }
  std::optional<Shortcut> find_shortcut(uint64_t address) const;
  const Entry* find(uint64_t address) const;

  void fill(const Entry& entry);
  void fill_shortcut(const Shortcut& shortcut);
  void fill_table(uint64_t range, const uint64_t* entries);
  // Drops all entries, in a time proportional to the number of filled ones.
  void clear();

 private:
  static constexpr size_t kEntries = 2048;

  struct Tables : std::array<Table, kEntries> {};
  static const Tables& no_tables();
  size_t use(uint64_t range);
  bool knows(const Table& table, uint64_t range) const;

  const Table* tables_ = no_tables().data();  // own_tables_ after the first fill
  std::unique_ptr<Tables> own_tables_;
  std::vector<Entry> positions_;
  std::vector<Shortcut> shortcuts_;
  std::array<uint64_t, kEntries / 64> used_{};  // one bit per index that is filled
};

}  // namespace halogen::memory
