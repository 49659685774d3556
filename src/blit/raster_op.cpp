#include "blit/raster_op.h"

#include <array>
#include <cstring>
#include <utility>

namespace halogen::blit {
namespace {

// The truth table is halved for each operand; equal halves mean that the result does not depend on the operand.
template <unsigned kTable, class T>
T of_destination(T d) {
  if constexpr (kTable == 0) {
    return T{} & d;
  } else if constexpr (kTable == 1) {
    return ~d;
  } else if constexpr (kTable == 2) {
    return d;
  } else {
    return ~(T{} & d);
  }
}

template <unsigned kTable, class T>
T of_source(T s, T d) {
  constexpr unsigned kLow = kTable & 3;
  constexpr unsigned kHigh = kTable >> 2 & 3;
  if constexpr (kLow == kHigh) {
    return of_destination<kLow>(d);
  } else if constexpr (kLow == 0) {
    return s & of_destination<kHigh>(d);
  } else if constexpr (kHigh == 0) {
    return ~s & of_destination<kLow>(d);
  } else {
    return of_destination<kLow>(d) ^ (s & of_destination<kLow ^ kHigh>(d));
  }
}

template <unsigned kTable, class T>
T of_pattern(T p, T s, T d) {
  constexpr unsigned kLow = kTable & 15;
  constexpr unsigned kHigh = kTable >> 4 & 15;
  if constexpr (kLow == kHigh) {
    return of_source<kLow>(s, d);
  } else if constexpr (kLow == 0) {
    return p & of_source<kHigh>(s, d);
  } else if constexpr (kHigh == 0) {
    return ~p & of_source<kLow>(s, d);
  } else {
    return of_source<kLow>(s, d) ^ (p & of_source<kLow ^ kHigh>(s, d));
  }
}

// Combines sixteen bytes at a time; compilers vectorise the loop.
using Block [[gnu::vector_size(16)]] = uint64_t;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <uint8_t kCode, class T>
void step(std::byte* out, const std::byte* source, const std::byte* pattern, const std::byte* destination, size_t at) {
  const T s = rop_uses_source(kCode) ? load<T>(source + at) : T{};
  const T p = rop_uses_pattern(kCode) ? load<T>(pattern + at) : T{};
  const T d = rop_uses_destination(kCode) ? load<T>(destination + at) : T{};
  const T result = static_cast<T>(of_pattern<kCode>(p, s, d));
  std::memcpy(out + at, &result, sizeof(T));
}

template <uint8_t kCode>
void kernel(std::byte* out, const std::byte* source, const std::byte* pattern, const std::byte* destination,
            size_t bytes) {
  size_t at = 0;
  for (; at + sizeof(Block) <= bytes; at += sizeof(Block)) {
    step<kCode, Block>(out, source, pattern, destination, at);
  }
  for (; at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t)) {
    step<kCode, uint32_t>(out, source, pattern, destination, at);
  }
  for (; at < bytes; ++at) {
    const unsigned s = rop_uses_source(kCode) ? static_cast<unsigned>(source[at]) : 0;
    const unsigned p = rop_uses_pattern(kCode) ? static_cast<unsigned>(pattern[at]) : 0;
    const unsigned d = rop_uses_destination(kCode) ? static_cast<unsigned>(destination[at]) : 0;
    out[at] = static_cast<std::byte>(of_pattern<kCode>(p, s, d));
  }
}

template <size_t... kCodes>
constexpr std::array<RopKernel, sizeof...(kCodes)> all_kernels(std::index_sequence<kCodes...> /*codes*/) {
  return {kernel<static_cast<uint8_t>(kCodes)>...};
}

constexpr std::array kKernels = all_kernels(std::make_index_sequence<256>{});

}  // namespace

RopKernel rop_kernel(uint8_t code) {
  return kKernels[code];
}

}  // namespace halogen::blit
