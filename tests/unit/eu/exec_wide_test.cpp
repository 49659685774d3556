// Accumulators, products of 64 bits, macros of IEEE division and square root, sums over lanes, indirect moves, align16.
#include <cmath>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

Operand acc(Type type, unsigned number = 0) {
  return arf(Arf::accumulator, type, number, 0, {8, 8, 1});
}
Operand acc_dst(Type type, unsigned number = 0) {
  return arf(Arf::accumulator, type, number, 0, {0, 1, 1});
}

// Returns the low words of eight dwords.
Operand low_words(unsigned reg) {
  return grf(reg, Type::uw, 0, {16, 8, 2});
}

class Products : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, Products, ::testing::ValuesIn(kGens));

TEST_P(Products, MulAndMachGiveAll64Bits) {
  Random random(static_cast<uint64_t>(GetParam()) + 1);
  for (unsigned round = 0; round < 200; ++round) {
    for (const Type type : {Type::d, Type::ud}) {
      ThreadBench bench(GetParam());
      for (unsigned i = 0; i < 8; ++i) {
        bench.set(2, i, static_cast<uint32_t>(random.bits()));
        bench.set(3, i, random.chance(20) ? 0x8000'0000u : static_cast<uint32_t>(random.bits()));
      }
      // Before Gen8, MUL and MACH have the same operands in Mesa's kernels, whichever source is split into words.
      auto mul = GetParam() >= GenId::gen8 ? make(Op::mul, 8, acc_dst(type), {grf(2, type), low_words(3)})
                                           : make(Op::mul, 8, acc_dst(type), {grf(2, type), grf(3, type)});
      auto mach = make(Op::mach, 8, dst(4, type), {grf(2, type), grf(3, type)});
      mach.accumulator_write = true;
      auto low = make(Op::mov, 8, dst(5, type), {acc(type)});
      bench.run({mul, mach, low});
      for (unsigned i = 0; i < 8; ++i) {
        const uint32_t a = bench.get<uint32_t>(2, i);
        const uint32_t b = bench.get<uint32_t>(3, i);
        const uint64_t product =
            type == Type::d
                ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(a)) * static_cast<int32_t>(b))
                : uint64_t{a} * b;
        ASSERT_EQ(bench.get<uint32_t>(4, i), static_cast<uint32_t>(product >> 32)) << a << " * " << b;
        ASSERT_EQ(bench.get<uint32_t>(5, i), static_cast<uint32_t>(product)) << a << " * " << b;
      }
    }
  }
}

TEST(EuWide, MachWithoutAccumulatorWriteGivesTheLowHalfFromGen11On) {
  for (const GenId gen : kGen8Plus) {
    ThreadBench bench(gen);
    bench.fill<uint32_t>(2, {0x1234'5678, 3, 0xffff'ffff, 5, 6, 7, 8, 9});
    bench.fill<uint32_t>(3, {0x9abc'def0, 4, 0xffff'ffff, 5, 6, 7, 8, 0x10000});
    auto mul = make(Op::mul, 8, acc_dst(Type::ud), {grf(2, Type::ud), low_words(3)});
    auto mach = make(Op::mach, 8, dst(4, Type::ud), {grf(2, Type::ud), grf(3, Type::ud)});
    // The second quarter: integers use acc0 there too.
    mul.first_channel = mach.first_channel = 8;
    bench.run({mul, mach});
    for (unsigned i = 0; i < 8; ++i) {
      const uint64_t product = uint64_t{bench.get<uint32_t>(2, i)} * bench.get<uint32_t>(3, i);
      EXPECT_EQ(bench.get<uint32_t>(4, i), static_cast<uint32_t>(gen >= GenId::gen11 ? product : product >> 32));
    }
  }
}

TEST(EuWide, DwordProductsUseTheMultiplierOfTheirGeneration) {
  const struct {
    GenId gen;
    uint32_t product;
  } cases[]{{GenId::gen6, 0x0002u * 0x0005'0003u},
            {GenId::gen7, 0x0001'0002u * 0x0003u},
            {GenId::gen8, 0x0001'0002u * 0x0005'0003u},
            {GenId::gen12, 0x0001'0002u * 0x0005'0003u}};
  for (const auto& one : cases) {
    ThreadBench bench(one.gen);
    bench.set<uint32_t>(2, 0, 0x0001'0002);
    bench.set<uint32_t>(3, 0, 0x0005'0003);
    bench.run(make(Op::mul, 1, dst(4, Type::ud), {scalar(2, Type::ud), scalar(3, Type::ud)}));
    EXPECT_EQ(bench.get<uint32_t>(4, 0), one.product);
  }
}

TEST(EuWide, AnAccumulatorKeepsMoreThan32Bits) {
  ThreadBench bench(GenId::gen9);
  bench.fill<uint32_t>(2, {0xffff'ffff, 0x8000'0000, 1, 2, 3, 4, 5, 6});
  // The sum has 33 bits, which a saturating move sees.
  bench.run({make(Op::add, 8, acc_dst(Type::ud), {grf(2, Type::ud), grf(2, Type::ud)}),
             saturated(make(Op::mov, 8, dst(4, Type::ud), {acc(Type::ud)})),
             make(Op::mov, 8, dst(5, Type::ud), {acc(Type::ud)})});
  EXPECT_EQ(bench.get<uint32_t>(4, 0), 0xffff'ffffu);
  EXPECT_EQ(bench.get<uint32_t>(5, 0), 0xffff'fffeu);
  EXPECT_EQ(bench.get<uint32_t>(4, 1), 0xffff'ffffu);
  EXPECT_EQ(bench.get<uint32_t>(4, 2), 2u);
}

TEST(EuWide, CarryAndBorrowGoToTheAccumulator) {
  ThreadBench bench(GenId::gen9);
  bench.fill<uint32_t>(2, {0xffff'ffff, 1, 0x8000'0000, 5, 0, 0, 0, 0});
  bench.fill<uint32_t>(3, {1, 1, 0x8000'0000, 6, 1, 0, 0, 0});
  bench.run({make(Op::addc, 8, dst(4, Type::ud), {grf(2, Type::ud), grf(3, Type::ud)}),
             make(Op::mov, 8, dst(5, Type::ud), {acc(Type::ud)}),
             make(Op::subb, 8, dst(6, Type::ud), {grf(2, Type::ud), grf(3, Type::ud)}),
             make(Op::mov, 8, dst(7, Type::ud), {acc(Type::ud)})});
  const uint32_t carries[]{1, 0, 1, 0, 0, 0, 0, 0};
  const uint32_t borrows[]{0, 0, 0, 1, 1, 0, 0, 0};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(4, i), bench.get<uint32_t>(2, i) + bench.get<uint32_t>(3, i));
    EXPECT_EQ(bench.get<uint32_t>(5, i), carries[i]);
    EXPECT_EQ(bench.get<uint32_t>(6, i), bench.get<uint32_t>(2, i) - bench.get<uint32_t>(3, i));
    EXPECT_EQ(bench.get<uint32_t>(7, i), borrows[i]);
  }
}

TEST(EuWide, MacAddsTheAccumulatorOfItsQuarter) {
  ThreadBench bench(GenId::gen11);
  for (unsigned i = 0; i < 16; ++i) {
    bench.set(2, i, static_cast<float>(i));
    bench.set(10, i, 100.0f);
  }
  auto mac = make(Op::mac, 8, dst(20, Type::f), {grf(2, Type::f), imm_f(2.0f)});
  mac.first_channel = 8;
  bench.run({make(Op::mov, 16, acc_dst(Type::f), {grf(2, Type::f)}), mac,
             make(Op::mac, 16, dst(22, Type::f), {grf(10, Type::f), imm_f(1.0f)})});
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<float>(20, i), static_cast<float>(2 * i + 8 + i)) << "acc1 holds lanes 8 to 15";
  }
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<float>(22, i), 100.0f + static_cast<float>(i));
  }
}

TEST(EuWide, Gen4WritesTheAccumulatorImplicitly) {
  for (const bool disabled : {false, true}) {
    ThreadBench bench(GenId::gen4_5);
    bench.thread.control[0] = disabled ? 2 : 0;
    bench.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
    bench.run({make(Op::mov, 8, acc_dst(Type::f), {imm_f(50.0f)}),
               make(Op::add, 8, dst(3, Type::f), {grf(2, Type::f), imm_f(1.0f)}),
               make(Op::mov, 8, dst(4, Type::f), {acc(Type::f)})});
    EXPECT_EQ(bench.get<float>(4, 2), disabled ? 50.0f : 4.0f);
  }
  ThreadBench later(GenId::gen6);
  later.run({make(Op::mov, 8, acc_dst(Type::f), {imm_f(50.0f)}),
             make(Op::add, 8, dst(3, Type::f), {grf(2, Type::f), imm_f(1.0f)}),
             make(Op::mov, 8, dst(4, Type::f), {acc(Type::f)})});
  EXPECT_EQ(later.get<float>(4, 2), 50.0f);
}

// Macro operands as the decoder returns them: align16 is set on Gen8 and Gen9, and regions have no meaning.
Operand wide(unsigned reg, Type type, uint8_t macro, bool negate = false) {
  Operand operand = grf(reg, type, 0, {1, 1, 0});
  operand.macro = macro;
  operand.negate = negate;
  return operand;
}
Operand wide_dst(unsigned reg, Type type, uint8_t macro) {
  Operand operand = dst(reg, type, 0, 0);
  operand.macro = macro;
  return operand;
}
Instruction step(Operand to, Operand add, Operand a, Operand b) {
  Instruction in = make(Op::madm, 4, to, {add, a, b});
  in.align16 = true;
  return in;
}

// Returns a division as compilers emit it: a start value, refinements unless the early-out flag is set, and a last step
// without extension.
std::vector<Instruction> division(Type type) {
  constexpr uint8_t kNone = Operand::kNoMacro;
  Instruction seed = make(Op::math, 4, wide_dst(10, type, 0), {wide(2, type, kNone), wide(3, type, kNone)});
  seed.math = MathFunction::inverse_macro;
  seed.align16 = true;
  std::vector<Instruction> code{seed};
  code.push_back(when(branch(Op::if_, 4, 9, 9, true), Predicate::normal, true));
  // r20 is 0, r21 is 1
  code.push_back(step(wide_dst(11, type, 1), wide(20, type, kNone), wide(2, type, kNone), wide(10, type, 0)));
  code.push_back(step(wide_dst(12, type, 2), wide(21, type, kNone), wide(3, type, kNone, true), wide(10, type, 0)));
  code.push_back(step(wide_dst(13, type, 3), wide(10, type, 0), wide(12, type, 2), wide(10, type, 0)));
  code.push_back(step(wide_dst(14, type, 4), wide(2, type, kNone), wide(3, type, kNone, true), wide(11, type, 1)));
  code.push_back(step(wide_dst(15, type, 5), wide(11, type, 1), wide(14, type, 4), wide(13, type, 3)));
  code.push_back(step(wide_dst(16, type, 6), wide(2, type, kNone), wide(3, type, kNone, true), wide(15, type, 5)));
  code.push_back(step(wide_dst(10, type, kNone), wide(15, type, 5), wide(16, type, 6), wide(13, type, 3)));
  code.push_back(make(Op::nop, 1, null(type), {}));
  code.push_back(branch(Op::endif, 4, 1));
  return code;
}

template <class T>
T random_real(Random& random);
template <>
double random_real<double>(Random& random) {
  return random.chance(10)
             ? random.pick<double>({0.0, -0.0, 1.0, 3.0, INFINITY, NAN, 5e-324, 1e308, 2.2250738585072014e-308})
             : std::bit_cast<double>(random.bits());
}
template <>
float random_real<float>(Random& random) {
  return std::bit_cast<float>(random_single(random));
}

template <class T>
void check_division(Type type) {
  Random random(2024);
  const auto code = division(type);
  for (unsigned round = 0; round < 3000; ++round) {
    ThreadBench bench(GenId::gen9);
    bench.thread.control[0] = 0x4c0;
    for (unsigned i = 0; i < 4; ++i) {
      bench.set(2, i, random_real<T>(random));
      bench.set(3, i, random_real<T>(random));
      bench.set(20, i, T{0});
      bench.set(21, i, T{1});
    }
    bench.run(code);
    for (unsigned i = 0; i < 4; ++i) {
      const T a = bench.get<T>(2, i);
      const T b = bench.get<T>(3, i);
      const T expected = a / b;
      const T got = bench.get<T>(10, i);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << a << " / " << b;
      } else {
        ASSERT_EQ(got, expected) << a << " / " << b;
        ASSERT_EQ(std::signbit(got), std::signbit(expected));
      }
    }
  }
}

TEST(EuWide, DivisionOfDoublesIsCorrectlyRounded) {
  check_division<double>(Type::df);
}
TEST(EuWide, DivisionOfFloatsIsCorrectlyRounded) {
  check_division<float>(Type::f);
}

TEST(EuWide, SquareRootsAreCorrectlyRounded) {
  constexpr Type kType = Type::df;
  constexpr uint8_t kNone = Operand::kNoMacro;
  Instruction seed = make(Op::math, 4, wide_dst(10, kType, 0), {wide(2, kType, kNone)});
  seed.math = MathFunction::rsqrt_macro;
  seed.align16 = true;
  // y = 1/sqrt(a); s = a*y; h = y/2; e = 1/2 - s*h; s' = s + s*e; h' = h + h*e; r = a - s'^2; root = s' + r*h'
  const std::vector<Instruction> code{
      seed,
      when(branch(Op::if_, 4, 9, 9, true), Predicate::normal, true),
      step(wide_dst(11, kType, 1), wide(20, kType, kNone), wide(2, kType, kNone), wide(10, kType, 0)),
      step(wide_dst(12, kType, 2), wide(20, kType, kNone), wide(21, kType, kNone), wide(10, kType, 0)),
      step(wide_dst(13, kType, 3), wide(21, kType, kNone), wide(11, kType, 1, true), wide(12, kType, 2)),
      step(wide_dst(14, kType, 4), wide(11, kType, 1), wide(11, kType, 1), wide(13, kType, 3)),
      step(wide_dst(15, kType, 5), wide(12, kType, 2), wide(12, kType, 2), wide(13, kType, 3)),
      step(wide_dst(16, kType, 6), wide(2, kType, kNone), wide(14, kType, 4, true), wide(14, kType, 4)),
      step(wide_dst(10, kType, kNone), wide(14, kType, 4), wide(16, kType, 6), wide(15, kType, 5)),
      make(Op::nop, 1, null(kType), {}),
      branch(Op::endif, 4, 1)};
  Random random(9);
  for (unsigned round = 0; round < 2000; ++round) {
    ThreadBench bench(GenId::gen8);
    bench.thread.control[0] = 0xc0;
    for (unsigned i = 0; i < 4; ++i) {
      bench.set(2, i, std::fabs(random_real<double>(random)));
      bench.set(20, i, 0.0);
      bench.set(21, i, 0.5);
    }
    bench.run(code);
    for (unsigned i = 0; i < 4; ++i) {
      const double a = bench.get<double>(2, i);
      const double got = bench.get<double>(10, i);
      if (std::isnan(a)) {
        ASSERT_TRUE(std::isnan(got));
      } else {
        ASSERT_EQ(got, std::sqrt(a)) << a;
      }
    }
  }
}

TEST(EuWide, DotProductsFillTheirGroup) {
  ThreadBench bench(GenId::gen6);
  bench.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
  bench.fill<float>(3, {10, 20, 30, 40, 1, 1, 1, 1});
  const auto run = [&](Op op) {
    bench.run(make(op, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)}));
    EXPECT_EQ(bench.get<float>(4, 0), bench.get<float>(4, 3));
    EXPECT_EQ(bench.get<float>(4, 4), bench.get<float>(4, 7));
    return std::pair(bench.get<float>(4, 0), bench.get<float>(4, 4));
  };
  EXPECT_EQ(run(Op::dp4), std::pair(300.0f, 26.0f));
  EXPECT_EQ(run(Op::dp3), std::pair(140.0f, 18.0f));
  EXPECT_EQ(run(Op::dp2), std::pair(50.0f, 11.0f));
  EXPECT_EQ(run(Op::dph), std::pair(180.0f, 19.0f));
}

TEST(EuWide, LineAndPlaneReadTheirCoefficientsAtSourceZero) {
  ThreadBench bench(GenId::gen6);
  bench.fill<float>(2, {2, 3, 100, 5, 7, 8, 9, 10});  // p, q, unused, s; then another group
  for (unsigned i = 0; i < 32; ++i) {
    bench.set(10, i, static_cast<float>(i));
  }
  bench.run(make(Op::line, 8, dst(4, Type::f), {scalar(2, Type::f), grf(10, Type::f)}));
  EXPECT_EQ(bench.get<float>(4, 3), 2.0f * 3 + 5);
  bench.run(make(Op::line, 8, dst(4, Type::f), {scalar(2, Type::f, 16), grf(10, Type::f)}));
  EXPECT_EQ(bench.get<float>(4, 3), 7.0f * 3 + 10);
  // u and v of channels 0 to 7 are in registers n and n+1, those of channels 8 to 15 in n+2 and n+3.
  bench.run(make(Op::pln, 16, dst(4, Type::f), {scalar(2, Type::f), grf(10, Type::f)}));
  EXPECT_EQ(bench.get<float>(4, 1), 2.0f * 1 + 3.0f * 9 + 5);
  EXPECT_EQ(bench.get<float>(5, 1), 2.0f * 17 + 3.0f * 25 + 5);
  bench.set(20, 0, 0.25f);
  bench.set(21, 0, 8.0f);
  bench.set(22, 0, 4.0f);
  bench.run(make(Op::lrp, 1, dst(4, Type::f), {scalar(20, Type::f), scalar(21, Type::f), scalar(22, Type::f)}));
  EXPECT_EQ(bench.get<float>(4, 0), 5.0f);
}

TEST(EuWide, SadSumsAbsoluteDifferencesOfPairs) {
  ThreadBench bench(GenId::gen5);
  bench.fill<uint8_t>(2, {10, 200, 5, 5});
  bench.fill<uint8_t>(3, {20, 100, 5, 9});
  bench.run({make(Op::sad2, 4, dst(4, Type::w), {grf(2, Type::ub, 0, {4, 4, 1}), grf(3, Type::ub, 0, {4, 4, 1})}),
             make(Op::mov, 4, arf(Arf::accumulator, Type::w, 0, 0, {0, 1, 1}), {imm(1000, Type::w)}),
             make(Op::sada2, 4, dst(5, Type::w), {grf(2, Type::ub, 0, {4, 4, 1}), grf(3, Type::ub, 0, {4, 4, 1})})});
  EXPECT_EQ(bench.get<int16_t>(4, 0), 110);
  EXPECT_EQ(bench.get<int16_t>(4, 2), 4);
  EXPECT_EQ(bench.get<int16_t>(5, 0), 1110);
}

TEST(EuWide, Gen11RotatesDwordsAndWords) {
  ThreadBench bench(GenId::gen11);
  bench.set<uint32_t>(2, 0, 0x8000'0001);
  bench.set<uint32_t>(3, 0, 36);
  bench.run({make(Op::rol, 1, dst(4, Type::ud), {scalar(2, Type::ud), scalar(3, Type::ud)}),
             make(Op::ror, 1, dst(5, Type::ud), {scalar(2, Type::ud), scalar(3, Type::ud)}),
             make(Op::rol, 1, dst(6, Type::uw), {scalar(2, Type::uw), imm(17, Type::uw)})});
  EXPECT_EQ(bench.get<uint32_t>(4, 0), 0x0000'0018u);
  EXPECT_EQ(bench.get<uint32_t>(5, 0), 0x1800'0000u);
  EXPECT_EQ(bench.get<uint16_t>(6, 0), 2u);
}

TEST(EuWide, IndirectSourcesUseOneAddressOrOnePerRowOrChannel) {
  ThreadBench bench(GenId::gen8);
  for (unsigned i = 0; i < 64; ++i) {
    bench.set<uint32_t>(20, i, 1000 + i);
  }
  for (unsigned i = 0; i < 8; ++i) {
    bench.thread.address[i] = static_cast<uint16_t>(20 * 32 + (7 - i) * 8);
  }
  Operand source = grf(0, Type::ud, 0, {8, 8, 1});
  source.indirect = true;
  source.address_sub = 1;
  source.address_offset = 4;
  bench.run(make(Op::mov, 8, dst(4, Type::ud), {source}));  // one address
  source.region = {0, 1, 0, true};
  bench.run(make(Op::mov, 4, dst(5, Type::ud), {source}));  // Vx1: an address for each channel
  source.region = {0, 4, 1, true};
  bench.run(make(Op::mov, 8, dst(6, Type::ud), {source}));  // VxH: an address for each row of four
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(4, i), 1000 + 6 * 2 + 1 + i);
    EXPECT_EQ(bench.get<uint32_t>(6, i), 1000 + (6 - i / 4) * 2 + 1 + i % 4);
  }
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(5, i), 1000 + (6 - i) * 2 + 1);
  }
  // An indirect destination.
  Operand to = dst(0, Type::ud);
  to.indirect = true;
  to.address_sub = 0;
  to.address_offset = -8;
  bench.run(make(Op::mov, 2, to, {imm(77, Type::ud)}));
  EXPECT_EQ(bench.get<uint32_t>(20, 12), 77u);
  EXPECT_EQ(bench.get<uint32_t>(20, 13), 77u);
}

TEST(EuWide, Align16AppliesSwizzlesMasksAndReplication) {
  ThreadBench bench(GenId::gen6);
  bench.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
  auto in = make(Op::mov, 8, dst(4, Type::f), {grf(2, Type::f, 0, {4, 4, 1})});
  in.align16 = true;
  in.src[0].swizzle = {3, 0, 0, 1};
  in.dst.write_mask = 0b1011;
  bench.run(in);
  const float expected[]{4, 1, 0, 2, 8, 5, 0, 6};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<float>(4, i), expected[i]) << i;
  }
  // Vertical stride 0: both halves read the same four elements.
  in.src[0].region.vertical = 0;
  in.dst.write_mask = 0xf;
  bench.run(in);
  EXPECT_EQ(bench.get<float>(4, 4), 4.0f);
  // A predicate that replicates the flag of one component.
  bench.thread.flag[0] = 0x04;
  auto none = in;
  none.dst = dst(5, Type::f);
  bench.run(when(none, Predicate::replicate_z));
  EXPECT_EQ(bench.get<float>(5, 0), 4.0f);
  EXPECT_EQ(bench.get<float>(5, 4), 0.0f);
  // Three sources, one of them a replicated scalar.
  auto mad = make(Op::mad, 8, dst(6, Type::f),
                  {grf(2, Type::f, 0, {4, 4, 1}), grf(2, Type::f, 4, {0, 1, 0}), grf(2, Type::f, 0, {4, 4, 1})});
  mad.align16 = true;
  bench.run(mad);
  EXPECT_EQ(bench.get<float>(6, 5), 6.0f + 2.0f * 6.0f);
}

TEST(EuWide, Compr4WritesItsSecondHalfFourRegistersAhead) {
  ThreadBench bench(GenId::gen5);
  for (unsigned i = 0; i < 16; ++i) {
    bench.set(2, i, static_cast<float>(i));
  }
  auto in = make(Op::mov, 16, mrf_dst(0x80 | 2, Type::f), {grf(2, Type::f)});
  in.compressed = true;
  bench.run(in);
  float value = 0;
  std::memcpy(&value, bench.thread.mrf.data() + 2 * 32 + 12, 4);
  EXPECT_EQ(value, 3.0f);
  std::memcpy(&value, bench.thread.mrf.data() + 6 * 32 + 12, 4);
  EXPECT_EQ(value, 11.0f);
}

// Mesa's pixel shaders for G45 compute 1/w of sixteen pixels this way.
TEST(EuWide, CompressedMathUsesTheNextRegistersForItsSecondHalf) {
  ThreadBench bench(GenId::gen4_5, 0x0f0f);
  for (unsigned i = 0; i < 16; ++i) {
    bench.set(2, i, static_cast<float>(1u << i));
  }
  auto send = make(Op::send, 16, dst(40, Type::f), {grf(2, Type::f)});
  send.compressed = true;
  send.send.function = 1;
  send.send.message_register = 2;
  send.send.descriptor = (1u << 25) | (1u << 20) | 1;  // inverse
  bench.run(send);
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<float>(40, i), (i & 4) != 0 ? 0.0f : 1.0f / static_cast<float>(1u << i)) << i;
  }
}

// Mesa's clip threads for Gen4 write 1/w beside x, y and z this way.
TEST(EuWide, ScalarMathWritesOneElementAtItsSubregister) {
  ThreadBench bench(GenId::gen4);
  for (unsigned i = 0; i < 8; ++i) {
    bench.set(2, i, 4.0f);
    bench.set(40, i, 7.0f);
  }
  auto send = make(Op::send, 1, dst(40, Type::f), {scalar(2, Type::f)});
  send.dst.sub = 12;
  send.send.function = 1;
  send.send.message_register = 2;
  send.send.descriptor = (1u << 25) | (1u << 20) | (1u << 7) | 1;  // inverse, scalar
  bench.run(send);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<float>(40, i), i == 3 ? 0.25f : 7.0f) << i;
  }
}

TEST(EuWide, MoviReadsBytesOfOneRegister) {
  ThreadBench bench(GenId::gen9);
  for (unsigned i = 0; i < 32; ++i) {
    bench.set<uint8_t>(10, i, static_cast<uint8_t>(i));
  }
  for (unsigned i = 0; i < 8; ++i) {
    bench.thread.address[i] = static_cast<uint16_t>(10 * 32 + 31 - i);
  }
  Operand source = grf(0, Type::ub, 0, {8, 8, 1});
  source.indirect = true;
  bench.run(make(Op::movi, 8, dst(4, Type::ub), {source}));
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<uint8_t>(4, i), 31 - i);
  }
}

TEST(EuWide, QwordsAreAddedShiftedAndMultiplied) {
  ThreadBench bench(GenId::gen8);
  bench.set<uint64_t>(2, 0, 0x0123'4567'89ab'cdef);
  bench.set<uint64_t>(3, 0, 0xfedc'ba98'7654'3210);
  bench.set<int32_t>(5, 0, -3);
  const auto get = [&](const Instruction& in) {
    bench.run(in);
    return bench.get<uint64_t>(4, 0);
  };
  const auto q = [](unsigned reg) { return scalar(reg, Type::q); };
  EXPECT_EQ(get(make(Op::add, 1, dst(4, Type::q), {q(2), q(3)})), 0xffff'ffff'ffff'ffffu);
  EXPECT_EQ(get(make(Op::shl, 1, dst(4, Type::q), {q(2), imm(36, Type::ud)})), 0x9abc'def0'0000'0000u);
  EXPECT_EQ(get(make(Op::asr, 1, dst(4, Type::q), {q(3), imm(60, Type::ud)})), 0xffff'ffff'ffff'ffffu);
  EXPECT_EQ(get(make(Op::shr, 1, dst(4, Type::uq), {scalar(3, Type::uq), imm(60, Type::ud)})), 0xfu);
  EXPECT_EQ(get(make(Op::mul, 1, dst(4, Type::q), {scalar(5, Type::d), scalar(5, Type::d)})), 9u);
  EXPECT_EQ(get(make(Op::mul, 1, dst(4, Type::q), {scalar(5, Type::d), imm(0x4000'0000, Type::d)})),
            static_cast<uint64_t>(-3 * int64_t{0x4000'0000}));
  EXPECT_EQ(get(make(Op::mov, 1, dst(4, Type::df), {q(5)})) >> 62, 1u);
}

}  // namespace
}  // namespace halogen::eu::test
