// Numbers: conversions, modes of cr0, NaN, modifiers, immediates, conditions.
#include <cfenv>
#include <cmath>

#include "eu/exec/general/math.h"
#include "eu/exec/general/number.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

uint32_t run_single(GenId gen, const Instruction& in, uint32_t a, uint32_t b = 0, uint32_t cr0 = 0) {
  Machine machine(gen);
  machine.set(2, 0, a);
  machine.set(3, 0, b);
  machine.thread.control[0] = cr0;
  machine.run(in);
  return machine.get<uint32_t>(4, 0);
}
Instruction two(Op op, Type type = Type::f) {
  return make(op, 1, dst(4, type), {scalar(2, type), scalar(3, type)});
}
Instruction convert(Type to, Type from) {
  return make(Op::mov, 1, dst(4, to), {scalar(2, from)});
}

TEST(EuNumber, NarrowingRoundsAsTheHostDoesInEveryMode) {
  Random random(5);
  const int modes[]{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (unsigned i = 0; i < 20000; ++i) {
    const uint64_t raw =
        random.chance(50) ? random.bits()
                          : (random.bits() & 0x800f'ffff'ffff'ffff) | (uint64_t{1023 - 150 + random.below(290)} << 52);
    const auto value = std::bit_cast<double>(raw);
    if (std::isnan(value)) {
      continue;
    }
    const unsigned mode = random.below(4);
    std::fesetround(modes[mode]);
    volatile double in = value;
    volatile float expected = static_cast<float>(in);
    std::fesetround(FE_TONEAREST);
    const float kept = expected;
    ASSERT_EQ(double_to_single(value, static_cast<Rounding>(mode)), std::bit_cast<uint32_t>(kept))
        << raw << " " << mode;
  }
}

TEST(EuNumber, HalvesGoRound) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    ASSERT_EQ(double_to_half(half_to_double(half), Rounding::nearest), half);
  }
  EXPECT_EQ(half_to_double(0x3555), 0.333251953125);
  EXPECT_EQ(double_to_half(65519.0, Rounding::nearest), 0x7bff);
  EXPECT_EQ(double_to_half(65520.0, Rounding::nearest), 0x7c00);
  EXPECT_EQ(double_to_half(65520.0, Rounding::zero), 0x7bff);
  EXPECT_EQ(double_to_half(0x1p-25, Rounding::nearest), 0x0000);
  EXPECT_EQ(double_to_half(0x1.1p-25, Rounding::nearest), 0x0001);
}

TEST(EuNumber, FloatToIntegerCutsAndClamps) {
  const struct {
    Type to;
    float from;
    uint32_t result;
  } cases[]{{Type::d, 1.9f, 1},
            {Type::d, -1.9f, 0xffff'ffff},
            {Type::d, 3e9f, 0x7fff'ffff},
            {Type::d, -3e9f, 0x8000'0000},
            {Type::ud, -5.0f, 0},
            {Type::ud, 5e9f, 0xffff'ffff},
            {Type::d, NAN, 0},
            {Type::ud, INFINITY, 0xffff'ffff},
            {Type::d, -INFINITY, 0x8000'0000}};
  for (const GenId gen : kGens) {
    for (const auto& one : cases) {
      EXPECT_EQ(run_single(gen, convert(one.to, Type::f), std::bit_cast<uint32_t>(one.from)), one.result);
      // The rounding mode of cr0 has no say.
      EXPECT_EQ(run_single(gen, convert(one.to, Type::f), std::bit_cast<uint32_t>(one.from), 0, 1u << 4), one.result);
    }
  }
}

TEST(EuNumber, IntegerToFloatRoundsToEven) {
  // 2^24 + 1 and + 3 lie between two floats.
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0x0100'0001), 0x4b80'0000u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0x0100'0003), 0x4b80'0002u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::ud), 0xffff'ffff), 0x4f80'0000u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0x0100'0001, 0, 1u << 4), 0x4b80'0001u) << "up";
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0xfeff'ffff, 0, 3u << 4), 0xcb80'0000u) << "to zero";
}

TEST(EuNumber, RoundingModesOfArithmetic) {
  // 1 + 2^-30: just above 1.
  const uint32_t tiny = 0x3080'0000;
  EXPECT_EQ(run_single(GenId::gen8, two(Op::add), 0x3f80'0000, tiny), 0x3f80'0000u);
  EXPECT_EQ(run_single(GenId::gen8, two(Op::add), 0x3f80'0000, tiny, 1u << 4), 0x3f80'0001u);
  EXPECT_EQ(run_single(GenId::gen8, two(Op::add), 0xbf80'0000, tiny | 0x8000'0000, 2u << 4), 0xbf80'0001u);
  EXPECT_EQ(run_single(GenId::gen8, two(Op::add), 0xbf80'0000, tiny, 3u << 4), 0xbf7f'ffffu);
  EXPECT_EQ(run_single(GenId::gen8, two(Op::mul), 0x7f00'0000, 0x4080'0000, 3u << 4), 0x7f7f'ffffu) << "no infinity";
}

TEST(EuNumber, DenormalsFollowTheControlRegister) {
  const uint32_t denormal = 0x0000'1000;
  // Before Gen8 they are always flushed, later unless bit 7 says so.
  EXPECT_EQ(run_single(GenId::gen6, two(Op::add), denormal, 0x8000'0000, 0x80), 0u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add), denormal, 0x8000'0000), 0u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add), denormal, 0x8000'0000, 0x80), denormal);
  // A result is flushed too, and keeps its sign.
  EXPECT_EQ(run_single(GenId::gen9, two(Op::mul), 0x0080'0000, 0xbf00'0000), 0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::mul), 0x0080'0000, 0xbf00'0000, 0x80), 0x8040'0000u);
  // A move passes bits on; a conversion does not.
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::f), denormal), denormal);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::hf), 0x0001), 0u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::hf), 0x0001, 0, 0x400), 0x3380'0000u);
  EXPECT_EQ(run_single(GenId::gen8, convert(Type::f, Type::hf), 0x0001, 0, 0x400), 0x3380'0000u);
}

TEST(EuNumber, NanOfTheFirstSourceWinsAndIsQuiet) {
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add), 0x7f80'0001, 0xffc0'1234), 0x7fc0'0001u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::mul), 0x3f80'0000, 0xff81'2345), 0xffc1'2345u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add), 0x7f80'0000, 0xff80'0000), 0xffc0'0000u) << "invalid operation";
  // Bits of a signalling NaN survive a plain move.
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::f), 0x7f80'0001), 0x7f80'0001u);
  EXPECT_EQ(run_single(GenId::gen9, make(Op::mov, 1, dst(4, Type::f), {minus(scalar(2, Type::f))}), 0x7f80'0001),
            0xff80'0001u);
}

TEST(EuNumber, AlternateModeHasNoInfinities) {
  EXPECT_EQ(run_single(GenId::gen9, two(Op::mul), 0x7f7f'ffff, 0x7f7f'ffff, 1), 0x7f7f'ffffu);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::mul), 0x0000'0000, 0x7f80'0000, 1), 0u);
  auto root = make(Op::math, 1, dst(4, Type::f), {scalar(2, Type::f)});
  root.math = MathFunction::sqrt;
  EXPECT_EQ(run_single(GenId::gen9, root, std::bit_cast<uint32_t>(-4.0f), 0, 1), std::bit_cast<uint32_t>(2.0f));
  EXPECT_EQ(run_single(GenId::gen9, root, std::bit_cast<uint32_t>(-4.0f)), 0xffc0'0000u);
}

TEST(EuNumber, SaturationOfFloats) {
  const auto sat = saturated(two(Op::add));
  const uint32_t one = 0x3f80'0000;
  EXPECT_EQ(run_single(GenId::gen9, sat, one, one), one);
  EXPECT_EQ(run_single(GenId::gen9, sat, 0xbf80'0000, 0), 0u);
  EXPECT_EQ(run_single(GenId::gen9, sat, 0x7fc0'0000, 0), 0u) << "NaN";
  EXPECT_EQ(run_single(GenId::gen9, sat, 0x8000'0000, 0x8000'0000), 0u) << "minus zero";
}

TEST(EuNumber, SaturationOfIntegersSeesTheWholeSum) {
  const auto add = [](Type type) { return saturated(two(Op::add, type)); };
  EXPECT_EQ(run_single(GenId::gen9, add(Type::d), 0x7fff'ffff, 1), 0x7fff'ffffu);
  EXPECT_EQ(run_single(GenId::gen9, add(Type::d), 0x8000'0000, 0xffff'ffff), 0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, add(Type::ud), 0xffff'ffff, 2), 0xffff'ffffu);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add, Type::ud), 0xffff'ffff, 2), 1u);
  // a - b of unsigned numbers below zero.
  EXPECT_EQ(run_single(GenId::gen9,
                       saturated(make(Op::add, 1, dst(4, Type::ud), {scalar(2, Type::ud), minus(scalar(3, Type::ud))})),
                       1, 2),
            0u);
}

TEST(EuNumber, ModifiersWorkAtTheSourcesWidth) {
  const auto negated = make(Op::mov, 1, dst(4, Type::d), {minus(scalar(2, Type::d))});
  EXPECT_EQ(run_single(GenId::gen9, negated, 0x8000'0000), 0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, make(Op::mov, 1, dst(4, Type::d), {absolute(scalar(2, Type::d))}), 0x8000'0000),
            0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, make(Op::mov, 1, dst(4, Type::ud), {absolute(scalar(2, Type::ud))}), 0x8000'0001),
            0x8000'0001u);
  // abs first, then negate.
  EXPECT_EQ(
      run_single(GenId::gen9, make(Op::mov, 1, dst(4, Type::f), {minus(absolute(scalar(2, Type::f)))}), 0xc000'0000),
      0xc000'0000u);
  // Logic: a bitwise not from Gen8 on, an arithmetic minus before.
  const auto both = make(Op::and_, 1, dst(4, Type::ud), {minus(scalar(2, Type::ud)), scalar(3, Type::ud)});
  EXPECT_EQ(run_single(GenId::gen8, both, 0x0000'00f0, 0xffff), 0xff0fu);
  EXPECT_EQ(run_single(GenId::gen7, both, 0x0000'00f0, 0xffff), 0xff10u);
}

TEST(EuNumber, ANegatedUnsignedNumberEqualsNone) {
  for (const GenId gen : {GenId::gen8, GenId::gen12}) {
    Machine machine(gen);
    machine.set<uint32_t>(2, 0, 5);
    machine.set<uint32_t>(3, 0, 0xffff'fffb);
    machine.thread.flag[0] = 1;
    machine.run(
        with(make(Op::cmp, 1, null(Type::ud), {minus(scalar(2, Type::ud)), scalar(3, Type::ud)}), Condition::zero));
    EXPECT_EQ(machine.thread.flag[0] & 1, 0u);
  }
}

TEST(EuNumber, VectorImmediates) {
  Machine machine(GenId::gen6);
  // V: nibbles from the lowest, signed; repeats after eight.
  machine.run(make(Op::mov, 16, dst(4, Type::w), {imm(0x8765'4321, Type::v)}));
  const int16_t expected[]{1, 2, 3, 4, 5, 6, 7, -8};
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(machine.get<int16_t>(4, i), expected[i % 8]);
  }
  machine.run(make(Op::mov, 8, dst(4, Type::uw), {imm(0xf765'4321, Type::uv)}));
  EXPECT_EQ(machine.get<uint16_t>(4, 7), 15u);
  // VF: 1.0 is 0x30, -0.5 is 0xa0, 31 is 0x7f, 0 is 0.
  machine.run(make(Op::mov, 8, dst(4, Type::f), {imm(0x007f'a030, Type::vf)}));
  const float floats[]{1.0f, -0.5f, 31.0f, 0.0f};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<float>(4, i), floats[i % 4]);
  }
  EXPECT_EQ(vf_to_double(0x01), 0.1328125);
}

TEST(EuNumber, MinimumAndMaximumPreferNumbers) {
  const uint32_t nan = 0x7fc0'0000;
  const uint32_t one = 0x3f80'0000;
  const auto min = with(two(Op::sel), Condition::less);
  const auto max = with(two(Op::sel), Condition::greater_equal);
  EXPECT_EQ(run_single(GenId::gen9, min, nan, one), one);
  EXPECT_EQ(run_single(GenId::gen9, min, one, nan), one);
  EXPECT_EQ(run_single(GenId::gen9, max, nan, 0x7fc0'0001), 0x7fc0'0001u);
  EXPECT_EQ(run_single(GenId::gen9, min, 0x8000'0000, 0), 0u) << "equal: the second";
  EXPECT_EQ(run_single(GenId::gen9, max, 0x8000'0000, 0), 0x8000'0000u) << "equal: the first";
}

TEST(EuNumber, SelectLeavesTheFlagFromGen6On) {
  for (const GenId gen : kGens) {
    Machine machine(gen);
    machine.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
    machine.fill<float>(3, {8, 7, 6, 5, 4, 3, 2, 1});
    machine.thread.flag[0] = 0xaa;
    machine.run(with(make(Op::sel, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)}), Condition::less));
    EXPECT_EQ(machine.thread.flag[0], gen <= GenId::gen5 ? 0x0fu : 0xaau);
    EXPECT_EQ(machine.get<float>(4, 7), 1.0f);
  }
}

TEST(EuNumber, ConditionalSelectLeavesTheFlag) {
  for (const GenId gen : kGen8Plus) {
    Machine machine(gen);
    machine.fill<float>(2, {1, 1, 1, 1, 1, 1, 1, 1});
    machine.fill<float>(3, {2, 2, 2, 2, 2, 2, 2, 2});
    machine.fill<float>(5, {-1, 0, 1, -0.0f, NAN, 5, -5, 0});
    machine.thread.flag[0] = 0xa5;
    machine.run(with(make(Op::csel, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f), grf(5, Type::f)}),
                     Condition::greater_equal));
    EXPECT_EQ(machine.thread.flag[0], 0xa5u);
    const float expected[]{2, 1, 1, 1, 2, 1, 2, 1};
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(machine.get<float>(4, i), expected[i]) << i;
    }
  }
}

TEST(EuNumber, ComparisonsWithNan) {
  Machine machine(GenId::gen9);
  const auto truth = [&](Op op, Condition condition, float a, float b) {
    machine.set(2, 0, a);
    machine.set(3, 0, b);
    machine.run(with(make(op, 1, null(Type::f), {scalar(2, Type::f), scalar(3, Type::f)}), condition));
    return (machine.thread.flag[0] & 1) != 0;
  };
  for (const auto condition :
       {Condition::zero, Condition::greater, Condition::greater_equal, Condition::less, Condition::less_equal}) {
    EXPECT_FALSE(truth(Op::cmp, condition, NAN, 1));
    EXPECT_FALSE(truth(Op::cmp, condition, 1, NAN));
    EXPECT_TRUE(truth(Op::cmpn, condition, 1, NAN));
    EXPECT_FALSE(truth(Op::cmpn, condition, NAN, 1));
  }
  EXPECT_TRUE(truth(Op::cmp, Condition::not_zero, NAN, 1));
  EXPECT_TRUE(truth(Op::cmp, Condition::unordered, NAN, 1));
  EXPECT_FALSE(truth(Op::cmp, Condition::unordered, 2, 1));
  EXPECT_FALSE(truth(Op::cmp, Condition::zero, INFINITY, -INFINITY));
  EXPECT_TRUE(truth(Op::cmp, Condition::zero, INFINITY, INFINITY));
}

TEST(EuNumber, Gen4ComparesInTheDestinationsType) {
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    Machine machine(gen);
    machine.set(2, 0, 1.25f);
    machine.set(3, 0, 1.75f);
    machine.run(with(make(Op::cmp, 1, dst(4, Type::d), {scalar(2, Type::f), scalar(3, Type::f)}), Condition::zero));
    EXPECT_EQ(machine.thread.flag[0] & 1, gen == GenId::gen4 ? 1u : 0u);
  }
}

TEST(EuNumber, RoundingOfGen4And5WantsAnIncrement) {
  const float values[]{1.5f, 2.5f, -1.5f, 0.75f, -0.25f, 3.0f, -2.5f, 0.5f};
  for (const Op op : {Op::rnde, Op::rndz, Op::rndu, Op::rndd}) {
    Machine old(GenId::gen5);
    Machine later(GenId::gen6);
    for (unsigned i = 0; i < 8; ++i) {
      old.set(2, i, values[i]);
      later.set(2, i, values[i]);
    }
    // What compilers do: the operation with .r, then one more where the flag says so.
    auto in = with(make(op, 8, dst(4, Type::f), {grf(2, Type::f)}), Condition::round);
    old.run({in, when(make(Op::add, 8, dst(4, Type::f), {grf(4, Type::f), imm_f(1.0f)}))});
    later.run(make(op, 8, dst(4, Type::f), {grf(2, Type::f)}));
    for (unsigned i = 0; i < 8; ++i) {
      const float x = values[i];
      const float right = op == Op::rnde   ? std::nearbyint(x)
                          : op == Op::rndz ? std::trunc(x)
                          : op == Op::rndu ? std::ceil(x)
                                           : std::floor(x);
      EXPECT_EQ(old.get<float>(4, i), right) << x;
      EXPECT_EQ(later.get<float>(4, i), right) << x;
    }
  }
}

TEST(EuNumber, FractionStaysBelowOne) {
  EXPECT_EQ(run_single(GenId::gen9, make(Op::frc, 1, dst(4, Type::f), {scalar(2, Type::f)}),
                       std::bit_cast<uint32_t>(-1e-10f)),
            0x3f7f'ffffu);
  EXPECT_EQ(
      run_single(GenId::gen9, make(Op::frc, 1, dst(4, Type::f), {scalar(2, Type::f)}), std::bit_cast<uint32_t>(-1.25f)),
      std::bit_cast<uint32_t>(0.75f));
}

TEST(EuNumber, HalfConversionsOfGen7) {
  EXPECT_EQ(run_single(GenId::gen7, make(Op::f32to16, 1, dst(4, Type::w), {scalar(2, Type::f)}), 0x3f80'0000) & 0xffff,
            0x3c00u);
  EXPECT_EQ(run_single(GenId::gen7, make(Op::f16to32, 1, dst(4, Type::f), {scalar(2, Type::w)}), 0xbc00), 0xbf80'0000u);
}

TEST(EuNumber, MixedPrecisionComputesInSingle) {
  // 2048 + 1 is no half; in single it is, and the result fits F.
  Machine machine(GenId::gen9);
  machine.set<uint16_t>(2, 0, 0x6800);  // 2048
  machine.set(3, 0, 1.0f);
  machine.run(make(Op::add, 1, dst(4, Type::f), {scalar(2, Type::hf), scalar(3, Type::f)}));
  EXPECT_EQ(machine.get<float>(4, 0), 2049.0f);
  machine.set<uint16_t>(3, 0, 0x3c00);
  machine.run(make(Op::add, 1, dst(4, Type::hf), {scalar(2, Type::hf), scalar(3, Type::hf)}));
  EXPECT_EQ(machine.get<uint16_t>(4, 0), 0x6800u);
}

TEST(EuNumber, MultiplyAddRoundsOnceFromGen8On) {
  // (1 + 2^-12)^2 - (1 + 2^-11): exactly 2^-24, lost if the product is rounded first.
  for (const GenId gen : kGen8Plus) {
    Machine machine(gen);
    machine.set(2, 0, -(1.0f + 0x1p-11f));
    machine.set(3, 0, 1.0f + 0x1p-12f);
    machine.run(make(Op::mad, 1, dst(4, Type::f), {scalar(2, Type::f), scalar(3, Type::f), scalar(3, Type::f)}));
    EXPECT_EQ(machine.get<float>(4, 0), 0x1p-24f);
  }
}

TEST(EuNumber, MathFunctionsRoundTheExactResult) {
  // Against long double, which has 11 bits more than the double that the model rounds.
  struct {
    MathFunction function;
    long double (*exact)(long double);
    float low, high;
  } const functions[]{{MathFunction::inverse, [](long double x) { return 1 / x; }, -100, 100},
                      {MathFunction::log2, [](long double x) { return std::log2(x); }, 0.001f, 1000},
                      {MathFunction::exp2, [](long double x) { return std::exp2(x); }, -20, 20},
                      {MathFunction::sqrt, [](long double x) { return std::sqrt(x); }, 0, 1000},
                      {MathFunction::rsqrt, [](long double x) { return 1 / std::sqrt(x); }, 0.001f, 1000},
                      {MathFunction::sin, [](long double x) { return std::sin(x); }, -1000, 1000},
                      {MathFunction::cos, [](long double x) { return std::cos(x); }, -1000, 1000}};
  Random random(77);
  for (const auto& one : functions) {
    auto in = make(Op::math, 8, dst(4, Type::f), {grf(2, Type::f)});
    in.math = one.function;
    for (unsigned round = 0; round < 200; ++round) {
      Machine machine(GenId::gen8);
      for (unsigned i = 0; i < 8; ++i) {
        const float x = one.low + (one.high - one.low) * static_cast<float>(random.below(1u << 24)) / 16777216.0f;
        machine.set(2, i, x);
      }
      machine.run(in);
      for (unsigned i = 0; i < 8; ++i) {
        const auto expected = static_cast<float>(one.exact(static_cast<long double>(machine.get<float>(2, i))));
        ASSERT_EQ(machine.get<float>(4, i), std::fabs(expected) < 0x1p-126f ? 0.0f : expected)
            << static_cast<int>(one.function) << " of " << machine.get<float>(2, i);
      }
    }
  }
  EXPECT_FALSE(math_bounds().empty());
  for (const MathBound& bound : math_bounds()) {
    EXPECT_FALSE(bound.hardware.empty());
  }
}

TEST(EuNumber, IntegerDivision) {
  Machine machine(GenId::gen9);
  machine.fill<int32_t>(2, {7, -7, 7, -7, 5, 0, 100, static_cast<int32_t>(0x8000'0000)});
  machine.fill<int32_t>(3, {2, 2, -2, -2, 0, 3, 7, -1});
  auto in = make(Op::math, 8, dst(4, Type::d), {grf(2, Type::d), grf(3, Type::d)});
  in.math = MathFunction::int_divide_both;
  machine.run(in);
  const int32_t quotients[]{3, -3, -3, 3, -1, 0, 14, static_cast<int32_t>(0x8000'0000)};
  const int32_t rests[]{1, -1, 1, -1, 5, 0, 2, 0};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.get<int32_t>(4, i), quotients[i]) << i;
    EXPECT_EQ(machine.get<int32_t>(5, i), rests[i]) << i;
  }
  in.math = MathFunction::int_remainder;
  in.dst = dst(6, Type::d);
  machine.run(in);
  EXPECT_EQ(machine.get<int32_t>(6, 1), -1);
}

}  // namespace
}  // namespace halogen::eu::test
