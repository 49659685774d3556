// The line code of our GM45 compressor. The manual only names the methods of the hardware (run lengths of one and two
// nibbles, mono and historical palettes, deltas of two to six bits); docs/frame-buffer-compression.md describes this
// code. It uses the same methods, so that the test bits of DPFC_CONTROL can disable them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace halogen::display::dpfc {

// A line is a sequence of nibbles, the low nibble of each byte first. An operation is one nibble, followed by its
// operands.
enum class Op : uint8_t {
  run_1,    // n: repeats the last pixel n + 1 times
  run_2,    // the same, with n in two nibbles, low nibble first
  mono,     // n, then n + 1 nibbles of four pixels each, low bit first: 0 is the newest palette entry, 1 the one before
  history,  // n: entry n of the palette
  delta_2,  // three signed 2-bit numbers, added to the fields of the last pixel; in whole nibbles, low bits first
  delta_3,
  delta_4,
  delta_5,
  delta_6,
  raw,  // the pixel: eight nibbles, or four
};
inline constexpr unsigned kPalette = 16;  // the newest delta and raw pixels, newest first; initially zero

// Bits of DPFC_CONTROL's compression_control: disabled methods.
inline constexpr uint32_t kNoRun1 = 1u << 8;
inline constexpr uint32_t kNoRun2 = 1u << 7;
inline constexpr uint32_t kNoMono = 1u << 6;
inline constexpr uint32_t kNoHistory = 1u << 5;
constexpr uint32_t no_delta(unsigned bits) {
  return 1u << (bits - 2);
}

// Encodes pixels of two or four bytes; returns the size of the code in bytes. No value: it does not fit.
std::optional<size_t> encode(std::span<const std::byte> line, unsigned pixel_bytes, uint32_t disabled,
                             std::span<std::byte> into);
// False: the code ended before the line, or was invalid; the rest of the line is zero.
bool decode(std::span<const std::byte> code, unsigned pixel_bytes, std::span<std::byte> line);

}  // namespace halogen::display::dpfc
