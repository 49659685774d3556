// Integer operations over lanes. Sources of up to 32 bits are exact with their modifiers (33 bits). Sources of 64 bits
// are taken modulo 2^64; bind_arrays() excludes instructions that depend on higher bits.
#include <bit>

#include "eu/exec/general/bit_ops.h"
#include "eu/exec/general/math.h"
#include "eu/exec/general/relation.h"
#include "eu/exec/vector/arrays.h"

namespace halogen::eu {

namespace {

constexpr unsigned kBlock = 8;

// The sources of one lane.
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
[[gnu::always_inline]] inline void each(ArrayValues* const* source, ArrayValues& out, unsigned count,
                                        Function function) {
  const int64_t* a = source[0]->integer;
  const int64_t* b = source[1]->integer;
  const int64_t* c = source[2]->integer;
  for (unsigned base = 0; base < count; base += kBlock) {
    for (unsigned i = base; i < base + kBlock; ++i) {
      out.integer[i] = function(Operands{a[i], b[i], c[i]});
    }
  }
}

template <ir::Operation Operation>
int64_t simple(const Operands& v) {
  switch (Operation) {
    case ir::Operation::bit_not:
      return ~v.a;
    case ir::Operation::bit_and:
      return v.a & v.b;
    case ir::Operation::bit_or:
      return v.a | v.b;
    case ir::Operation::bit_xor:
      return v.a ^ v.b;
    case ir::Operation::add:
      return s(u(v.a) + u(v.b));
    case ir::Operation::multiply:
      return s(u(v.a) * u(v.b));
    case ir::Operation::add_product:
      return s(u(v.b) * u(v.c) + u(v.a));
    case ir::Operation::average:
      return (v.a + v.b + 1) >> 1;
    case ir::Operation::leading_zeros:
      return std::countl_zero(low(v.a));
    case ir::Operation::first_bit_low:
      return first_bit_low(low(v.a));
    case ir::Operation::reverse_bits:
      return reverse_bits(low(v.a));
    case ir::Operation::insert_mask:
      return insert_mask(low(v.a), low(v.b));
    case ir::Operation::insert_bits:
      return insert_bits(low(v.a), low(v.b), low(v.c));
    default:
      return v.a;
  }
}

template <ir::Operation Operation>
void plain(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  each(source, out, count, simple<Operation>);
}

// Returns the bits of an unsigned integer that is as wide as `type`.
uint64_t width_mask(Type type) {
  const unsigned bits = traits(type).bytes * 8u;
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

uint64_t count_mask(const ir::Lowered& lowered) {
  return traits(lowered.target.type).bytes == 8 || traits(lowered.source[0].type).bytes == 8 ? 63 : 31;
}

void shift_left(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const uint64_t mask = count_mask(context.lowered);
  each(source, out, count, [mask](const Operands& v) { return s(u(v.a) << (u(v.b) & mask)); });
}

void shift_right(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const uint64_t mask = count_mask(context.lowered);
  const uint64_t width = width_mask(context.lowered.source[0].type);
  each(source, out, count, [mask, width](const Operands& v) { return s((u(v.a) & width) >> (u(v.b) & mask)); });
}

void shift_arithmetic(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const uint64_t mask = count_mask(context.lowered);
  each(source, out, count, [mask](const Operands& v) { return v.a >> (u(v.b) & mask); });
}

template <bool Left>
void rotate(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  switch (traits(context.lowered.source[0].type).bytes) {
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

void first_high(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const bool is_signed = traits(context.lowered.source[0].type).is_signed;
  each(source, out, count,
       [is_signed](const Operands& v) { return static_cast<int64_t>(first_bit_high(low(v.a), is_signed)); });
}

void count_bits(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const uint64_t width = width_mask(context.lowered.source[0].type);
  each(source, out, count, [width](const Operands& v) { return static_cast<int64_t>(std::popcount(u(v.a) & width)); });
}

void extract(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const bool is_signed = traits(context.lowered.target.type).is_signed;
  each(source, out, count,
       [is_signed](const Operands& v) { return extract_bits(low(v.a), low(v.b), low(v.c), is_signed); });
}

void dot(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const bool b = traits(context.lowered.source[1].type).is_signed;
  const bool c = traits(context.lowered.source[2].type).is_signed;
  each(source, out, count, [b, c](const Operands& v) { return v.a + dot_bytes(low(v.b), b, low(v.c), c); });
}

void divide(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const bool remainders = context.lowered.compute.operation == ir::Operation::integer_remainder;
  const MathFunction function = remainders ? MathFunction::int_remainder : MathFunction::int_quotient;
  const Type type = context.lowered.target.type;
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

void add_carry(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t sum = uint64_t{low(source[0]->integer[i])} + low(source[1]->integer[i]);
    out.integer[i] = low(s(sum));
    context.second->integer[i] = s(sum >> 32);
  }
}

void subtract_borrow(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const uint32_t a = low(source[0]->integer[i]);
    const uint32_t b = low(source[1]->integer[i]);
    out.integer[i] = a - b;
    context.second->integer[i] = a < b ? 1 : 0;
  }
}

template <class T>
void compare_lanes(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const bool truth = relation(context.lowered.compute.relation, static_cast<T>(source[0]->integer[i]),
                                static_cast<T>(source[1]->integer[i]));
    out.integer[i] = truth ? -1 : 0;
    truths |= static_cast<uint32_t>(truth) << i;
  }
  context.truths = truths;
}

template <class T>
void select_lanes(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  if (context.lowered.compute.operation == ir::Operation::select) {
    for (unsigned i = 0; i < count; ++i) {
      out.integer[i] = source[((context.chosen >> i) & 1) != 0 ? 0 : 1]->integer[i];
    }
    return;
  }
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int64_t a = source[0]->integer[i];
    const int64_t b = source[1]->integer[i];
    const bool first = relation(context.lowered.compute.relation, static_cast<T>(a), static_cast<T>(b));
    out.integer[i] = first ? a : b;
    truths |= static_cast<uint32_t>(first) << i;
  }
  context.truths = truths;
}

void conditional_lanes(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const bool first = relation(context.lowered.compute.relation, source[2]->integer[i], int64_t{0});
    out.integer[i] = source[first ? 0 : 1]->integer[i];
  }
}

}  // namespace

ArrayCompute integer_arrays(const ir::Lowered& lowered) {
  using ir::Operation;
  const bool wide_unsigned = lowered.source[0].type == Type::uq;
  switch (lowered.compute.operation) {
    case Operation::copy:
    case Operation::convert:
      return plain<Operation::convert>;
    case Operation::bit_not:
      return plain<Operation::bit_not>;
    case Operation::bit_and:
      return plain<Operation::bit_and>;
    case Operation::bit_or:
      return plain<Operation::bit_or>;
    case Operation::bit_xor:
      return plain<Operation::bit_xor>;
    case Operation::add:
      return plain<Operation::add>;
    case Operation::multiply:
      return plain<Operation::multiply>;
    case Operation::add_product:
      return plain<Operation::add_product>;
    case Operation::average:
      return plain<Operation::average>;
    case Operation::shift_left:
      return shift_left;
    case Operation::shift_right:
      return shift_right;
    case Operation::shift_arithmetic:
      return wide_unsigned ? shift_right : shift_arithmetic;
    case Operation::rotate_left:
      return rotate<true>;
    case Operation::rotate_right:
      return rotate<false>;
    case Operation::leading_zeros:
      return plain<Operation::leading_zeros>;
    case Operation::first_bit_high:
      return first_high;
    case Operation::first_bit_low:
      return plain<Operation::first_bit_low>;
    case Operation::count_bits:
      return count_bits;
    case Operation::reverse_bits:
      return plain<Operation::reverse_bits>;
    case Operation::extract_bits:
      return extract;
    case Operation::insert_mask:
      return plain<Operation::insert_mask>;
    case Operation::insert_bits:
      return plain<Operation::insert_bits>;
    case Operation::add_carry:
      return add_carry;
    case Operation::subtract_borrow:
      return subtract_borrow;
    case Operation::dot_bytes:
      return dot;
    case Operation::quotient:
    case Operation::integer_remainder: {
      const MathFunction function = lowered.compute.function;
      return function == MathFunction::int_divide_both || function == MathFunction::int_quotient ||
                     function == MathFunction::int_remainder
                 ? divide
                 : nullptr;
    }
    case Operation::compare:
    case Operation::compare_or_nan:
      return wide_unsigned ? compare_lanes<uint64_t> : compare_lanes<int64_t>;
    case Operation::select:
    case Operation::select_related:
      return wide_unsigned ? select_lanes<uint64_t> : select_lanes<int64_t>;
    case Operation::select_signed:
      return conditional_lanes;
    default:
      return nullptr;
  }
}

}  // namespace halogen::eu
