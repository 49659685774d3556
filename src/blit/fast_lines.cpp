#include "blit/fast_lines.h"

#include <algorithm>
#include <cstring>

#include "blit/raster_op.h"
#include "surface/tile_copy_kernels.h"

namespace halogen::blit {
namespace {

using surface::kernels::load;
using surface::kernels::Oword;
using surface::kernels::store;

constexpr uint8_t kRopZeros = 0x00;
constexpr uint8_t kRopOnes = 0xff;
constexpr uint64_t kStreamFrom_B = 4 << 20;  // as in surface/tile_copy.cpp

// `color` repeats after 16 bytes and is there twice; the first byte written is its byte `phase`.
template <bool kStream>
void fill_bytes(std::byte* to, size_t bytes, const std::byte* color, uint64_t phase) {
  if (bytes < sizeof(Oword)) {
    for (size_t i = 0; i < bytes; ++i) {
      to[i] = color[(phase + i) % 16];
    }
    return;
  }
  store<false>(to, load(color + phase % 16));
  size_t at = 16 - reinterpret_cast<uintptr_t>(to) % 16;
  const Oword block = load(color + (phase + at) % 16);
  for (; at + 64 <= bytes; at += 64) {
    store<kStream>(to + at, block);
    store<kStream>(to + at + 16, block);
    store<kStream>(to + at + 32, block);
    store<kStream>(to + at + 48, block);
  }
  for (; at + 16 <= bytes; at += 16) {
    store<false>(to + at, block);
  }
  store<false>(to + bytes - 16, load(color + (phase + bytes - 16) % 16));
}

}  // namespace

FastLines::~FastLines() {
  if (streams_) {
    surface::kernels::stream_fence();
  }
}

bool FastLines::choose(const BlitJob& job, uint64_t lines) {
  streams_ = surface::kernels::kCanStream && line_B_ * lines >= kStreamFrom_B;
  if (job.rop == kRopSource && job.source == SourceKind::color) {
    copies_ = true;
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
  const std::array<uint32_t, 4> pixel =
      pattern.kind == PatternKind::solid ? pattern.solid : std::array<uint32_t, 4>{pattern.colors.background, 0, 0, 0};
  for (size_t at = 0; at < color_.size(); at += job.pixel_B) {
    std::memcpy(color_.data() + at, pixel.data(), job.pixel_B);
  }
  return true;
}

bool FastLines::fill(uint64_t y) {
  for (uint64_t at = 0; at < line_B_;) {
    Piece piece;
    if (!destination_.find_first(x_B_ + at, y, line_B_ - at, piece)) {
      return false;
    }
    if (piece.bytes != nullptr) {
      streams_ ? fill_bytes<true>(piece.bytes, piece.count, color_.data(), at)
               : fill_bytes<false>(piece.bytes, piece.count, color_.data(), at);
    }
    at += piece.count;
  }
  return true;
}

bool FastLines::copy(uint64_t y, uint64_t source_y) {
  Piece to;
  Piece from;
  for (uint64_t at = 0; at < line_B_;) {
    if (to.count == 0 && !destination_.find_first(x_B_ + at, y, line_B_ - at, to)) {
      return false;
    }
    if (from.count == 0 && !source_.find_first(source_x_B_ + at, source_y, line_B_ - at, from)) {
      return false;
    }
    const uint64_t bytes = std::min(to.count, from.count);
    if (to.bytes != nullptr) {
      if (from.bytes == nullptr) {
        std::memset(to.bytes, 0, bytes);
      } else if (streams_) {
        surface::kernels::stream_copy(to.bytes, from.bytes, bytes);
      } else {
        std::memcpy(to.bytes, from.bytes, bytes);
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

}  // namespace halogen::blit
