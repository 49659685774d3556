// Addresses and ids are types, not integers, so a GPU virtual address cannot be passed as a physical address.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace halogen {

template <class Tag, class Rep>
struct Strong {
  Rep value{};

  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(v) {}
  constexpr auto operator<=>(const Strong&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs

  constexpr Strong operator+(Rep delta) const { return Strong(static_cast<Rep>(value + delta)); }
  constexpr Strong& operator+=(Rep delta) {
    value = static_cast<Rep>(value + delta);
    return *this;
  }
  constexpr Rep operator-(Strong other) const { return static_cast<Rep>(value - other.value); }
};

using GpuVa = Strong<struct GpuVaTag, uint64_t>;
using PhysAddr = Strong<struct PhysAddrTag, uint64_t>;
using GgttOffset = Strong<struct GgttOffsetTag, uint64_t>;

}  // namespace halogen

template <class Tag, class Rep>
struct std::hash<halogen::Strong<Tag, Rep>> {
  size_t operator()(halogen::Strong<Tag, Rep> s) const noexcept { return std::hash<Rep>{}(s.value); }
};
