#include "blit/surface_rows.h"

#include <algorithm>
#include <cstring>

namespace halogen::blit {

SurfaceRows::Run SurfaceRows::run_at(uint64_t x_B, uint64_t y) const {
  const auto pitch = static_cast<uint64_t>(surface_.pitch_B);  // wraps as addresses do
  if (surface_.tile == nullptr) {
    return {surface_.base + y * pitch + x_B, ~uint64_t{0}};
  }
  const surface::TilePattern& tile = *surface_.tile;
  // As surface::SurfaceLayout has it for pitches that are no whole number of tiles.
  const int64_t whole_tiles = surface_.pitch_B / static_cast<int64_t>(tile.pitch_width_B);
  const auto tiles = static_cast<uint64_t>(whole_tiles != 0 ? whole_tiles : 1);
  const uint64_t number = (y >> tile.height_shift) * tiles + (x_B >> tile.width_shift);
  const uint64_t inside = tile.offset(tile.x_in_tile(x_B), tile.y_in_tile(y), 0);
  return {surface_.base + (number << tile.bytes_shift) + inside, tile.run_B - x_B % tile.run_B};
}

SurfaceRows::Range SurfaceRows::range_of(uint64_t x_B, uint64_t y, uint64_t bytes) const {
  const uint64_t first = run_at(x_B, y).address;
  if (surface_.tile == nullptr) {
    return {first, first + bytes};
  }
  const surface::TilePattern& tile = *surface_.tile;
  const uint64_t last = run_at(x_B + bytes - 1, y).address;
  return {first & ~uint64_t{tile.bytes - 1}, (last | (tile.bytes - 1)) + 1};
}

bool SurfaceRows::add(uint64_t address, uint32_t bytes, Pieces& pieces) {
  const Access access{.write = write_};
  while (bytes != 0) {
    const uint64_t page = address >> kFrameBits;
    const auto offset = static_cast<uint32_t>(address & (kFrameBytes - 1));
    const auto part = static_cast<uint32_t>(std::min<uint64_t>(bytes, kFrameBytes - offset));
    if (page != page_) {
      frame_ = space_->page_at(GpuVa{address}, access);
      if (frame_ == nullptr) {
        const AddressSpace::View view = space_->view(GpuVa{address}, access);
        if (view.stopped) {
          page_ = ~uint64_t{0};
          return false;
        }
        frame_ = view.bytes.empty() ? nullptr : view.bytes.data() - offset;
      }
      // Where there is nothing every access counts again.
      page_ = frame_ == nullptr ? ~uint64_t{0} : page;
    }
    std::byte* const bytes_at = frame_ == nullptr ? nullptr : frame_ + offset;
    Piece* const last = pieces.count == 0 ? nullptr : &pieces.list[pieces.count - 1];
    const bool joins =
        last != nullptr && (bytes_at == nullptr ? last->bytes == nullptr
                                                : last->bytes != nullptr && last->bytes + last->count == bytes_at);
    if (joins) {
      last->count += part;
    } else {
      pieces.list[pieces.count++] = {bytes_at, part};
    }
    address += part;
    bytes -= part;
  }
  return true;
}

bool SurfaceRows::find(uint64_t x_B, uint64_t y, uint32_t bytes, Pieces& pieces) {
  pieces.count = 0;
  while (bytes != 0) {
    const Run run = run_at(x_B, y);
    auto part = static_cast<uint32_t>(std::min<uint64_t>(bytes, run.bytes));
    const uint64_t address = run.address & mask_;
    part = static_cast<uint32_t>(std::min<uint64_t>(part, mask_ - address + 1 == 0 ? part : mask_ - address + 1));
    if (!add(address, part, pieces)) {
      return false;
    }
    x_B += part;
    bytes -= part;
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
