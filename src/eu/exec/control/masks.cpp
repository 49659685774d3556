#include "eu/exec/control/masks.h"

#include <bit>

namespace halogen::eu {

namespace {

constexpr uint32_t low_bits(unsigned count) {
  return count >= 32 ? ~0u : (1u << count) - 1;
}

uint32_t flag_register(const Thread& thread, uint8_t number) {
  return number == ir::kNoFlag ? 0 : thread.flag[number];
}

// Replaces each bit by whether any bit, or all bits, of its aligned group are set.
uint32_t grouped(uint32_t bits, unsigned group, bool all) {
  uint32_t out = 0;
  for (unsigned base = 0; base < 32; base += group) {
    const uint32_t mask = low_bits(group) << base;
    const bool holds = all ? (bits & mask) == mask : (bits & mask) != 0;
    out |= holds ? mask : 0;
  }
  return out;
}

// Replaces each bit by the bit of one component of its group of four.
uint32_t replicated(uint32_t bits, unsigned component) {
  return ((bits >> component) & 0x1111'1111u) * 0xf;
}

}  // namespace

uint32_t predicated_lanes(const Thread& thread, const ir::MaskRule& mask) {
  uint32_t bits = flag_register(thread, mask.flag);
  switch (mask.predicate) {
    case Predicate::any_v:
    case Predicate::all_v: {
      // Combines with the same channel of the second flag: the other register, or the other half of this one.
      const uint32_t other =
          mask.other_flag == mask.flag ? std::rotr(bits, 16) : flag_register(thread, mask.other_flag);
      bits = mask.predicate == Predicate::any_v ? bits | other : bits & other;
      break;
    }
    case Predicate::any2h:
    case Predicate::all2h:
      bits = grouped(bits, 2, mask.predicate == Predicate::all2h);
      break;
    case Predicate::any4h:
    case Predicate::all4h:
      bits = grouped(bits, 4, mask.predicate == Predicate::all4h);
      break;
    case Predicate::any8h:
    case Predicate::all8h:
      bits = grouped(bits, 8, mask.predicate == Predicate::all8h);
      break;
    case Predicate::any16h:
    case Predicate::all16h:
      bits = grouped(bits, 16, mask.predicate == Predicate::all16h);
      break;
    case Predicate::any32h:
    case Predicate::all32h:
      bits = grouped(bits, 32, mask.predicate == Predicate::all32h);
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
  bits = std::rotr(bits, static_cast<int>(mask.first_bit));
  return (mask.inverse ? ~bits : bits) & mask.lanes;
}

void write_flag(Thread& thread, const ir::Lowered& lowered, uint32_t lanes, uint32_t values) {
  if (lowered.flag.flag == ir::kNoFlag) {
    return;
  }
  const auto start = static_cast<int>(lowered.flag.first_bit);
  const uint32_t moved = std::rotl(lanes & lowered.mask.lanes, start);
  uint32_t& flag = thread.flag[lowered.flag.flag];
  flag = (flag & ~moved) | (std::rotl(values, start) & moved);
}

}  // namespace halogen::eu
