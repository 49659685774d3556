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

bool is_dword(Type type) {
  return type == Type::d || type == Type::ud;
}

// Bits of a source as an unsigned number of its own width.
uint64_t pattern(const LaneInput& input, const Instruction& in, unsigned which) {
  const unsigned bits = traits(in.src[which].type).bytes * 8u;
  const auto all = static_cast<uint64_t>(input.source[which].integer);
  return bits >= 64 ? all : all & ((uint64_t{1} << bits) - 1);
}

Wide multiply(const Frame& frame, const Instruction& in, Wide a, Wide b) {
  if (is_dword(in.src[0].type) && is_dword(in.src[1].type)) {
    switch (frame.rules.dword_multiply) {
      case DwordMultiply::low_word_of_src0:
        return product(a & 0xffff, b);
      case DwordMultiply::low_word_of_src1:
        return product(a, b & 0xffff);
      case DwordMultiply::full:
        break;
    }
  }
  return product(a, b);
}

// The second step of a 32 by 32 multiplication: the accumulator holds one source times the low word of the other, which
// is the one that MUL takes the low word of.
Wide multiply_high(const Frame& frame, const Instruction& in, Wide a, Wide b, Wide accumulator) {
  const bool first = frame.rules.dword_multiply == DwordMultiply::low_word_of_src0;
  const Wide split = first ? a : b;
  const Wide upper = traits(in.src[first ? 0 : 1].type).is_signed ? split >> 16 : (split >> 16) & 0xffff;
  return accumulator + shift_left(product(first ? b : a, upper), 16);
}

Wide rotate(const Instruction& in, const LaneInput& input, bool left) {
  const uint64_t value = pattern(input, in, 0);
  const auto count = static_cast<unsigned>(input.value[1].integer);
  if (traits(in.src[0].type).bytes == 2) {
    const auto word = static_cast<uint16_t>(value);
    const auto by = static_cast<int>(count & 15);
    return left ? std::rotl(word, by) : std::rotr(word, by);
  }
  if (traits(in.src[0].type).bytes == 8) {
    return static_cast<Wide>(left ? std::rotl(value, static_cast<int>(count & 63))
                                  : std::rotr(value, static_cast<int>(count & 63)));
  }
  const auto dword = static_cast<uint32_t>(value);
  const auto by = static_cast<int>(count & 31);
  return left ? std::rotl(dword, by) : std::rotr(dword, by);
}

}  // namespace

Result integer_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input) {
  const Instruction& in = prepared.in;
  Result result;
  result.type = prepared.exec;
  const Wide a = input.value[0].integer;
  const Wide b = input.value[1].integer;
  const Wide c = input.value[2].integer;
  const bool wide_shift = traits(in.dst.type).bytes == 8 || traits(in.src[0].type).bytes == 8;
  const unsigned count = static_cast<unsigned>(b) & (wide_shift ? 63u : 31u);
  const auto low = [](Wide value) { return static_cast<uint32_t>(value); };
  Wide& out = result.value.integer;
  switch (in.op) {
    case Op::not_:
      out = ~a;
      break;
    case Op::and_:
      out = a & b;
      break;
    case Op::or_:
      out = a | b;
      break;
    case Op::xor_:
      out = a ^ b;
      break;
    case Op::shr:
      out = static_cast<Wide>(pattern(input, in, 0) >> count);
      break;
    case Op::shl:
      out = shift_left(a, count);
      break;
    case Op::asr:
      out = a >> count;
      break;
    case Op::ror:
      out = rotate(in, input, false);
      break;
    case Op::rol:
      out = rotate(in, input, true);
      break;
    case Op::add:
      out = a + b;
      break;
    case Op::mul:
      out = multiply(frame, in, a, b);
      break;
    case Op::avg:
      out = (a + b + 1) >> 1;
      break;
    case Op::mac:
      out = multiply(frame, in, a, b) + input.accumulator;
      break;
    case Op::mad:
      out = product(b, c) + a;
      break;
    case Op::mach: {
      const Wide all = multiply_high(frame, in, a, b, input.accumulator);
      const bool low_half = frame.rules.mach == MachResult::low_without_accumulator && !in.accumulator_write;
      out = low_half ? static_cast<Wide>(low(all)) : all >> 32;
      result.has_accumulator = in.accumulator_write || frame.rules.implicit_accumulator_write;
      result.accumulator = low(all);
      break;
    }
    case Op::addc: {
      const uint64_t sum = uint64_t{low(a)} + low(b);
      out = static_cast<Wide>(sum & 0xffff'ffff);
      result.has_accumulator = true;
      result.accumulator = static_cast<Wide>(sum >> 32);
      break;
    }
    case Op::subb:
      out = static_cast<Wide>(low(a) - low(b));
      result.has_accumulator = true;
      result.accumulator = low(a) < low(b) ? 1 : 0;
      break;
    case Op::lzd:
      out = std::countl_zero(low(a));
      break;
    case Op::fbh:
      out = first_bit_high(low(a), traits(in.src[0].type).is_signed);
      break;
    case Op::fbl:
      out = first_bit_low(low(a));
      break;
    case Op::cbit:
      out = std::popcount(pattern(input, in, 0));
      break;
    case Op::bfrev:
      out = reverse_bits(low(a));
      break;
    case Op::bfe:
      out = extract_bits(low(a), low(b), low(c), traits(in.dst.type).is_signed);
      break;
    case Op::bfi1:
      out = insert_mask(low(a), low(b));
      break;
    case Op::bfi2:
      out = insert_bits(low(a), low(b), low(c));
      break;
    case Op::dp4a:
      out = a + dot_bytes(static_cast<uint32_t>(input.source[1].integer), traits(in.src[1].type).is_signed,
                          static_cast<uint32_t>(input.source[2].integer), traits(in.src[2].type).is_signed);
      break;
    case Op::math:
      out = integer_math(in.math, a, b, in.dst.type);
      break;
    default:
      out = a;
      break;
  }
  return result;
}

}  // namespace halogen::eu
