// Instruction forms that Intel's and Mesa's compilers emit. They were found by kernels whose results differed from
// PoCL's.
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

// An indexed store to an array in registers, as Intel's compiler emits it for Gen8 to Gen11: one lane at a time, with
// one address for the instruction and a mask of channels as second source.
TEST(EuCompilerForms, ScatteredMoveWritesOnlyTheChannelsOfItsMask) {
  for (const GenId gen : {GenId::gen8, GenId::gen9, GenId::gen11}) {
    ThreadBench bench(gen, 0xffff);
    bench.thread.address[3] = 40 * kGrfBytes;
    bench.set<uint32_t>(19, 3, 0x1234'5678);
    Operand to = dst(0, Type::ud);
    to.indirect = true;
    to.address_sub = 3;
    bench.run(make(Op::smov, 16, to, {scalar(19, Type::ud, 12), imm(0x0208, Type::uw)}));
    for (unsigned lane = 0; lane < 16; ++lane) {
      EXPECT_EQ(bench.get<uint32_t>(40, lane), lane == 3 || lane == 9 ? 0x1234'5678u : 0u) << lane;
    }
  }
}

// 300 * 300 = 0x15f90: a word accumulator as explicit destination holds 0x5f90, with every routine.
TEST(EuCompilerForms, AWordWrittenToAnAccumulatorKeeps16Bits) {
  const Region all{16, 16, 1}, every_other{2, 1, 0};
  for (const GenId gen : {GenId::gen11, GenId::gen12}) {
    for (const Region& region : {all, every_other}) {
      for (const bool immediate : {false, true}) {
        ThreadBench bench(gen, 0xffff);
        for (unsigned i = 0; i < 32; ++i) {
          bench.set<int16_t>(2, i, 300);
        }
        const Operand by = immediate ? imm(300, Type::w) : grf(2, Type::w, 0, region);
        const Operand to = arf(Arf::accumulator, Type::w, 0, 0, {0, 1, 1});
        const Operand from = arf(Arf::accumulator, Type::w, 0, 0, all);
        bench.run({make(Op::mul, 16, to, {grf(2, Type::w, 0, region), by}),
                   with(make(Op::sel, 16, dst(4, Type::w), {from, imm(100, Type::w)}), Condition::greater_equal),
                   make(Op::asr, 16, dst(5, Type::w), {from, imm(8, Type::w)})});
        for (unsigned lane = 0; lane < 16; ++lane) {
          EXPECT_EQ(bench.get<uint16_t>(4, lane), 0x5f90) << lane;
          EXPECT_EQ(bench.get<uint16_t>(5, lane), 0x005f) << lane;
        }
      }
    }
  }
}

// OpenCL's vload_half of the smallest denormal is 2^-24. Bit 10 of cr0.0 enables half denormals, from Gen8 on.
TEST(EuCompilerForms, HalfDenormalsAreKeptIfTheControlRegisterEnablesThem) {
  for (const GenId gen : kGen8Plus) {
    for (const bool keep : {false, true}) {
      ThreadBench bench(gen, 0xffff);
      bench.thread.control[0] = keep ? 0x4c0 : 0x0c0;
      bench.set<uint16_t>(2, 0, 1);
      bench.run(make(Op::mov, 1, dst(4, Type::f), {scalar(2, Type::hf)}));
      EXPECT_EQ(bench.get<float>(4, 0), keep ? 0x1p-24f : 0.0f) << static_cast<int>(gen);
    }
  }
}

// On Gen6 BREAK names the instruction after its loop. If that is the WHILE of an outer loop, only the inner loop is
// left.
TEST(EuCompilerForms, ABreakLeavesOnlyTheInnermostLoop) {
  for (const GenId gen : {GenId::gen6, GenId::gen7, GenId::gen8, GenId::gen12}) {
    ThreadBench bench(gen, 0xffff);
    const int to_end = gen == GenId::gen6 ? 2 : 1;
    const auto count = [](unsigned reg) {
      return make(Op::add, 16, dst(reg, Type::ud), {grf(reg, Type::ud), imm(1, Type::ud)});
    };
    const auto fewer = [](unsigned reg, uint32_t than) {
      return with(make(Op::cmp, 16, null(Type::ud), {grf(reg, Type::ud), imm(than, Type::ud)}), Condition::less);
    };
    bench.run({count(10),                                // 0: the outer loop; its test comes before the inner loop
               fewer(10, 3),                             // 1
               count(12),                                // 2: the inner loop
               branch(Op::break_, 16, 1, to_end, true),  // 3: always
               branch(Op::while_, 16, -2),               // 4
               when(branch(Op::while_, 16, -5))});       // 5
    for (unsigned lane = 0; lane < 16; ++lane) {
      EXPECT_EQ(bench.get<uint32_t>(10, lane), 3u) << static_cast<int>(gen);
      EXPECT_EQ(bench.get<uint32_t>(12, lane), 3u) << static_cast<int>(gen);
    }
  }
}

}  // namespace
}  // namespace halogen::eu::test
