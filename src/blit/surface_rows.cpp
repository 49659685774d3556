#include "blit/surface_rows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace halogen::blit {
namespace {

constexpr uint64_t kNoPage = ~uint64_t{0};

}  // namespace

SurfaceRows::SurfaceRows(memory::AddressSpace& space, const Surface& surface, uint64_t address_mask,
                         memory::Direction direction)
    : space_(&space), surface_(surface), mask_(address_mask), access_{.direction = direction}, last_{kNoPage, nullptr} {
  if (surface.tile != nullptr) {
    // As in surface::SurfaceLayout for pitches that are not a whole number of tiles.
    const int64_t whole_tiles = surface.pitch_B / static_cast<int64_t>(surface.tile->pitch_width_B);
    tiles_ = whole_tiles != 0 ? whole_tiles : 1;
    for (Known& known : known_) {
      known.page = kNoPage;
    }
  }
}

SurfaceRows::Run SurfaceRows::run_at(uint64_t x_B, uint64_t y) const {
  if (surface_.tile == nullptr) {
    // Wraps as addresses do.
    return {surface_.base + y * static_cast<uint64_t>(surface_.pitch_B) + x_B, ~uint64_t{0}};
  }
  const surface::TilePattern& tile = *surface_.tile;
  const uint64_t number = (y >> tile.height_shift) * static_cast<uint64_t>(tiles_) + (x_B >> tile.width_shift);
  const uint64_t inside = surface_.tile == &surface::kTileX ? (y & 7) << 9 | (x_B & 511)
                                                            : tile.offset(tile.x_in_tile(x_B), tile.y_in_tile(y), 0);
  return {surface_.base + (number << tile.bytes_shift) + inside, tile.run_B - x_B % tile.run_B};
}

AddressRange SurfaceRows::range_of(uint64_t x_B, uint64_t y, uint64_t bytes) const {
  const uint64_t first = run_at(x_B, y).address;
  if (surface_.tile == nullptr) {
    return {first, bytes};
  }
  // Whole tiles, counted from the base.
  const uint64_t inside = surface_.tile->bytes - 1;
  const uint64_t last = run_at(x_B + bytes - 1, y).address;
  const uint64_t begin = (first - surface_.base) & ~inside;
  const uint64_t end = ((last - surface_.base) | inside) + 1;
  return {surface_.base + begin, end - begin};
}

AddressRange SurfaceRows::range_of(uint64_t x_B, uint64_t y, uint64_t bytes, uint64_t lines) const {
  const AddressRange a = range_of(x_B, y, bytes);
  const AddressRange b = range_of(x_B, y + lines - 1, bytes);
  const bool upward = static_cast<int64_t>(b.first - a.first) < 0;
  const AddressRange& low = upward ? b : a;
  const AddressRange& high = upward ? a : b;
  return {low.first, high.first + high.bytes - low.first};
}

bool SurfaceRows::overlaps_itself(uint64_t x_B, uint64_t y, uint64_t bytes, uint64_t lines) const {
  if (lines < 2) {
    return false;
  }
  if (range_of(x_B, y, bytes, lines).bytes - 1 > mask_) {
    return true;  // wraps at the end of the address range
  }
  if (surface_.tile == nullptr) {
    return static_cast<uint64_t>(std::abs(surface_.pitch_B)) < bytes;
  }
  const unsigned shift = surface_.tile->width_shift;
  const uint64_t columns = ((x_B + bytes - 1) >> shift) - (x_B >> shift) + 1;
  return static_cast<uint64_t>(std::abs(tiles_)) < columns;
}

// Finds the host frame of an address. False: stopped by a fault. Unmapped pages are looked up again at each access, so
// that each access is reported.
bool SurfaceRows::look_up(uint64_t address, std::byte*& frame) {
  const uint64_t page = address >> memory::kFrameBits;
  Known* const known = surface_.tile == nullptr ? nullptr : &known_[page % kKnownPages];
  if (known != nullptr && known->page == page) {
    last_ = *known;
    frame = known->frame;
    return true;
  }
  frame = space_->page_at(wrapped_address(address), access_);
  if (frame == nullptr) {
    const memory::AddressSpace::View view = space_->view(wrapped_address(address), access_);
    if (!ok(view.result)) {
      return false;
    }
    if (view.bytes.empty()) {
      return true;
    }
    frame = view.bytes.data() - (address & (memory::kFrameBytes - 1));
  }
  last_ = {page, frame};
  if (known != nullptr) {
    *known = last_;
  }
  return true;
}

bool SurfaceRows::find_first(uint64_t x_B, uint64_t y, uint64_t most, Piece& piece) {
  const Run run = run_at(x_B, y);
  uint64_t address = run.address & mask_;
  most = std::min(most, run.bytes);
  if (const uint64_t to_wrap = mask_ - address; most - 1 > to_wrap) {
    most = to_wrap + 1;
  }
  std::byte* frame = nullptr;
  if (!frame_of(address, frame)) {
    return false;
  }
  const uint64_t offset = address & (memory::kFrameBytes - 1);
  piece.bytes = frame == nullptr ? nullptr : frame + offset;
  piece.count = std::min(most, memory::kFrameBytes - offset);
  while (piece.count < most && frame != nullptr) {
    address += memory::kFrameBytes;
    std::byte* const next =
        space_->page_at(wrapped_address(address), access_);  // a fault is raised when the page is accessed in order
    if (next != frame + memory::kFrameBytes) {
      break;
    }
    frame = next;
    last_ = {address >> memory::kFrameBits, frame};
    piece.count += std::min(most - piece.count, memory::kFrameBytes);
  }
  return true;
}

bool SurfaceRows::find(uint64_t x_B, uint64_t y, uint32_t bytes, Pieces& pieces) {
  pieces.count = 0;
  while (bytes != 0) {
    Piece piece;
    if (!find_first(x_B, y, bytes, piece)) {
      return false;
    }
    Piece* const last = pieces.count == 0 ? nullptr : &pieces.list[pieces.count - 1];
    const bool joins = last != nullptr &&
                       (piece.bytes == nullptr ? last->bytes == nullptr
                                               : last->bytes != nullptr && last->bytes + last->count == piece.bytes);
    if (joins) {
      last->count += piece.count;
    } else {
      pieces.list[pieces.count++] = piece;
    }
    x_B += piece.count;
    bytes -= static_cast<uint32_t>(piece.count);
  }
  return true;
}

void gather(const Pieces& pieces, std::byte* into) {
  for (size_t i = 0; i < pieces.count; ++i) {
    const Piece& piece = pieces.list[i];
    if (piece.bytes != nullptr) {
      std::memcpy(into, piece.bytes, piece.count);
    } else {
      std::memset(into, 0, piece.count);
    }
    into += piece.count;
  }
}

void scatter(const Pieces& pieces, const std::byte* from) {
  for (size_t i = 0; i < pieces.count; ++i) {
    const Piece& piece = pieces.list[i];
    if (piece.bytes != nullptr) {
      std::memcpy(piece.bytes, from, piece.count);
    }
    from += piece.count;
  }
}

}  // namespace halogen::blit
