#include "eu/exec/vector/fast_vector.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstring>
#include <optional>

#include "eu/exec/control/masks.h"

namespace halogen::eu {

#ifdef __x86_64__

namespace {

#define HALOGEN_VECTOR [[gnu::target("avx2,fma"), gnu::always_inline]] static inline

constexpr int kExponent = 0x7f80'0000;
constexpr uint32_t kSign = 0x8000'0000;
constexpr int kRegister = static_cast<int>(kGrfBytes);
constexpr int kGrfEnd = static_cast<int>(kGrfs) * kRegister;
static_assert(offsetof(Thread, grf) == 0, "operands are offsets from the thread");

struct Vector {
  // Eight lanes at a place.
  HALOGEN_VECTOR __m256 row(const std::byte* registers, const VectorPlan::Operand& operand, unsigned half) {
    return with_sign(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(registers + operand.at[half])), operand);
  }
  // One number for all lanes.
  HALOGEN_VECTOR __m256 number(const std::byte* registers, const VectorPlan::Operand& operand) {
    const std::byte* const from =
        operand.is_immediate ? reinterpret_cast<const std::byte*>(&operand.immediate) : registers + operand.at[0];
    return with_sign(_mm256_set1_epi32(dword(from)), operand);
  }
  // Denormals become zeros of their sign.
  HALOGEN_VECTOR __m256 flush(__m256 values) {
    const __m256i bits = _mm256_castps_si256(values);
    const __m256i exponent = _mm256_set1_epi32(kExponent);
    const __m256i small = _mm256_cmpeq_epi32(_mm256_and_si256(bits, exponent), _mm256_setzero_si256());
    return _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_srli_epi32(small, 1), bits));
  }
  HALOGEN_VECTOR __m256 saturate(__m256 values) {
    return _mm256_min_ps(_mm256_max_ps(values, _mm256_setzero_ps()), _mm256_set1_ps(1.0f));
  }
  // In one of them.
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
  HALOGEN_VECTOR __m256 with_sign(__m256i bits, const VectorPlan::Operand& operand) {
    if ((operand.clear | operand.turn) == 0) {
      return _mm256_castsi256_ps(bits);
    }
    return _mm256_castsi256_ps(
        _mm256_xor_si256(_mm256_andnot_si256(_mm256_set1_epi32(static_cast<int>(operand.clear)), bits),
                         _mm256_set1_epi32(static_cast<int>(operand.turn))));
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

// Four lanes of each source as doubles; the result is rounded to F once.
template <class Operation>
struct InDoubles {
  static constexpr unsigned kSources = Operation::kSources;
  static constexpr bool kComputes = true;
  HALOGEN_VECTOR __m256 apply(const __m256* source) {
    __m256d low[kSources];
    __m256d high[kSources];
    for (unsigned i = 0; i < kSources; ++i) {
      low[i] = _mm256_cvtps_pd(_mm256_castps256_ps128(source[i]));
      high[i] = _mm256_cvtps_pd(_mm256_extractf128_ps(source[i], 1));
    }
    return _mm256_set_m128(_mm256_cvtpd_ps(Operation::apply(high)), _mm256_cvtpd_ps(Operation::apply(low)));
  }
};
// p u + q v + r, from p, u, q, v, r.
struct Plane {
  static constexpr unsigned kSources = 5;
  HALOGEN_VECTOR __m256d apply(const __m256d* source) {
    const __m256d first = _mm256_mul_pd(source[0], source[1]);
    const __m256d second = _mm256_mul_pd(source[2], source[3]);
    return _mm256_add_pd(_mm256_add_pd(first, second), source[4]);
  }
};
// Before Gen8: the product of MAD keeps double precision.
struct ProductThenSum {
  static constexpr unsigned kSources = 3;
  HALOGEN_VECTOR __m256d apply(const __m256d* source) {
    return _mm256_add_pd(_mm256_mul_pd(source[1], source[2]), source[0]);
  }
};

template <class Operation, unsigned Halves>
[[gnu::target("avx2,fma")]] Step run_vector(Frame& frame, const Prepared& prepared) {
  if (Operation::kComputes && (frame.mode.rounding != Rounding::nearest || frame.mode.alternate)) {
    return prepared.rest(frame, prepared);
  }
  const VectorPlan& plan = prepared.vector;
  auto* const registers = reinterpret_cast<std::byte*>(&frame.thread);
  const bool flush = Operation::kComputes && frame.mode.flush_single;
  __m256 source[Halves][Operation::kSources];
  for (unsigned i = 0; i < Operation::kSources; ++i) {
    const VectorPlan::Operand& operand = plan.source[i];
    if (operand.scalar) {
      const __m256 number = Vector::number(registers, operand);
      source[0][i] = flush ? Vector::flush(number) : number;
      source[Halves - 1][i] = source[0][i];
      continue;
    }
    for (unsigned half = 0; half < Halves; ++half) {
      const __m256 row = Vector::row(registers, operand, half);
      source[half][i] = flush ? Vector::flush(row) : row;
    }
  }
  __m256 result[Halves];
  for (unsigned half = 0; half < Halves; ++half) {
    result[half] = Operation::apply(source[half]);
  }
  if ((Operation::kComputes || plan.saturate) && Vector::any_nan(result[0], result[Halves - 1])) {
    return prepared.rest(frame, prepared);
  }
  for (unsigned half = 0; half < Halves; ++half) {
    if (flush) {
      result[half] = Vector::flush(result[half]);
    }
    if (plan.saturate) {
      result[half] = Vector::saturate(result[half]);
    }
  }
  uint32_t mask = enabled_lanes(frame, prepared);
  if (prepared.in.predicate != Predicate::none) {
    mask &= predicate_lanes(frame, prepared);
  }
  for (unsigned half = 0; half < Halves; ++half) {
    Vector::store(registers + plan.destination[half], result[half], mask >> (8 * half) & 0xff);
  }
  return Step::next;
}

#undef HALOGEN_VECTOR

template <unsigned Halves>
Handler routine(const Prepared& prepared, const EuRules& rules) {
  switch (prepared.in.op) {
    case Op::mov:
      return run_vector<VectorMove, Halves>;
    case Op::add:
      return run_vector<VectorAdd, Halves>;
    case Op::mul:
      return run_vector<VectorMultiply, Halves>;
    case Op::mad:
      return rules.fused_mad ? run_vector<VectorFused, Halves> : run_vector<InDoubles<ProductThenSum>, Halves>;
    case Op::pln:
      return run_vector<InDoubles<Plane>, Halves>;
    default:
      return nullptr;
  }
}

// A scalar, eight or sixteen lanes in a row, or one number.
bool place(const Instruction& in, const Operand& operand, VectorPlan::Operand& out) {
  if (operand.indirect || traits(operand.type).bytes != 4 || operand.type == Type::nf || operand.type == Type::vf) {
    return false;
  }
  if (operand.file == File::immediate) {
    out.is_immediate = out.scalar = true;
    out.immediate = static_cast<uint32_t>(operand.immediate);
    return true;
  }
  if (operand.file != File::grf || operand.region.vertical_by_address) {
    return false;
  }
  const Region& region = operand.region;
  bool row = false;
  if (in.align16) {
    row = region.width != 1 && region.vertical != 0 && operand.swizzle == std::array<uint8_t, 4>{0, 1, 2, 3};
    out.scalar = region.width == 1;
  } else {
    row = (region.width == 1 && region.vertical == 1) ||
          (region.horizontal == 1 && region.width > 1 &&
           (region.width >= in.exec_size || region.vertical == region.width));
    out.scalar = region.width == 1 && region.vertical == 0;
  }
  const int at = operand.reg * kRegister + operand.sub;
  if ((!row && !out.scalar) || at + (out.scalar ? 4 : in.exec_size * 4) > kGrfEnd) {
    return false;
  }
  out.at = {static_cast<uint16_t>(at), static_cast<uint16_t>(out.scalar ? at : at + kRegister)};
  out.clear = operand.absolute ? kSign : 0;
  out.turn = operand.negate ? kSign : 0;
  return true;
}

// Coefficients lie in a row at src0, coordinates in pairs of registers at src1.
bool place_plane(const Instruction& in, VectorPlan& plan) {
  const Operand& start = in.src[0];
  const Operand& across = in.src[1];
  for (const Operand& operand : {start, across}) {
    if (operand.file != File::grf || operand.indirect || operand.negate || operand.absolute) {
      return false;
    }
  }
  constexpr std::array<int, 3> kCoefficients{0, 1, 3};
  const int first = start.reg * kRegister + start.sub;
  const int u = across.reg * kRegister + across.sub;
  if (first + 16 > kGrfEnd || u + in.exec_size / 8 * 2 * kRegister > kGrfEnd) {
    return false;
  }
  for (size_t i = 0; i < kCoefficients.size(); ++i) {
    VectorPlan::Operand& to = plan.source[i * 2];
    to.scalar = true;
    to.at.fill(static_cast<uint16_t>(first + kCoefficients[i] * 4));
  }
  for (int i = 0; i < 2; ++i) {
    plan.source[i == 0 ? 1 : 3].at = {static_cast<uint16_t>(u + i * kRegister),
                                      static_cast<uint16_t>(u + (i + 2) * kRegister)};
  }
  return true;
}

bool place_destination(const Instruction& in, VectorPlan& plan) {
  const Operand& to = in.dst;
  const bool in_row = in.align16 ? to.write_mask == 0xf : to.region.horizontal == 1;
  if (to.indirect || !in_row || (to.file != File::grf && to.file != File::mrf)) {
    return false;
  }
  const bool messages = to.file == File::mrf;
  // Bit 7 of a message register: the other eight channels go four registers on.
  const bool spread = messages && (to.reg & 0x80) != 0 && !in.align16;
  const int at = (messages ? to.reg & 0x7f : to.reg) * kRegister + to.sub;
  const int second = at + (spread ? 4 : 1) * kRegister;
  const int end = messages ? static_cast<int>(kMrfs) * kRegister : kGrfEnd;
  if ((in.exec_size == 16 ? second : at) + kRegister > end) {
    return false;
  }
  const int base = messages ? static_cast<int>(offsetof(Thread, mrf)) : 0;
  plan.destination = {static_cast<uint16_t>(base + at), static_cast<uint16_t>(base + second)};
  return true;
}

// A source that the first half of the result is written over, and that the second half reads, is read before: all
// sources are loaded first. So only what the operation is counts.
bool fits(const Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  const bool moves = in.op == Op::mov;
  if ((in.exec_size != 8 && in.exec_size != 16) || in.accumulator_write || in.condition != Condition::none ||
      (rules.implicit_accumulator_write && !moves) || (in.align16 && in.op == Op::pln)) {
    return false;
  }
  if (prepared.raw_move) {
    return traits(in.dst.type).bytes == 4 && in.src[0].type == in.dst.type;
  }
  if (in.dst.type != Type::f) {
    return false;
  }
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    if (in.src[i].type != Type::f) {
      return false;
    }
  }
  return true;
}

bool plan_vector(const Prepared& prepared, VectorPlan& plan) {
  const Instruction& in = prepared.in;
  plan.saturate = in.saturate;
  if (!place_destination(in, plan)) {
    return false;
  }
  if (in.op == Op::pln) {
    return place_plane(in, plan);
  }
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    if (!place(in, in.src[i], plan.source[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

void choose_vector(Prepared& prepared, const EuRules& rules) {
  if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0 || !fits(prepared, rules)) {
    return;
  }
  const Handler handler = prepared.in.exec_size == 8 ? routine<1>(prepared, rules) : routine<2>(prepared, rules);
  VectorPlan plan;
  if (handler == nullptr || !plan_vector(prepared, plan)) {
    return;
  }
  prepared.vector = plan;
  prepared.rest = prepared.fast != nullptr ? prepared.fast : prepared.handler;
  prepared.fast = handler;
}

#else

void choose_vector(Prepared&, const EuRules&) {}

#endif

}  // namespace halogen::eu
