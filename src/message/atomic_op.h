// Operations of atomic messages on a value in memory. They are atomic with respect to the host's CPUs too.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "eu/message_fields.h"
#include "surface/texel_format.h"

namespace halogen::message {

using Operation = eu::MessageControl::Operation;

// Returns the number of operands that the operation takes from the payload.
constexpr unsigned operands_of(Operation operation) {
  switch (operation) {
    case Operation::inc:
    case Operation::dec:
    case Operation::predec:
      return 0;
    case Operation::cmpwr:
    case Operation::cmpwr_16b:
      return 2;
    default:
      return 1;
  }
}

// Returns the new value.
template <class T>
constexpr T apply(Operation operation, T old, T first, T second) {
  using Signed = std::make_signed_t<T>;
  const bool less = static_cast<Signed>(old) < static_cast<Signed>(first);
  switch (operation) {
    case Operation::and_:
      return old & first;
    case Operation::or_:
      return old | first;
    case Operation::xor_:
      return old ^ first;
    case Operation::mov:
      return first;
    case Operation::inc:
      return static_cast<T>(old + 1);
    case Operation::dec:
    case Operation::predec:
      return static_cast<T>(old - 1);
    case Operation::add:
      return static_cast<T>(old + first);
    case Operation::sub:
      return static_cast<T>(old - first);
    case Operation::revsub:
      return static_cast<T>(first - old);
    case Operation::imax:
      return less ? first : old;
    case Operation::imin:
      return less ? old : first;
    case Operation::umax:
      return std::max(old, first);
    case Operation::umin:
      return std::min(old, first);
    case Operation::cmpwr:
      return old == first ? second : old;
    default:
      break;  // rejected before
  }
  return old;
}

// Returns the new value of a float. Min and max replace NaN in memory by the operand.
inline uint32_t apply_float(Operation operation, uint32_t old, uint32_t first, uint32_t second) {
  const auto a = std::bit_cast<float>(old);
  const auto b = std::bit_cast<float>(first);
  switch (operation) {
    case Operation::fmax:
      return std::isnan(a) || b > a ? first : old;
    case Operation::fmin:
      return std::isnan(a) || b < a ? first : old;
    case Operation::fcmpwr:
      return a == b ? second : old;
    case Operation::fadd:
      return std::bit_cast<uint32_t>(a + b);
    default:
      break;
  }
  return old;
}

// Returns the new value of a half float. Sums are rounded once, because a float holds the sum of two half floats
// exactly or with enough bits.
inline uint16_t apply_half(Operation operation, uint16_t old, uint16_t first, uint16_t second) {
  const float a = surface::half_to_float(old);
  const float b = surface::half_to_float(first);
  switch (operation) {
    case Operation::fmax:
      return std::isnan(a) || b > a ? first : old;
    case Operation::fmin:
      return std::isnan(a) || b < a ? first : old;
    case Operation::fcmpwr:
      return a == b ? second : old;
    case Operation::fadd:
      return surface::float_to_half(a + b);
    default:
      break;
  }
  return old;
}

// Replaces a value by `next(old)` and returns the old value. The address is aligned to the value's size.
template <class T, class Next>
T update(std::byte* place, Next&& next) {
  std::atomic_ref<T> value(*reinterpret_cast<T*>(place));
  T old = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(old, next(old), std::memory_order_seq_cst)) {
  }
  return old;
}

}  // namespace halogen::message
