// The fidelity classes of instructions.
#include "eu/exec/analysis/fidelity_class.h"
#include "eu/exec/kernel.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

InstructionClass classed(GenId gen, const Instruction& in) {
  const EuRules& rules = eu_rules(gen);
  return class_of(prepare_instruction(in, 0, rules, nullptr, false));
}

TEST(EuFidelity, EveryInstructionHasAClassAndAReason) {
  for (const GenId gen : kGens) {
    for (unsigned op = 0; op <= static_cast<unsigned>(Op::nop); ++op) {
      for (unsigned to = 0; to <= static_cast<unsigned>(Type::vf); ++to) {
        for (unsigned from = 0; from <= static_cast<unsigned>(Type::vf); ++from) {
          Instruction in =
              make(static_cast<Op>(op), 8, dst(4, static_cast<Type>(to)),
                   {grf(2, static_cast<Type>(from)), grf(3, static_cast<Type>(from)), grf(5, static_cast<Type>(from))});
          const InstructionClass of = classed(gen, in);
          ASSERT_EQ(of.reason.empty(), of.fidelity == FidelityClass::exact) << op << " " << to << " " << from;
          const bool extra = static_cast<Type>(to) == Type::nf || static_cast<Type>(from) == Type::nf;
          if (in.op == Op::mov && extra) {
            ASSERT_EQ(of.fidelity, FidelityClass::approximate);
          }
        }
      }
    }
  }
}

TEST(EuFidelity, KnownDeviationsAreApproximate) {
  const auto fidelity = [](GenId gen, const Instruction& in) { return classed(gen, in).fidelity; };
  const auto add = make(Op::add, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)});
  const auto mad = make(Op::mad, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f), grf(5, Type::f)});
  EXPECT_EQ(fidelity(GenId::gen9, add), FidelityClass::exact);
  EXPECT_EQ(fidelity(GenId::gen9, mad), FidelityClass::exact);
  EXPECT_EQ(fidelity(GenId::gen7, mad), FidelityClass::approximate) << "precision of the product not published";
  EXPECT_EQ(fidelity(GenId::gen9, saturated(with(add, Condition::less))), FidelityClass::approximate);
  EXPECT_EQ(fidelity(GenId::gen9, saturated(add)), FidelityClass::exact);
  auto from_accumulator = add;
  from_accumulator.src[0] = arf(Arf::accumulator, Type::f);
  EXPECT_EQ(fidelity(GenId::gen9, from_accumulator), FidelityClass::approximate);
  auto integers = make(Op::add, 8, dst(4, Type::d), {arf(Arf::accumulator, Type::d), grf(3, Type::d)});
  EXPECT_EQ(fidelity(GenId::gen9, integers), FidelityClass::exact);
  EXPECT_EQ(fidelity(GenId::gen9, make(Op::mov, 1, dst(4, Type::ud), {arf(Arf::timestamp, Type::ud)})),
            FidelityClass::approximate);
  const auto mixed = make(Op::add, 8, dst(4, Type::hf), {grf(2, Type::f), grf(3, Type::hf)});
  EXPECT_EQ(fidelity(GenId::gen9, mixed), FidelityClass::approximate);
  auto divide = make(Op::math, 8, dst(4, Type::d), {grf(2, Type::d), grf(3, Type::d)});
  divide.math = MathFunction::int_quotient;
  EXPECT_EQ(fidelity(GenId::gen9, divide), FidelityClass::exact);
  divide.math = MathFunction::none;
  EXPECT_EQ(fidelity(GenId::gen9, divide), FidelityClass::unsupported);
}

}  // namespace
}  // namespace halogen::eu::test
