// Accumulators, products of 64 bits, macros of IEEE division and roots, sums over lanes, moves by address, align16.
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

// Low word of each dword.
Operand low_words(unsigned reg) {
  return grf(reg, Type::uw, 0, {16, 8, 2});
}

class Products : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, Products, ::testing::ValuesIn(kGens));

TEST_P(Products, MulAndMachGiveAll64Bits) {
  Random random(static_cast<uint64_t>(GetParam()) + 1);
  for (unsigned round = 0; round < 200; ++round) {
    for (const Type type : {Type::d, Type::ud}) {
      Machine machine(GetParam());
      for (unsigned i = 0; i < 8; ++i) {
        machine.set(2, i, static_cast<uint32_t>(random.bits()));
        machine.set(3, i, random.chance(20) ? 0x8000'0000u : static_cast<uint32_t>(random.bits()));
      }
      // Before Gen8 both have the same operands, whichever of them is split into words: so are Mesa's kernels.
      auto mul = GetParam() >= GenId::gen8 ? make(Op::mul, 8, acc_dst(type), {grf(2, type), low_words(3)})
                                           : make(Op::mul, 8, acc_dst(type), {grf(2, type), grf(3, type)});
      auto mach = make(Op::mach, 8, dst(4, type), {grf(2, type), grf(3, type)});
      mach.accumulator_write = true;
      auto low = make(Op::mov, 8, dst(5, type), {acc(type)});
      machine.run({mul, mach, low});
      for (unsigned i = 0; i < 8; ++i) {
        const uint32_t a = machine.get<uint32_t>(2, i);
        const uint32_t b = machine.get<uint32_t>(3, i);
        const uint64_t product =
            type == Type::d
                ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(a)) * static_cast<int32_t>(b))
                : uint64_t{a} * b;
        ASSERT_EQ(machine.get<uint32_t>(4, i), static_cast<uint32_t>(product >> 32)) << a << " * " << b;
        ASSERT_EQ(machine.get<uint32_t>(5, i), static_cast<uint32_t>(product)) << a << " * " << b;
      }
    }
  }
}

TEST(EuWide, MachWithoutAccumulatorWriteIsTheLowHalfFromGen11On) {
  for (const GenId gen : kGen8Plus) {
    Machine machine(gen);
    machine.fill<uint32_t>(2, {0x1234'5678, 3, 0xffff'ffff, 5, 6, 7, 8, 9});
    machine.fill<uint32_t>(3, {0x9abc'def0, 4, 0xffff'ffff, 5, 6, 7, 8, 0x10000});
    auto mul = make(Op::mul, 8, acc_dst(Type::ud), {grf(2, Type::ud), low_words(3)});
    auto mach = make(Op::mach, 8, dst(4, Type::ud), {grf(2, Type::ud), grf(3, Type::ud)});
    // In the second quarter, too: integers use acc0 there.
    mul.first_channel = mach.first_channel = 8;
    machine.run({mul, mach});
    for (unsigned i = 0; i < 8; ++i) {
      const uint64_t product = uint64_t{machine.get<uint32_t>(2, i)} * machine.get<uint32_t>(3, i);
      EXPECT_EQ(machine.get<uint32_t>(4, i), static_cast<uint32_t>(gen >= GenId::gen11 ? product : product >> 32));
    }
  }
}

TEST(EuWide, DwordMultiplication) {
  const struct {
    GenId gen;
    uint32_t product;
  } cases[]{{GenId::gen6, 0x0002u * 0x0005'0003u},
            {GenId::gen7, 0x0001'0002u * 0x0003u},
            {GenId::gen8, 0x0001'0002u * 0x0005'0003u},
            {GenId::gen12, 0x0001'0002u * 0x0005'0003u}};
  for (const auto& one : cases) {
    Machine machine(one.gen);
    machine.set<uint32_t>(2, 0, 0x0001'0002);
    machine.set<uint32_t>(3, 0, 0x0005'0003);
    machine.run(make(Op::mul, 1, dst(4, Type::ud), {scalar(2, Type::ud), scalar(3, Type::ud)}));
    EXPECT_EQ(machine.get<uint32_t>(4, 0), one.product);
  }
}

TEST(EuWide, AnAccumulatorKeepsMoreThan32Bits) {
  Machine machine(GenId::gen9);
  machine.fill<uint32_t>(2, {0xffff'ffff, 0x8000'0000, 1, 2, 3, 4, 5, 6});
  // The sum has 33 bits; saturated when it leaves.
  machine.run({make(Op::add, 8, acc_dst(Type::ud), {grf(2, Type::ud), grf(2, Type::ud)}),
               saturated(make(Op::mov, 8, dst(4, Type::ud), {acc(Type::ud)})),
               make(Op::mov, 8, dst(5, Type::ud), {acc(Type::ud)})});
  EXPECT_EQ(machine.get<uint32_t>(4, 0), 0xffff'ffffu);
  EXPECT_EQ(machine.get<uint32_t>(5, 0), 0xffff'fffeu);
  EXPECT_EQ(machine.get<uint32_t>(4, 1), 0xffff'ffffu);
  EXPECT_EQ(machine.get<uint32_t>(4, 2), 2u);
}

TEST(EuWide, CarryAndBorrowGoToTheAccumulator) {
  Machine machine(GenId::gen9);
  machine.fill<uint32_t>(2, {0xffff'ffff, 1, 0x8000'0000, 5, 0, 0, 0, 0});
  machine.fill<uint32_t>(3, {1, 1, 0x8000'0000, 6, 1, 0, 0, 0});
  machine.run({make(Op::addc, 8, dst(4, Type::ud), {grf(2, Type::ud), grf(3, Type::ud)}),
               make(Op::mov, 8, dst(5, Type::ud), {acc(Type::ud)}),
               make(Op::subb, 8, dst(6, Type::ud), {grf(2, Type::ud), grf(3, Type::ud)}),
               make(Op::mov, 8, dst(7, Type::ud), {acc(Type::ud)})});
  const uint32_t carries[]{1, 0, 1, 0, 0, 0, 0, 0};
  const uint32_t borrows[]{0, 0, 0, 1, 1, 0, 0, 0};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<uint32_t>(4, i), machine.get<uint32_t>(2, i) + machine.get<uint32_t>(3, i));
    EXPECT_EQ(machine.get<uint32_t>(5, i), carries[i]);
    EXPECT_EQ(machine.get<uint32_t>(6, i), machine.get<uint32_t>(2, i) - machine.get<uint32_t>(3, i));
    EXPECT_EQ(machine.get<uint32_t>(7, i), borrows[i]);
  }
}

TEST(EuWide, MacAddsTheAccumulatorOfItsQuarter) {
  Machine machine(GenId::gen11);
  for (unsigned i = 0; i < 16; ++i) {
    machine.set(2, i, static_cast<float>(i));
    machine.set(10, i, 100.0f);
  }
  auto mac = make(Op::mac, 8, dst(20, Type::f), {grf(2, Type::f), imm_f(2.0f)});
  mac.first_channel = 8;
  machine.run({make(Op::mov, 16, acc_dst(Type::f), {grf(2, Type::f)}), mac,
               make(Op::mac, 16, dst(22, Type::f), {grf(10, Type::f), imm_f(1.0f)})});
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<float>(20, i), static_cast<float>(2 * i + 8 + i)) << "acc1 holds lanes 8 to 15";
  }
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(machine.get<float>(22, i), 100.0f + static_cast<float>(i));
  }
}

TEST(EuWide, Gen4WritesTheAccumulatorUnasked) {
  for (const bool disabled : {false, true}) {
    Machine machine(GenId::gen4_5);
    machine.thread.control[0] = disabled ? 2 : 0;
    machine.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
    machine.run({make(Op::mov, 8, acc_dst(Type::f), {imm_f(50.0f)}),
                 make(Op::add, 8, dst(3, Type::f), {grf(2, Type::f), imm_f(1.0f)}),
                 make(Op::mov, 8, dst(4, Type::f), {acc(Type::f)})});
    EXPECT_EQ(machine.get<float>(4, 2), disabled ? 50.0f : 4.0f);
  }
  Machine later(GenId::gen6);
  later.run({make(Op::mov, 8, acc_dst(Type::f), {imm_f(50.0f)}),
             make(Op::add, 8, dst(3, Type::f), {grf(2, Type::f), imm_f(1.0f)}),
             make(Op::mov, 8, dst(4, Type::f), {acc(Type::f)})});
  EXPECT_EQ(later.get<float>(4, 2), 50.0f);
}

// As the decoder gives them: the access mode's bit is set on Gen8 and 9, regions and strides say nothing.
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

// The shape of compilers' sequences: a seed, refinements under the early-out flag, one last step without extension.
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
    Machine machine(GenId::gen9);
    machine.thread.control[0] = 0x4c0;
    for (unsigned i = 0; i < 4; ++i) {
      machine.set(2, i, random_real<T>(random));
      machine.set(3, i, random_real<T>(random));
      machine.set(20, i, T{0});
      machine.set(21, i, T{1});
    }
    machine.run(code);
    for (unsigned i = 0; i < 4; ++i) {
      const T a = machine.get<T>(2, i);
      const T b = machine.get<T>(3, i);
      const T expected = a / b;
      const T got = machine.get<T>(10, i);
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
    Machine machine(GenId::gen8);
    machine.thread.control[0] = 0xc0;
    for (unsigned i = 0; i < 4; ++i) {
      machine.set(2, i, std::fabs(random_real<double>(random)));
      machine.set(20, i, 0.0);
      machine.set(21, i, 0.5);
    }
    machine.run(code);
    for (unsigned i = 0; i < 4; ++i) {
      const double a = machine.get<double>(2, i);
      const double got = machine.get<double>(10, i);
      if (std::isnan(a)) {
        ASSERT_TRUE(std::isnan(got));
      } else {
        ASSERT_EQ(got, std::sqrt(a)) << a;
      }
    }
  }
}

TEST(EuWide, DotProductsFillTheirGroup) {
  Machine machine(GenId::gen6);
  machine.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
  machine.fill<float>(3, {10, 20, 30, 40, 1, 1, 1, 1});
  const auto run = [&](Op op) {
    machine.run(make(op, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)}));
    EXPECT_EQ(machine.get<float>(4, 0), machine.get<float>(4, 3));
    EXPECT_EQ(machine.get<float>(4, 4), machine.get<float>(4, 7));
    return std::pair(machine.get<float>(4, 0), machine.get<float>(4, 4));
  };
  EXPECT_EQ(run(Op::dp4), std::pair(300.0f, 26.0f));
  EXPECT_EQ(run(Op::dp3), std::pair(140.0f, 18.0f));
  EXPECT_EQ(run(Op::dp2), std::pair(50.0f, 11.0f));
  EXPECT_EQ(run(Op::dph), std::pair(180.0f, 19.0f));
}

TEST(EuWide, LinesAndPlanes) {
  Machine machine(GenId::gen6);
  machine.fill<float>(2, {2, 3, 100, 5, 7, 8, 9, 10});  // p, q, unused, s; then another group
  for (unsigned i = 0; i < 32; ++i) {
    machine.set(10, i, static_cast<float>(i));
  }
  machine.run(make(Op::line, 8, dst(4, Type::f), {scalar(2, Type::f), grf(10, Type::f)}));
  EXPECT_EQ(machine.get<float>(4, 3), 2.0f * 3 + 5);
  machine.run(make(Op::line, 8, dst(4, Type::f), {scalar(2, Type::f, 16), grf(10, Type::f)}));
  EXPECT_EQ(machine.get<float>(4, 3), 7.0f * 3 + 10);
  // u and v of eight channels in registers n and n+1, then n+2 and n+3.
  machine.run(make(Op::pln, 16, dst(4, Type::f), {scalar(2, Type::f), grf(10, Type::f)}));
  EXPECT_EQ(machine.get<float>(4, 1), 2.0f * 1 + 3.0f * 9 + 5);
  EXPECT_EQ(machine.get<float>(5, 1), 2.0f * 17 + 3.0f * 25 + 5);
  machine.set(20, 0, 0.25f);
  machine.set(21, 0, 8.0f);
  machine.set(22, 0, 4.0f);
  machine.run(make(Op::lrp, 1, dst(4, Type::f), {scalar(20, Type::f), scalar(21, Type::f), scalar(22, Type::f)}));
  EXPECT_EQ(machine.get<float>(4, 0), 5.0f);
}

TEST(EuWide, SumsOfDifferences) {
  Machine machine(GenId::gen5);
  machine.fill<uint8_t>(2, {10, 200, 5, 5});
  machine.fill<uint8_t>(3, {20, 100, 5, 9});
  machine.run({make(Op::sad2, 4, dst(4, Type::w), {grf(2, Type::ub, 0, {4, 4, 1}), grf(3, Type::ub, 0, {4, 4, 1})}),
               make(Op::mov, 4, arf(Arf::accumulator, Type::w, 0, 0, {0, 1, 1}), {imm(1000, Type::w)}),
               make(Op::sada2, 4, dst(5, Type::w), {grf(2, Type::ub, 0, {4, 4, 1}), grf(3, Type::ub, 0, {4, 4, 1})})});
  EXPECT_EQ(machine.get<int16_t>(4, 0), 110);
  EXPECT_EQ(machine.get<int16_t>(4, 2), 4);
  EXPECT_EQ(machine.get<int16_t>(5, 0), 1110);
}

TEST(EuWide, RotationsOfGen11) {
  Machine machine(GenId::gen11);
  machine.set<uint32_t>(2, 0, 0x8000'0001);
  machine.set<uint32_t>(3, 0, 36);
  machine.run({make(Op::rol, 1, dst(4, Type::ud), {scalar(2, Type::ud), scalar(3, Type::ud)}),
               make(Op::ror, 1, dst(5, Type::ud), {scalar(2, Type::ud), scalar(3, Type::ud)}),
               make(Op::rol, 1, dst(6, Type::uw), {scalar(2, Type::uw), imm(17, Type::uw)})});
  EXPECT_EQ(machine.get<uint32_t>(4, 0), 0x0000'0018u);
  EXPECT_EQ(machine.get<uint32_t>(5, 0), 0x1800'0000u);
  EXPECT_EQ(machine.get<uint16_t>(6, 0), 2u);
}

TEST(EuWide, IndirectSourcesInAllModes) {
  Machine machine(GenId::gen8);
  for (unsigned i = 0; i < 64; ++i) {
    machine.set<uint32_t>(20, i, 1000 + i);
  }
  for (unsigned i = 0; i < 8; ++i) {
    machine.thread.address[i] = static_cast<uint16_t>(20 * 32 + (7 - i) * 8);
  }
  Operand source = grf(0, Type::ud, 0, {8, 8, 1});
  source.indirect = true;
  source.address_sub = 1;
  source.address_offset = 4;
  machine.run(make(Op::mov, 8, dst(4, Type::ud), {source}));  // one origin
  source.region = {0, 1, 0, true};
  machine.run(make(Op::mov, 4, dst(5, Type::ud), {source}));  // Vx1: an address for each channel
  source.region = {0, 4, 1, true};
  machine.run(make(Op::mov, 8, dst(6, Type::ud), {source}));  // VxH: an address for each row of four
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<uint32_t>(4, i), 1000 + 6 * 2 + 1 + i);
    EXPECT_EQ(machine.get<uint32_t>(6, i), 1000 + (6 - i / 4) * 2 + 1 + i % 4);
  }
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(machine.get<uint32_t>(5, i), 1000 + (6 - i) * 2 + 1);
  }
  // A destination by address.
  Operand to = dst(0, Type::ud);
  to.indirect = true;
  to.address_sub = 0;
  to.address_offset = -8;
  machine.run(make(Op::mov, 2, to, {imm(77, Type::ud)}));
  EXPECT_EQ(machine.get<uint32_t>(20, 12), 77u);
  EXPECT_EQ(machine.get<uint32_t>(20, 13), 77u);
}

TEST(EuWide, Align16SwizzlesAndMasks) {
  Machine machine(GenId::gen6);
  machine.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
  auto in = make(Op::mov, 8, dst(4, Type::f), {grf(2, Type::f, 0, {4, 4, 1})});
  in.align16 = true;
  in.src[0].swizzle = {3, 0, 0, 1};
  in.dst.write_mask = 0b1011;
  machine.run(in);
  const float expected[]{4, 1, 0, 2, 8, 5, 0, 6};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<float>(4, i), expected[i]) << i;
  }
  // Vertical stride 0: the same four for both halves.
  in.src[0].region.vertical = 0;
  in.dst.write_mask = 0xf;
  machine.run(in);
  EXPECT_EQ(machine.get<float>(4, 4), 4.0f);
  // Predicates that repeat one component's flag.
  machine.thread.flag[0] = 0x04;
  auto none = in;
  none.dst = dst(5, Type::f);
  machine.run(when(none, Predicate::replicate_z));
  EXPECT_EQ(machine.get<float>(5, 0), 4.0f);
  EXPECT_EQ(machine.get<float>(5, 4), 0.0f);
  // Three sources, one of them a replicated scalar.
  auto mad = make(Op::mad, 8, dst(6, Type::f),
                  {grf(2, Type::f, 0, {4, 4, 1}), grf(2, Type::f, 4, {0, 1, 0}), grf(2, Type::f, 0, {4, 4, 1})});
  mad.align16 = true;
  machine.run(mad);
  EXPECT_EQ(machine.get<float>(6, 5), 6.0f + 2.0f * 6.0f);
}

TEST(EuWide, Compr4WritesFourMessageRegistersOn) {
  Machine machine(GenId::gen5);
  for (unsigned i = 0; i < 16; ++i) {
    machine.set(2, i, static_cast<float>(i));
  }
  auto in = make(Op::mov, 16, mrf_dst(0x80 | 2, Type::f), {grf(2, Type::f)});
  in.compressed = true;
  machine.run(in);
  float value = 0;
  std::memcpy(&value, machine.thread.mrf.data() + 2 * 32 + 12, 4);
  EXPECT_EQ(value, 3.0f);
  std::memcpy(&value, machine.thread.mrf.data() + 6 * 32 + 12, 4);
  EXPECT_EQ(value, 11.0f);
}

// Mesa's pixel shaders for the G45 do 1/w of sixteen pixels so.
TEST(EuWide, CompressedMathTakesTheNextRegistersForItsSecondHalf) {
  Machine machine(GenId::gen4_5, 0x0f0f);
  for (unsigned i = 0; i < 16; ++i) {
    machine.set(2, i, static_cast<float>(1u << i));
  }
  auto send = make(Op::send, 16, dst(40, Type::f), {grf(2, Type::f)});
  send.compressed = true;
  send.send.function = 1;
  send.send.message_register = 2;
  send.send.descriptor = (1u << 25) | (1u << 20) | 1;  // inverse
  machine.run(send);
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(machine.get<float>(40, i), (i & 4) != 0 ? 0.0f : 1.0f / static_cast<float>(1u << i)) << i;
  }
}

// Mesa's clip threads for Gen4 put 1/w beside x, y and z so.
TEST(EuWide, ScalarMathWritesWhereItsDestinationBegins) {
  Machine machine(GenId::gen4);
  for (unsigned i = 0; i < 8; ++i) {
    machine.set(2, i, 4.0f);
    machine.set(40, i, 7.0f);
  }
  auto send = make(Op::send, 1, dst(40, Type::f), {scalar(2, Type::f)});
  send.dst.sub = 12;
  send.send.function = 1;
  send.send.message_register = 2;
  send.send.descriptor = (1u << 25) | (1u << 20) | (1u << 7) | 1;  // inverse, scalar
  machine.run(send);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<float>(40, i), i == 3 ? 0.25f : 7.0f) << i;
  }
}

TEST(EuWide, MoviTakesBytesOfOneRegister) {
  Machine machine(GenId::gen9);
  for (unsigned i = 0; i < 32; ++i) {
    machine.set<uint8_t>(10, i, static_cast<uint8_t>(i));
  }
  for (unsigned i = 0; i < 8; ++i) {
    machine.thread.address[i] = static_cast<uint16_t>(10 * 32 + 31 - i);
  }
  Operand source = grf(0, Type::ub, 0, {8, 8, 1});
  source.indirect = true;
  machine.run(make(Op::movi, 8, dst(4, Type::ub), {source}));
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<uint8_t>(4, i), 31 - i);
  }
}

TEST(EuWide, SixtyFourBitIntegers) {
  Machine machine(GenId::gen8);
  machine.set<uint64_t>(2, 0, 0x0123'4567'89ab'cdef);
  machine.set<uint64_t>(3, 0, 0xfedc'ba98'7654'3210);
  machine.set<int32_t>(5, 0, -3);
  const auto get = [&](const Instruction& in) {
    machine.run(in);
    return machine.get<uint64_t>(4, 0);
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
