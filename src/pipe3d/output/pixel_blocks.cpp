// The compression state of a plane's blocks: clears, resolves, and the change of a block before its bytes are used.
#include <algorithm>
#include <bit>

#include "pipe3d/geometry/screen_setup.h"
#include "pipe3d/output/pixel_plane.h"

namespace halogen::pipe3d {
namespace {

using surface::BlockState;

constexpr uint64_t kTile_B = 4096;
constexpr uint64_t kStep_B = 64;                       // no granule is smaller: 16 bytes by 4 rows
constexpr uint64_t kMaxUnaligned = uint64_t{1} << 24;  // elements; larger levels count as plain

}  // namespace

void PixelPlane::guard(std::span<const std::byte> clear, bool reads) {
  if (!guard_.begin(surface_, level_, element_B_, *space_)) {
    return;
  }
  has_states_ = true;
  guards_reads_ = reads;
  std::ranges::copy(clear.first(std::min(clear.size(), clear_.size())), clear_.begin());
  fills_lines_ = clear_line_.size() % element_B_ == 0 && base_ % kTile_B == 0;
  for (size_t at = 0; at + element_B_ <= clear_line_.size(); at += element_B_) {
    std::memcpy(clear_line_.data() + at, clear_.data(), element_B_);
  }
  slice_ = ~uint64_t{0};
}

// A layer whose granules belong to two blocks each becomes plain as a whole. Software avoids such levels.
void PixelPlane::settle_unaligned() {
  if (guard_.is_aligned()) {
    return;
  }
  if (uint64_t{guard_.width()} * guard_.height() <= kMaxUnaligned) {
    each_block({0, 0, static_cast<int32_t>(guard_.width()) - 1, static_cast<int32_t>(guard_.height()) - 1},
               [this](const BlockGuard::Block& block) {
                 if (!guard_.failed()) {
                   settle(block);
                 }
               });
  }
  stopped_ = stopped_ || guard_.failed();
  guard_.pause();
}

void PixelPlane::make_plain(uint64_t offset, size_t bytes) {
  const uint64_t end = std::min(offset + bytes, offset / kTile_B * kTile_B + kTile_B);
  for (uint64_t at = offset; at < end; at = at / kStep_B * kStep_B + kStep_B) {
    if (guard_.pending(at) && !settle_whole(at)) {
      if (const std::optional<BlockGuard::Block> block = guard_.block_at(at)) {
        settle(*block);
      }
    }
  }
}

// Returns the host bytes of a cache line. Null: not directly accessible.
std::byte* PixelPlane::writable_line(uint64_t address) {
  if (std::byte* const known = find_unguarded(address, kLine_B, memory::Direction::write)) {
    return known;
  }
  const std::span<std::byte> bytes = ask(address, memory::Direction::write);
  return bytes.size() >= kLine_B ? bytes.data() : nullptr;
}

// Fills the granule at an offset, which is a clear block. False: not all of it is directly accessible.
bool PixelPlane::fill_whole(uint64_t granule) {
  constexpr uint64_t kNextLine = 512;  // the second row of blocks in X tiles, the second column in Y tiles
  const bool two = guard_.granules().width_B() != surface::kTileY.run_B;
  std::byte* const first = fills_lines_ ? writable_line(base_ + granule) : nullptr;
  if (first == nullptr) {
    return false;
  }
  // Both lines lie in one tile, which is a page.
  std::memcpy(first, clear_line_.data(), kLine_B);
  if (two) {
    std::memcpy(first + kNextLine, clear_line_.data(), kLine_B);
  }
  return true;
}

// Does what settle() does for a block inside the level whose memory is directly accessible. False: it is not.
bool PixelPlane::settle_whole(uint64_t offset) {
  const std::optional<BlockGuard::Pending> block = guard_.pending_at(offset);
  if (!block || (block->clear && (!block->whole || !fill_whole(block->offset)))) {
    return false;
  }
  guard_.finish(*block);
  return true;
}

// Fills a clear block, and gives a block the state that a write leaves.
void PixelPlane::settle(const BlockGuard::Block& block) {
  const BlockState state = guard_.read(block);
  if (state == BlockState::clear) {
    fill_block(block);
  }
  const BlockState next = guard_.compresses() ? BlockState::compressed : BlockState::resolved;
  if (state != next) {
    guard_.write(block, next);
  }
}

void PixelPlane::fill_block(const BlockGuard::Block& block) {
  const uint32_t x_first = block.index.x * guard_.block_width();
  const uint32_t y_first = block.index.y * guard_.block_height();
  const uint32_t x_end = std::min(x_first + guard_.block_width(), guard_.width());
  const uint32_t y_end = std::min(y_first + guard_.block_height(), guard_.height());
  for (uint32_t y = y_first; y < y_end; ++y) {
    for (uint32_t x = x_first; x < x_end; ++x) {
      const uint64_t at = base_ + element_offset(x, y);
      if (std::byte* const to = find_unguarded(at, element_B_, memory::Direction::write)) {
        std::memcpy(to, clear_.data(), element_B_);
      } else {
        store_slowly(at, std::span(clear_).first(element_B_));
      }
    }
  }
}

// Returns the elements of a rectangle of pixels, limited to the level.
Rectangle PixelPlane::elements_of(const Rectangle& pixels) const {
  const int32_t across = beside_ && samples_ > 4 ? 4 : beside_ && samples_ > 1 ? 2 : 1;
  const int32_t down = beside_ && samples_ > 8 ? 4 : beside_ && samples_ > 2 ? 2 : 1;
  return {.x_min = std::max(pixels.x_min, 0) * across,
          .y_min = std::max(pixels.y_min, 0) * down,
          .x_max = static_cast<int32_t>(
              std::min<int64_t>((int64_t{pixels.x_max} + 1) * across, static_cast<int64_t>(guard_.width())) - 1),
          .y_max = static_cast<int32_t>(
              std::min<int64_t>((int64_t{pixels.y_max} + 1) * down, static_cast<int64_t>(guard_.height())) - 1)};
}

template <class Visit>
void PixelPlane::each_block(const Rectangle& elements, Visit visit) {
  if (elements.x_max < elements.x_min || elements.y_max < elements.y_min) {
    return;
  }
  const auto x_first = static_cast<uint32_t>(elements.x_min) / guard_.block_width();
  const auto x_last = static_cast<uint32_t>(elements.x_max) / guard_.block_width();
  const auto y_last = static_cast<uint32_t>(elements.y_max) / guard_.block_height();
  for (uint32_t y = static_cast<uint32_t>(elements.y_min) / guard_.block_height(); y <= y_last; ++y) {
    for (uint32_t x = x_first; x <= x_last && guard_.on(); ++x) {
      const uint32_t column = x * guard_.block_width();
      const uint32_t row = y * guard_.block_height();
      visit(guard_.block_of(column, row, element_offset(column, row)));
    }
  }
}

// Visits the parts of a rectangle in tiles of the level. `whole`: the part is all that the level has of the tile.
template <class Visit>
void PixelPlane::each_tile(const Rectangle& elements, Visit visit) {
  if (!guard_.has_tiles()) {
    visit(elements, false);
    return;
  }
  const auto width = static_cast<int32_t>(guard_.tile_width());
  const auto height = static_cast<int32_t>(guard_.tile_height());
  for (int32_t y = elements.y_min / height * height; y <= elements.y_max; y += height) {
    for (int32_t x = elements.x_min / width * width; x <= elements.x_max && guard_.on(); x += width) {
      const Rectangle tile{.x_min = x,
                           .y_min = y,
                           .x_max = std::min(x + width, static_cast<int32_t>(guard_.width())) - 1,
                           .y_max = std::min(y + height, static_cast<int32_t>(guard_.height())) - 1};
      const Rectangle part = intersect(tile, elements);
      visit(part, part == tile);
    }
  }
}

// Changes all blocks of a tile at once. False: not all of it is directly accessible; nothing may have changed.
bool PixelPlane::change_tile(uint64_t offset, BlockChange change) {
  if (change == BlockChange::clear || change == BlockChange::ambiguate) {
    return guard_.write_tile(offset, change == BlockChange::clear ? BlockState::clear : BlockState::resolved);
  }
  const std::optional<uint64_t> clear = guard_.clear_of_tile(offset);
  if (!clear) {
    return false;
  }
  for (uint64_t rest = *clear; rest != 0; rest &= rest - 1) {
    const auto granule = static_cast<unsigned>(std::countr_zero(rest));
    const surface::Granules& granules = guard_.granules();
    if (!settle_whole(offset + granules.offset(granules.column_of(granule), granules.row_of(granule)))) {
      return false;
    }
  }
  return (change == BlockChange::partial_resolve && guard_.compresses()) ||
         guard_.write_tile(offset, BlockState::resolved);
}

// Returns whether no block of a rectangle has to change before a write.
bool PixelPlane::is_plain(const Rectangle& pixels) {
  constexpr int32_t kMaxTiles = 64;  // tiles that are looked at
  const Rectangle elements = elements_of(pixels);
  if (!guard_.has_tiles() || elements.x_max < elements.x_min || elements.y_max < elements.y_min) {
    return false;
  }
  const auto width = static_cast<int32_t>(guard_.tile_width());
  const auto height = static_cast<int32_t>(guard_.tile_height());
  int32_t tiles = 0;
  for (int32_t y = elements.y_min / height; y <= elements.y_max / height; ++y) {
    for (int32_t x = elements.x_min / width; x <= elements.x_max / width; ++x) {
      const Rectangle tile{.x_min = x * width, .y_min = y * height};
      if (++tiles > kMaxTiles || guard_.pending_in_tile(offset_of(tile))) {
        return false;
      }
    }
  }
  return true;
}

// Chooses a layer. False: its blocks cannot be guarded, and are plain now.
bool PixelPlane::begin_change(uint32_t layer) {
  address(0, 0, layer, 0);  // sets origin_ to this layer
  return guard_.on();
}

// Fills a rectangle of pixels with the clear value.
void PixelPlane::fill_with_clear(const Rectangle& pixels, uint32_t layer) {
  std::array<std::byte, 16> all;
  all.fill(std::byte{0xff});
  fill(pixels, layer, std::span<const std::byte>(clear_).first(element_B_),
       std::span<const std::byte>(all).first(element_B_));
}

void PixelPlane::change_blocks(const Rectangle& pixels, uint32_t layer, BlockChange change) {
  if (!has_states_ || layer >= layers_) {
    return;
  }
  if (!begin_change(layer)) {
    if (change == BlockChange::clear) {
      fill_with_clear(pixels, layer);
    }
    return;
  }
  const Rectangle elements = elements_of(pixels);
  if (elements.x_max < elements.x_min || elements.y_max < elements.y_min) {
    return;
  }
  each_tile(elements, [&](const Rectangle& part, bool whole) {
    if (!whole || !change_tile(offset_of(part), change)) {
      change_each(part, change);
    }
  });
  guard_.store();
}

void PixelPlane::change_each(const Rectangle& elements, BlockChange change) {
  each_block(elements, [&](const BlockGuard::Block& block) {
    const BlockState state = guard_.read(block);
    BlockState next = BlockState::resolved;
    if (change == BlockChange::clear) {
      next = BlockState::clear;
    } else if (change == BlockChange::partial_resolve && guard_.compresses()) {
      next = state == BlockState::clear ? BlockState::compressed : state;
    }
    if (state == BlockState::clear && change != BlockChange::clear && change != BlockChange::ambiguate) {
      fill_block(block);
    }
    if (state != next && !guard_.write(block, next) && next == BlockState::clear) {
      fill_block(block);
    }
  });
}

void PixelPlane::clear_guarded(const Rectangle& pixels, uint32_t layer) {
  if (!has_states_ || layer >= layers_) {
    return;
  }
  if (!begin_change(layer)) {
    fill_with_clear(pixels, layer);
    return;
  }
  const Rectangle inside = elements_of(pixels);
  if (inside.x_max < inside.x_min || inside.y_max < inside.y_min) {
    return;
  }
  each_tile(inside, [&](const Rectangle& part, bool whole) {
    if (!whole || !change_tile(offset_of(part), BlockChange::clear)) {
      clear_each(part);
    }
  });
  guard_.store();
}

// Clears the elements of a rectangle.
void PixelPlane::clear_each(const Rectangle& inside) {
  each_block(inside, [&](const BlockGuard::Block& block) {
    const auto x = static_cast<int32_t>(block.index.x * guard_.block_width());
    const auto y = static_cast<int32_t>(block.index.y * guard_.block_height());
    const int32_t x_last =
        std::min(x + static_cast<int32_t>(guard_.block_width()), static_cast<int32_t>(guard_.width())) - 1;
    const int32_t y_last =
        std::min(y + static_cast<int32_t>(guard_.block_height()), static_cast<int32_t>(guard_.height())) - 1;
    if (x >= inside.x_min && y >= inside.y_min && x_last <= inside.x_max && y_last <= inside.y_max) {
      if (!guard_.write(block, BlockState::clear)) {
        fill_block(block);
      }
      return;
    }
    settle(block);
    for (int32_t row = std::max(y, inside.y_min); row <= std::min(y_last, inside.y_max); ++row) {
      for (int32_t column = std::max(x, inside.x_min); column <= std::min(x_last, inside.x_max); ++column) {
        store(base_ + element_offset(static_cast<uint32_t>(column), static_cast<uint32_t>(row)),
              std::span<const std::byte>(clear_).first(element_B_));
      }
    }
  });
}

}  // namespace halogen::pipe3d
