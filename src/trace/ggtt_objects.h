// Tells memory apart that some writers of traces and TBX clients give the same addresses on parts with local memory:
// pages behind the global table (ring, status page, context image), ordinary pages in local memory, and system memory.
// What is known: an ordinary page comes right after the page table entry that points at it, and that entry says in
// which memory the page lies. A page that was written before the global table pointed at it becomes such an object when
// it does, unless it is an ordinary page. For reads without a memory type: whoever reads takes the same pieces of pages
// that he wrote; pages of one allocation are read one after the other, from its first page on, and an allocation starts
// where the place of the page table entries does not go on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "memory/page_format.h"

namespace halogen::trace {

class GgttObjects {
 public:
  enum class Pool : uint8_t { system, local };

  explicit GgttObjects(const memory::PageFormats& formats);

  // Entries written to the global table. Gives the pages that became objects by it: what they hold was written before.
  std::vector<uint64_t> note_global_entries(std::span<const std::byte> data);
  // A write to memory: true when it belongs to an object behind the global table.
  bool take_local_write(uint64_t address, std::span<const std::byte> data) {
    return take_write(Pool::local, address, data);
  }
  bool take_system_write(uint64_t address, std::span<const std::byte> data) {
    return take_write(Pool::system, address, data);
  }
  // A read that says which memory it means: true when it belongs to such an object.
  bool is_object(Pool pool, uint64_t address) const {
    return is_backing(address / kPageBytes) && !known_[static_cast<size_t>(pool)].pages.contains(address / kPageBytes);
  }
  // A read inside a page that does not say which memory it means.
  Pool guess_read(uint64_t address, size_t bytes);

 private:
  static constexpr uint64_t kPageBytes = 4096;

  // A part of a page as it was written at once.
  struct Piece {
    uint64_t address = 0;
    size_t bytes = 0;  // 0: none
    bool operator==(const Piece&) const = default;
  };
  static constexpr size_t kMaxPieces = 8;  // of a page that are remembered, those that came last
  struct Pieces {
    std::array<Piece, kMaxPieces> all;
    size_t next = 0;
  };
  struct Known {
    std::unordered_map<uint64_t, Pieces> pages;  // that hold data
    std::unordered_set<uint64_t> starts;         // first pages of allocations
    bool has(const Piece& piece) const;
    void add(const Piece& piece);
  };
  struct Leaf {
    uint64_t page;
    Pool pool;
    bool operator==(const Leaf&) const = default;
  };

  bool take_write(Pool pool, uint64_t address, std::span<const std::byte> data);
  bool is_backing(uint64_t page) const;
  void note_entries(uint64_t address, std::span<const std::byte> data);
  void note_data(const Leaf& leaf, const Piece& piece);
  Pool decide(const Piece& piece) const;
  Known& known(Pool pool) { return known_[static_cast<size_t>(pool)]; }
  const Known& known(Pool pool) const { return known_[static_cast<size_t>(pool)]; }

  const memory::EntryFormat* global_;  // null: the device has no such tables
  const memory::EntryFormat* process_;
  std::unordered_map<uint64_t, uint64_t> backing_;  // physical page number -> entry of the global table
  std::vector<Leaf> recent_;                        // what the last page table write points at
  uint64_t recent_at_ = 0;                          // where that entry lies
  uint64_t data_at_ = 0;                            // the entry of the last page of data
  std::array<Known, 2> known_;
  std::optional<Leaf> last_read_;
};

}  // namespace halogen::trace
