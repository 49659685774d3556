// The counters of a unit, as plain data. They are stored in 64 bits; reports and registers show only the low 40 or 32
// bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bits.h"

namespace halogen::oa {

inline constexpr size_t kACounters = 36;
inline constexpr size_t kWideCounters = 32;  // A0 to A31, of 40 bits; the others have 32
inline constexpr size_t kBooleans = 8;       // number of B counters, and of C counters
inline constexpr unsigned kWideBits = 40;

struct Counters {
  std::array<uint64_t, kACounters> a{};
  std::array<uint64_t, kBooleans> b{};
  std::array<uint64_t, kBooleans> c{};
  bool operator==(const Counters&) const = default;

  uint64_t shown_a(size_t index) const { return a[index] & low_mask(index < kWideCounters ? kWideBits : 32); }
};

}  // namespace halogen::oa
