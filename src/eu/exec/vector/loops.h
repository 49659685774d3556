// The parts of specialised routines: loads, operations and stores over elements of 32 or 64 bits, with the number of
// lanes known to the compiler. Each computes for all lanes what src/eu/exec/general/alu*.cpp computes for one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "eu/exec/general/math.h"
#include "eu/exec/general/relation.h"
#include "eu/exec/prepared.h"
#include "eu/exec/vector/float_bits.h"

namespace halogen::eu::loops {

// Returns the number of lanes: N, or `lanes` if N is 0 (known at run time only).
template <unsigned N>
constexpr unsigned lanes_of(unsigned lanes) {
  return N != 0 ? N : lanes;
}

// Loads elements of type T without modifiers.
template <class T, class Element, unsigned N>
[[gnu::always_inline]] inline void load_plain(const std::byte* thread, const ir::Source& source, unsigned count,
                                              Element* lanes) {
  const unsigned n = lanes_of<N>(count);
  if (source.file == ir::File::immediate) {
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = static_cast<Element>(source.immediate);
    }
    return;
  }
  const std::byte* from = thread + source.access.base;
  const int16_t step = source.access.step;
  if (step == static_cast<int16_t>(sizeof(T)) && N != 0) {
    T block[N != 0 ? N : 1];
    std::memcpy(block, from, sizeof(block));
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = static_cast<Element>(block[i]);
    }
  } else if (step == 0) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = static_cast<Element>(value);
    }
  } else {
    for (unsigned i = 0; i < n; ++i) {
      T value;
      std::memcpy(&value, from + static_cast<ptrdiff_t>(i) * step, sizeof(value));
      lanes[i] = static_cast<Element>(value);
    }
  }
}

// Loads integers and extends them to Element. Modifiers of signed sources wrap at the source's own width.
template <class T, class Element, unsigned N>
void load_integer(const std::byte* thread, const ir::Source& source, unsigned count, void* out) {
  const unsigned n = lanes_of<N>(count);
  auto* lanes = static_cast<Element*>(out);
  load_plain<T, Element, N>(thread, source, count, lanes);
  if constexpr (std::is_signed_v<T>) {
    if (source.modifier.absolute) {
      for (unsigned i = 0; i < n; ++i) {
        const Element negative = static_cast<Element>(static_cast<T>(Element{0} - lanes[i]));
        lanes[i] = static_cast<T>(lanes[i]) < 0 ? negative : lanes[i];
      }
    }
    if (source.modifier.negate) {
      for (unsigned i = 0; i < n; ++i) {
        lanes[i] = static_cast<Element>(static_cast<T>(Element{0} - lanes[i]));
      }
    }
  } else if (source.modifier.negate) {
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = Element{0} - lanes[i];
    }
  }
}

// Loads the bits of a float or of a copy. Modifiers clear the sign, then flip it.
template <class T, class Element, unsigned N>
void load_bits(const std::byte* thread, const ir::Source& source, unsigned count, void* out) {
  auto* lanes = static_cast<Element*>(out);
  load_plain<T, Element, N>(thread, source, count, lanes);
  if (source.modifier.any()) {
    constexpr Element kSign = Element{1} << (8 * sizeof(T) - 1);
    const Element clear = source.modifier.absolute ? kSign : Element{0};
    const Element flip = source.modifier.negate ? kSign : Element{0};
    const unsigned n = lanes_of<N>(count);
    for (unsigned i = 0; i < n; ++i) {
      lanes[i] = (lanes[i] & static_cast<Element>(~clear)) ^ flip;
    }
  }
}

template <class T, class Element, unsigned N>
void store(std::byte* thread, const ir::Access& access, unsigned count, const void* from, uint32_t mask) {
  const unsigned n = lanes_of<N>(count);
  const auto* lanes = static_cast<const Element*>(from);
  std::byte* to = thread + access.base;
  if constexpr (N != 0) {
    constexpr uint32_t kAll = N >= 32 ? ~0u : (1u << N) - 1;
    if (access.step == static_cast<int16_t>(sizeof(T)) && mask == kAll) {
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
      std::memcpy(to + static_cast<ptrdiff_t>(i) * access.step, &value, sizeof(value));
    }
  }
}

// Operations on integers, modulo 2^(bits of Element). Element is at least as wide as the destination.
struct Move {
  template <class Element>
  static Element apply(Element a, Element, Element) {
    return a;
  }
};
struct Not {
  template <class Element>
  static Element apply(Element a, Element, Element) {
    return static_cast<Element>(~a);
  }
};
struct And {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return a & b;
  }
};
struct Or {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return a | b;
  }
};
struct Xor {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return a ^ b;
  }
};
struct Add {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return a + b;
  }
};
struct Multiply {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return a * b;
  }
};
struct MultiplyAdd {
  template <class Element>
  static Element apply(Element a, Element b, Element c) {
    return b * c + a;
  }
};
// Shifts. Bits is the width of the count, 5 or 6; it does not follow from Element.
template <unsigned Bits>
struct ShiftLeft {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return a << (b & ((1u << Bits) - 1));
  }
};
template <unsigned Bits>
struct ShiftRight {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return a >> (b & ((1u << Bits) - 1));
  }
};
template <unsigned Bits>
struct ShiftArithmetic {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return static_cast<Element>(static_cast<std::make_signed_t<Element>>(a) >> (b & ((1u << Bits) - 1)));
  }
};

// Rotations of a whole Element; the binder excludes narrower sources.
struct RotateLeft {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return std::rotl(a, static_cast<int>(b & (8 * sizeof(Element) - 1)));
  }
};
struct RotateRight {
  template <class Element>
  static Element apply(Element a, Element b, Element) {
    return std::rotr(a, static_cast<int>(b & (8 * sizeof(Element) - 1)));
  }
};

template <class Operation, class Element, unsigned N>
uint32_t integers(const void* a, const void* b, const void* c, void* out, unsigned count, bool, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Element*>(a);
  const auto* y = static_cast<const Element*>(b);
  const auto* z = static_cast<const Element*>(c);
  auto* r = static_cast<Element*>(out);
  for (unsigned i = 0; i < n; ++i) {
    r[i] = Operation::template apply<Element>(x[i], y[i], z[i]);
  }
  return 0;
}

// Operations on floats.
struct FloatAdd {
  static constexpr unsigned kSources = 2;
  static constexpr bool kFlushesLast = true;
  template <class Real>
  static Real apply(Real a, Real b, Real) {
    return a + b;
  }
};
struct FloatMultiply {
  static constexpr unsigned kSources = 2;
  static constexpr bool kFlushesLast = true;
  template <class Real>
  static Real apply(Real a, Real b, Real) {
    return a * b;
  }
};
// a + b * c, rounded once.
struct FloatAddProduct {
  static constexpr unsigned kSources = 3;
  static constexpr bool kFlushesLast = true;
  template <class Real>
  [[gnu::always_inline]] static Real apply(Real a, Real b, Real c) {
    return std::fma(b, c, a);
  }
};
// a * b + c, rounded once. c is the accumulator, whose denormals are not flushed.
struct FloatProductAdd {
  static constexpr unsigned kSources = 3;
  static constexpr bool kFlushesLast = false;
  template <class Real>
  [[gnu::always_inline]] static Real apply(Real a, Real b, Real c) {
    return std::fma(a, b, c);
  }
};

template <class Operation, class Element, unsigned N>
[[gnu::always_inline]] inline uint32_t float_body(const void* a, const void* b, const void* c, void* out,
                                                  unsigned count, bool flush) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Element*>(a);
  const auto* y = static_cast<const Element*>(b);
  const auto* z = static_cast<const Element*>(c);
  auto* r = static_cast<Element*>(out);
  Element odd = 0;
  if (flush) {
    for (unsigned i = 0; i < n; ++i) {
      const Element last = Operation::kFlushesLast ? flushed(z[i]) : z[i];
      const Element bits = bits_of<Element>(Operation::apply(real(flushed(x[i])), real(flushed(y[i])), real(last)));
      odd |= is_nan(bits) ? Element{1} : Element{0};
      r[i] = flushed(bits);
    }
  } else {
    for (unsigned i = 0; i < n; ++i) {
      const Element bits = bits_of<Element>(Operation::apply(real(x[i]), real(y[i]), real(z[i])));
      odd |= is_nan(bits) ? Element{1} : Element{0};
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

template <class Operation, class Element, unsigned N>
uint32_t floats(const void* a, const void* b, const void* c, void* out, unsigned count, bool flush, uint32_t) {
  return float_body<Operation, Element, N>(a, b, c, out, count, flush);
}

#ifdef __x86_64__
// The same with the host's fused instruction. Requires a host with AVX2 and FMA.
template <class Operation, class Element, unsigned N>
[[gnu::target("avx2,fma")]] uint32_t floats_fma(const void* a, const void* b, const void* c, void* out, unsigned count,
                                                bool flush, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Element*>(a);
  const auto* y = static_cast<const Element*>(b);
  const auto* z = static_cast<const Element*>(c);
  auto* r = static_cast<Element*>(out);
  const bool flush_last = flush && Operation::kFlushesLast;
  Element odd = 0;
  for (unsigned i = 0; i < n; ++i) {
    const Element p = flush && (x[i] & RealOf<Element>::kExponent) == 0 ? x[i] & RealOf<Element>::kSign : x[i];
    const Element q = flush && (y[i] & RealOf<Element>::kExponent) == 0 ? y[i] & RealOf<Element>::kSign : y[i];
    const Element s = flush_last && (z[i] & RealOf<Element>::kExponent) == 0 ? z[i] & RealOf<Element>::kSign : z[i];
    using Real = typename RealOf<Element>::Real;
    const auto u = std::bit_cast<Real>(p);
    const auto v = std::bit_cast<Real>(q);
    const auto w = std::bit_cast<Real>(s);
    Real result;
    if constexpr (std::is_same_v<Operation, FloatAddProduct>) {
      result =
          sizeof(Real) == 4
              ? static_cast<Real>(__builtin_fmaf(static_cast<float>(v), static_cast<float>(w), static_cast<float>(u)))
              : static_cast<Real>(
                    __builtin_fma(static_cast<double>(v), static_cast<double>(w), static_cast<double>(u)));
    } else {
      result =
          sizeof(Real) == 4
              ? static_cast<Real>(__builtin_fmaf(static_cast<float>(u), static_cast<float>(v), static_cast<float>(w)))
              : static_cast<Real>(
                    __builtin_fma(static_cast<double>(u), static_cast<double>(v), static_cast<double>(w)));
    }
    const Element bits = std::bit_cast<Element>(result);
    odd |= (bits & ~RealOf<Element>::kSign) > RealOf<Element>::kExponent ? Element{1} : Element{0};
    r[i] = flush && (bits & RealOf<Element>::kExponent) == 0 ? bits & RealOf<Element>::kSign : bits;
  }
  if (odd != 0) {
    for (unsigned i = 0; i < n; ++i) {
      r[i] = is_nan(r[i]) ? nan_of(x[i], y[i], z[i], 3) : r[i];
    }
  }
  return 0;
}
#endif

// Returns a math function of one lane. The frequent functions need no call.
template <MathFunction F>
[[gnu::always_inline]] inline double math_value(double a, double b) {
  if constexpr (F == MathFunction::inverse) {
    return 1.0 / a;
  } else if constexpr (F == MathFunction::sqrt) {
    return std::sqrt(a);
  } else if constexpr (F == MathFunction::rsqrt) {
    return 1.0 / std::sqrt(a);
  } else if constexpr (F == MathFunction::divide) {
    return a / b;
  } else {
    return math_function(F, a, b, false);
  }
}

template <MathFunction F, unsigned N>
uint32_t functions(const void* a, const void* b, const void*, void* out, unsigned count, bool flush,
                   uint32_t lanes_on) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const uint32_t*>(a);
  const auto* y = static_cast<const uint32_t*>(b);
  auto* r = static_cast<uint32_t*>(out);
  for (unsigned i = 0; i < n; ++i) {
    if (((lanes_on >> i) & 1) == 0) {
      continue;
    }
    const uint32_t p = flush ? flushed(x[i]) : x[i];
    const uint32_t q = flush ? flushed(y[i]) : y[i];
    if (is_nan(p) || is_nan(q)) {
      r[i] = nan_of(p, q, uint32_t{0}, 2);
      continue;
    }
    const double exact = math_value<F>(static_cast<double>(real(p)), static_cast<double>(real(q)));
    const auto bits = bits_of<uint32_t>(static_cast<float>(exact));
    r[i] = is_nan(bits) ? RealOf<uint32_t>::kDefaultNan : flush ? flushed(bits) : bits;
  }
  return 0;
}

// Compares two operands: all ones where the relation holds, else zero. Returns a bit for each lane.
template <class T, class Element, Condition C, unsigned N>
uint32_t compares(const void* a, const void* b, const void*, void* out, unsigned count, bool flush, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Element*>(a);
  const auto* y = static_cast<const Element*>(b);
  auto* r = static_cast<Element*>(out);
  for (unsigned i = 0; i < n; ++i) {
    bool truth = false;
    if constexpr (std::is_floating_point_v<T>) {
      truth = relation(C, real(flush ? flushed(x[i]) : x[i]), real(flush ? flushed(y[i]) : y[i]));
    } else {
      truth = relation(C, static_cast<T>(x[i]), static_cast<T>(y[i]));
    }
    r[i] = truth ? static_cast<Element>(~Element{0}) : Element{0};
  }
  uint32_t bits = 0;
  for (unsigned i = 0; i < n; ++i) {
    bits |= static_cast<uint32_t>(r[i] & 1) << i;
  }
  return bits;
}

template <class Element, unsigned N>
uint32_t selects(const void* a, const void* b, const void*, void* out, unsigned count, bool, uint32_t chosen) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Element*>(a);
  const auto* y = static_cast<const Element*>(b);
  auto* r = static_cast<Element*>(out);
  for (unsigned i = 0; i < n; ++i) {
    r[i] = ((chosen >> i) & 1) != 0 ? x[i] : y[i];
  }
  return 0;
}

// min and max.
template <class T, class Element, Condition C, unsigned N>
uint32_t extremes(const void* a, const void* b, const void*, void* out, unsigned count, bool flush, uint32_t) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Element*>(a);
  const auto* y = static_cast<const Element*>(b);
  auto* r = static_cast<Element*>(out);
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

// Converts F to integers: rounds toward zero and clamps to the destination's type; NaN becomes 0.
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

template <class T, class Element, unsigned N>
uint32_t tests(const void* result, unsigned count, Condition condition) {
  const unsigned n = lanes_of<N>(count);
  const auto* x = static_cast<const Element*>(result);
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

}  // namespace halogen::eu::loops
