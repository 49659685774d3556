#include "message/issue_cost.h"

#include <algorithm>

#include "eu/ir/op_traits.h"
#include "eu/isa/messages.h"
#include "eu/isa/type_traits.h"

namespace halogen::message {
namespace {

using eu::OpClass;
using oa::InstructionKind;
using oa::Pipe;

constexpr uint32_t kBytesPerClock = 16;
constexpr uint32_t kRegistersPerClock = 2;

uint32_t clocks_of(uint32_t amount, uint32_t per_clock) {
  return std::max(1u, (amount + per_clock - 1) / per_clock);
}

uint32_t widest_operand_B(const eu::Instruction& in) {
  uint32_t bytes = in.dst.is_null() ? 0 : eu::traits(in.dst.type).bytes;
  for (unsigned i = 0; i < std::min<size_t>(eu::value_count(in), in.src.size()); ++i) {
    bytes = std::max<uint32_t>(bytes, eu::traits(in.src[i].type).bytes);
  }
  return bytes;
}

uint32_t registers_of(const eu::SendInfo& send) {
  if (send.descriptor_in_register) {
    return 1;
  }
  const uint32_t second = send.extended_in_register ? 0 : eu::ExtendedBits::kSecondLength.of(send.extended);
  return eu::DescriptorBits::kMessageLength.of(send.descriptor) + second;
}

InstructionKind kind_of(const eu::Instruction& in) {
  if (eu::op_traits(in.op).group == OpClass::move) {
    return InstructionKind::move;
  }
  switch (eu::value_count(in)) {
    case 3:
      return InstructionKind::ternary;
    case 2:
      return InstructionKind::binary;
    default:
      return InstructionKind::other;
  }
}

}  // namespace

IssueCost issue_cost(const eu::Instruction& in) {
  if (eu::computes(in.op)) {
    return {clocks_of(in.exec_size * widest_operand_B(in), kBytesPerClock),
            in.op == eu::Op::math ? Pipe::fpu1 : Pipe::fpu0, kind_of(in)};
  }
  switch (eu::op_traits(in.op).group) {
    case OpClass::send:
      return {clocks_of(registers_of(in.send), kRegistersPerClock), Pipe::send, InstructionKind::other};
    case OpClass::branch:
    case OpClass::mask:
      return {1, Pipe::fpu0, InstructionKind::other};
    default:  // waits, and what does nothing
      return {};
  }
}

std::vector<IssueCost> issue_costs(const eu::Kernel& kernel) {
  std::vector<IssueCost> costs;
  costs.reserve(kernel.instruction_count());
  kernel.visit([&](uint32_t /*offset*/, const eu::Instruction& in) { costs.push_back(issue_cost(in)); });
  return costs;
}

void add_activity(std::span<const IssueCost> costs, std::span<const uint64_t> now, std::span<const uint64_t> before,
                  oa::StageActivity& into) {
  for (size_t i = 0; i < std::min(costs.size(), now.size()); ++i) {
    const IssueCost& cost = costs[i];
    const uint64_t times = now[i] - (i < before.size() ? before[i] : 0);
    into.issue_clocks[static_cast<size_t>(cost.pipe)][static_cast<size_t>(cost.kind)] += times * cost.clocks;
    into.sends += cost.pipe == Pipe::send ? times : 0;
  }
}

}  // namespace halogen::message
