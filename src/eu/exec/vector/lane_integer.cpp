// Integer operations over lanes. Sources of up to 32 bits are exact, with their modifiers (33 bits); those of 64 bits
// are taken modulo 2^64, and the planner keeps away what would look at more.
#include <bit>

#include "eu/exec/general/bit_ops.h"
#include "eu/exec/general/math.h"
#include "eu/exec/general/relation.h"
#include "eu/exec/vector/lane_plan.h"

namespace halogen::eu {

namespace {

constexpr unsigned kBlock = 8;

// One lane of an operation. Shift counts come with their mask.
struct Operands {
  int64_t a;
  int64_t b;
  int64_t c;
};

constexpr uint64_t u(int64_t value) {
  return static_cast<uint64_t>(value);
}
constexpr uint32_t low(int64_t value) {
  return static_cast<uint32_t>(value);
}
constexpr int64_t s(uint64_t value) {
  return static_cast<int64_t>(value);
}

template <class Function>
[[gnu::always_inline]] inline void each(LaneValues* const* source, LaneValues& out, unsigned count, Function function) {
  const int64_t* a = source[0]->integer;
  const int64_t* b = source[1]->integer;
  const int64_t* c = source[2]->integer;
  for (unsigned base = 0; base < count; base += kBlock) {
    for (unsigned i = base; i < base + kBlock; ++i) {
      out.integer[i] = function(Operands{a[i], b[i], c[i]});
    }
  }
}

template <Op Operation>
int64_t simple(const Operands& v) {
  switch (Operation) {
    case Op::not_:
      return ~v.a;
    case Op::and_:
      return v.a & v.b;
    case Op::or_:
      return v.a | v.b;
    case Op::xor_:
      return v.a ^ v.b;
    case Op::add:
      return s(u(v.a) + u(v.b));
    case Op::mul:
      return s(u(v.a) * u(v.b));
    case Op::mad:
      return s(u(v.b) * u(v.c) + u(v.a));
    case Op::avg:
      return (v.a + v.b + 1) >> 1;
    case Op::lzd:
      return std::countl_zero(low(v.a));
    case Op::fbl:
      return first_bit_low(low(v.a));
    case Op::bfrev:
      return reverse_bits(low(v.a));
    case Op::bfi1:
      return insert_mask(low(v.a), low(v.b));
    case Op::bfi2:
      return insert_bits(low(v.a), low(v.b), low(v.c));
    default:
      return v.a;
  }
}

template <Op Operation>
void plain(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  each(source, out, count, simple<Operation>);
}

// Bits of a number as an unsigned one of its own width.
uint64_t width_mask(Type type) {
  const unsigned bits = traits(type).bytes * 8u;
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

uint64_t count_mask(const Instruction& in) {
  return traits(in.dst.type).bytes == 8 || traits(in.src[0].type).bytes == 8 ? 63 : 31;
}

void shift_left(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const uint64_t mask = count_mask(context.in);
  each(source, out, count, [mask](const Operands& v) { return s(u(v.a) << (u(v.b) & mask)); });
}

void shift_right(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const uint64_t mask = count_mask(context.in);
  const uint64_t width = width_mask(context.in.src[0].type);
  each(source, out, count, [mask, width](const Operands& v) { return s((u(v.a) & width) >> (u(v.b) & mask)); });
}

void shift_arithmetic(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const uint64_t mask = count_mask(context.in);
  each(source, out, count, [mask](const Operands& v) { return v.a >> (u(v.b) & mask); });
}

template <bool Left>
void rotate(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  switch (traits(context.in.src[0].type).bytes) {
    case 2:
      each(source, out, count, [](const Operands& v) {
        const auto word = static_cast<uint16_t>(v.a);
        const auto by = static_cast<int>(v.b & 15);
        return static_cast<int64_t>(Left ? std::rotl(word, by) : std::rotr(word, by));
      });
      break;
    case 8:
      each(source, out, count, [](const Operands& v) {
        const auto by = static_cast<int>(v.b & 63);
        return s(Left ? std::rotl(u(v.a), by) : std::rotr(u(v.a), by));
      });
      break;
    default:
      each(source, out, count, [](const Operands& v) {
        const auto by = static_cast<int>(v.b & 31);
        return static_cast<int64_t>(Left ? std::rotl(low(v.a), by) : std::rotr(low(v.a), by));
      });
      break;
  }
}

void first_high(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const bool is_signed = traits(context.in.src[0].type).is_signed;
  each(source, out, count,
       [is_signed](const Operands& v) { return static_cast<int64_t>(first_bit_high(low(v.a), is_signed)); });
}

void count_bits(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const uint64_t width = width_mask(context.in.src[0].type);
  each(source, out, count, [width](const Operands& v) { return static_cast<int64_t>(std::popcount(u(v.a) & width)); });
}

void extract(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const bool is_signed = traits(context.in.dst.type).is_signed;
  each(source, out, count,
       [is_signed](const Operands& v) { return extract_bits(low(v.a), low(v.b), low(v.c), is_signed); });
}

void dot(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const bool b = traits(context.in.src[1].type).is_signed;
  const bool c = traits(context.in.src[2].type).is_signed;
  each(source, out, count, [b, c](const Operands& v) { return v.a + dot_bytes(low(v.b), b, low(v.c), c); });
}

void divide(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const MathFunction function =
      context.in.math == MathFunction::int_divide_both ? MathFunction::int_quotient : context.in.math;
  const Type type = context.in.dst.type;
  const auto result = [type](MathFunction which, int64_t a, int64_t b) {
    if (b == 0) {
      return static_cast<int64_t>(integer_math(which, a, b, type));
    }
    return which == MathFunction::int_remainder ? a % b : a / b;
  };
  for (unsigned i = 0; i < count; ++i) {
    const int64_t a = source[0]->integer[i];
    const int64_t b = source[1]->integer[i];
    out.integer[i] = result(function, a, b);
    context.second->integer[i] = result(MathFunction::int_remainder, a, b);
  }
}

void add_carry(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t sum = uint64_t{low(source[0]->integer[i])} + low(source[1]->integer[i]);
    out.integer[i] = low(s(sum));
    context.second->integer[i] = s(sum >> 32);
  }
}

void subtract_borrow(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const uint32_t a = low(source[0]->integer[i]);
    const uint32_t b = low(source[1]->integer[i]);
    out.integer[i] = a - b;
    context.second->integer[i] = a < b ? 1 : 0;
  }
}

template <class T>
void compare_lanes(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const bool truth =
        relation(context.in.condition, static_cast<T>(source[0]->integer[i]), static_cast<T>(source[1]->integer[i]));
    out.integer[i] = truth ? -1 : 0;
    truths |= static_cast<uint32_t>(truth) << i;
  }
  context.truths = truths;
}

template <class T>
void select_lanes(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  if (context.in.condition == Condition::none) {
    for (unsigned i = 0; i < count; ++i) {
      out.integer[i] = source[((context.chosen >> i) & 1) != 0 ? 0 : 1]->integer[i];
    }
    return;
  }
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int64_t a = source[0]->integer[i];
    const int64_t b = source[1]->integer[i];
    const bool first = relation(context.in.condition, static_cast<T>(a), static_cast<T>(b));
    out.integer[i] = first ? a : b;
    truths |= static_cast<uint32_t>(first) << i;
  }
  context.truths = truths;
}

void conditional_lanes(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const bool first = relation(context.in.condition, source[2]->integer[i], int64_t{0});
    out.integer[i] = source[first ? 0 : 1]->integer[i];
  }
}

bool is_dword(Type type) {
  return type == Type::d || type == Type::ud;
}

}  // namespace

LaneCompute integer_lanes(const Instruction& in, const EuRules& rules) {
  const bool wide_unsigned = in.src[0].type == Type::uq;
  switch (in.op) {
    case Op::mov:
      return plain<Op::mov>;
    case Op::not_:
      return plain<Op::not_>;
    case Op::and_:
      return plain<Op::and_>;
    case Op::or_:
      return plain<Op::or_>;
    case Op::xor_:
      return plain<Op::xor_>;
    case Op::add:
      return plain<Op::add>;
    case Op::mul:
      return is_dword(in.src[0].type) && is_dword(in.src[1].type) && rules.dword_multiply != DwordMultiply::full
                 ? nullptr
                 : plain<Op::mul>;
    case Op::mad:
      return plain<Op::mad>;
    case Op::avg:
      return plain<Op::avg>;
    case Op::shl:
      return shift_left;
    case Op::shr:
      return shift_right;
    case Op::asr:
      return wide_unsigned ? shift_right : shift_arithmetic;
    case Op::rol:
      return rotate<true>;
    case Op::ror:
      return rotate<false>;
    case Op::lzd:
      return plain<Op::lzd>;
    case Op::fbh:
      return first_high;
    case Op::fbl:
      return plain<Op::fbl>;
    case Op::cbit:
      return count_bits;
    case Op::bfrev:
      return plain<Op::bfrev>;
    case Op::bfe:
      return extract;
    case Op::bfi1:
      return plain<Op::bfi1>;
    case Op::bfi2:
      return plain<Op::bfi2>;
    case Op::addc:
      return add_carry;
    case Op::subb:
      return subtract_borrow;
    case Op::dp4a:
      return dot;
    case Op::math:
      return in.math == MathFunction::int_divide_both || in.math == MathFunction::int_quotient ||
                     in.math == MathFunction::int_remainder
                 ? divide
                 : nullptr;
    case Op::cmp:
    case Op::cmpn:
      return wide_unsigned ? compare_lanes<uint64_t> : compare_lanes<int64_t>;
    case Op::sel:
      return wide_unsigned ? select_lanes<uint64_t> : select_lanes<int64_t>;
    case Op::csel:
      return conditional_lanes;
    default:
      return nullptr;
  }
}

}  // namespace halogen::eu
