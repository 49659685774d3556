// Conversions, float modes of cr0, NaN, modifiers, immediates, conditions.
#include <cfenv>
#include <cmath>

#include "eu/exec/general/math.h"
#include "eu/number.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

uint32_t run_single(GenId gen, const Instruction& in, uint32_t a, uint32_t b = 0, uint32_t cr0 = 0) {
  ThreadBench bench(gen);
  bench.set(2, 0, a);
  bench.set(3, 0, b);
  bench.thread.control[0] = cr0;
  bench.run(in);
  return bench.get<uint32_t>(4, 0);
}
Instruction two(Op op, Type type = Type::f) {
  return make(op, 1, dst(4, type), {scalar(2, type), scalar(3, type)});
}
Instruction convert(Type to, Type from) {
  return make(Op::mov, 1, dst(4, to), {scalar(2, from)});
}

TEST(EuNumber, NarrowingRoundsLikeTheHostInEveryMode) {
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

TEST(EuNumber, HalvesSurviveARoundTripThroughDouble) {
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

TEST(EuNumber, FloatToIntegerTruncatesAndClamps) {
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
      // The rounding mode of cr0 has no effect.
      EXPECT_EQ(run_single(gen, convert(one.to, Type::f), std::bit_cast<uint32_t>(one.from), 0, 1u << 4), one.result);
    }
  }
}

TEST(EuNumber, IntegerToFloatRoundsToEven) {
  // 2^24 + 1 and 2^24 + 3 are halfway between two floats.
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0x0100'0001), 0x4b80'0000u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0x0100'0003), 0x4b80'0002u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::ud), 0xffff'ffff), 0x4f80'0000u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0x0100'0001, 0, 1u << 4), 0x4b80'0001u) << "up";
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::d), 0xfeff'ffff, 0, 3u << 4), 0xcb80'0000u) << "to zero";
}

TEST(EuNumber, ArithmeticUsesTheRoundingModeOfTheControlRegister) {
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
  // Before Gen8 denormals are always flushed, later unless bit 7 of cr0.0 is set.
  EXPECT_EQ(run_single(GenId::gen6, two(Op::add), denormal, 0x8000'0000, 0x80), 0u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add), denormal, 0x8000'0000), 0u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add), denormal, 0x8000'0000, 0x80), denormal);
  // A result is flushed too, and keeps its sign.
  EXPECT_EQ(run_single(GenId::gen9, two(Op::mul), 0x0080'0000, 0xbf00'0000), 0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::mul), 0x0080'0000, 0xbf00'0000, 0x80), 0x8040'0000u);
  // A move copies denormals; a conversion flushes them.
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::f), denormal), denormal);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::hf), 0x0001), 0u);
  EXPECT_EQ(run_single(GenId::gen9, convert(Type::f, Type::hf), 0x0001, 0, 0x400), 0x3380'0000u);
  EXPECT_EQ(run_single(GenId::gen8, convert(Type::f, Type::hf), 0x0001, 0, 0x400), 0x3380'0000u);
}

TEST(EuNumber, TheFirstNanSourceIsReturnedQuiet) {
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

TEST(EuNumber, FloatSaturationClampsToZeroAndOne) {
  const auto sat = saturated(two(Op::add));
  const uint32_t one = 0x3f80'0000;
  EXPECT_EQ(run_single(GenId::gen9, sat, one, one), one);
  EXPECT_EQ(run_single(GenId::gen9, sat, 0xbf80'0000, 0), 0u);
  EXPECT_EQ(run_single(GenId::gen9, sat, 0x7fc0'0000, 0), 0u) << "NaN";
  EXPECT_EQ(run_single(GenId::gen9, sat, 0x8000'0000, 0x8000'0000), 0u) << "minus zero";
}

TEST(EuNumber, IntegerSaturationUsesTheExactSum) {
  const auto add = [](Type type) { return saturated(two(Op::add, type)); };
  EXPECT_EQ(run_single(GenId::gen9, add(Type::d), 0x7fff'ffff, 1), 0x7fff'ffffu);
  EXPECT_EQ(run_single(GenId::gen9, add(Type::d), 0x8000'0000, 0xffff'ffff), 0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, add(Type::ud), 0xffff'ffff, 2), 0xffff'ffffu);
  EXPECT_EQ(run_single(GenId::gen9, two(Op::add, Type::ud), 0xffff'ffff, 2), 1u);
  // An unsigned difference below zero saturates to 0.
  EXPECT_EQ(run_single(GenId::gen9,
                       saturated(make(Op::add, 1, dst(4, Type::ud), {scalar(2, Type::ud), minus(scalar(3, Type::ud))})),
                       1, 2),
            0u);
}

TEST(EuNumber, ModifiersWrapAtTheWidthOfTheSource) {
  const auto negated = make(Op::mov, 1, dst(4, Type::d), {minus(scalar(2, Type::d))});
  EXPECT_EQ(run_single(GenId::gen9, negated, 0x8000'0000), 0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, make(Op::mov, 1, dst(4, Type::d), {absolute(scalar(2, Type::d))}), 0x8000'0000),
            0x8000'0000u);
  EXPECT_EQ(run_single(GenId::gen9, make(Op::mov, 1, dst(4, Type::ud), {absolute(scalar(2, Type::ud))}), 0x8000'0001),
            0x8000'0001u);
  // The absolute value is taken first, then negated.
  EXPECT_EQ(
      run_single(GenId::gen9, make(Op::mov, 1, dst(4, Type::f), {minus(absolute(scalar(2, Type::f)))}), 0xc000'0000),
      0xc000'0000u);
  // Negate of a logic operand is a bitwise NOT from Gen8 on, an arithmetic negation before.
  const auto both = make(Op::and_, 1, dst(4, Type::ud), {minus(scalar(2, Type::ud)), scalar(3, Type::ud)});
  EXPECT_EQ(run_single(GenId::gen8, both, 0x0000'00f0, 0xffff), 0xff0fu);
  EXPECT_EQ(run_single(GenId::gen7, both, 0x0000'00f0, 0xffff), 0xff10u);
}

TEST(EuNumber, ANegatedUnsignedIntegerIsNegative) {
  for (const GenId gen : {GenId::gen8, GenId::gen12}) {
    ThreadBench bench(gen);
    bench.set<uint32_t>(2, 0, 5);
    bench.set<uint32_t>(3, 0, 0xffff'fffb);
    bench.thread.flag[0] = 1;
    bench.run(
        with(make(Op::cmp, 1, null(Type::ud), {minus(scalar(2, Type::ud)), scalar(3, Type::ud)}), Condition::zero));
    EXPECT_EQ(bench.thread.flag[0] & 1, 0u);
  }
}

TEST(EuNumber, VectorImmediatesExpandToWordsAndFloats) {
  ThreadBench bench(GenId::gen6);
  // V: signed nibbles, the lowest first, repeated after eight.
  bench.run(make(Op::mov, 16, dst(4, Type::w), {imm(0x8765'4321, Type::v)}));
  const int16_t expected[]{1, 2, 3, 4, 5, 6, 7, -8};
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<int16_t>(4, i), expected[i % 8]);
  }
  bench.run(make(Op::mov, 8, dst(4, Type::uw), {imm(0xf765'4321, Type::uv)}));
  EXPECT_EQ(bench.get<uint16_t>(4, 7), 15u);
  // VF: 1.0 is 0x30, -0.5 is 0xa0, 31 is 0x7f, 0 is 0.
  bench.run(make(Op::mov, 8, dst(4, Type::f), {imm(0x007f'a030, Type::vf)}));
  const float floats[]{1.0f, -0.5f, 31.0f, 0.0f};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<float>(4, i), floats[i % 4]);
  }
  EXPECT_EQ(vf_to_double(0x01), 0.1328125);
}

TEST(EuNumber, MinimumAndMaximumPreferNumbersOverNan) {
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

TEST(EuNumber, SelectDoesNotWriteTheFlagFromGen6On) {
  for (const GenId gen : kGens) {
    ThreadBench bench(gen);
    bench.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
    bench.fill<float>(3, {8, 7, 6, 5, 4, 3, 2, 1});
    bench.thread.flag[0] = 0xaa;
    bench.run(with(make(Op::sel, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)}), Condition::less));
    EXPECT_EQ(bench.thread.flag[0], gen <= GenId::gen5 ? 0x0fu : 0xaau);
    EXPECT_EQ(bench.get<float>(4, 7), 1.0f);
  }
}

TEST(EuNumber, ConditionalSelectDoesNotWriteTheFlag) {
  for (const GenId gen : kGen8Plus) {
    ThreadBench bench(gen);
    bench.fill<float>(2, {1, 1, 1, 1, 1, 1, 1, 1});
    bench.fill<float>(3, {2, 2, 2, 2, 2, 2, 2, 2});
    bench.fill<float>(5, {-1, 0, 1, -0.0f, NAN, 5, -5, 0});
    bench.thread.flag[0] = 0xa5;
    bench.run(with(make(Op::csel, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f), grf(5, Type::f)}),
                   Condition::greater_equal));
    EXPECT_EQ(bench.thread.flag[0], 0xa5u);
    const float expected[]{2, 1, 1, 1, 2, 1, 2, 1};
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.get<float>(4, i), expected[i]) << i;
    }
  }
}

TEST(EuNumber, ComparisonsWithNanAreFalseExceptNotEqualAndUnordered) {
  ThreadBench bench(GenId::gen9);
  const auto truth = [&](Op op, Condition condition, float a, float b) {
    bench.set(2, 0, a);
    bench.set(3, 0, b);
    bench.run(with(make(op, 1, null(Type::f), {scalar(2, Type::f), scalar(3, Type::f)}), condition));
    return (bench.thread.flag[0] & 1) != 0;
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

TEST(EuNumber, Gen4ComparesInTheTypeOfTheDestination) {
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    ThreadBench bench(gen);
    bench.set(2, 0, 1.25f);
    bench.set(3, 0, 1.75f);
    bench.run(with(make(Op::cmp, 1, dst(4, Type::d), {scalar(2, Type::f), scalar(3, Type::f)}), Condition::zero));
    EXPECT_EQ(bench.thread.flag[0] & 1, gen == GenId::gen4 ? 1u : 0u);
  }
}

TEST(EuNumber, RoundingOfGen4AndGen5FlagsTheIncrement) {
  const float values[]{1.5f, 2.5f, -1.5f, 0.75f, -0.25f, 3.0f, -2.5f, 0.5f};
  for (const Op op : {Op::rnde, Op::rndz, Op::rndu, Op::rndd}) {
    ThreadBench old(GenId::gen5);
    ThreadBench later(GenId::gen6);
    for (unsigned i = 0; i < 8; ++i) {
      old.set(2, i, values[i]);
      later.set(2, i, values[i]);
    }
    // Compilers emit the operation with .r, then an addition of 1 predicated by the flag.
    auto in = with(make(op, 8, dst(4, Type::f), {grf(2, Type::f)}), Condition::round);
    old.run({in, when(make(Op::add, 8, dst(4, Type::f), {grf(4, Type::f), imm_f(1.0f)}))});
    later.run(make(op, 8, dst(4, Type::f), {grf(2, Type::f)}));
    for (unsigned i = 0; i < 8; ++i) {
      const float x = values[i];
      const float expected = op == Op::rnde   ? std::nearbyint(x)
                             : op == Op::rndz ? std::trunc(x)
                             : op == Op::rndu ? std::ceil(x)
                                              : std::floor(x);
      EXPECT_EQ(old.get<float>(4, i), expected) << x;
      EXPECT_EQ(later.get<float>(4, i), expected) << x;
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

TEST(EuNumber, Gen7ConvertsBetweenSingleAndHalf) {
  EXPECT_EQ(run_single(GenId::gen7, make(Op::f32to16, 1, dst(4, Type::w), {scalar(2, Type::f)}), 0x3f80'0000) & 0xffff,
            0x3c00u);
  EXPECT_EQ(run_single(GenId::gen7, make(Op::f16to32, 1, dst(4, Type::f), {scalar(2, Type::w)}), 0xbc00), 0xbf80'0000u);
}

TEST(EuNumber, MixedPrecisionComputesInSingle) {
  // A half cannot represent 2048 + 1, a single can.
  ThreadBench bench(GenId::gen9);
  bench.set<uint16_t>(2, 0, 0x6800);  // 2048
  bench.set(3, 0, 1.0f);
  bench.run(make(Op::add, 1, dst(4, Type::f), {scalar(2, Type::hf), scalar(3, Type::f)}));
  EXPECT_EQ(bench.get<float>(4, 0), 2049.0f);
  bench.set<uint16_t>(3, 0, 0x3c00);
  bench.run(make(Op::add, 1, dst(4, Type::hf), {scalar(2, Type::hf), scalar(3, Type::hf)}));
  EXPECT_EQ(bench.get<uint16_t>(4, 0), 0x6800u);
}

TEST(EuNumber, MultiplyAddRoundsOnceFromGen8On) {
  // (1 + 2^-12)^2 - (1 + 2^-11) is exactly 2^-24, and 0 if the product is rounded first.
  for (const GenId gen : kGen8Plus) {
    ThreadBench bench(gen);
    bench.set(2, 0, -(1.0f + 0x1p-11f));
    bench.set(3, 0, 1.0f + 0x1p-12f);
    bench.run(make(Op::mad, 1, dst(4, Type::f), {scalar(2, Type::f), scalar(3, Type::f), scalar(3, Type::f)}));
    EXPECT_EQ(bench.get<float>(4, 0), 0x1p-24f);
  }
}

TEST(EuNumber, MathFunctionsRoundTheExactResult) {
  // The reference is long double, which has 11 bits more than the double that the model rounds.
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
      ThreadBench bench(GenId::gen8);
      for (unsigned i = 0; i < 8; ++i) {
        const float x = one.low + (one.high - one.low) * static_cast<float>(random.below(1u << 24)) / 16777216.0f;
        bench.set(2, i, x);
      }
      bench.run(in);
      for (unsigned i = 0; i < 8; ++i) {
        const auto expected = static_cast<float>(one.exact(static_cast<long double>(bench.get<float>(2, i))));
        ASSERT_EQ(bench.get<float>(4, i), std::fabs(expected) < 0x1p-126f ? 0.0f : expected)
            << static_cast<int>(one.function) << " of " << bench.get<float>(2, i);
      }
    }
  }
  EXPECT_FALSE(math_bounds().empty());
  for (const MathBound& bound : math_bounds()) {
    EXPECT_FALSE(bound.hardware.empty());
  }
}

TEST(EuNumber, IntegerDivisionTruncatesAndHandlesZero) {
  ThreadBench bench(GenId::gen9);
  bench.fill<int32_t>(2, {7, -7, 7, -7, 5, 0, 100, static_cast<int32_t>(0x8000'0000)});
  bench.fill<int32_t>(3, {2, 2, -2, -2, 0, 3, 7, -1});
  auto in = make(Op::math, 8, dst(4, Type::d), {grf(2, Type::d), grf(3, Type::d)});
  in.math = MathFunction::int_divide_both;
  bench.run(in);
  const int32_t quotients[]{3, -3, -3, 3, -1, 0, 14, static_cast<int32_t>(0x8000'0000)};
  const int32_t remainders[]{1, -1, 1, -1, 5, 0, 2, 0};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<int32_t>(4, i), quotients[i]) << i;
    EXPECT_EQ(bench.get<int32_t>(5, i), remainders[i]) << i;
  }
  in.math = MathFunction::int_remainder;
  in.dst = dst(6, Type::d);
  bench.run(in);
  EXPECT_EQ(bench.get<int32_t>(6, 1), -1);
}

}  // namespace
}  // namespace halogen::eu::test
