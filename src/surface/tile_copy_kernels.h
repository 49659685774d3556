// The inner loops of tile_copy.cpp. The rectangle must lie within both sides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "surface/tiling.h"

namespace halogen::surface::kernels {

enum class Direction : bool { to_linear, to_surface };

// The constants of one copy. Rows and columns are those of the whole surface.
template <Direction kDirection>
struct Job {
  static constexpr bool kToSurface = kDirection == Direction::to_surface;
  using Surface = std::conditional_t<kToSurface, std::byte*, const std::byte*>;
  using Linear = std::conditional_t<kToSurface, const std::byte*, std::byte*>;

  Surface surface;
  Linear linear;  // of the byte at (x0, y0)
  uint64_t linear_pitch_B;
  const TilePattern* pattern;
  uint64_t tiles_per_row;
  SwizzleMode swizzle;
  uint64_t x0;
  uint64_t y0;  // including the rows of the layers above
  uint32_t z_bits;

  Linear linear_at(uint64_t x_B, uint64_t y) const { return linear + (y - y0) * linear_pitch_B + (x_B - x0); }
  uint64_t tile_at(uint64_t x_B, uint64_t y) const {
    return ((y >> pattern->height_shift) * tiles_per_row + (x_B >> pattern->width_shift)) << pattern->bytes_shift;
  }
  uint64_t row_bits(uint64_t y) const { return deposit_bits(pattern->y_in_tile(y), pattern->y_mask) | z_bits; }

  static void move(Surface surface_at, Linear at, size_t bytes) {
    if constexpr (kToSurface) {
      std::memcpy(surface_at, at, bytes);
    } else {
      std::memcpy(at, surface_at, bytes);
    }
  }
};

// [x_begin, x_end) by [y_begin, y_end).
struct Part {
  uint64_t x_begin;
  uint64_t x_end;
  uint64_t y_begin;
  uint64_t y_end;
  bool empty() const { return x_begin >= x_end || y_begin >= y_end; }
};

#if defined(__SSE2__)
constexpr bool kCanStream = true;
struct Oword {
  __m128i bits;
};
inline Oword load(const std::byte* from) {
  return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))};
}
template <bool kStream>
void store(std::byte* to, Oword value) {
  if constexpr (kStream) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), value.bits);
  } else {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value.bits);
  }
}
inline void stream_fence() {
  _mm_sfence();
}
#else
constexpr bool kCanStream = false;
struct Oword {
  std::array<std::byte, 16> bytes;
};
inline Oword load(const std::byte* from) {
  Oword value;
  std::memcpy(value.bytes.data(), from, 16);
  return value;
}
template <bool kStream>
void store(std::byte* to, const Oword& value) {
  std::memcpy(to, value.bytes.data(), 16);
}
inline void stream_fence() {}
#endif

inline bool is_line_aligned(const std::byte* at) {
  return reinterpret_cast<uintptr_t>(at) % 64 == 0;
}

// Copies like memcpy, but writes whole lines of the destination past the caches.
inline void stream_copy(std::byte* to, const std::byte* from, size_t bytes) {
  const size_t head = (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64;
  if (bytes < head + 64) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + 64 <= bytes; at += 64) {
    const Oword a = load(from + at);
    const Oword b = load(from + at + 16);
    const Oword c = load(from + at + 32);
    const Oword d = load(from + at + 48);
    store<true>(to + at, a);
    store<true>(to + at + 16, b);
    store<true>(to + at + 32, c);
    store<true>(to + at + 48, d);
  }
  std::memcpy(to + at, from + at, bytes - at);
}

// Copies any pattern, run by run.
template <uint32_t kRun, Direction kDirection>
void copy_runs(const Job<kDirection>& job, const Part& part) {
  const TilePattern& pattern = *job.pattern;
  for (uint64_t y = part.y_begin; y < part.y_end; ++y) {
    const uint64_t row = job.row_bits(y);
    uint64_t x = part.x_begin;
    uint32_t column = deposit_bits(pattern.x_in_tile(x), pattern.x_mask);
    while (x < part.x_end) {
      const uint64_t tile = job.tile_at(x, y);
      const uint64_t tile_end = (x | (pattern.width_B - 1)) + 1;
      const uint64_t end = tile_end < part.x_end ? tile_end : part.x_end;
      while (x < end) {
        const auto skip = static_cast<uint32_t>(x % kRun);
        const uint64_t left = end - x;
        const uint64_t bytes = left < kRun - skip ? left : kRun - skip;
        const auto at = job.surface + swizzle_bit6(job.swizzle, tile + (row | column));
        if (bytes == kRun) {
          Job<kDirection>::move(at, job.linear_at(x, y), kRun);
        } else {
          Job<kDirection>::move(at, job.linear_at(x, y), bytes);
        }
        x += bytes;
        // Increment the address bits of x: carry through the gaps of the mask.
        column = ((column | ~pattern.x_mask) + static_cast<uint32_t>(bytes)) & pattern.x_mask;
      }
    }
  }
}

// X tiles: a row of a tile is one run, split into lines if a swizzle moves them. Tile by tile.
template <bool kStream, Direction kDirection>
void copy_rows(const Job<kDirection>& job, const Part& part) {
  const TilePattern& pattern = *job.pattern;
  const uint64_t run = job.swizzle == SwizzleMode::none ? pattern.width_B : 64;
  for (uint64_t y = part.y_begin; y < part.y_end;) {
    const uint64_t y_end = std::min<uint64_t>((y | (pattern.height - 1)) + 1, part.y_end);
    for (uint64_t x = part.x_begin; x < part.x_end;) {
      const uint64_t x_end = std::min<uint64_t>((x | (pattern.width_B - 1)) + 1, part.x_end);
      const uint64_t tile = job.tile_at(x, y);
      for (uint64_t row = y; row < y_end; ++row) {
        const uint64_t tile_row = tile + job.row_bits(row);
        for (uint64_t at = x; at < x_end;) {
          const uint64_t end = std::min((at | (run - 1)) + 1, x_end);
          const auto surface = job.surface + swizzle_bit6(job.swizzle, tile_row + pattern.x_in_tile(at));
          if constexpr (!kStream) {
            Job<kDirection>::move(surface, job.linear_at(at, row), end - at);
          } else if constexpr (Job<kDirection>::kToSurface) {
            stream_copy(surface, job.linear_at(at, row), end - at);
          } else {
            stream_copy(job.linear_at(at, row), surface, end - at);
          }
          at = end;
        }
      }
      x = x_end;
    }
    y = y_end;
  }
}

// Patterns whose 64-byte line is 16 bytes by 4 rows: Y and all of Yf and Ys that have no slices below that.
constexpr bool has_oword_lines(const TilePattern& pattern) {
  return (pattern.x_mask & 0x3f) == 0x0f && (pattern.y_mask & 0x3f) == 0x30 && pattern.width_B >= 64;
}
constexpr uint64_t kBlockWidth_B = 64;
constexpr uint64_t kBlockHeight = 4;

// A block of 64 bytes by 4 rows: four lines of the surface and of linear memory, each accessed once.
template <bool kStream, Direction kDirection>
void copy_block(const Job<kDirection>& job, uint64_t tile_row, const uint32_t* columns,
                typename Job<kDirection>::Linear linear) {
  std::array<std::array<Oword, 4>, 4> block;  // [column][row]
  std::array<typename Job<kDirection>::Surface, 4> lines;
  for (size_t column = 0; column < 4; ++column) {
    lines[column] = job.surface + swizzle_bit6(job.swizzle, tile_row + columns[column]);
  }
  if constexpr (Job<kDirection>::kToSurface) {
    for (size_t row = 0; row < 4; ++row) {
      for (size_t column = 0; column < 4; ++column) {
        block[column][row] = load(linear + row * job.linear_pitch_B + column * 16);
      }
    }
    for (size_t column = 0; column < 4; ++column) {
      for (size_t row = 0; row < 4; ++row) {
        store<kStream>(lines[column] + row * 16, block[column][row]);
      }
    }
  } else {
    for (size_t column = 0; column < 4; ++column) {
      for (size_t row = 0; row < 4; ++row) {
        block[column][row] = load(lines[column] + row * 16);
      }
    }
    for (size_t row = 0; row < 4; ++row) {
      for (size_t column = 0; column < 4; ++column) {
        store<kStream>(linear + row * job.linear_pitch_B + column * 16, block[column][row]);
      }
    }
  }
}

// The part must consist of whole blocks. The order was found by measurement: bands of 16 rows when the linear side is
// read, so that the hardware prefetcher sees few streams; whole small tiles when the surface is read, with a software
// prefetch of the next tile line by line, because its lines are read out of order.
template <bool kStream, Direction kDirection>
void copy_blocks(const Job<kDirection>& job, const Part& part) {
  const TilePattern& pattern = *job.pattern;
  std::array<uint32_t, 64> columns;  // Ys is at most 1024 bytes wide
  for (uint32_t i = 0; i < pattern.width_B / 16; ++i) {
    columns[i] = deposit_bits(i * 16, pattern.x_mask);
  }
  std::array<uint32_t, 64> rows;  // of four; Ys is at most 256 rows high
  for (uint32_t i = 0; i < pattern.height / kBlockHeight; ++i) {
    rows[i] = deposit_bits(i * static_cast<uint32_t>(kBlockHeight), pattern.y_mask) | job.z_bits;
  }
  constexpr uint64_t kBand = Job<kDirection>::kToSurface ? 16 : 32;
  const uint64_t band = kBand < pattern.height ? kBand : pattern.height;
  for (uint64_t y = part.y_begin; y < part.y_end;) {
    const uint64_t next_band = (y | (band - 1)) + 1;
    const uint64_t y_end = next_band < part.y_end ? next_band : part.y_end;
    for (uint64_t x = part.x_begin; x < part.x_end;) {
      const uint64_t next_tile = (x | (pattern.width_B - 1)) + 1;
      const uint64_t x_end = next_tile < part.x_end ? next_tile : part.x_end;
      const uint64_t tile = job.tile_at(x, y);
      const bool ahead = !Job<kDirection>::kToSurface && pattern.bytes == 4096 && y_end - y == pattern.height &&
                         next_tile + pattern.width_B <= part.x_end;
      const std::byte* wanted = job.surface + tile + (ahead ? pattern.bytes : 0);
      for (uint64_t row = y; row < y_end; row += kBlockHeight) {
        const uint64_t tile_row = tile + rows[pattern.y_in_tile(row) / kBlockHeight];
        for (uint64_t at = x; at < x_end; at += kBlockWidth_B) {
          if (ahead) {
            for (unsigned line = 0; line < 4; ++line, wanted += 64) {
              __builtin_prefetch(wanted);
            }
          }
          copy_block<kStream>(job, tile_row, &columns[pattern.x_in_tile(at) / 16], job.linear_at(at, row));
        }
      }
      x = x_end;
    }
    y = y_end;
  }
}

}  // namespace halogen::surface::kernels
