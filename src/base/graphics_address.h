// Graphics addresses: 48 bits. Clients write bits 63:48 as copies of bit 47 (canonical form) or as zeros; page tables
// take the canonical form only. This is the only place that converts one form to the other.
#pragma once

#include <cstdint>

#include "base/bits.h"
#include "base/strong.h"

namespace halogen {

inline constexpr unsigned kGraphicsAddressBits = 48;

// Returns whether bits 63:`bits` are copies of the bit below them.
constexpr bool is_canonical(uint64_t address, unsigned bits = kGraphicsAddressBits) {
  return static_cast<uint64_t>(sign_extend(address, bits)) == address;
}

// Returns whether a value is an address in one of the two forms.
constexpr bool is_graphics_address(uint64_t value) {
  return value >> kGraphicsAddressBits == 0 || is_canonical(value);
}

// Returns bits 47:0: the form in which addresses are compared and listed.
constexpr uint64_t plain_address(uint64_t address) {
  return address & low_mask(kGraphicsAddressBits);
}

// Returns bits 47:0 in canonical form: the address that a unit makes of a base and offsets.
constexpr GpuVa wrapped_address(uint64_t address) {
  return GpuVa{static_cast<uint64_t>(sign_extend(address, kGraphicsAddressBits))};
}

// Returns an address of a command in canonical form. If bits 63:48 are neither copies of bit 47 nor zeros, they are
// kept, and the page walk rejects them.
constexpr GpuVa canonical(GpuVa address) {
  return address.value >> kGraphicsAddressBits == 0 ? wrapped_address(address.value) : address;
}

}  // namespace halogen
