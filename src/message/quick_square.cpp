// Linear filters for the four pixels of a square at once, for normalised bytes and axes that repeat (with power-of-two
// sizes) or clamp. The operations and their operands are those of QuickTexture::linear, in one lane per pixel.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "message/quick_texture.h"

namespace halogen::message {

namespace {

constexpr uint64_t kSmall = uint64_t{1} << 30;  // limit of 32-bit offsets

}  // namespace

// Decides whether squares can be sampled at once. Called last by begin().
void QuickTexture::plan_squares() {
  squares_ = of_bytes_ && base_ % memory::kFrameBytes == 0 && (tiles_ != Tiles::none || pitch_ % 4 == 0);
  const uint64_t row_B = tiles_ == Tiles::none ? pitch_ : pitch_ * memory::kFrameBytes / (tiles_ == Tiles::x ? 8 : 32);
  for (const Level& level : std::span(levels_).first(levels_count_)) {
    for (const Axis& axis : level.axis) {
      squares_ = squares_ && ((axis.wrap == hw::TextureCoordinateMode::WRAP && std::has_single_bit(axis.size)) ||
                              axis.wrap == hw::TextureCoordinateMode::CLAMP);
    }
    const uint64_t rows = level.first_row + level.axis[1].size + surface::kTileY.height;
    squares_ = squares_ && rows < kSmall && row_B < kSmall && rows * row_B < kSmall &&
               level.first_x_B + uint64_t{level.axis[0].size} * 4 < kSmall / 32;
  }
}

#ifdef __x86_64__

namespace {

#define HALOGEN_SQUARE [[gnu::target("avx2"), gnu::always_inline]] static inline

struct Lanes {
  // Converts coordinates to steps of 1/256 texel, as whole() does. False: a step of a pixel in `live` does not fit.
  HALOGEN_SQUARE bool steps(const float* at, double size, double rounding, uint32_t live, __m128i& out) {
    const __m256d where = _mm256_mul_pd(_mm256_cvtps_pd(_mm_loadu_ps(at)), _mm256_set1_pd(size));
    const __m256d moved = _mm256_mul_pd(_mm256_sub_pd(where, _mm256_set1_pd(0.5)), _mm256_set1_pd(256.0));
    const __m256d cut = _mm256_floor_pd(_mm256_add_pd(moved, _mm256_set1_pd(rounding)));
    const __m256d absolute = _mm256_andnot_pd(_mm256_set1_pd(-0.0), cut);
    const __m256d fits = _mm256_cmp_pd(absolute, _mm256_set1_pd(1073741824.0), _CMP_LT_OQ);
    out = _mm256_cvtpd_epi32(cut);
    return (static_cast<uint32_t>(_mm256_movemask_pd(fits)) & live) == live;
  }
  HALOGEN_SQUARE __m256d weights(__m128i steps) {
    return _mm256_mul_pd(_mm256_cvtepi32_pd(_mm_and_si128(steps, _mm_set1_epi32(255))), _mm256_set1_pd(1.0 / 256.0));
  }
  HALOGEN_SQUARE __m128i wrapped(__m128i index, bool repeats, uint32_t size) {
    const __m128i last = _mm_set1_epi32(static_cast<int>(size - 1));
    return repeats ? _mm_and_si128(index, last) : _mm_max_epi32(_mm_min_epi32(index, last), _mm_setzero_si128());
  }
  HALOGEN_SQUARE __m128i bits(__m128i value, int mask) { return _mm_and_si128(value, _mm_set1_epi32(mask)); }
};

}  // namespace

// Offsets from the base and weights of the upper left, upper right, lower left and lower right texels of each pixel.
struct QuickTexture::SquareCorners {
  alignas(16) std::array<std::array<uint32_t, 4>, 4> offset;  // by corner, then by pixel
  alignas(32) std::array<std::array<double, 4>, 4> share;
  uint32_t apart = 0;  // pixels whose texels are in more than one page
};

[[gnu::target("avx2")]] bool QuickTexture::find_corners(const Level& level, const float* u, const float* v,
                                                        const TexelOffset& offset, uint32_t live,
                                                        SquareCorners& out) const {
  __m128i across;
  __m128i down;
  if (!Lanes::steps(u, level.axis[0].size, choice_.rounds[0] ? 0.5 : 0.0, live, across) ||
      !Lanes::steps(v, level.axis[1].size, choice_.rounds[1] ? 0.5 : 0.0, live, down)) {
    return false;
  }
  const __m128i one = _mm_set1_epi32(1);
  const __m128i x = _mm_add_epi32(_mm_srai_epi32(across, 8), _mm_set1_epi32(offset[0]));
  const __m128i y = _mm_add_epi32(_mm_srai_epi32(down, 8), _mm_set1_epi32(offset[1]));
  const __m128i first_x = _mm_set1_epi32(static_cast<int>(level.first_x_B));
  const __m128i first_y = _mm_set1_epi32(static_cast<int>(level.first_row));
  const bool repeats_x = level.axis[0].wrap == hw::TextureCoordinateMode::WRAP;
  const bool repeats_y = level.axis[1].wrap == hw::TextureCoordinateMode::WRAP;
  __m128i columns[2];
  __m128i rows[2];
  for (int i = 0; i < 2; ++i) {
    const __m128i column = Lanes::wrapped(i == 0 ? x : _mm_add_epi32(x, one), repeats_x, level.axis[0].size);
    const __m128i row = Lanes::wrapped(i == 0 ? y : _mm_add_epi32(y, one), repeats_y, level.axis[1].size);
    const __m128i x_B = _mm_add_epi32(first_x, _mm_slli_epi32(column, 2));
    const __m128i at = _mm_add_epi32(first_y, row);
    const __m128i pitch = _mm_set1_epi32(static_cast<int>(pitch_));
    switch (tiles_) {
      case Tiles::none:
        columns[i] = x_B;
        rows[i] = _mm_mullo_epi32(at, pitch);
        break;
      case Tiles::x:
        columns[i] = _mm_or_si128(_mm_slli_epi32(_mm_srli_epi32(x_B, 9), 12), Lanes::bits(x_B, 511));
        rows[i] = _mm_add_epi32(_mm_slli_epi32(_mm_mullo_epi32(_mm_srli_epi32(at, 3), pitch), 12),
                                _mm_slli_epi32(Lanes::bits(at, 7), 9));
        break;
      case Tiles::y:
        columns[i] = _mm_or_si128(_mm_slli_epi32(_mm_srli_epi32(x_B, 7), 12),
                                  _mm_or_si128(_mm_slli_epi32(Lanes::bits(x_B, 0x70), 5), Lanes::bits(x_B, 15)));
        rows[i] = _mm_add_epi32(_mm_slli_epi32(_mm_mullo_epi32(_mm_srli_epi32(at, 5), pitch), 12),
                                _mm_slli_epi32(Lanes::bits(at, 31), 4));
        break;
    }
  }
  const __m256d right = Lanes::weights(across);
  const __m256d below = Lanes::weights(down);
  const __m256d left = _mm256_sub_pd(_mm256_set1_pd(1.0), right);
  const __m256d above = _mm256_sub_pd(_mm256_set1_pd(1.0), below);
  const __m128i first = _mm_add_epi32(columns[0], rows[0]);
  __m128i apart = _mm_setzero_si128();
  for (size_t corner = 0; corner < 4; ++corner) {
    const __m128i at = _mm_add_epi32(columns[corner & 1], rows[corner >> 1]);
    apart = _mm_or_si128(apart, _mm_xor_si128(at, first));
    _mm_store_si128(reinterpret_cast<__m128i*>(out.offset[corner].data()), at);
    const __m256d share = _mm256_mul_pd((corner & 1) != 0 ? right : left, (corner >> 1) != 0 ? below : above);
    _mm256_store_pd(out.share[corner].data(), share);
  }
  const __m128i together = _mm_cmpeq_epi32(_mm_srli_epi32(apart, 12), _mm_setzero_si128());
  out.apart = ~static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(together))) & 0xf;
  return true;
}

// Loads the four texels of a pixel. False: a page is not directly accessible.
inline bool QuickTexture::load_corners(memory::AddressSpace& space, const SquareCorners& corners, unsigned pixel,
                                       LastPage& last, std::array<uint32_t, 4>& words) const {
  const auto frame_of = [&](uint32_t offset) {
    const uint64_t page = offset / memory::kFrameBytes;
    if (page != last.page) {
      last = {page, space.page_at(wrapped_address(base_ + page * memory::kFrameBytes), {})};
    }
    return last.frame;
  };
  if ((corners.apart >> pixel & 1) == 0) [[likely]] {
    const std::byte* const frame = frame_of(corners.offset[0][pixel]);
    if (frame == nullptr) {
      return false;
    }
    for (size_t corner = 0; corner < 4; ++corner) {
      std::memcpy(&words[corner], frame + corners.offset[corner][pixel] % memory::kFrameBytes, 4);
    }
    return true;
  }
  for (size_t corner = 0; corner < 4; ++corner) {
    words[corner] = 0;
    if (corners.share[corner][pixel] == 0.0) {
      continue;
    }
    const std::byte* const frame = frame_of(corners.offset[corner][pixel]);
    if (frame == nullptr) {
      return false;
    }
    std::memcpy(&words[corner], frame + corners.offset[corner][pixel] % memory::kFrameBytes, 4);
  }
  return true;
}

// Does the same for a surface with clear blocks. Their memory is not looked at; pages that nothing was written to may
// not exist.
[[gnu::noinline]] bool QuickTexture::load_clear_corners(memory::AddressSpace& space, const SquareCorners& corners,
                                                        unsigned pixel, LastPage& last,
                                                        std::array<uint32_t, 4>& words) const {
  if ((corners.apart >> pixel & 1) == 0 && !clear_blocks_->in_tile(corners.offset[0][pixel])) {
    return load_corners(space, corners, pixel, last, words);
  }
  uint32_t clear = 0;
  for (size_t corner = 0; corner < 4; ++corner) {
    clear |= clear_blocks_->at(corners.offset[corner][pixel]) ? 1u << corner : 0;
  }
  if (clear == 0) {
    return load_corners(space, corners, pixel, last, words);
  }
  for (size_t corner = 0; corner < 4; ++corner) {
    const uint32_t offset = corners.offset[corner][pixel];
    if ((clear >> corner & 1) != 0) {
      std::memcpy(&words[corner], clear_.data(), 4);
      continue;
    }
    const std::byte* const frame = space.page_at(wrapped_address(base_ + offset), {});
    if (frame == nullptr) {
      return false;
    }
    std::memcpy(&words[corner], frame + offset % memory::kFrameBytes, 4);
  }
  return true;
}

namespace {

// Returns the weighted sum of four texels, in the order of QuickTexture::add. Multiply and add are not fused.
HALOGEN_SQUARE __m256d mixed(const std::array<uint32_t, 4>& words, const std::array<std::array<double, 4>, 4>& share,
                             unsigned pixel) {
  const __m256 whole = _mm256_set1_ps(255.0f);
  __m256d sum = _mm256_setzero_pd();
  for (size_t i = 0; i < 4; i += 2) {
    const __m128i pair = _mm_setr_epi32(static_cast<int>(words[i]), static_cast<int>(words[i + 1]), 0, 0);
    const __m256 values = _mm256_div_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(pair)), whole);
    const __m256d first = _mm256_cvtps_pd(_mm256_castps256_ps128(values));
    const __m256d second = _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1));
    sum = _mm256_add_pd(sum, _mm256_mul_pd(_mm256_set1_pd(share[i][pixel]), first));
    sum = _mm256_add_pd(sum, _mm256_mul_pd(_mm256_set1_pd(share[i + 1][pixel]), second));
  }
  return sum;
}

}  // namespace

[[gnu::target("avx2")]] bool QuickTexture::filter_square(memory::AddressSpace& space, const float* u, const float* v,
                                                         const TexelOffset& offset, uint32_t live,
                                                         SquareTexels& out) const {
  SquareCorners near;
  SquareCorners far;
  if (!find_corners(levels_[choice_.near], u, v, offset, live, near) ||
      (choice_.both && !find_corners(levels_[choice_.near + 1], u, v, offset, live, far))) {
    return false;
  }
  LastPage last_near;
  LastPage last_far;
  for (uint32_t rest = live; rest != 0; rest &= rest - 1) {
    const auto pixel = static_cast<unsigned>(std::countr_zero(rest));
    std::array<uint32_t, 4> words;
    if (clear_blocks_ != nullptr ? !load_clear_corners(space, near, pixel, last_near, words)
                                 : !load_corners(space, near, pixel, last_near, words)) {
      return false;
    }
    __m256d color = mixed(words, near.share, pixel);
    if (choice_.both) {
      if (clear_blocks_ != nullptr ? !load_clear_corners(space, far, pixel, last_far, words)
                                   : !load_corners(space, far, pixel, last_far, words)) {
        return false;
      }
      const __m256d step = _mm256_sub_pd(mixed(words, far.share, pixel), color);
      color = _mm256_add_pd(color, _mm256_mul_pd(step, _mm256_set1_pd(choice_.part)));
    }
    alignas(16) std::array<float, 4> bytes;
    _mm_store_ps(bytes.data(), _mm256_cvtpd_ps(color));
    for (size_t i = 0; i < 4; ++i) {
      const uint8_t from = from_[i];
      out[i][pixel] = from < kZero ? bytes[shift_[from] / 8u] : from == kOne ? 1.0f : 0.0f;
    }
  }
  return true;
}

#undef HALOGEN_SQUARE

#else

bool QuickTexture::filter_square(memory::AddressSpace&, const float*, const float*, const TexelOffset&, uint32_t,
                                 SquareTexels&) const {
  return false;
}

#endif

bool QuickTexture::sample_square(memory::AddressSpace& space, const float* u, const float* v, double lod,
                                 const TexelOffset& offset, uint32_t live, SquareTexels& out) {
  if (!squares_) {
    return false;
  }
  if (!choice_.known || lod != choice_.lod) {
    choose(lod);
  }
  return choice_.linear && filter_square(space, u, v, offset, live, out);
}

}  // namespace halogen::message
