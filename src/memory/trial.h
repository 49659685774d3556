// Accesses of a piece of work that may be taken back, so that several pieces can be tried side by side on threads of
// the host and end as if they had been done one after the other. What a trial writes it keeps to itself; of what it
// reads it remembers where. Afterwards, one after the other in their order, each trial is committed: unless somebody
// before it wrote what it read, its bytes go to memory. Else it is done again.
//
// A trial only does plain accesses to pages that are there. Everything else (a fault, a null page, tiled resources, an
// atomic operation, which the processor may watch) stops it, and the rest is done directly when its time has come: an
// access then goes to the real space at once, and what it writes is written down for those that follow.
//
// Whoever takes work back in another way puts an Accessor in its place (attempt.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "memory/address_space.h"
#include "memory/page_map.h"

namespace halogen::memory {

// A bit for each dword of a page.
using DwordMask = std::array<uint64_t, kFrameBytes / 4 / 64>;

// What a number of trials and direct accesses have written. Frames, not addresses, say where: two addresses may lead to
// the same memory.
class WrittenPages {
 public:
  void clear() { pages_.clear(); }
  void add(const std::byte* frame, size_t offset, size_t bytes);
  void add(const std::byte* frame, const DwordMask& mask);
  bool touches(const std::byte* frame, const DwordMask& mask);

 private:
  DwordMask& at(const std::byte* frame);

  PageMap<DwordMask> pages_;
};

class Trial {
 public:
  // Does the accesses instead.
  class Accessor {
   public:
    virtual ~Accessor() = default;
    // First host byte of a page; null: the access is stopped.
    virtual std::byte* page(uint64_t number, Access access) = 0;
  };
  explicit Trial(Accessor* accessor = nullptr) : accessor_(accessor) {}

  // Nothing is read or written so far. `finding` guards what several trials find out about pages.
  void begin(AddressSpace& real, std::mutex& finding);
  // Accesses are final from now on.
  void go_direct(WrittenPages& written) { written_ = &written; }
  bool is_direct() const { return written_ != nullptr; }

  // False: it conflicts with what was written, and nothing was done. Else memory and `written` have its bytes.
  bool commit(WrittenPages& written);

  // For the AddressSpace that belongs to it.
  bool transfer(uint64_t address, std::span<std::byte> host, Access access);
  bool transfer(uint64_t address, std::span<const std::byte> host, Access access);
  AddressSpace::View view(GpuVa address, Access access);

 private:
  static constexpr size_t kMostPages = 4096;
  static constexpr size_t kMostBlocks = 1024;

  // The bytes of a page that were written.
  struct Block {
    std::array<uint64_t, kFrameBytes / 64> mask;
    std::array<std::byte, kFrameBytes> bytes;
  };
  struct Page {
    std::byte* frame;
    Block* block;  // null: nothing was written
    DwordMask read;
  };
  // A page by its address.
  struct Place {
    uint64_t number;
    Page* page;
    bool writable;
  };
  struct Touch {
    uint64_t number;
    bool write;
    const std::byte* frame;
  };

  Place* find(uint64_t address);
  bool prepare_write(Place& place);
  std::byte* look_up(uint64_t number, Access access);
  void note_write(uint64_t address, size_t bytes);
  static void read_part(Page& page, size_t offset, std::span<std::byte> host);
  static void write_part(Page& page, size_t offset, std::span<const std::byte> host);
  static void write_back(const Page& page, WrittenPages& written);
  bool same_pages();

  Accessor* accessor_;
  AddressSpace* real_ = nullptr;
  std::mutex* finding_ = nullptr;
  WrittenPages* written_ = nullptr;
  PageMap<Place> places_;
  PageMap<Page> pages_;  // by frame
  Place* last_ = nullptr;
  std::vector<Touch> touches_;  // in the order in which the real space is to see them
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t used_blocks_ = 0;
};

}  // namespace halogen::memory
