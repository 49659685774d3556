// Writes whole groups of lanes to a target of four 8-bit normalised channels. The operations and their operands are
// those of TargetWriter::write for a single pixel, lane by lane, so that the compiler can use vectors.
#include "pipe3d/output/target_group.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

#include "pipe3d/output/target_writer.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kSquareLanes = 0xf;

// Returns the value of a byte, rounded once.
constexpr float byte_value(uint32_t byte) {
  return static_cast<float>(static_cast<int32_t>(byte)) / 255.0f;
}
static_assert([] {
  for (uint32_t i = 0; i < 256; ++i) {
    if (byte_value(i) != static_cast<float>(static_cast<double>(i) / 255.0)) {
      return false;
    }
  }
  return true;
}());

using Words = std::array<uint32_t, kGroupLanes>;

[[gnu::always_inline]] inline void pack_body(const GroupColours& colours, const std::array<uint8_t, 4>& shift,
                                             uint8_t has, Words& out) {
  out.fill(0);
  for (size_t c = 0; c < 4; ++c) {
    if ((has >> c & 1) == 0) {
      continue;
    }
    const std::array<float, kGroupLanes>& from = colours.component[c];
    for (size_t i = 0; i < kGroupLanes; ++i) {
      const float low = from[i] > 0.0f ? from[i] : 0.0f;
      const float value = low < 1.0f ? low : 1.0f;
      const auto steps = static_cast<uint32_t>(static_cast<int32_t>(static_cast<double>(value) * 255.0 + 0.5));
      out[i] |= steps << shift[c];
    }
  }
}

[[gnu::always_inline]] inline void unpack_body(const Words& words, const std::array<uint8_t, 4>& shift, uint8_t has,
                                               GroupColours& out) {
  for (size_t c = 0; c < 4; ++c) {
    std::array<float, kGroupLanes>& to = out.component[c];
    if ((has >> c & 1) == 0) {
      to.fill(c == 3 ? 1.0f : 0.0f);
      continue;
    }
    for (size_t i = 0; i < kGroupLanes; ++i) {
      to[i] = byte_value(words[i] >> shift[c] & 0xff);
    }
  }
}

[[gnu::always_inline]] inline void blend_body(const Blender& blender, const std::array<uint8_t, 4>& shift, uint8_t has,
                                              const GroupColours& source, const Words& old, GroupColours& result) {
  GroupColours target;
  unpack_body(old, shift, has, target);
  blender.blend_group(source, target, result);
}

struct Routines {
  void (*pack)(const GroupColours&, const std::array<uint8_t, 4>&, uint8_t, Words&);
  void (*blend)(const Blender&, const std::array<uint8_t, 4>&, uint8_t, const GroupColours&, const Words&,
                GroupColours&);
};

void pack(const GroupColours& colours, const std::array<uint8_t, 4>& shift, uint8_t has, Words& out) {
  pack_body(colours, shift, has, out);
}
void blend(const Blender& blender, const std::array<uint8_t, 4>& shift, uint8_t has, const GroupColours& source,
           const Words& old, GroupColours& result) {
  blend_body(blender, shift, has, source, old, result);
}

#ifdef __x86_64__
// Adding 2^23 rounds to an integer. A tie, where the rounding rule matters, occurs only for 127.5, which is rounded up
// to the even number.
[[gnu::target("avx2,fma")]] void pack_wide(const GroupColours& colours, const std::array<uint8_t, 4>& shift,
                                           uint8_t has, Words& out) {
  constexpr size_t kVector = 8;
  const __m256 large = _mm256_set1_ps(8388608.0f);
  const __m256i byte = _mm256_set1_epi32(0xff);
  for (size_t first = 0; first < kGroupLanes; first += kVector) {
    __m256i words = _mm256_setzero_si256();
    for (size_t c = 0; c < 4; ++c) {
      if ((has >> c & 1) == 0) {
        continue;
      }
      const __m256 from = _mm256_load_ps(&colours.component[c][first]);
      const __m256 value = _mm256_min_ps(_mm256_max_ps(from, _mm256_setzero_ps()), _mm256_set1_ps(1.0f));
      const __m256 steps = _mm256_fmadd_ps(value, _mm256_set1_ps(255.0f), large);
      words = _mm256_or_si256(
          words, _mm256_sll_epi32(_mm256_and_si256(_mm256_castps_si256(steps), byte), _mm_cvtsi32_si128(shift[c])));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&out[first]), words);
  }
}
// Blends without fused operations, which would round differently.
[[gnu::target("avx2")]] void blend_wide(const Blender& blender, const std::array<uint8_t, 4>& shift, uint8_t has,
                                        const GroupColours& source, const Words& old, GroupColours& result) {
  blend_body(blender, shift, has, source, old, result);
}
#endif

const Routines& routines() {
  static constexpr Routines kPlain{pack, blend};
#ifdef __x86_64__
  static constexpr Routines kWide{pack_wide, blend_wide};
  static const bool wide = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return wide ? kWide : kPlain;
#else
  return kPlain;
#endif
}

}  // namespace

bool TargetWriter::takes_groups() const {
  return way_ == Way::bytes4 && plane_.samples() == 1 && !alpha_to_one_ && !blender_.uses_second();
}

void TargetWriter::write_group(const PixelGroupPlace& place, const GroupColours& colours) {
  std::array<PixelPlane::Rows, kGroupLanes / 4> rows{};
  const unsigned squares = std::min(place.lanes, kGroupLanes) / 4;
  uint32_t inside = 0;  // lanes of squares that are completely accessible
  for (unsigned i = 0; i < squares; ++i) {
    if ((place.live >> (4 * i) & kSquareLanes) != 0) {
      rows[i] = plane_.square(place.squares[i].x, place.squares[i].y, place.layer, memory::Direction::write);
      inside |= rows[i].first != nullptr ? kSquareLanes << (4 * i) : 0;
    }
  }
  Words packed;
  Words old{};
  if (reads_) {
    for (unsigned i = 0; i < squares; ++i) {
      if ((inside >> (4 * i) & 1) != 0) {
        std::memcpy(&old[4 * i], rows[i].first, 8);
        std::memcpy(&old[4 * i + 2], rows[i].second, 8);
      }
    }
  }
  if (blender_.blends()) {
    GroupColours blended;
    routines().blend(blender_, shift_, has_, colours, old, blended);
    routines().pack(blended, shift_, has_, packed);
  } else {
    routines().pack(colours, shift_, has_, packed);
  }
  if (reads_) {
    for (size_t i = 0; i < kGroupLanes; ++i) {
      packed[i] = (old[i] & ~mask4_) | (packed[i] & mask4_);
    }
  }
  for (unsigned i = 0; i < squares; ++i) {
    const uint32_t live = place.live >> (4 * i) & kSquareLanes;
    if ((inside >> (4 * i) & 1) == 0) {
      write_lanes(place, colours, live << (4 * i));
      continue;
    }
    store_pair(rows[i].first, &packed[4 * i], live & 3);
    store_pair(rows[i].second, &packed[4 * i + 2], live >> 2);
  }
}

// Stores two adjacent pixels.
void TargetWriter::store_pair(std::byte* to, const uint32_t* pixels, uint32_t live) {
  switch (live) {
    case 3:
      std::memcpy(to, pixels, 8);
      break;
    case 2:
      std::memcpy(to + 4, pixels + 1, 4);
      break;
    case 1:
      std::memcpy(to, pixels, 4);
      break;
    default:
      break;
  }
}

// Writes lanes one by one: squares at an edge of the target, or in a page that is not directly accessible.
void TargetWriter::write_lanes(const PixelGroupPlace& place, const GroupColours& colours, uint32_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(lanes));
    Colour colour{};
    for (size_t c = 0; c < 4; ++c) {
      colour[c] = std::bit_cast<uint32_t>(colours.component[c][i]);
    }
    const Square& square = place.squares[i / 4];
    const auto column = static_cast<int32_t>(i & 1);
    const auto row = static_cast<int32_t>(i >> 1 & 1);
    write({square.x + column, square.y + row, place.layer}, 1, colour, {});
  }
}

}  // namespace halogen::pipe3d
