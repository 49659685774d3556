// Lowered instructions: hand-written forms of a few kernels. The verifier accepts all output of the lowering and
// rejects broken forms.
#include <gtest/gtest.h>

#include "eu/ir/lower.h"
#include "eu/ir/print.h"
#include "eu/ir/verify.h"
#include "gen/eu_rules.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

std::string lowered(GenId gen, const Instruction& in) {
  return ir::print(ir::lower(in, eu_rules(gen)));
}

TEST(EuLowering, RegionsLowerToAccessFormulas) {
  const Operand scalar_source = scalar(14, Type::f, 4);
  EXPECT_EQ(lowered(GenId::gen9, make(Op::add, 8, dst(40, Type::f), {grf(10, Type::f), minus(scalar_source)})),
            "add.f grf[1280 +4]:f <- grf[320 +4]:f, -grf[452]:f  x8 at 0");
  // Rows of eight dwords, two registers from row to row.
  EXPECT_EQ(lowered(GenId::gen9, make(Op::mov, 16, dst(2, Type::ud), {grf(10, Type::ud, 0, {16, 8, 1})})),
            "copy.ud grf[64 +4]:ud <- grf[320 +4, 8: +64]:ud  x16 at 0");
  // The last of four lanes is outside the register file.
  EXPECT_EQ(lowered(GenId::gen9, make(Op::mov, 4, dst(2, Type::ud), {grf(127, Type::ud, 20, {4, 4, 1})})),
            "copy.ud grf[64 +4]:ud <- grf{4084 4088 4092 -}:ud  x4 at 0");
}

TEST(EuLowering, ImpliedOperandsAreExplicit) {
  // MAC adds the accumulator of its own channels; floats use 4 bytes per channel.
  Instruction mac = make(Op::mac, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)});
  mac.first_channel = 8;
  EXPECT_EQ(lowered(GenId::gen9, mac),
            "product_add.f grf[128 +4]:f <- grf[64 +4]:f, grf[96 +4]:f, acc[32 +4]:f  x8 at 8");
  // PLN: p, u, q, v, r. u and v of lanes 8 to 15 are two registers after those of lanes 0 to 7.
  EXPECT_EQ(lowered(GenId::gen9, make(Op::pln, 16, dst(8, Type::f), {scalar(4, Type::f), grf(2, Type::f)})),
            "plane.f grf[256 +4]:f <- grf[128]:f, grf[64 +4, 8: +64]:f, grf[132]:f, grf[96 +4, 8: +64]:f, grf[140]:f  "
            "x16 at 0");
}

TEST(EuLowering, GenerationRulesChooseTheLoweredOperation) {
  const auto product = make(Op::mul, 8, dst(4, Type::d), {grf(2, Type::d), grf(3, Type::d)});
  EXPECT_EQ(lowered(GenId::gen6, product), "multiply_low_a.d grf[128 +4]:d <- grf[64 +4]:d, grf[96 +4]:d  x8 at 0");
  EXPECT_EQ(lowered(GenId::gen7, product), "multiply_low_b.d grf[128 +4]:d <- grf[64 +4]:d, grf[96 +4]:d  x8 at 0");
  EXPECT_EQ(lowered(GenId::gen8, product), "multiply.d grf[128 +4]:d <- grf[64 +4]:d, grf[96 +4]:d  x8 at 0");
  EXPECT_EQ(
      lowered(GenId::gen5, product),
      "multiply_low_a.d grf[128 +4]:d <- grf[64 +4]:d, grf[96 +4]:d  x8 at 0  acc[0]:d <- result unless disabled");
  const auto inverted = make(Op::and_, 8, dst(4, Type::ud), {minus(grf(2, Type::ud)), imm(5, Type::ud)});
  EXPECT_EQ(lowered(GenId::gen7, inverted), "bit_and.ud grf[128 +4]:ud <- -grf[64 +4]:ud, #0x5:ud  x8 at 0");
  EXPECT_EQ(lowered(GenId::gen8, inverted), "bit_and.ud grf[128 +4]:ud <- ~grf[64 +4]:ud, #0x5:ud  x8 at 0");
}

TEST(EuLowering, FlagsAndPredicatesNameTheirBits) {
  Instruction in = when(with(make(Op::cmp, 8, null(Type::d), {grf(2, Type::d), grf(3, Type::d)}), Condition::less, 2));
  in.flag = 2;
  in.first_channel = 8;
  EXPECT_EQ(lowered(GenId::gen9, in),
            "(f1[8]) compare.d.less none:d <- grf[64 +4]:d, grf[96 +4]:d  x8 at 8  f1[8] <- decision");
  // Gen4 has one flag register.
  EXPECT_EQ(lowered(GenId::gen4, in),
            "(no flag) compare.d.less none:d <- grf[64 +4]:d, grf[96 +4]:d  x8 at 8  no flag <- decision");
}

TEST(EuLowering, BlocksEndAtBranchesAndTargets) {
  const auto add = make(Op::add, 8, dst(4, Type::d), {grf(4, Type::d), imm(1, Type::d)});
  // 0: add, 16: if to 48, 32: add, 48: endif, 64: end.
  const std::vector code{add, when(branch(Op::if_, 8, 2, 2, true)), add, branch(Op::endif, 8, 1), end()};
  const auto source = make_code(code);
  const ir::BlockList blocks(*source, 0, eu_rules(GenId::gen9));
  EXPECT_EQ(ir::verify(blocks), "");
  EXPECT_EQ(ir::print(blocks),
            "block 0x0\n"
            "  add.d grf[128 +4]:d <- grf[128 +4]:d, #0x1:d  x8 at 0\n"
            "  branch to 0x30 to 0x30, next 0x20\n"
            "block 0x20\n"
            "  add.d grf[128 +4]:d <- grf[128 +4]:d, #0x1:d  x8 at 0\n"
            "  falls through, next 0x30\n"
            "block 0x30\n"
            "  branch to 0x40, next 0x40\n"
            "block 0x40\n"
            "  end of thread\n");
  ASSERT_NE(blocks.find(0x20), nullptr);
  EXPECT_EQ(blocks.find(0x10), nullptr);
}

class LoweringOf : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, LoweringOf, ::testing::ValuesIn(kGens));

TEST_P(LoweringOf, RandomInstructionsPassTheVerifier) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed * 7727);
    const Instruction in =
        seed % 2 == 0 ? random_instruction(random, GetParam()) : random_wide_instruction(random, GetParam());
    const ir::Lowered form = ir::lower(in, eu_rules(GetParam()));
    ASSERT_EQ(ir::verify(form), "") << "seed " << seed << " " << ir::print(form);
  }
}

// Each change to a valid form is rejected with its own reason.
TEST(EuVerifier, RejectsBrokenForms) {
  const ir::Lowered sound =
      ir::lower(make(Op::add, 8, dst(40, Type::f), {grf(10, Type::f), grf(11, Type::f)}), eu_rules(GenId::gen9));
  ASSERT_EQ(ir::verify(sound), "");
  const auto refused = [&](auto&& change) {
    ir::Lowered broken = sound;
    change(broken);
    return ir::verify(broken);
  };
  EXPECT_EQ(refused([](ir::Lowered& form) { form.sources = 3; }), "add has 3 sources");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.exec_size = 16; }),
            "the lanes of the mask are not those of the instruction");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.source[1].access.base = 4090; }), "source 1 is outside grf in lane 1");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.source[0].access.kind = ir::Access::Kind::lanes; }),
            "source 0 needs a table");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.source[0].access.table = 3; }),
            "source 0 names a table that does not exist");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.source[0].type = Type::vf; }),
            "source 0 has the type of a vector immediate");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.target.file = ir::File::timestamp; }),
            "the target is in tm, which is read-only");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.flag.kind = ir::FlagEffect::Kind::decided; }),
            "add does not yield flag bits");
  EXPECT_EQ(refused([](ir::Lowered& form) { form.accumulator.kind = ir::AccumulatorEffect::Kind::own; }),
            "add has no second result for the accumulator");
}

}  // namespace
}  // namespace halogen::eu::test
