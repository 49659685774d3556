// Moves of 16 bytes and of whole cache lines past the caches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace halogen::blit {

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

}  // namespace halogen::blit
