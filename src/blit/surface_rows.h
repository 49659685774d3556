// Finds a part of a scan line as host bytes, piece by piece, through the surface's tiling and the page tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/graphics_address.h"
#include "blit/blit_job.h"
#include "memory/address_space.h"

namespace halogen::blit {

// Bytes of a scan line that are processed at once: whole pixels of every size, whole 8-pixel patterns.
inline constexpr uint32_t kChunk_B = 3840;

struct Piece {
  std::byte* bytes = nullptr;  // null: no memory; reads give zero, writes are dropped
  uint64_t count = 0;
};

// The pieces of at most one chunk, from left to right.
struct Pieces {
  static constexpr size_t kMax = kChunk_B / 16 + 2;  // tiles have runs of 16 bytes or more
  std::array<Piece, kMax> list;
  size_t count = 0;

  bool whole() const { return count == 1 && list[0].bytes != nullptr; }
};

// One surface in an address space.
class SurfaceRows {
 public:
  SurfaceRows(memory::AddressSpace& space, const Surface& surface, uint64_t address_mask, memory::Direction direction);

  // Finds all pieces of a part of a scan line. False: a fault stopped it.
  bool find(uint64_t x_B, uint64_t y, uint32_t bytes, Pieces& pieces);
  // Finds the first contiguous piece only, of at most `most` bytes. False: a fault stopped it.
  bool find_first(uint64_t x_B, uint64_t y, uint64_t most, Piece& piece);

  // Returns a part of a linear surface's scan line that is in one page and maps without a fault. Null: the part crosses
  // a page or may fault.
  std::byte* find_short(uint64_t x_B, uint64_t y, uint64_t bytes) {
    const uint64_t address = (surface_.base + y * static_cast<uint64_t>(surface_.pitch_B) + x_B) & mask_;
    const uint64_t inside = address % memory::kFrameBytes;
    if (bytes > memory::kFrameBytes - inside) {
      return nullptr;
    }
    std::byte* const frame = space_->page_at(wrapped_address(address), access_);
    return frame == nullptr ? nullptr : frame + inside;
  }

  // The graphics address of a byte, and the number of contiguous bytes from there on.
  struct Run {
    uint64_t address;
    uint64_t bytes;
  };
  Run run_at(uint64_t x_B, uint64_t y) const;
  // Returns the address range of a part of a scan line.
  AddressRange range_of(uint64_t x_B, uint64_t y, uint64_t bytes) const;
  // Returns the address range of a rectangle.
  AddressRange range_of(uint64_t x_B, uint64_t y, uint64_t bytes, uint64_t lines) const;
  // Returns whether lines of a rectangle may overlap each other.
  bool overlaps_itself(uint64_t x_B, uint64_t y, uint64_t bytes, uint64_t lines) const;

 private:
  // The lines of a row of tiles use the same pages.
  static constexpr size_t kKnownPages = 64;
  struct Known {
    uint64_t page;
    std::byte* frame;
  };

  bool frame_of(uint64_t address, std::byte*& frame) {
    const uint64_t page = address >> memory::kFrameBits;
    if (page == last_.page) {
      frame = last_.frame;
      return true;
    }
    return look_up(address, frame);
  }
  bool look_up(uint64_t address, std::byte*& frame);

  memory::AddressSpace* space_;
  Surface surface_;
  uint64_t mask_;
  memory::Access access_;
  int64_t tiles_ = 0;  // in a row of tiles
  Known last_;
  std::array<Known, kKnownPages> known_;  // of tiled surfaces
};

inline bool share_memory(const std::byte* a, const std::byte* b, uint64_t bytes) {
  return a < b + bytes && b < a + bytes;
}

void gather(const Pieces& pieces, std::byte* into);
void scatter(const Pieces& pieces, const std::byte* from);

}  // namespace halogen::blit
