// Distinguishes three kinds of memory to which some trace writers and TBX clients give the same addresses on parts with
// local memory: pages behind the global table (ring, status page, context image), ordinary pages in local memory, and
// system memory. Known facts: an ordinary page is written right after the page table entry that points at it, and that
// entry says which memory it is in. A page that was written before the global table pointed at it becomes a global
// object then, unless it is an ordinary page. For reads without a memory type: a client reads the same pieces of pages
// that it wrote; it reads the pages of one allocation in order, from the first on; an allocation starts where the
// addresses of the page table entries are not consecutive.
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

  // Notes entries written to the global table. Returns the pages that became objects; their content was written before.
  std::vector<uint64_t> note_global_entries(std::span<const std::byte> data);
  // Note a write to memory, and return whether it belongs to an object behind the global table.
  bool take_local_write(uint64_t address, std::span<const std::byte> data) {
    return take_write(Pool::local, address, data);
  }
  bool take_system_write(uint64_t address, std::span<const std::byte> data) {
    return take_write(Pool::system, address, data);
  }
  // Returns whether a read at this address, with a known memory type, reads an object behind the global table.
  bool is_object(Pool pool, uint64_t address) const {
    return is_backing(address / kPageBytes) && !known_[static_cast<size_t>(pool)].pages.contains(address / kPageBytes);
  }
  // Chooses the memory for a read within a page that does not name its memory.
  Pool guess_read(uint64_t address, size_t bytes);

 private:
  static constexpr uint64_t kPageBytes = 4096;

  // A part of a page that was written at once.
  struct Piece {
    uint64_t address = 0;
    size_t bytes = 0;  // 0: empty
    bool operator==(const Piece&) const = default;
  };
  static constexpr size_t kMaxPieces = 8;  // remembered pieces per page, the latest
  struct Pieces {
    std::array<Piece, kMaxPieces> all;
    size_t next = 0;
  };
  struct Known {
    std::unordered_map<uint64_t, Pieces> pages;  // pages that hold data
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
  std::unordered_map<uint64_t, uint64_t> backing_;  // page number -> entry of the global table
  std::vector<Leaf> recent_;                        // targets of the last page table write
  uint64_t recent_at_ = 0;                          // address of that entry
  uint64_t data_at_ = 0;                            // entry of the last data page
  std::array<Known, 2> known_;
  std::optional<Leaf> last_read_;
};

}  // namespace halogen::trace
