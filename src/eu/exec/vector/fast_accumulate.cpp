#include "eu/exec/vector/fast_accumulate.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "eu/exec/control/masks.h"
#include "eu/exec/general/operands.h"

namespace halogen::eu {

namespace {

constexpr unsigned kMostLanes = 16;
constexpr size_t kFloat = 4;
constexpr uint32_t kExponent = 0x7f80'0000;
constexpr uint32_t kSign = 0x8000'0000;

using Lanes = std::array<uint32_t, kMostLanes>;

// In plans of this file `absolute` says that an operand lies in the accumulators.
bool place(const Instruction& in, const Operand& operand, FastOperand& out) {
  const Region& region = operand.region;
  const bool accumulator = operand.is_arf(Arf::accumulator);
  if (operand.type != Type::f || operand.negate || operand.absolute || operand.indirect || region.vertical_by_address ||
      region.width == 0 || (operand.file != File::grf && !accumulator)) {
    return false;
  }
  size_t step = 0;
  if (region.width >= in.exec_size) {
    step = region.horizontal * kFloat;
  } else if (region.width == 1) {
    step = region.vertical * kFloat;
  } else if (region.vertical == region.width * region.horizontal) {
    step = region.horizontal * kFloat;
  } else {
    return false;
  }
  const size_t offset = (accumulator ? operand.reg & 15u : operand.reg) * kGrfBytes + operand.sub;
  const size_t room = accumulator ? 2 * kGrfBytes : kGrfs * kGrfBytes;
  if (offset + step * (in.exec_size - 1u) + kFloat > room) {
    return false;
  }
  out.offset = static_cast<uint16_t>(offset);
  out.step = static_cast<int16_t>(step);
  out.absolute = accumulator;
  return true;
}

void load(const Thread& thread, const FastOperand& operand, unsigned lanes, Lanes& out) {
  const std::byte* const from = operand.absolute ? thread.accumulator.data() : thread.grf.data();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::memcpy(&out[lane], from + operand.offset + lane * static_cast<unsigned>(operand.step), kFloat);
  }
}

constexpr bool is_denormal(uint32_t bits) {
  return (bits & kExponent) == 0 && (bits & ~kSign) != 0;
}
constexpr bool is_nan(uint32_t bits) {
  return (bits & ~kSign) > kExponent;
}

// The sum's addend, then the factors. False: something that the general path must do.
bool multiply_add(const Lanes& addend, const Lanes& a, const Lanes& b, unsigned lanes, bool flush, bool flush_addend,
                  Lanes& out) {
  bool plain = true;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const uint32_t x = flush && is_denormal(a[lane]) ? a[lane] & kSign : a[lane];
    const uint32_t y = flush && is_denormal(b[lane]) ? b[lane] & kSign : b[lane];
    const uint32_t z = flush_addend && is_denormal(addend[lane]) ? addend[lane] & kSign : addend[lane];
    const auto sum =
        std::bit_cast<uint32_t>(std::fma(std::bit_cast<float>(x), std::bit_cast<float>(y), std::bit_cast<float>(z)));
    plain = plain && !is_nan(sum);
    out[lane] = flush && is_denormal(sum) ? sum & kSign : sum;
  }
  return plain;
}

Step accumulate(Frame& frame, const Prepared& prepared) {
  if (frame.mode.rounding != Rounding::nearest || frame.mode.alternate) {
    return prepared.handler(frame, prepared);
  }
  Thread& thread = frame.thread;
  const Instruction& in = prepared.in;
  const bool implied = in.op == Op::mac;
  Lanes first{};
  Lanes second{};
  Lanes third{};
  Lanes out{};
  load(thread, prepared.plan.source[0], in.exec_size, first);
  load(thread, prepared.plan.source[1], in.exec_size, second);
  load(thread, prepared.plan.source[2], in.exec_size, third);
  const bool flush = frame.mode.flush_single;
  const bool plain = implied ? multiply_add(third, first, second, in.exec_size, flush, false, out)
                             : multiply_add(first, second, third, in.exec_size, flush, flush, out);
  if (!plain) {
    return prepared.handler(frame, prepared);
  }
  const FastOperand& to = prepared.plan.destination;
  uint32_t mask = enabled_lanes(frame, prepared) & predicate_lanes(frame, prepared);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const size_t offset = to.offset + lane * kFloat;
    if (to.absolute) {
      set_accumulator_bits(thread, static_cast<int32_t>(offset), kFloat, out[lane]);
    } else {
      std::memcpy(thread.grf.data() + offset, &out[lane], kFloat);
    }
  }
  return Step::next;
}

}  // namespace

void choose_accumulate(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  if ((in.op != Op::mad && in.op != Op::mac) || !rules.fused_mad || rules.implicit_accumulator_write || in.align16 ||
      in.saturate || in.accumulator_write || in.condition != Condition::none || in.exec_size > kMostLanes ||
      (in.exec_size != 1 && in.dst.region.horizontal != 1) || in.dst.sub % kFloat != 0) {
    return;
  }
  Operand to = in.dst;
  to.region = {8, 8, 1};
  Operand implied = to;  // of MAC: floats find their accumulator by quarter
  implied.file = File::arf;
  implied.reg = static_cast<uint8_t>(static_cast<unsigned>(Arf::accumulator) << 4);
  implied.sub = 0;
  if (in.op == Op::mac) {
    const unsigned channel = in.first_channel % 16u;
    implied.reg = static_cast<uint8_t>(implied.reg + channel / 8);
    implied.sub = static_cast<uint8_t>(channel % 8 * kFloat);
  }
  if (place(in, to, prepared.plan.destination) && place(in, in.src[0], prepared.plan.source[0]) &&
      place(in, in.src[1], prepared.plan.source[1]) &&
      place(in, in.op == Op::mac ? implied : in.src[2], prepared.plan.source[2])) {
    prepared.fast = accumulate;
  }
}

}  // namespace halogen::eu
