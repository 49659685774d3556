// The parts of specialised routines: loads, operations and stores over lanes of 32 or 64 bits, with the number of lanes
// known to the compiler. Each does to all lanes what src/eu/exec/alu*.cpp does to one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "eu/exec/general/relation.h"
#include "eu/exec/prepared.h"

namespace halogen::eu::fast {

// N is the number of lanes, 0 where only run time knows it.
template <unsigned N>
constexpr unsigned lanes_of(unsigned lanes) {
  return N != 0 ? N : lanes;
}

template <class Lane>
struct RealOf;
template <>
struct RealOf<uint32_t> {
  using Real = float;
  static constexpr uint32_t kSign = 0x8000'0000;
  static constexpr uint32_t kExponent = 0x7f80'0000;
  static constexpr uint32_t kQuiet = 0x0040'0000;
  static constexpr uint32_t kDefaultNan = 0xffc0'0000;
};
template <>
struct RealOf<uint64_t> {
  using Real = double;
  static constexpr uint64_t kSign = 0x8000'0000'0000'0000;
  static constexpr uint64_t kExponent = 0x7ff0'0000'0000'0000;
  static constexpr uint64_t kQuiet = 0x0008'0000'0000'0000;
  static constexpr uint64_t kDefaultNan = 0xfff8'0000'0000'0000;
};

// Integers: extended to the lane; modifiers wrap at the source's own width if it is signed.
template <class T, class Lane, unsigned N>
void load_integer(const std::byte* registers, const FastOperand& operand, unsigned count, void* out) {
  const unsigned n = lanes_of<N>(count);
  auto* lanes = static_cast<Lane*>(out);
  if (operand.is_immediate) {
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = static_cast<Lane>(operand.immediate);
    }
    return;
  }
  const std::byte* from = registers + operand.offset;
  if (operand.step == static_cast<int16_t>(sizeof(T)) && N != 0) {
    T block[N != 0 ? N : 1];
    std::memcpy(block, from, sizeof(block));
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = static_cast<Lane>(block[i]);
    }
  } else if (operand.step == 0) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = static_cast<Lane>(value);
    }
  } else {
    for (unsigned i = 0; i < n; ++i) {
      T value;
      std::memcpy(&value, from + static_cast<ptrdiff_t>(i) * operand.step, sizeof(value));
      lanes[i] = static_cast<Lane>(value);
    }
  }
  if constexpr (std::is_signed_v<T>) {
    if (operand.absolute) {
      for (unsigned i = 0; i < n; ++i) {
        const Lane turned = static_cast<Lane>(static_cast<T>(Lane{0} - lanes[i]));
        lanes[i] = static_cast<T>(lanes[i]) < 0 ? turned : lanes[i];
      }
    }
    if (operand.negate) {
      for (unsigned i = 0; i < n; ++i) {
        lanes[i] = static_cast<Lane>(static_cast<T>(Lane{0} - lanes[i]));
      }
    }
  } else if (operand.negate) {
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = Lane{0} - lanes[i];
    }
  }
}

// Bits of a float or of a raw move; modifiers touch the sign only. `turn` is also a bitwise not of logic operands.
template <class T, class Lane, unsigned N>
void load_bits(const std::byte* registers, const FastOperand& operand, unsigned count, void* out) {
  FastOperand plain = operand;
  plain.negate = plain.absolute = false;
  load_integer<T, Lane, N>(registers, plain, count, out);
  if ((operand.clear | operand.turn) != 0) {
    auto* lanes = static_cast<Lane*>(out);
    const unsigned n = lanes_of<N>(count);
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = (lanes[i] & static_cast<Lane>(~operand.clear)) ^ static_cast<Lane>(operand.turn);
    }
  }
}

template <class T, class Lane, unsigned N>
void store(std::byte* registers, const FastOperand& operand, unsigned count, const void* from, uint32_t mask) {
  const unsigned n = lanes_of<N>(count);
  const auto* lanes = static_cast<const Lane*>(from);
  std::byte* to = registers + operand.offset;
  if constexpr (N != 0) {
    constexpr uint32_t kAll = N >= 32 ? ~0u : (1u << N) - 1;
    if (operand.step == static_cast<int16_t>(sizeof(T)) && mask == kAll) {
      T block[N];
      for (unsigned i = 0; i < N; ++i) {
        block[i] = static_cast<T>(lanes[i]);
      }
      std::memcpy(to, block, sizeof(block));
      return;
    }
  }
  for (unsigned i = 0; i < n; ++i) {
    if (((mask >> i) & 1) != 0) {
      const T value = static_cast<T>(lanes[i]);
      std::memcpy(to + static_cast<ptrdiff_t>(i) * operand.step, &value, sizeof(value));
    }
  }
}

template <class Lane>
constexpr Lane flushed(Lane bits) {
  return (bits & RealOf<Lane>::kExponent) == 0 ? bits & RealOf<Lane>::kSign : bits;
}

template <class Lane>
constexpr bool is_nan(Lane bits) {
  return (bits & ~RealOf<Lane>::kSign) > RealOf<Lane>::kExponent;
}

template <class Lane>
typename RealOf<Lane>::Real real(Lane bits) {
  return std::bit_cast<typename RealOf<Lane>::Real>(bits);
}

template <class Lane>
Lane bits_of(typename RealOf<Lane>::Real value) {
  return std::bit_cast<Lane>(value);
}

// Operations on integers: modulo the lane, which is at least as wide as the destination.
struct Move {
  template <class Lane>
  static Lane apply(Lane a, Lane, Lane) {
    return a;
  }
};
struct Not {
  template <class Lane>
  static Lane apply(Lane a, Lane, Lane) {
    return static_cast<Lane>(~a);
  }
};
struct And {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return a & b;
  }
};
struct Or {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return a | b;
  }
};
struct Xor {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return a ^ b;
  }
};
struct Add {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return a + b;
  }
};
struct Multiply {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return a * b;
  }
};
struct MultiplyAdd {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane c) {
    return b * c + a;
  }
};
// The count's bits: 5 or 6, which the lane's width need not tell.
template <unsigned Bits>
struct ShiftLeft {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return a << (b & ((1u << Bits) - 1));
  }
};
template <unsigned Bits>
struct ShiftRight {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return a >> (b & ((1u << Bits) - 1));
  }
};
template <unsigned Bits>
struct ShiftArithmetic {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return static_cast<Lane>(static_cast<std::make_signed_t<Lane>>(a) >> (b & ((1u << Bits) - 1)));
  }
};

// Of a whole lane: no narrower source comes here.
struct RotateLeft {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return std::rotl(a, static_cast<int>(b & (8 * sizeof(Lane) - 1)));
  }
};
struct RotateRight {
  template <class Lane>
  static Lane apply(Lane a, Lane b, Lane) {
    return std::rotr(a, static_cast<int>(b & (8 * sizeof(Lane) - 1)));
  }
};

template <class Operation, class Lane, unsigned N>
uint32_t integers(const void* a, const void* b, const void* c, void* out, unsigned count, bool, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Lane*>(a);
  const auto* y = static_cast<const Lane*>(b);
  const auto* z = static_cast<const Lane*>(c);
  auto* r = static_cast<Lane*>(out);
  for (unsigned i = 0; i < n; ++i) {
    r[i] = Operation::template apply<Lane>(x[i], y[i], z[i]);
  }
  return 0;
}

// Operations on floats.
struct FloatAdd {
  static constexpr unsigned kSources = 2;
  template <class Real>
  static Real apply(Real a, Real b, Real) {
    return a + b;
  }
};
struct FloatMultiply {
  static constexpr unsigned kSources = 2;
  template <class Real>
  static Real apply(Real a, Real b, Real) {
    return a * b;
  }
};
struct FloatFused {
  static constexpr unsigned kSources = 3;
  template <class Real>
  static Real apply(Real a, Real b, Real c) {
    return std::fma(b, c, a);
  }
};

template <class Lane>
Lane nan_of(Lane a, Lane b, Lane c, unsigned sources) {
  if (is_nan(a)) {
    return a | RealOf<Lane>::kQuiet;
  }
  if (sources > 1 && is_nan(b)) {
    return b | RealOf<Lane>::kQuiet;
  }
  if (sources > 2 && is_nan(c)) {
    return c | RealOf<Lane>::kQuiet;
  }
  return RealOf<Lane>::kDefaultNan;
}

template <class Operation, class Lane, unsigned N>
[[gnu::always_inline]] inline uint32_t float_body(const void* a, const void* b, const void* c, void* out,
                                                  unsigned count, bool flush) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Lane*>(a);
  const auto* y = static_cast<const Lane*>(b);
  const auto* z = static_cast<const Lane*>(c);
  auto* r = static_cast<Lane*>(out);
  Lane odd = 0;
  if (flush) {
    for (unsigned i = 0; i < n; ++i) {
      const Lane bits = bits_of<Lane>(Operation::apply(real(flushed(x[i])), real(flushed(y[i])), real(flushed(z[i]))));
      odd |= is_nan(bits) ? Lane{1} : Lane{0};
      r[i] = flushed(bits);
    }
  } else {
    for (unsigned i = 0; i < n; ++i) {
      const Lane bits = bits_of<Lane>(Operation::apply(real(x[i]), real(y[i]), real(z[i])));
      odd |= is_nan(bits) ? Lane{1} : Lane{0};
      r[i] = bits;
    }
  }
  if (odd != 0) {
    for (unsigned i = 0; i < n; ++i) {
      r[i] = is_nan(r[i]) ? nan_of(x[i], y[i], z[i], Operation::kSources) : r[i];
    }
  }
  return 0;
}

template <class Operation, class Lane, unsigned N>
uint32_t floats(const void* a, const void* b, const void* c, void* out, unsigned count, bool flush, uint32_t) {
  return float_body<Operation, Lane, N>(a, b, c, out, count, flush);
}

#ifdef __x86_64__
// The same with the host's fused instruction, where there is one.
template <class Operation, class Lane, unsigned N>
[[gnu::target("avx2,fma")]] uint32_t floats_fma(const void* a, const void* b, const void* c, void* out, unsigned count,
                                                bool flush, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Lane*>(a);
  const auto* y = static_cast<const Lane*>(b);
  const auto* z = static_cast<const Lane*>(c);
  auto* r = static_cast<Lane*>(out);
  Lane odd = 0;
  for (unsigned i = 0; i < n; ++i) {
    const Lane p = flush && (x[i] & RealOf<Lane>::kExponent) == 0 ? x[i] & RealOf<Lane>::kSign : x[i];
    const Lane q = flush && (y[i] & RealOf<Lane>::kExponent) == 0 ? y[i] & RealOf<Lane>::kSign : y[i];
    const Lane s = flush && (z[i] & RealOf<Lane>::kExponent) == 0 ? z[i] & RealOf<Lane>::kSign : z[i];
    using Real = typename RealOf<Lane>::Real;
    Real result;
    if constexpr (sizeof(Real) == 4) {
      result = __builtin_fmaf(std::bit_cast<Real>(q), std::bit_cast<Real>(s), std::bit_cast<Real>(p));
    } else {
      result = __builtin_fma(std::bit_cast<Real>(q), std::bit_cast<Real>(s), std::bit_cast<Real>(p));
    }
    const Lane bits = std::bit_cast<Lane>(result);
    odd |= (bits & ~RealOf<Lane>::kSign) > RealOf<Lane>::kExponent ? Lane{1} : Lane{0};
    r[i] = flush && (bits & RealOf<Lane>::kExponent) == 0 ? bits & RealOf<Lane>::kSign : bits;
  }
  if (odd != 0) {
    for (unsigned i = 0; i < n; ++i) {
      r[i] = is_nan(r[i]) ? nan_of(x[i], y[i], z[i], 3) : r[i];
    }
  }
  return 0;
}
#endif

// Comparisons: of two operands, or of a result with zero.
template <class T, class Lane, Condition C, unsigned N>
uint32_t compares(const void* a, const void* b, const void*, void* out, unsigned count, bool flush, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Lane*>(a);
  const auto* y = static_cast<const Lane*>(b);
  auto* r = static_cast<Lane*>(out);
  for (unsigned i = 0; i < n; ++i) {
    bool truth = false;
    if constexpr (std::is_floating_point_v<T>) {
      truth = relation(C, real(flush ? flushed(x[i]) : x[i]), real(flush ? flushed(y[i]) : y[i]));
    } else {
      truth = relation(C, static_cast<T>(x[i]), static_cast<T>(y[i]));
    }
    r[i] = truth ? static_cast<Lane>(~Lane{0}) : Lane{0};
  }
  uint32_t bits = 0;
  for (unsigned i = 0; i < n; ++i) {
    bits |= static_cast<uint32_t>(r[i] & 1) << i;
  }
  return bits;
}

template <class Lane, unsigned N>
uint32_t selects(const void* a, const void* b, const void*, void* out, unsigned count, bool, uint32_t chosen) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Lane*>(a);
  const auto* y = static_cast<const Lane*>(b);
  auto* r = static_cast<Lane*>(out);
  for (unsigned i = 0; i < n; ++i) {
    r[i] = ((chosen >> i) & 1) != 0 ? x[i] : y[i];
  }
  return 0;
}

// min and max.
template <class T, class Lane, Condition C, unsigned N>
uint32_t extremes(const void* a, const void* b, const void*, void* out, unsigned count, bool flush, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Lane*>(a);
  const auto* y = static_cast<const Lane*>(b);
  auto* r = static_cast<Lane*>(out);
  for (unsigned i = 0; i < n; ++i) {
    bool first = false;
    if constexpr (std::is_floating_point_v<T>) {
      first = relation(C, real(flush ? flushed(x[i]) : x[i]), real(flush ? flushed(y[i]) : y[i])) ||
              (is_nan(y[i]) && !is_nan(x[i]));
    } else {
      first = relation(C, static_cast<T>(x[i]), static_cast<T>(y[i]));
    }
    r[i] = first ? x[i] : y[i];
  }
  return 0;
}

template <class From, unsigned N>
uint32_t to_single(const void* a, const void*, const void*, void* out, unsigned count, bool, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const uint32_t*>(a);
  auto* r = static_cast<uint32_t*>(out);
  for (unsigned i = 0; i < n; ++i) {
    r[i] = std::bit_cast<uint32_t>(static_cast<float>(static_cast<From>(x[i])));
  }
  return 0;
}

// Toward zero, clamped to the destination's type; NaN is 0.
template <class To, unsigned N>
uint32_t from_single(const void* a, const void*, const void*, void* out, unsigned count, bool, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const uint32_t*>(a);
  auto* r = static_cast<uint32_t*>(out);
  constexpr auto kLow = static_cast<double>(std::numeric_limits<To>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<To>::max());
  for (unsigned i = 0; i < n; ++i) {
    const double value = is_nan(x[i]) ? 0.0 : static_cast<double>(std::bit_cast<float>(x[i]));
    const double inside = value < kLow ? kLow : value > kHigh ? kHigh : value;
    r[i] = static_cast<uint32_t>(static_cast<int64_t>(inside));
  }
  return 0;
}

template <class T, class Lane, unsigned N>
uint32_t tests(const void* result, unsigned count, Condition condition) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Lane*>(result);
  uint32_t bits = 0;
  for (unsigned i = 0; i < n; ++i) {
    T value{};
    if constexpr (std::is_floating_point_v<T>) {
      value = real(x[i]);
    } else {
      value = static_cast<T>(x[i]);
    }
    bits |= relation(condition, value, T{0}) ? 1u << i : 0;
  }
  return bits;
}

}  // namespace halogen::eu::fast
