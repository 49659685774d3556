// Bit 6 of a tiled address may be XORed with higher bits to use both memory channels. This depends on how memory is
// populated, before Gen8 (Linux i915, intel_ggtt_fencing.c). The model's memory is flat and uses no swizzle; the modes
// serve machines that are described otherwise, and their traces.
#pragma once

#include <cstdint>

#include "gen/tiling_rules.h"

namespace halogen::surface {

enum class SwizzleMode : uint8_t { none, bit9, bit9_10, bit9_11, bit9_10_11, bit9_17, bit9_10_17 };

// Returns the address bits that are XORed into bit 6.
constexpr uint64_t swizzle_sources(SwizzleMode mode) {
  constexpr uint64_t b9 = 1u << 9;
  constexpr uint64_t b10 = 1u << 10;
  constexpr uint64_t b11 = 1u << 11;
  constexpr uint64_t b17 = 1u << 17;
  switch (mode) {
    case SwizzleMode::none:
      return 0;
    case SwizzleMode::bit9:
      return b9;
    case SwizzleMode::bit9_10:
      return b9 | b10;
    case SwizzleMode::bit9_11:
      return b9 | b11;
    case SwizzleMode::bit9_10_11:
      return b9 | b10 | b11;
    case SwizzleMode::bit9_17:
      return b9 | b17;
    case SwizzleMode::bit9_10_17:
      return b9 | b10 | b17;
  }
  return 0;
}

// Applies the swizzle; it is its own inverse. Bit 17 is a bit of the physical address. For the other bits an offset
// from a 4 KB boundary is enough.
constexpr uint64_t swizzle_bit6(SwizzleMode mode, uint64_t address) {
  if (mode == SwizzleMode::none) {
    return address;
  }
  return address ^ (static_cast<uint64_t>(__builtin_parityll(address & swizzle_sources(mode))) << 6);
}

// The arrangement of a machine's memory channels.
enum class ChannelMode : uint8_t {
  single,              // one channel, or two that do not interleave
  interleaved,         // the memory controller adds no bit of its own
  interleaved_bit_11,  // the memory controller XORs bit 11 into bit 6
  interleaved_bit_17,  // the memory controller XORs bit 17 into bit 6
};

// X tiles use bits 9 and 10, Y and W tiles bit 9. Linear surfaces and later tilings are never swizzled.
constexpr SwizzleMode swizzle_of(ChannelMode channels, Tiling tiling) {
  const bool is_x = tiling == Tiling::x;
  if (!is_x && tiling != Tiling::y && tiling != Tiling::w) {
    return SwizzleMode::none;
  }
  switch (channels) {
    case ChannelMode::single:
      return SwizzleMode::none;
    case ChannelMode::interleaved:
      return is_x ? SwizzleMode::bit9_10 : SwizzleMode::bit9;
    case ChannelMode::interleaved_bit_11:
      return is_x ? SwizzleMode::bit9_10_11 : SwizzleMode::bit9_11;
    case ChannelMode::interleaved_bit_17:
      return is_x ? SwizzleMode::bit9_10_17 : SwizzleMode::bit9_17;
  }
  return SwizzleMode::none;
}

}  // namespace halogen::surface
