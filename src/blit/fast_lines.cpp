#include "blit/fast_lines.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "blit/raster_op.h"
#include "blit/wide_moves.h"
#include "memory/copy_bytes.h"

namespace halogen::blit {
namespace {

constexpr uint8_t kRopZeros = 0x00;
constexpr uint8_t kRopOnes = 0xff;
constexpr uint64_t kStreamFrom_B = 4 << 20;  // larger copies bypass the caches
constexpr uint64_t kShortLine_B = 1024;

#if defined(__x86_64__)
// Long runs: `rep stosq` writes whole cache lines without reading them first.
constexpr size_t kLongFill_B = 2048;
void fill_words(std::byte* to, size_t words, uint64_t value) {
  asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(value) : "memory");
}
#endif

// `color` repeats after 16 bytes and is stored twice; the first byte written is its byte `phase`.
void fill_bytes(std::byte* to, size_t bytes, const std::byte* color, uint64_t phase) {
  if (bytes < sizeof(Oword)) {
    for (size_t i = 0; i < bytes; ++i) {
      to[i] = color[(phase + i) % 16];
    }
    return;
  }
  store<false>(to, load(color + phase % 16));
  size_t at = 16 - reinterpret_cast<uintptr_t>(to) % 16;
  const std::byte* const turned = color + (phase + at) % 16;
  const Oword block = load(turned);
#if defined(__x86_64__)
  if (bytes >= kLongFill_B && std::memcmp(turned, turned + 8, 8) == 0) {
    uint64_t word = 0;
    std::memcpy(&word, turned, sizeof(word));
    fill_words(to + at, (bytes - at) / sizeof(word), word);
    at += (bytes - at) / 16 * 16;
  }
#endif
  for (; at + 64 <= bytes; at += 64) {
    store<false>(to + at, block);
    store<false>(to + at + 16, block);
    store<false>(to + at + 32, block);
    store<false>(to + at + 48, block);
  }
  for (; at + 16 <= bytes; at += 16) {
    store<false>(to + at, block);
  }
  store<false>(to + bytes - 16, load(color + (phase + bytes - 16) % 16));
}

}  // namespace

FastLines::~FastLines() {
  if (streams_) {
    stream_fence();
  }
}

bool FastLines::choose(const BlitJob& job, uint64_t lines, bool overlaps) {
  in_order_ = overlaps;
  streams_ = kCanStream && line_B_ * lines >= kStreamFrom_B;
  const auto pitch = static_cast<int64_t>(line_B_);
  joins_ = job.destination.tile == nullptr && job.destination.pitch_B == pitch;
  short_ = !joins_ && line_B_ <= kShortLine_B && job.destination.tile == nullptr;
  if (job.rop == kRopSource && job.source == SourceKind::color) {
    copies_ = true;
    joins_ = joins_ && job.source_surface.tile == nullptr && job.source_surface.pitch_B == pitch;
    target_tile_ = job.destination.tile;
    source_tile_ = job.source_surface.tile;
    short_ = !joins_ && line_B_ <= kShortLine_B && target_tile_ == nullptr && source_tile_ == nullptr;
    return true;
  }
  if (job.rop == kRopZeros || job.rop == kRopOnes) {
    color_.fill(job.rop == kRopZeros ? std::byte{0} : std::byte{0xff});
    return true;
  }
  const Pattern& pattern = job.pattern;
  const bool solid = pattern.kind == PatternKind::solid || (pattern.kind == PatternKind::mono && pattern.solid_select);
  if (job.rop != kRopPattern || !solid || 16 % job.pixel_B != 0) {
    return false;
  }
  joins_ = joins_ && line_B_ % job.pixel_B == 0;
  const std::array<uint32_t, 4> pixel =
      pattern.kind == PatternKind::solid ? pattern.solid : std::array<uint32_t, 4>{pattern.colors.background, 0, 0, 0};
  for (size_t at = 0; at < color_.size(); at += job.pixel_B) {
    std::memcpy(color_.data() + at, pixel.data(), job.pixel_B);
  }
  return true;
}

// Draws lines of a small rectangle until one crosses a page or may fault. Returns their number.
uint64_t FastLines::run_short(uint64_t y, uint64_t source_y, uint64_t lines) {
  uint64_t done = 0;
  for (; done < lines; ++done) {
    std::byte* const to = destination_.find_short(x_B_, y + done, line_B_);
    if (to == nullptr) {
      break;
    }
    if (!copies_) {
      fill_bytes(to, line_B_, color_.data(), 0);
    } else if (const std::byte* const from = source_.find_short(source_x_B_, source_y + done, line_B_)) {
      if (share_memory(to, from, line_B_)) [[unlikely]] {
        std::memmove(to, from, line_B_);
      } else {
        memory::copy_bytes(to, from, line_B_);
      }
    } else {
      break;
    }
  }
  return done;
}

uint64_t FastLines::run(uint64_t y, uint64_t source_y, uint64_t lines) {
  if (short_) {
    if (const uint64_t done = run_short(y, source_y, lines); done != 0) {
      return done;
    }
  }
  if (!copies_) {
    lines = joins_ ? lines : 1;
    return fill(y, lines * line_B_) ? lines : 0;
  }
  if (!in_order_ && (target_tile_ == &surface::kTileX) != (source_tile_ == &surface::kTileX) &&
      (target_tile_ == nullptr || source_tile_ == nullptr)) {
    if (const uint64_t done = copy_tiles(y, source_y, lines); done != 0) {
      return done;
    }
  }
  lines = joins_ ? lines : 1;
  return copy(y, source_y, lines * line_B_) ? lines : 0;
}

bool FastLines::fill(uint64_t y, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes;) {
    Piece piece;
    if (!destination_.find_first(x_B_ + at, y, bytes - at, piece)) {
      return false;
    }
    if (piece.bytes != nullptr) {
      fill_bytes(piece.bytes, piece.count, color_.data(), at);
    }
    at += piece.count;
  }
  return true;
}

void FastLines::copy_piece(std::byte* to, const std::byte* from, uint64_t bytes) const {
  if (share_memory(to, from, bytes)) [[unlikely]] {
    for (uint64_t at = 0; at < bytes; at += kChunk_B) {
      std::memmove(to + at, from + at, std::min<uint64_t>(bytes - at, kChunk_B));
    }
  } else if (streams_ && bytes < kStreamFrom_B) {  // a longer memcpy selects streaming stores itself
    stream_copy(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

bool FastLines::copy(uint64_t y, uint64_t source_y, uint64_t line_B) {
  Piece to;
  Piece from;
  for (uint64_t at = 0; at < line_B;) {
    if (to.count == 0 && !destination_.find_first(x_B_ + at, y, line_B - at, to)) {
      return false;
    }
    if (from.count == 0 && !source_.find_first(source_x_B_ + at, source_y, line_B - at, from)) {
      return false;
    }
    const uint64_t bytes = std::min(to.count, from.count);
    if (to.bytes != nullptr) {
      if (from.bytes == nullptr) {
        std::memset(to.bytes, 0, bytes);
      } else {
        copy_piece(to.bytes, from.bytes, bytes);
      }
      to.bytes += bytes;
    }
    from.bytes = from.bytes == nullptr ? nullptr : from.bytes + bytes;
    to.count -= bytes;
    from.count -= bytes;
    at += bytes;
  }
  return true;
}

// Copies between X tiles and linear memory one tile at a time, so that each page is accessed once. Returns 0 without
// copying if something is unmapped, if no whole line of the linear side is contiguous, or if pieces overlap; the lines
// are then copied one by one.
uint64_t FastLines::copy_tiles(uint64_t y, uint64_t source_y, uint64_t lines) {
  constexpr uint64_t kWidth_B = surface::kTileX.width_B;
  constexpr size_t kMaxTiles = 64 + 1;  // in a line of 32 KB
  const bool to_linear = target_tile_ == nullptr;
  SurfaceRows& linear = to_linear ? destination_ : source_;
  SurfaceRows& tiled = to_linear ? source_ : destination_;
  const uint64_t linear_y = to_linear ? y : source_y;
  const uint64_t tiled_y = to_linear ? source_y : y;
  const uint64_t linear_x = to_linear ? x_B_ : source_x_B_;
  const uint64_t tiled_x = to_linear ? source_x_B_ : x_B_;
  lines = std::min(lines, surface::kTileX.height - tiled_y % surface::kTileX.height);
  std::array<std::byte*, surface::kTileX.height> rows;
  for (uint64_t line = 0; line < lines; ++line) {
    Piece piece;
    if (!linear.find_first(linear_x, linear_y + line, line_B_, piece) || piece.bytes == nullptr ||
        piece.count != line_B_) {
      return 0;
    }
    rows[line] = piece.bytes;
    for (uint64_t other = 0; to_linear && other < line; ++other) {
      if (share_memory(rows[line], rows[other], line_B_)) {
        return 0;
      }
    }
  }
  std::array<Piece, kMaxTiles> tiles;
  size_t count = 0;
  for (uint64_t at = 0; at < line_B_; ++count) {
    if (count == kMaxTiles) {
      return 0;
    }
    Piece& piece = tiles[count];
    if (!tiled.find_first(tiled_x + at, tiled_y, line_B_ - at, piece) || piece.bytes == nullptr) {
      return 0;
    }
    const std::byte* const end = piece.bytes + (lines - 1) * kWidth_B + piece.count;
    for (uint64_t line = 0; line < lines; ++line) {
      if (piece.bytes < rows[line] + line_B_ && rows[line] < end) {
        return 0;
      }
    }
    at += piece.count;
  }
  uint64_t at = 0;
  for (const Piece& piece : std::span(tiles).first(count)) {
    for (uint64_t line = 0; line < lines; ++line) {
      std::byte* const in_tile = piece.bytes + line * kWidth_B;
      std::byte* const to = to_linear ? rows[line] + at : in_tile;
      const std::byte* const from = to_linear ? in_tile : rows[line] + at;
      if (streams_) {
        stream_copy(to, from, piece.count);
      } else {
        std::memcpy(to, from, piece.count);
      }
    }
    at += piece.count;
  }
  return lines;
}

}  // namespace halogen::blit
