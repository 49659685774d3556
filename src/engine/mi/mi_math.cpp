// The streamer's 64-bit ALU: DG1 PRM vol. 13, CS ALU Programming (seed 000). Operands and results are the general
// purpose registers.
#include <array>

#include "engine/engine.h"
#include "engine/mi/predicate.h"
#include "hw/mi.h"
#include "hw/mi_flow.h"

namespace halogen::engine {
namespace {

using hw::MiAluOpcode;
using hw::MiAluOperand;
using spec::CommandId;
using spec::RegisterId;

constexpr uint64_t kInstructionTime = 1;  // virtual nanoseconds
constexpr unsigned kRegisters = 16;

class Alu {
 public:
  explicit Alu(Engine& engine) : engine_(engine), state_(engine.state().math) {}

  // Executes one instruction. False: the instruction does not exist and has no effect.
  bool execute(const hw::MI_MATH_ALU_INSTRUCTION& instruction) {
    const MiAluOperand to = instruction.operand_1;
    const MiAluOperand from = instruction.operand_2;
    switch (instruction.alu_opcode) {
      case MiAluOpcode::NOOP:
        return true;
      case MiAluOpcode::LOAD:
        return is_register(from) && load(to, value_of(from));
      case MiAluOpcode::LOADINV:
        return is_register(from) && load(to, ~value_of(from));
      case MiAluOpcode::LOAD0:
        return load(to, 0);
      case MiAluOpcode::LOAD1:
        return load(to, ~uint64_t{0});
      case MiAluOpcode::ADD: {
        const uint64_t sum = state_.source_a + state_.source_b;
        return result(sum, sum < state_.source_a);
      }
      case MiAluOpcode::SUB:
        return result(state_.source_a - state_.source_b, state_.source_a < state_.source_b);
      case MiAluOpcode::AND:
        return result(state_.source_a & state_.source_b, false);
      case MiAluOpcode::OR:
        return result(state_.source_a | state_.source_b, false);
      case MiAluOpcode::XOR:
        return result(state_.source_a ^ state_.source_b, false);
      case MiAluOpcode::STORE:
        return store(to, from, false);
      case MiAluOpcode::STOREINV:
        return store(to, from, true);
    }
    return false;
  }

 private:
  static bool is_register(MiAluOperand operand) { return static_cast<unsigned>(operand) < kRegisters; }
  uint64_t value_of(MiAluOperand operand) const {
    return engine_.registers().peek64(RegisterId::CS_GPR, static_cast<unsigned>(operand));
  }
  bool load(MiAluOperand to, uint64_t value) {
    if (to != MiAluOperand::SRCA && to != MiAluOperand::SRCB) {
      return false;
    }
    (to == MiAluOperand::SRCA ? state_.source_a : state_.source_b) = value;
    return true;
  }
  bool result(uint64_t value, bool carry) {
    state_.accumulator = value;
    state_.zero = value == 0;
    state_.carry = carry;
    return true;
  }
  bool store(MiAluOperand to, MiAluOperand from, bool inverted) {
    uint64_t value = 0;
    switch (from) {
      case MiAluOperand::ACCU:
        value = state_.accumulator;
        break;
      case MiAluOperand::ZF:
        value = state_.zero ? ~uint64_t{0} : 0;
        break;
      case MiAluOperand::CF:
        value = state_.carry ? ~uint64_t{0} : 0;
        break;
      default:
        return false;
    }
    if (!is_register(to)) {
      return false;
    }
    engine_.registers().poke64(RegisterId::CS_GPR, inverted ? ~value : value, static_cast<unsigned>(to));
    return true;
  }

  Engine& engine_;
  MathState& state_;
};

Next math(Engine& engine, const Command& command) {
  Alu alu(engine);
  const size_t count = hw::MI_MATH::count_instructions(engine.gen(), command.dwords);
  for (size_t i = 0; i < count; ++i) {
    const auto element = hw::MI_MATH::unpack_instructions(engine.gen(), command.dwords, i);
    if (!alu.execute(element.instruction)) {
      engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value,
                   static_cast<uint64_t>(element.instruction.alu_opcode), "ALU instruction not defined");
    }
  }
  engine.spend(count * kInstructionTime);
  return Next::advance();
}

}  // namespace

void add_math_handlers(HandlerTable& table) {
  table.add(CommandId::MI_MATH, math, {{RegisterId::CS_GPR}});
  table.add(CommandId::MI_PREDICATE, predicate,
            {{RegisterId::MI_PREDICATE_SRC0},
             {RegisterId::MI_PREDICATE_SRC1},
             {RegisterId::MI_PREDICATE_DATA},
             {RegisterId::MI_PREDICATE_RESULT}});
  table.add(CommandId::MI_SET_PREDICATE, set_predicate,
            {{RegisterId::MI_PREDICATE_RESULT}, {RegisterId::MI_PREDICATE_RESULT_2}});
}

}  // namespace halogen::engine
