// Speculative accesses with private writes. Several pieces of work run on threads of the host at once and leave the
// memory that they would have left one after the other.
//
// A speculation buffers its writes and records which dwords it read. The pieces then commit in their order. A commit
// fails if an earlier piece wrote a dword that this one read; the piece is then rolled back and run again. Otherwise
// the buffered bytes go to memory.
//
// Only plain accesses to present pages are speculative. Anything else (a fault, a null page, a tiled resource, an
// atomic operation, which the CPU may observe) stops the piece. After all earlier pieces have committed, the
// piece continues directly. Its accesses reach the real space at once, and its writes are recorded for the pieces that
// follow.
//
// An Accessor replaces the buffering (in_place_speculation.h).
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

// One bit per dword of a page.
using DwordMask = std::array<uint64_t, kFrameBytes / 4 / 64>;

// The dwords that commits and direct accesses have written. The key is a frame, not an address, because two addresses
// may map the same memory.
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

class BufferedSpeculation {
 public:
  // Performs the accesses instead of the buffer.
  class Accessor {
   public:
    virtual ~Accessor() = default;
    // Returns the first host byte of a page. Null: the access stops.
    virtual std::byte* page(uint64_t number, Access access) = 0;
  };
  explicit BufferedSpeculation(Accessor* accessor = nullptr) : accessor_(accessor) {}

  // Forgets all accesses. `finding` serialises look-ups of pages in `real`.
  void begin(AddressSpace& real, std::mutex& finding);
  // Makes all further accesses direct.
  void go_direct(WrittenPages& written) { written_ = &written; }
  bool is_direct() const { return written_ != nullptr; }

  // Writes the buffered bytes to memory and adds them to `written`. False: conflict with `written`; memory is
  // unchanged.
  bool commit(WrittenPages& written);

  // Called by the AddressSpace that the speculation is set on.
  AccessResult transfer(uint64_t address, std::span<std::byte> host, Access access);
  AccessResult transfer(uint64_t address, std::span<const std::byte> host, Access access);
  AddressSpace::View view(GpuVa address, Access access);

 private:
  static constexpr size_t kMaxPages = 4096;
  static constexpr size_t kMaxBlocks = 1024;

  // The written bytes of a page.
  struct Block {
    std::array<uint64_t, kFrameBytes / 64> mask;
    std::array<std::byte, kFrameBytes> bytes;
  };
  struct Page {
    std::byte* frame;
    Block* block;  // null: not written
    DwordMask read;
  };
  // The page that a page number maps to.
  struct Mapping {
    uint64_t number;
    Page* page;
    bool writable;
  };
  struct Touch {
    uint64_t number;
    Direction direction;
    const std::byte* frame;
  };

  Mapping* find(uint64_t address);
  bool prepare_write(Mapping& mapping);
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
  PageMap<Mapping> mappings_;
  PageMap<Page> pages_;  // by frame
  Mapping* last_ = nullptr;
  std::vector<Touch> touches_;  // in the order in which the real space sees them at commit
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t used_blocks_ = 0;
};

}  // namespace halogen::memory
