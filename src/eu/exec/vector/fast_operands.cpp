#include "eu/exec/vector/fast_operands.h"

#include <bit>
#include <cstring>
#include <optional>

#include "eu/exec/general/operands.h"

namespace halogen::eu {

namespace {

// Bytes from lane to lane if the region walks evenly.
std::optional<int> even_step(const Instruction& in, const Operand& operand) {
  const Region& region = operand.region;
  const int size = traits(operand.type).bytes;
  if (in.align16) {
    if (region.width == 1) {
      return 0;
    }
    const bool straight = operand.swizzle == std::array<uint8_t, 4>{0, 1, 2, 3};
    if (!straight || (region.vertical == 0 && in.exec_size > (size == 8 ? 2 : 4))) {
      return std::nullopt;
    }
    return size;
  }
  if (in.exec_size == 1) {
    return 0;
  }
  if (region.width == 0) {
    return std::nullopt;
  }
  if (region.width >= in.exec_size) {
    return region.horizontal * size;
  }
  if (region.width == 1) {
    return region.vertical * size;
  }
  if (region.vertical == region.width * region.horizontal) {
    return region.horizontal * size;
  }
  return std::nullopt;
}

bool fits(int offset, int step, unsigned lanes, unsigned bytes) {
  return offset >= 0 &&
         offset + step * static_cast<int>(lanes - 1) + static_cast<int>(bytes) <= static_cast<int>(kGrfs * kGrfBytes);
}

// Floats in an accumulator are what lies there, whatever integers keep beside it.
bool is_float_accumulator(const Instruction& in, const Operand& operand) {
  return operand.is_arf(Arf::accumulator) && !operand.indirect && operand.type == Type::f && !in.align16 &&
         (in.op == Op::add || in.op == Op::mul || in.op == Op::mad);
}

// Bytes from the thread's first one, which is that of the registers.
static_assert(offsetof(Thread, grf) == 0);
bool place_in_accumulator(const Operand& operand, int step, unsigned lanes, FastOperand& out) {
  const int offset = (operand.reg & 15) * static_cast<int>(kGrfBytes) + operand.sub;
  if (offset + step * static_cast<int>(lanes - 1) + 4 > static_cast<int>(kAccumulators * kGrfBytes)) {
    return false;
  }
  out.offset = static_cast<uint16_t>(static_cast<int>(offsetof(Thread, accumulator)) + offset);
  out.step = static_cast<int16_t>(step);
  return true;
}

}  // namespace

bool place_source(const Instruction& in, const Operand& operand, FastOperand& out) {
  if (operand.file == File::immediate) {
    if (operand.type == Type::v || operand.type == Type::uv || operand.type == Type::vf) {
      return false;
    }
    out.is_immediate = true;
    const TypeTraits of = traits(operand.type);
    uint64_t bits = of.bytes == 8 ? operand.immediate : operand.immediate & ((uint64_t{1} << (8 * of.bytes)) - 1);
    if (!of.is_float) {
      bits = static_cast<uint64_t>(int_from_bits(operand.type, bits));
    }
    out.immediate = bits;
    return true;
  }
  const auto step = even_step(in, operand);
  if (is_float_accumulator(in, operand)) {
    return step && place_in_accumulator(operand, *step, in.exec_size, out);
  }
  if (operand.file != File::grf || operand.indirect || operand.type == Type::nf) {
    return false;
  }
  const int offset = operand.reg * static_cast<int>(kGrfBytes) + operand.sub;
  if (!step || !fits(offset, *step, in.exec_size, traits(operand.type).bytes)) {
    return false;
  }
  out.offset = static_cast<uint16_t>(offset);
  out.step = static_cast<int16_t>(*step);
  return true;
}

bool place_destination(const Instruction& in, FastOperand& out) {
  const Operand& operand = in.dst;
  if (is_float_accumulator(in, operand)) {
    return operand.region.horizontal != 0 &&
           place_in_accumulator(operand, operand.region.horizontal * 4, in.exec_size, out);
  }
  if (operand.file != File::grf || operand.indirect || operand.type == Type::nf ||
      (in.align16 && operand.write_mask != 0xf)) {
    return false;
  }
  const int size = traits(operand.type).bytes;
  const int step = in.align16 ? size : operand.region.horizontal * size;
  const int offset = operand.reg * static_cast<int>(kGrfBytes) + operand.sub;
  if (step < size || !fits(offset, step, in.exec_size, static_cast<unsigned>(size))) {
    return false;
  }
  out.offset = static_cast<uint16_t>(offset);
  out.step = static_cast<int16_t>(step);
  return true;
}

void forget_extensions(Thread& thread, const FastOperand& to, uint32_t mask) {
  if ((thread.extension[0].valid | thread.extension[1].valid) == 0) {
    return;
  }
  const size_t first = to.offset - offsetof(Thread, accumulator);
  for (; mask != 0; mask &= mask - 1) {
    const size_t offset = first + static_cast<size_t>(std::countr_zero(mask)) * static_cast<size_t>(to.step);
    uint32_t bits = 0;
    std::memcpy(&bits, thread.accumulator.data() + offset, sizeof(bits));
    set_accumulator_bits(thread, static_cast<int32_t>(offset), sizeof(bits), bits);
  }
}

}  // namespace halogen::eu
