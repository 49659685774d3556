// The counters of a unit: plain data. They count without a limit and are shown in as many bits as they have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bits.h"

namespace halogen::oa {

inline constexpr size_t kACounters = 36;
inline constexpr size_t kWideCounters = 32;  // A0 to A31, of 40 bits; the others have 32
inline constexpr size_t kBooleans = 8;       // B, and also C
inline constexpr unsigned kWideBits = 40;

struct Counters {
  std::array<uint64_t, kACounters> a{};
  std::array<uint64_t, kBooleans> b{};
  std::array<uint64_t, kBooleans> c{};
  bool operator==(const Counters&) const = default;

  uint64_t shown_a(size_t index) const { return a[index] & low_mask(index < kWideCounters ? kWideBits : 32); }
};

}  // namespace halogen::oa
