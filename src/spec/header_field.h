// A run of bits of a command's first dword (spec/headers.toml).
#pragma once

#include <cstdint>

namespace halogen::spec {

struct HeaderField {
  uint8_t first;
  uint8_t width;

  constexpr uint32_t mask() const { return static_cast<uint32_t>(((uint64_t{1} << width) - 1) << first); }
  constexpr uint32_t of(uint32_t header) const { return (header & mask()) >> first; }
  constexpr uint32_t put(uint32_t value) const { return value << first & mask(); }
};

}  // namespace halogen::spec
