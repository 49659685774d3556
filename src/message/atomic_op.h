// What an atomic message does to a value in memory. Nobody comes between, the processor included.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hw/enums.h"

namespace halogen::message {

// How many operands the operation takes from the payload.
constexpr unsigned operands_of(hw::DataPortAtomic operation) {
  switch (operation) {
    case hw::DataPortAtomic::INC:
    case hw::DataPortAtomic::DEC:
    case hw::DataPortAtomic::PREDEC:
      return 0;
    case hw::DataPortAtomic::CMPWR:
    case hw::DataPortAtomic::CMPWR_16B:
      return 2;
    default:
      return 1;
  }
}

// The new value.
template <class T>
constexpr T apply(hw::DataPortAtomic operation, T old, T first, T second) {
  using Signed = std::make_signed_t<T>;
  const bool less = static_cast<Signed>(old) < static_cast<Signed>(first);
  switch (operation) {
    case hw::DataPortAtomic::AND:
      return old & first;
    case hw::DataPortAtomic::OR:
      return old | first;
    case hw::DataPortAtomic::XOR:
      return old ^ first;
    case hw::DataPortAtomic::MOV:
      return first;
    case hw::DataPortAtomic::INC:
      return static_cast<T>(old + 1);
    case hw::DataPortAtomic::DEC:
    case hw::DataPortAtomic::PREDEC:
      return static_cast<T>(old - 1);
    case hw::DataPortAtomic::ADD:
      return static_cast<T>(old + first);
    case hw::DataPortAtomic::SUB:
      return static_cast<T>(old - first);
    case hw::DataPortAtomic::REVSUB:
      return static_cast<T>(first - old);
    case hw::DataPortAtomic::IMAX:
      return less ? first : old;
    case hw::DataPortAtomic::IMIN:
      return less ? old : first;
    case hw::DataPortAtomic::UMAX:
      return std::max(old, first);
    case hw::DataPortAtomic::UMIN:
      return std::min(old, first);
    case hw::DataPortAtomic::CMPWR:
      return old == first ? second : old;
    case hw::DataPortAtomic::CMPWR_16B:
      break;  // refused before it comes here
  }
  return old;
}

// A number wins against none.
inline uint32_t apply_float(hw::DataPortFloatAtomic operation, uint32_t old, uint32_t first, uint32_t second) {
  const auto a = std::bit_cast<float>(old);
  const auto b = std::bit_cast<float>(first);
  switch (operation) {
    case hw::DataPortFloatAtomic::FMAX:
      return std::isnan(a) || b > a ? first : old;
    case hw::DataPortFloatAtomic::FMIN:
      return std::isnan(a) || b < a ? first : old;
    case hw::DataPortFloatAtomic::FCMPWR:
      return a == b ? second : old;
    case hw::DataPortFloatAtomic::FADD:
      return std::bit_cast<uint32_t>(a + b);
  }
  return old;
}

// What stood there before; `next` makes the new value of it. The place is aligned to its size.
template <class T, class Next>
T update(std::byte* place, Next&& next) {
  std::atomic_ref<T> value(*reinterpret_cast<T*>(place));
  T old = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(old, next(old), std::memory_order_seq_cst)) {
  }
  return old;
}

}  // namespace halogen::message
