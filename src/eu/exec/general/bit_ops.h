// Operations on the bits of a dword: one lane of BFE, BFI1, BFI2, FBH, FBL, BFREV and DP4A, shared by the general path
// and the array routines.
#pragma once

#include <bit>
#include <cstdint>

namespace halogen::eu {

inline uint32_t first_bit_high(uint32_t value, bool is_signed) {
  if (is_signed && (value >> 31) != 0) {
    value = ~value;
  }
  return value == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(value));
}

inline uint32_t first_bit_low(uint32_t value) {
  return value == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(value));
}

inline uint32_t reverse_bits(uint32_t value) {
  value = ((value >> 1) & 0x5555'5555) | ((value & 0x5555'5555) << 1);
  value = ((value >> 2) & 0x3333'3333) | ((value & 0x3333'3333) << 2);
  value = ((value >> 4) & 0x0f0f'0f0f) | ((value & 0x0f0f'0f0f) << 4);
  value = ((value >> 8) & 0x00ff'00ff) | ((value & 0x00ff'00ff) << 8);
  return (value >> 16) | (value << 16);
}

inline int64_t extract_bits(uint32_t width, uint32_t offset, uint32_t data, bool is_signed) {
  width &= 31;
  offset &= 31;
  if (width == 0) {
    return 0;
  }
  const uint32_t shifted = data >> offset;
  if (offset + width >= 32) {
    return is_signed ? static_cast<int64_t>(static_cast<int32_t>(data) >> offset) : static_cast<int64_t>(shifted);
  }
  const uint32_t field = shifted & ((1u << width) - 1);
  if (is_signed && ((field >> (width - 1)) & 1) != 0) {
    return static_cast<int64_t>(field) - (int64_t{1} << width);
  }
  return static_cast<int64_t>(field);
}

inline uint32_t insert_mask(uint32_t width, uint32_t offset) {
  return ((1u << (width & 31)) - 1) << (offset & 31);
}

inline uint32_t insert_bits(uint32_t mask, uint32_t data, uint32_t below) {
  const uint32_t inserted = mask == 0 ? 0 : (data << std::countr_zero(mask)) & mask;
  return inserted | (below & ~mask);
}

// Returns the sum of four products of bytes.
inline int64_t dot_bytes(uint32_t a, bool a_signed, uint32_t b, bool b_signed) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto byte = [i](uint32_t from, bool is_signed) {
      const auto bits = static_cast<uint8_t>(from >> (8 * i));
      return is_signed ? static_cast<int64_t>(static_cast<int8_t>(bits)) : static_cast<int64_t>(bits);
    };
    sum += byte(a, a_signed) * byte(b, b_signed);
  }
  return sum;
}

}  // namespace halogen::eu
