#include "eu/exec/control/masks.h"

#include <bit>

namespace halogen::eu {

namespace {

constexpr uint32_t low_bits(unsigned count) {
  return count >= 32 ? ~0u : (1u << count) - 1;
}

// Where lane 0 finds its bit in the instruction's flag register.
unsigned first_bit(const Frame& frame, const Instruction& in) {
  const unsigned sub = (in.flag & 1u) * 16;
  return frame.rules.flag_by_channel ? (sub + in.first_channel) & 31 : sub + (in.first_channel & 15u);
}

uint32_t flag_register(const Thread& thread, const EuRules& rules, unsigned flag) {
  const unsigned number = flag >> 1;
  return number < rules.flag_registers ? thread.flag[number & 1] : 0;
}

// Each bit of an aligned group tells of the whole group.
uint32_t grouped(uint32_t bits, unsigned group, bool all) {
  uint32_t out = 0;
  for (unsigned base = 0; base < 32; base += group) {
    const uint32_t mask = low_bits(group) << base;
    const bool holds = all ? (bits & mask) == mask : (bits & mask) != 0;
    out |= holds ? mask : 0;
  }
  return out;
}

// Each group of four takes the bit of one component.
uint32_t replicated(uint32_t bits, unsigned component) {
  return ((bits >> component) & 0x1111'1111u) * 0xf;
}

}  // namespace

uint32_t predicate_lanes(const Frame& frame, const Prepared& prepared) {
  const Instruction& in = prepared.in;
  if (in.predicate == Predicate::none) {
    return prepared.lanes;
  }
  const EuRules& rules = frame.rules;
  const unsigned start = first_bit(frame, in);
  uint32_t bits = flag_register(frame.thread, rules, in.flag);
  switch (in.predicate) {
    case Predicate::any_v:
    case Predicate::all_v: {
      // The same channel in the flag beside: f1 beside f0, or f0.1 beside f0.0.
      const uint32_t other =
          rules.vertical_flag_is_next_register ? flag_register(frame.thread, rules, in.flag ^ 2u) : std::rotr(bits, 16);
      bits = in.predicate == Predicate::any_v ? bits | other : bits & other;
      break;
    }
    case Predicate::any2h:
    case Predicate::all2h:
      bits = grouped(bits, 2, in.predicate == Predicate::all2h);
      break;
    case Predicate::any4h:
    case Predicate::all4h:
      bits = grouped(bits, 4, in.predicate == Predicate::all4h);
      break;
    case Predicate::any8h:
    case Predicate::all8h:
      bits = grouped(bits, 8, in.predicate == Predicate::all8h);
      break;
    case Predicate::any16h:
    case Predicate::all16h:
      bits = grouped(bits, 16, in.predicate == Predicate::all16h);
      break;
    case Predicate::any32h:
    case Predicate::all32h:
      bits = grouped(bits, 32, in.predicate == Predicate::all32h);
      break;
    case Predicate::replicate_x:
      bits = replicated(bits, 0);
      break;
    case Predicate::replicate_y:
      bits = replicated(bits, 1);
      break;
    case Predicate::replicate_z:
      bits = replicated(bits, 2);
      break;
    case Predicate::replicate_w:
      bits = replicated(bits, 3);
      break;
    case Predicate::none:
    case Predicate::normal:
      break;
  }
  bits = std::rotr(bits, static_cast<int>(start));
  return (in.predicate_inverse ? ~bits : bits) & prepared.lanes;
}

void write_flag(Frame& frame, const Prepared& prepared, uint32_t mask, uint32_t values) {
  const unsigned number = prepared.in.flag >> 1;
  if (number >= frame.rules.flag_registers) {
    return;
  }
  const auto start = static_cast<int>(first_bit(frame, prepared.in));
  const uint32_t moved = std::rotl(mask & prepared.lanes, start);
  uint32_t& flag = frame.thread.flag[number & 1];
  flag = (flag & ~moved) | (std::rotl(values, start) & moved);
}

}  // namespace halogen::eu
