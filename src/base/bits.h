// Bit ranges in arrays of dwords, little endian: bit 0 is bit 0 of dword 0, bit 32 is bit 0 of dword 1.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halogen {

constexpr uint64_t low_mask(unsigned width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

// Bits [hi:lo] of one value, right-aligned.
constexpr uint64_t bits(uint64_t value, unsigned hi, unsigned lo) {
  return (value >> lo) & low_mask(hi - lo + 1);
}

constexpr bool bit(uint64_t value, unsigned index) {
  return ((value >> index) & 1) != 0;
}

// Reads up to 64 bits that may cross dwords. Bits beyond the end of `dwords` read as zero.
constexpr uint64_t get_bits(std::span<const uint32_t> dwords, unsigned first, unsigned width) {
  uint64_t value = 0;
  unsigned done = 0;
  size_t index = first / 32;
  unsigned shift = first % 32;
  while (done < width && index < dwords.size()) {
    const unsigned take = width - done < 32 - shift ? width - done : 32 - shift;
    value |= ((uint64_t{dwords[index]} >> shift) & low_mask(take)) << done;
    done += take;
    shift = 0;
    ++index;
  }
  return value;
}

// Writes up to 64 bits. Bits beyond the end of `dwords` are dropped.
constexpr void put_bits(std::span<uint32_t> dwords, unsigned first, unsigned width, uint64_t value) {
  unsigned done = 0;
  size_t index = first / 32;
  unsigned shift = first % 32;
  while (done < width && index < dwords.size()) {
    const unsigned take = width - done < 32 - shift ? width - done : 32 - shift;
    const auto mask = static_cast<uint32_t>(low_mask(take) << shift);
    const auto part = static_cast<uint32_t>(((value >> done) & low_mask(take)) << shift);
    dwords[index] = (dwords[index] & ~mask) | part;
    done += take;
    shift = 0;
    ++index;
  }
}

constexpr int64_t sign_extend(uint64_t value, unsigned width) {
  const unsigned shift = 64 - width;
  return static_cast<int64_t>(value << shift) >> shift;
}

constexpr bool is_aligned(uint64_t value, uint64_t alignment) {
  return (value & (alignment - 1)) == 0;
}
constexpr uint64_t align_down(uint64_t value, uint64_t alignment) {
  return value & ~(alignment - 1);
}
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return align_down(value + alignment - 1, alignment);
}

}  // namespace halogen
