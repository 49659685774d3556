#include <bit>

#include "eu/exec/general/alu.h"
#include "eu/exec/general/bit_ops.h"
#include "eu/exec/general/math.h"

namespace halogen::eu {

namespace {

Wide product(Wide a, Wide b) {
  return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b));
}

Wide shift_left(Wide value, unsigned count) {
  return static_cast<Wide>(static_cast<UnsignedWide>(value) << count);
}

// Returns the bits of a source as an unsigned integer of the source's width.
uint64_t pattern(const ir::Lowered& lowered, const LaneInput& input, unsigned which) {
  const unsigned bits = traits(lowered.source[which].type).bytes * 8u;
  const auto all = static_cast<uint64_t>(input.source[which].integer);
  return bits >= 64 ? all : all & ((uint64_t{1} << bits) - 1);
}

// Returns the result of the second step of a 32 by 32 bit multiplication. The accumulator holds `other` times the low
// word of `split`.
Wide multiply_high(Wide other, Wide split, bool is_signed, Wide accumulator) {
  const Wide upper = is_signed ? split >> 16 : (split >> 16) & 0xffff;
  return accumulator + shift_left(product(other, upper), 16);
}

Wide rotate(const ir::Lowered& lowered, const LaneInput& input, bool left) {
  const uint64_t value = pattern(lowered, input, 0);
  const auto count = static_cast<unsigned>(input.value[1].integer);
  switch (traits(lowered.source[0].type).bytes) {
    case 2: {
      const auto word = static_cast<uint16_t>(value);
      const auto by = static_cast<int>(count & 15);
      return left ? std::rotl(word, by) : std::rotr(word, by);
    }
    case 8:
      return static_cast<Wide>(left ? std::rotl(value, static_cast<int>(count & 63))
                                    : std::rotr(value, static_cast<int>(count & 63)));
    default: {
      const auto dword = static_cast<uint32_t>(value);
      const auto by = static_cast<int>(count & 31);
      return left ? std::rotl(dword, by) : std::rotr(dword, by);
    }
  }
}

}  // namespace

Result integer_lane(const Prepared& prepared, const LaneInput& input) {
  using ir::Operation;
  const ir::Lowered& lowered = prepared.lowered;
  Result result;
  result.type = lowered.compute.type;
  const Wide a = input.value[0].integer;
  const Wide b = input.value[1].integer;
  const Wide c = input.value[2].integer;
  const auto low = [](Wide value) { return static_cast<uint32_t>(value); };
  const auto is_signed = [&](unsigned which) { return traits(lowered.source[which].type).is_signed; };
  const bool wide_shift = traits(lowered.target.type).bytes == 8 || traits(lowered.source[0].type).bytes == 8;
  const unsigned count = static_cast<unsigned>(b) & (wide_shift ? 63u : 31u);
  const bool accumulates = lowered.accumulator.kind == ir::AccumulatorEffect::Kind::own;
  Wide& out = result.value.integer;
  const auto high = [&](Wide all, bool low_half) {
    result.has_accumulator = accumulates;
    result.accumulator = low(all);
    return low_half ? static_cast<Wide>(low(all)) : all >> 32;
  };
  switch (lowered.compute.operation) {
    case Operation::bit_not:
      out = ~a;
      break;
    case Operation::bit_and:
      out = a & b;
      break;
    case Operation::bit_or:
      out = a | b;
      break;
    case Operation::bit_xor:
      out = a ^ b;
      break;
    case Operation::shift_right:
      out = static_cast<Wide>(pattern(lowered, input, 0) >> count);
      break;
    case Operation::shift_left:
      out = shift_left(a, count);
      break;
    case Operation::shift_arithmetic:
      out = a >> count;
      break;
    case Operation::rotate_right:
      out = rotate(lowered, input, false);
      break;
    case Operation::rotate_left:
      out = rotate(lowered, input, true);
      break;
    case Operation::add:
      out = a + b;
      break;
    case Operation::multiply:
      out = product(a, b);
      break;
    case Operation::multiply_low_a:
      out = product(a & 0xffff, b);
      break;
    case Operation::multiply_low_b:
      out = product(a, b & 0xffff);
      break;
    case Operation::product_add:
      out = product(a, b) + c;
      break;
    case Operation::product_low_a_add:
      out = product(a & 0xffff, b) + c;
      break;
    case Operation::product_low_b_add:
      out = product(a, b & 0xffff) + c;
      break;
    case Operation::add_product:
      out = product(b, c) + a;
      break;
    case Operation::multiply_high:
    case Operation::multiply_high_low:
      out = high(multiply_high(a, b, is_signed(1), c), lowered.compute.operation == Operation::multiply_high_low);
      break;
    case Operation::multiply_high_a:
    case Operation::multiply_high_a_low:
      out = high(multiply_high(b, a, is_signed(0), c), lowered.compute.operation == Operation::multiply_high_a_low);
      break;
    case Operation::add_carry: {
      const uint64_t sum = uint64_t{low(a)} + low(b);
      out = static_cast<Wide>(sum & 0xffff'ffff);
      result.has_accumulator = true;
      result.accumulator = static_cast<Wide>(sum >> 32);
      break;
    }
    case Operation::subtract_borrow:
      out = static_cast<Wide>(low(a) - low(b));
      result.has_accumulator = true;
      result.accumulator = low(a) < low(b) ? 1 : 0;
      break;
    case Operation::average:
      out = (a + b + 1) >> 1;
      break;
    case Operation::leading_zeros:
      out = std::countl_zero(low(a));
      break;
    case Operation::first_bit_high:
      out = first_bit_high(low(a), is_signed(0));
      break;
    case Operation::first_bit_low:
      out = first_bit_low(low(a));
      break;
    case Operation::count_bits:
      out = std::popcount(pattern(lowered, input, 0));
      break;
    case Operation::reverse_bits:
      out = reverse_bits(low(a));
      break;
    case Operation::extract_bits:
      out = extract_bits(low(a), low(b), low(c), traits(lowered.target.type).is_signed);
      break;
    case Operation::insert_mask:
      out = insert_mask(low(a), low(b));
      break;
    case Operation::insert_bits:
      out = insert_bits(low(a), low(b), low(c));
      break;
    case Operation::dot_bytes:
      out = a + dot_bytes(static_cast<uint32_t>(input.source[1].integer), is_signed(1),
                          static_cast<uint32_t>(input.source[2].integer), is_signed(2));
      break;
    case Operation::quotient:
      out = integer_math(MathFunction::int_quotient, a, b, lowered.target.type);
      break;
    case Operation::integer_remainder:
      out = integer_math(MathFunction::int_remainder, a, b, lowered.target.type);
      break;
    default:
      out = a;
      break;
  }
  return result;
}

}  // namespace halogen::eu
