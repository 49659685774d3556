// Whole vectors of 32-bit lanes with the host's AVX2: moves, sums, products, multiply-adds and planes of F whose
// operands are scalars or rows of eight contiguous lanes. Rare cases go to the next routine: other rounding modes,
// alternate floats, a result that is NaN.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstring>

#include "eu/exec/control/masks.h"
#include "eu/exec/vector/float_bits.h"
#include "eu/exec/vector/routines.h"

namespace halogen::eu {

#ifdef __x86_64__

namespace {

#define HALOGEN_VECTOR [[gnu::target("avx2,fma"), gnu::always_inline]] static inline

using Bits = RealOf<uint32_t>;

struct Vector {
  // Loads eight contiguous lanes.
  template <bool Plain>
  HALOGEN_VECTOR __m256 row(const std::byte* from, const ir::Source& source) {
    return with_sign<Plain>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), source);
  }
  // Loads one value for all lanes.
  template <bool Plain>
  HALOGEN_VECTOR __m256 number(const std::byte* thread, const ir::Source& source) {
    const std::byte* const from = source.file == ir::File::immediate
                                      ? reinterpret_cast<const std::byte*>(&source.immediate)
                                      : thread + source.access.base;
    return with_sign<Plain>(_mm256_set1_epi32(dword(from)), source);
  }
  // Replaces denormals by zeros of the same sign.
  HALOGEN_VECTOR __m256 flush(__m256 values) {
    const __m256i bits = _mm256_castps_si256(values);
    const __m256i exponent = _mm256_set1_epi32(static_cast<int>(Bits::kExponent));
    const __m256i small = _mm256_cmpeq_epi32(_mm256_and_si256(bits, exponent), _mm256_setzero_si256());
    return _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_srli_epi32(small, 1), bits));
  }
  HALOGEN_VECTOR __m256 saturate(__m256 values) {
    return _mm256_min_ps(_mm256_max_ps(values, _mm256_setzero_ps()), _mm256_set1_ps(1.0f));
  }
  // Returns whether either vector has a NaN.
  HALOGEN_VECTOR bool any_nan(__m256 first, __m256 second) {
    return _mm256_movemask_ps(_mm256_cmp_ps(first, second, _CMP_UNORD_Q)) != 0;
  }
  HALOGEN_VECTOR void store(std::byte* to, __m256 values, uint32_t mask) {
    if (mask == 0xff) {
      _mm256_storeu_ps(reinterpret_cast<float*>(to), values);
      return;
    }
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i lanes = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask)), bit), bit);
    _mm256_maskstore_ps(reinterpret_cast<float*>(to), lanes, values);
  }

 private:
  HALOGEN_VECTOR int dword(const std::byte* from) {
    int value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  template <bool Plain>
  HALOGEN_VECTOR __m256 with_sign(__m256i bits, const ir::Source& source) {
    if (Plain || !source.modifier.any()) {
      return _mm256_castsi256_ps(bits);
    }
    const __m256i sign = _mm256_set1_epi32(static_cast<int>(Bits::kSign));
    const __m256i magnitude = source.modifier.absolute ? _mm256_andnot_si256(sign, bits) : bits;
    return _mm256_castsi256_ps(source.modifier.negate ? _mm256_xor_si256(magnitude, sign) : magnitude);
  }
};

struct VectorMove {
  static constexpr unsigned kSources = 1;
  static constexpr bool kComputes = false;
  HALOGEN_VECTOR __m256 apply(const __m256* source) { return source[0]; }
};
struct VectorAdd {
  static constexpr unsigned kSources = 2;
  static constexpr bool kComputes = true;
  HALOGEN_VECTOR __m256 apply(const __m256* source) { return _mm256_add_ps(source[0], source[1]); }
};
struct VectorMultiply {
  static constexpr unsigned kSources = 2;
  static constexpr bool kComputes = true;
  HALOGEN_VECTOR __m256 apply(const __m256* source) { return _mm256_mul_ps(source[0], source[1]); }
};
struct VectorFused {
  static constexpr unsigned kSources = 3;
  static constexpr bool kComputes = true;
  HALOGEN_VECTOR __m256 apply(const __m256* source) { return _mm256_fmadd_ps(source[1], source[2], source[0]); }
};

// Returns whether the operation reads a source as one value for all lanes.
template <class Operation>
constexpr bool is_known_scalar(unsigned source) {
  if constexpr (requires { Operation::kScalars; }) {
    return (Operation::kScalars >> source & 1) != 0;
  } else {
    return false;
  }
}

// Computes four lanes at a time in doubles. The result is rounded to F once.
template <class Operation>
struct InDoubles : Operation {
  static constexpr unsigned kSources = Operation::kSources;
  static constexpr bool kComputes = true;
  HALOGEN_VECTOR __m256 apply(const __m256* source) {
    __m256d low[kSources];
    __m256d high[kSources];
    for (unsigned i = 0; i < kSources; ++i) {
      low[i] = _mm256_cvtps_pd(_mm256_castps256_ps128(source[i]));
      high[i] = is_known_scalar<Operation>(i) ? low[i] : _mm256_cvtps_pd(_mm256_extractf128_ps(source[i], 1));
    }
    return _mm256_set_m128(_mm256_cvtpd_ps(Operation::apply(high)), _mm256_cvtpd_ps(Operation::apply(low)));
  }
};
// p u + q v + r, from p, u, q, v, r.
struct Plane {
  static constexpr unsigned kSources = 5;
  static constexpr unsigned kScalars = 0b10101;  // the coefficients
  HALOGEN_VECTOR __m256d apply(const __m256d* source) {
    const __m256d first = _mm256_mul_pd(source[0], source[1]);
    const __m256d second = _mm256_mul_pd(source[2], source[3]);
    return _mm256_add_pd(_mm256_add_pd(first, second), source[4]);
  }
};
// MAD that is not fused, so the product keeps double precision.
struct ProductThenSum {
  static constexpr unsigned kSources = 3;
  HALOGEN_VECTOR __m256d apply(const __m256d* source) {
    return _mm256_add_pd(_mm256_mul_pd(source[1], source[2]), source[0]);
  }
};

// Features of an instruction besides its operation. Most instructions of shaders are plain: no source modifier and no
// predicate.
enum class Form : uint8_t { plain, plain_saturated, any };

// Returns whether a source is one value for all lanes.
template <class Operation>
bool is_scalar(const ir::Lowered& lowered, unsigned source) {
  if constexpr (requires { Operation::kScalars; }) {
    return is_known_scalar<Operation>(source);
  } else {
    return lowered.source[source].access.kind == ir::Access::Kind::scalar;
  }
}

template <class Operation, unsigned Halves, Form F>
[[gnu::target("avx2,fma")]] Step run_vector(Frame& frame, const Prepared& prepared) {
  if (Operation::kComputes && (frame.mode.rounding != Rounding::nearest || frame.mode.alternate)) {
    return prepared.rest(frame, prepared);
  }
  constexpr bool kPlain = F != Form::any;
  const ir::Lowered& lowered = prepared.lowered;
  auto* const thread = reinterpret_cast<std::byte*>(&frame.thread);
  // Computed before vectors are loaded, because a call would have to save them.
  uint32_t mask = enabled_lanes(frame, lowered.mask);
  if constexpr (!kPlain) {
    mask &= predicate_lanes(frame.thread, lowered.mask);
  }
  const bool flush = Operation::kComputes && frame.mode.flush_single;
  const bool saturate = kPlain ? F == Form::plain_saturated : lowered.target.saturate;
  __m256 source[Halves][Operation::kSources];
  for (unsigned i = 0; i < Operation::kSources; ++i) {
    const ir::Source& operand = lowered.source[i];
    const bool one = is_scalar<Operation>(lowered, i);
    const std::byte* const from = thread + operand.access.base;
    if constexpr (Halves == 1) {
      if (one) {
        const __m256 number = Vector::number<kPlain>(thread, operand);
        source[0][i] = flush ? Vector::flush(number) : number;
        continue;
      }
      const __m256 row = Vector::row<kPlain>(from, operand);
      source[0][i] = flush ? Vector::flush(row) : row;
    } else {
      const __m256 first = one ? Vector::number<kPlain>(thread, operand) : Vector::row<kPlain>(from, operand);
      source[0][i] = flush ? Vector::flush(first) : first;
      if (one) {
        source[1][i] = source[0][i];
      } else {
        const __m256 second = Vector::row<kPlain>(from + operand.access.row, operand);
        source[1][i] = flush ? Vector::flush(second) : second;
      }
    }
  }
  __m256 result[Halves];
  for (unsigned half = 0; half < Halves; ++half) {
    result[half] = Operation::apply(source[half]);
  }
  if ((Operation::kComputes || saturate) && Vector::any_nan(result[0], result[Halves - 1])) {
    return prepared.rest(frame, prepared);
  }
  for (unsigned half = 0; half < Halves; ++half) {
    if (flush) {
      result[half] = Vector::flush(result[half]);
    }
    if (saturate) {
      result[half] = Vector::saturate(result[half]);
    }
  }
  std::byte* const to = thread + lowered.target.access.base;
  Vector::store(to, result[0], mask & 0xff);
  if constexpr (Halves == 2) {
    Vector::store(to + lowered.target.access.row, result[1], mask >> 8 & 0xff);
  }
  return Step::next;
}

#undef HALOGEN_VECTOR

template <unsigned Halves, Form F>
Handler routine(const ir::Compute& compute) {
  switch (compute.operation) {
    case ir::Operation::copy:
    case ir::Operation::convert:
      return run_vector<VectorMove, Halves, F>;
    case ir::Operation::add:
      return run_vector<VectorAdd, Halves, F>;
    case ir::Operation::multiply:
      return run_vector<VectorMultiply, Halves, F>;
    case ir::Operation::add_product:
      return compute.fused ? run_vector<VectorFused, Halves, F> : run_vector<InDoubles<ProductThenSum>, Halves, F>;
    case ir::Operation::plane:
      return run_vector<InDoubles<Plane>, Halves, F>;
    default:
      return nullptr;
  }
}

Form form_of(const ir::Lowered& lowered) {
  bool plain = lowered.mask.predicate == Predicate::none;
  for (unsigned i = 0; i < lowered.sources; ++i) {
    plain &= !lowered.source[i].modifier.any();
  }
  return !plain ? Form::any : lowered.target.saturate ? Form::plain_saturated : Form::plain;
}

template <unsigned Halves>
Handler routine(const ir::Lowered& lowered) {
  switch (form_of(lowered)) {
    case Form::plain:
      return routine<Halves, Form::plain>(lowered.compute);
    case Form::plain_saturated:
      return routine<Halves, Form::plain_saturated>(lowered.compute);
    case Form::any:
      return routine<Halves, Form::any>(lowered.compute);
  }
  return nullptr;
}

// Returns whether the scalar sources are those that the routine of a plane expects.
bool has_scalars(const ir::Lowered& lowered) {
  bool fits = true;
  for (unsigned i = 0; lowered.compute.operation == ir::Operation::plane && i < Plane::kSources; ++i) {
    const bool scalar = lowered.source[i].access.kind == ir::Access::Kind::scalar;
    fits &= scalar == is_scalar<Plane>(lowered, i);
  }
  return fits;
}

}  // namespace

bool bind_avx2(Prepared& prepared) {
  const ir::Lowered& lowered = prepared.lowered;
  if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0 ||
      traits(lowered.target.type).bytes != 4 || !has_scalars(lowered)) {
    return false;
  }
  prepared.fast = lowered.exec_size == 8 ? routine<1>(lowered) : routine<2>(lowered);
  return prepared.fast != nullptr;
}

#else

bool bind_avx2(Prepared&) {
  return false;
}

#endif

}  // namespace halogen::eu
