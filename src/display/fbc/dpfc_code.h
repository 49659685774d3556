// The code that our compressor of GM45 keeps lines in. The manual names what hardware's can do (run lengths of one and
// two nibbles, mono and historical palettes, deltas of two to six bits) and no more; docs/frame-buffer-compression.md
// describes this one. It uses the same means, so that the test switches of DPFC_CONTROL have something to switch off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace halogen::display::dpfc {

// A line is a row of nibbles, low one of each byte first. An operation is one nibble, its operands follow.
enum class Op : uint8_t {
  run_1,    // n: the last pixel again, n + 1 times
  run_2,    // n in two nibbles, low one first: likewise
  mono,     // n: then n + 1 nibbles of four pixels each, low bit first: 0 the newest of the palette, 1 the one before
  history,  // n: entry n of the palette
  delta_2,  // three signed numbers of two bits, added to the fields of the last pixel; in whole nibbles, low bits first
  delta_3,
  delta_4,
  delta_5,
  delta_6,
  raw,  // the pixel: eight nibbles, or four
};
inline constexpr unsigned kPalette = 16;  // the newest pixels that came as delta or raw, newest first; zeros at first

// Bits of DPFC_CONTROL's compression_control: means that may not be used.
inline constexpr uint32_t kNoRun1 = 1u << 8;
inline constexpr uint32_t kNoRun2 = 1u << 7;
inline constexpr uint32_t kNoMono = 1u << 6;
inline constexpr uint32_t kNoHistory = 1u << 5;
constexpr uint32_t no_delta(unsigned bits) {
  return 1u << (bits - 2);
}

// Pixels of two or four bytes. The bytes of the code; nothing when they do not fit.
std::optional<size_t> encode(std::span<const std::byte> line, unsigned pixel_bytes, uint32_t disabled,
                             std::span<std::byte> into);
// False: the code ended before the line, or made no sense; the rest of the line is zero.
bool decode(std::span<const std::byte> code, unsigned pixel_bytes, std::span<std::byte> line);

}  // namespace halogen::display::dpfc
