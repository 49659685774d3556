// A part of a scan line as bytes of the host: where a surface's tiling and the page tables put it, piece by piece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "blit/blit_job.h"
#include "memory/address_space.h"

namespace halogen::blit {

// So many bytes of a scan line are worked on at once: whole pixels of every size, whole 8-pixel patterns.
inline constexpr uint32_t kChunk_B = 3840;

struct Piece {
  std::byte* bytes = nullptr;  // null: no memory; reads give zero, writes are dropped
  uint32_t count = 0;
};

// The pieces of at most one chunk, from left to right.
struct Pieces {
  static constexpr size_t kMost = kChunk_B / 16 + 2;  // tiles have runs of 16 bytes or more
  std::array<Piece, kMost> list;
  size_t count = 0;

  bool whole() const { return count == 1 && list[0].bytes != nullptr; }
};

// One surface in an address space.
class SurfaceRows {
 public:
  SurfaceRows(AddressSpace& space, const Surface& surface, uint64_t address_mask, bool write)
      : space_(&space), surface_(surface), mask_(address_mask), write_(write) {}

  // False: stopped by a fault.
  bool find(uint64_t x_B, uint64_t y, uint32_t bytes, Pieces& pieces);

  // Graphics address of a byte, and how many after it follow in memory.
  struct Run {
    uint64_t address;
    uint64_t bytes;
  };
  Run run_at(uint64_t x_B, uint64_t y) const;
  // Addresses between which a part of a scan line lies.
  struct Range {
    uint64_t first;
    uint64_t end;
  };
  Range range_of(uint64_t x_B, uint64_t y, uint64_t bytes) const;

 private:
  bool add(uint64_t address, uint32_t bytes, Pieces& pieces);

  AddressSpace* space_;
  Surface surface_;
  uint64_t mask_;
  bool write_;
  uint64_t page_ = ~uint64_t{0};  // the last one found
  std::byte* frame_ = nullptr;
};

void gather(const Pieces& pieces, std::byte* into);
void scatter(const Pieces& pieces, const std::byte* from);

}  // namespace halogen::blit
