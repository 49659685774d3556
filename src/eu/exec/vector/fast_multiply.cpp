#include "eu/exec/vector/fast_multiply.h"

#include <array>
#include <bit>
#include <cstring>

#include "eu/exec/control/masks.h"
#include "eu/exec/general/operands.h"

namespace halogen::eu {

namespace {

constexpr unsigned kMostLanes = 16;
constexpr size_t kDword = 4;

bool is_dword(Type type) {
  return type == Type::d || type == Type::ud;
}
bool is_word(Type type) {
  return type == Type::w || type == Type::uw;
}

// A scalar or elements at even distances, in general registers, or one number.
bool place(const Instruction& in, const Operand& operand, FastOperand& out) {
  if (operand.negate || operand.absolute || operand.indirect) {
    return false;
  }
  const int size = traits(operand.type).bytes;
  if (operand.file == File::immediate) {
    out.is_immediate = true;
    out.immediate = static_cast<uint64_t>(int_from_bits(operand.type, immediate_bits(operand, 0)));
    return true;
  }
  const Region& region = operand.region;
  if (operand.file != File::grf || region.vertical_by_address || region.width == 0) {
    return false;
  }
  int step = 0;
  if (region.width >= in.exec_size) {
    step = region.horizontal * size;
  } else if (region.width == 1) {
    step = region.vertical * size;
  } else if (region.vertical == region.width * region.horizontal) {
    step = region.horizontal * size;
  } else {
    return false;
  }
  const int offset = operand.reg * static_cast<int>(kGrfBytes) + operand.sub;
  if (offset + step * (in.exec_size - 1) + size > static_cast<int>(kGrfs * kGrfBytes)) {
    return false;
  }
  out.offset = static_cast<uint16_t>(offset);
  out.step = static_cast<int16_t>(step);
  return true;
}

template <class T>
int64_t element(const Thread& thread, const FastOperand& operand, unsigned lane) {
  T value;
  std::memcpy(&value, thread.grf.data() + operand.offset + static_cast<int>(lane) * operand.step, sizeof(T));
  return static_cast<int64_t>(value);
}

void load(const Thread& thread, const FastOperand& operand, Type type, unsigned lanes,
          std::array<int64_t, kMostLanes>& out) {
  if (operand.is_immediate) {
    out.fill(static_cast<int64_t>(operand.immediate));
    return;
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    out[lane] = type == Type::d    ? element<int32_t>(thread, operand, lane)
                : type == Type::ud ? element<uint32_t>(thread, operand, lane)
                : type == Type::w  ? element<int16_t>(thread, operand, lane)
                                   : element<uint16_t>(thread, operand, lane);
  }
}

Step multiply(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const Instruction& in = prepared.in;
  std::array<int64_t, kMostLanes> a{};
  std::array<int64_t, kMostLanes> b{};
  load(thread, prepared.plan.source[0], in.src[0].type, in.exec_size, a);
  load(thread, prepared.plan.source[1], in.src[1].type, in.exec_size, b);
  uint32_t mask = enabled_lanes(frame, prepared) & predicate_lanes(frame, prepared);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const size_t offset = prepared.plan.destination.offset + lane * kDword;
    const int64_t product = a[lane] * b[lane];
    std::memcpy(thread.accumulator.data() + offset, &product, kDword);
    Thread::Extension& extension = thread.extension[offset / kGrfBytes];
    if (extension.element != kDword) {
      extension.element = kDword;
      extension.valid = 0;
    }
    const size_t place_in = offset % kGrfBytes / kDword;
    extension.upper[place_in] = product >> 32;
    extension.valid = static_cast<uint16_t>(extension.valid | 1u << place_in);
  }
  return Step::next;
}

// Only the low half is kept, so only low halves matter.
Step multiply_high(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const Instruction& in = prepared.in;
  std::array<int64_t, kMostLanes> a{};
  std::array<int64_t, kMostLanes> b{};
  load(thread, prepared.plan.source[0], in.src[0].type, in.exec_size, a);
  load(thread, prepared.plan.source[1], in.src[1].type, in.exec_size, b);
  uint32_t mask = enabled_lanes(frame, prepared) & predicate_lanes(frame, prepared);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    uint32_t sum = 0;
    std::memcpy(&sum, thread.accumulator.data() + prepared.plan.source[2].offset + lane * kDword, kDword);
    sum += static_cast<uint32_t>(a[lane]) * static_cast<uint32_t>(b[lane] >> 16) << 16;
    std::memcpy(thread.grf.data() + prepared.plan.destination.offset + lane * kDword, &sum, kDword);
  }
  return Step::next;
}

bool is_plain(const Instruction& in) {
  return in.exec_size <= kMostLanes && !in.align16 && !in.saturate && in.condition == Condition::none &&
         is_dword(in.dst.type) && !in.dst.indirect && is_dword(in.src[0].type) &&
         (in.exec_size == 1 || in.dst.region.horizontal == 1) && in.dst.sub % kDword == 0;
}

}  // namespace

void choose_multiply(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  if ((in.op != Op::mul && in.op != Op::mach) || rules.implicit_accumulator_write || !is_plain(in) ||
      !place(in, in.src[0], prepared.plan.source[0]) || !place(in, in.src[1], prepared.plan.source[1])) {
    return;
  }
  const size_t bytes = in.exec_size * kDword;
  if (in.op == Op::mul) {
    const size_t offset = (in.dst.reg & 15u) * kGrfBytes + in.dst.sub;
    if (in.dst.is_arf(Arf::accumulator) && is_word(in.src[1].type) && offset + bytes <= 2 * kGrfBytes) {
      prepared.plan.destination.offset = static_cast<uint16_t>(offset);
      prepared.fast = multiply;
    }
    return;
  }
  const bool low_half = rules.mach == MachResult::low_without_accumulator && !in.accumulator_write;
  const bool from_first = rules.implied_integer == ImpliedAccumulator::first;
  const size_t accumulator = from_first ? 0 : in.first_channel % 16u * kDword;
  const size_t offset = in.dst.reg * kGrfBytes + in.dst.sub;
  if (low_half && in.dst.file == File::grf && is_dword(in.src[1].type) && offset + bytes <= kGrfs * kGrfBytes &&
      accumulator + bytes <= 2 * kGrfBytes) {
    prepared.plan.destination.offset = static_cast<uint16_t>(offset);
    prepared.plan.source[2].offset = static_cast<uint16_t>(accumulator);
    prepared.fast = multiply_high;
  }
}

}  // namespace halogen::eu
