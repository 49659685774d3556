// Values of the naive evaluator: elements of every type by their definitions.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {

__extension__ using Big = __int128;

inline bool signed_type(Type t) {
  return t == Type::b || t == Type::w || t == Type::d || t == Type::q;
}

// Return the value of a half float and the half float nearest to a value, by the definition of the format.
inline double half_value(unsigned h) {
  const int sign = (h >> 15) != 0 ? -1 : 1;
  const int e = static_cast<int>((h >> 10) & 31);
  const int m = static_cast<int>(h & 1023);
  if (e == 31) {
    return m == 0 ? sign * HUGE_VAL : NAN;
  }
  return sign * (e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25));
}

inline unsigned half_code(double v) {
  const unsigned sign = std::signbit(v) ? 0x8000 : 0;
  const double a = std::fabs(v);
  if (a == 0) {
    return sign;
  }
  const int e = std::max(std::ilogb(a), -14);
  const double steps = std::nearbyint(std::ldexp(a, 10 - e));  // ties to even
  // `steps` counts units of 2^(e-10): 1024 to 2048 for normal numbers.
  const double back = std::ldexp(steps, e - 10);
  if (back >= 65520.0) {
    return sign | 0x7c00;
  }
  if (back < std::ldexp(1, -14)) {
    return sign | static_cast<unsigned>(std::ldexp(back, 24));
  }
  const int e2 = std::ilogb(back);
  return sign | static_cast<unsigned>((e2 + 15) << 10) | (static_cast<unsigned>(std::ldexp(back, 10 - e2)) - 1024);
}

struct Number {
  bool real = false;
  Big i = 0;
  double d = 0;
  bool nan = false;
  uint64_t payload = 0;  // of a NaN, as the upper bits of a double's fraction
  bool negative_nan = false;
};

inline Number nan_number(uint64_t payload, bool negative) {
  Number n;
  n.real = n.nan = true;
  n.payload = payload;
  n.negative_nan = negative;
  n.d = NAN;
  return n;
}

inline Number decode(Type t, uint64_t raw) {
  Number n;
  switch (t) {
    case Type::ub:
      n.i = static_cast<uint8_t>(raw);
      break;
    case Type::b:
      n.i = static_cast<int8_t>(raw);
      break;
    case Type::uw:
      n.i = static_cast<uint16_t>(raw);
      break;
    case Type::w:
      n.i = static_cast<int16_t>(raw);
      break;
    case Type::ud:
      n.i = static_cast<uint32_t>(raw);
      break;
    case Type::d:
      n.i = static_cast<int32_t>(raw);
      break;
    case Type::uq:
      n.i = raw;
      break;
    case Type::q:
      n.i = static_cast<int64_t>(raw);
      break;
    case Type::hf:
      if ((raw & 0x7fff) > 0x7c00) {
        return nan_number((raw & 0x3ff) << 42, (raw & 0x8000) != 0);
      }
      n.real = true;
      n.d = half_value(static_cast<unsigned>(raw & 0xffff));
      break;
    case Type::df:
      if ((raw << 1) > 0xffe0'0000'0000'0000) {
        return nan_number(raw & 0xf'ffff'ffff'ffff, (raw >> 63) != 0);
      }
      n.real = true;
      std::memcpy(&n.d, &raw, 8);
      break;
    default: {
      if ((raw & 0x7fff'ffff) > 0x7f80'0000) {
        return nan_number((raw & 0x7f'ffff) << 29, (raw & 0x8000'0000) != 0);
      }
      n.real = true;
      const auto word = static_cast<uint32_t>(raw);
      float f = 0;
      std::memcpy(&f, &word, 4);
      n.d = static_cast<double>(f);
      break;
    }
  }
  return n;
}

inline uint64_t encode_real(Type t, const Number& n) {
  if (n.nan) {
    switch (t) {
      case Type::hf: {
        const uint64_t p = n.payload >> 42;
        return (n.negative_nan ? 0x8000u : 0u) | 0x7c00 | (p == 0 ? 0x200 : p);
      }
      case Type::df:
        return (n.negative_nan ? 1ull << 63 : 0) | 0x7ff0'0000'0000'0000 | n.payload;
      default: {
        const uint64_t p = n.payload >> 29;
        return (n.negative_nan ? 0x8000'0000u : 0u) | 0x7f80'0000 | (p == 0 ? 0x40'0000 : p);
      }
    }
  }
  switch (t) {
    case Type::hf:
      return half_code(n.d);
    case Type::df: {
      uint64_t raw = 0;
      std::memcpy(&raw, &n.d, 8);
      return raw;
    }
    default: {
      const auto f = static_cast<float>(n.d);
      uint32_t raw = 0;
      std::memcpy(&raw, &f, 4);
      return raw;
    }
  }
}

inline double smallest_normal(Type t) {
  return t == Type::hf ? std::ldexp(1, -14) : t == Type::df ? DBL_MIN : static_cast<double>(FLT_MIN);
}

inline Big type_min(Type t) {
  return signed_type(t) ? -(Big{1} << (size_of(t) * 8 - 1)) : Big{0};
}
inline Big type_max(Type t) {
  return (Big{1} << (size_of(t) * 8 - (signed_type(t) ? 1 : 0))) - 1;
}
inline Big keep_bits(Type t, Big v) {
  return decode(t, static_cast<uint64_t>(v)).i;
}

inline bool relation(Condition c, auto a, auto b) {
  switch (c) {
    case Condition::zero:
      return a == b;
    case Condition::not_zero:
      return !(a == b);
    case Condition::greater:
      return a > b;
    case Condition::greater_equal:
      return a >= b;
    case Condition::less:
      return a < b;
    default:
      return a <= b;
  }
}

inline Big to_integer(Type t, const Number& n, double d) {
  if (n.nan) {
    return 0;
  }
  const double whole = std::trunc(d);
  const double top = std::ldexp(1.0, static_cast<int>(size_of(t)) * 8 - (signed_type(t) ? 1 : 0));
  return whole >= top ? type_max(t) : whole < static_cast<double>(type_min(t)) ? type_min(t) : static_cast<Big>(whole);
}

inline double half_from_integer(Big v) {
  if (v == 0) {
    return 0;
  }
  if (v > 70000 || v < -70000) {
    return v > 0 ? HUGE_VAL : -HUGE_VAL;
  }
  return half_value(half_code(static_cast<double>(v)));
}

}  // namespace halogen::eu::test
