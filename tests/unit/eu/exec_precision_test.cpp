// Compares math functions with extended precision over the whole range of their operands. Checks special values, every
// conversion of half floats, and the table in docs/eu-precision.md.
#include <cfenv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "eu/exec/general/math.h"
#include "eu/number.h"
#include "support/paths.h"
#include "unit/eu/naive_numbers.h"

namespace halogen::eu::test {
namespace {

constexpr uint32_t kKeepDenormals = 0x4c0;

Instruction math(MathFunction function, unsigned sources, Type type = Type::f, unsigned lanes = 16) {
  Instruction in = make(Op::math, lanes, dst(20, type), {grf(2, type)});
  if (sources == 2) {
    in.src[1] = grf(6, type);
    in.sources = 2;
  }
  in.math = function;
  return in;
}

// Returns the error in units in the last place of F, at the exponent of the exact value.
long double ulps(float got, long double exact) {
  if (std::isinf(got)) {
    return std::fabs(exact) >= 0x1.ffffffp127L ? 0 : HUGE_VALL;
  }
  const int exponent = exact == 0 ? -126 : std::max(static_cast<int>(std::ilogb(exact)), -126);
  return std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, exponent - 23);
}

struct Unary {
  MathFunction function;
  const char* name;
  long double (*exact)(long double);
  bool (*inside)(float);
};
bool any(float) {
  return true;
}
bool positive(float x) {
  return x > 0;
}
const Unary kUnary[]{
    {MathFunction::inverse, "inv", [](long double x) { return 1 / x; }, [](float x) { return x != 0; }},
    {MathFunction::log2, "log", [](long double x) { return std::log2(x); }, positive},
    {MathFunction::exp2, "exp", [](long double x) { return std::exp2(x); },
     [](float x) { return x > -148 && x < 128; }},
    {MathFunction::sqrt, "sqt", [](long double x) { return std::sqrt(x); }, positive},
    {MathFunction::rsqrt, "rsqt", [](long double x) { return 1 / std::sqrt(x); }, positive},
    {MathFunction::sin, "sin", [](long double x) { return std::sin(x); }, any},
    {MathFunction::cos, "cos", [](long double x) { return std::cos(x); }, any}};

// Returns a finite float. A quarter of them are near 1, where logarithms lose most bits.
float operand(Random& random, bool (*inside)(float)) {
  for (;;) {
    auto bits = static_cast<uint32_t>(random.bits());
    if (random.chance(25)) {
      bits = 0x3f80'0000 + (bits & 0xfff) - 0x800;
    } else if (random.chance(25)) {
      bits = (bits & 0x807f'ffff) | ((120 + random.below(16)) << 23);
    }
    const auto value = std::bit_cast<float>(bits);
    if (std::isfinite(value) && inside(value)) {
      return value;
    }
  }
}

// The bound of docs/eu-precision.md: half a unit plus the error of the host's double.
constexpr long double kModelBound = 0.5001L;

TEST(EuPrecision, UnaryFunctionsAreRoundedOnce) {
  for (const Unary& one : kUnary) {
    Random random(static_cast<uint64_t>(one.function) * 31);
    long double worst = 0;
    ThreadBench bench(GenId::gen9);
    bench.thread.control[0] = kKeepDenormals;
    for (unsigned round = 0; round < 1500; ++round) {
      for (unsigned i = 0; i < 16; ++i) {
        bench.set(2, i, operand(random, one.inside));
      }
      bench.run(math(one.function, 1));
      for (unsigned i = 0; i < 16; ++i) {
        const auto x = bench.get<float>(2, i);
        const long double distance = ulps(bench.get<float>(20, i), one.exact(static_cast<long double>(x)));
        worst = std::max(worst, distance);
        ASSERT_LE(distance, kModelBound) << one.name << " of " << x;
      }
    }
    EXPECT_GT(worst, 0.3L) << one.name << ": the operands do not need rounding";
  }
}

TEST(EuPrecision, PowersAndQuotientsAreRoundedOnce) {
  Random random(99);
  ThreadBench bench(GenId::gen9);
  bench.thread.control[0] = kKeepDenormals;
  for (unsigned round = 0; round < 1500; ++round) {
    for (unsigned i = 0; i < 16; ++i) {
      bench.set(2, i, operand(random, positive));
      bench.set(6, i, operand(random, [](float x) { return std::fabs(x) > 0x1p-20f && std::fabs(x) < 0x1p20f; }));
    }
    bench.run(math(MathFunction::divide, 2));
    for (unsigned i = 0; i < 16; ++i) {
      const auto a = static_cast<long double>(bench.get<float>(2, i));
      const auto b = static_cast<long double>(bench.get<float>(6, i));
      ASSERT_LE(ulps(bench.get<float>(20, i), a / b), kModelBound);
    }
    bench.run(math(MathFunction::power, 2));
    for (unsigned i = 0; i < 16; ++i) {
      const auto a = static_cast<long double>(bench.get<float>(2, i));
      const auto b = static_cast<long double>(bench.get<float>(6, i));
      const long double exact = std::pow(a, b);
      if (std::fabs(exact) < 0x1p128L) {
        ASSERT_LE(ulps(bench.get<float>(20, i), exact), kModelBound) << static_cast<double>(a);
      } else {
        ASSERT_TRUE(std::isinf(bench.get<float>(20, i)));
      }
    }
  }
}

TEST(EuPrecision, FunctionsOfHalvesAreRoundedToNearest) {
  // All halves, sixteen at a time. The expected value is the exact one, rounded to the nearest half.
  ThreadBench bench(GenId::gen9);
  bench.thread.control[0] = kKeepDenormals;
  for (const Unary& one : kUnary) {
    for (unsigned first = 0; first < 0x10000; first += 16) {
      for (unsigned i = 0; i < 16; ++i) {
        bench.set(2, i, static_cast<uint16_t>(first + i));
      }
      bench.run(math(one.function, 1, Type::hf));
      for (unsigned i = 0; i < 16; ++i) {
        const double x = half_value(first + i);
        if (!std::isfinite(x) || !one.inside(static_cast<float>(x)) || x == 0) {
          continue;
        }
        const auto exact = static_cast<double>(one.exact(static_cast<long double>(x)));
        ASSERT_EQ(bench.get<uint16_t>(20, i), half_code(exact)) << one.name << " of " << x;
      }
    }
  }
}

TEST(EuPrecision, FunctionsOfSpecialValuesFollowIeee754) {
  constexpr float kInf = HUGE_VALF;
  constexpr uint32_t kNan = 0xffc0'0000;
  const auto f = [](float x) { return std::bit_cast<uint32_t>(x); };
  // IEEE 754 section 9.2, except for POW: hardware ignores the sign of the base and computes exp(b log|a|).
  const struct {
    MathFunction function;
    float a, b;
    uint32_t result;
  } cases[]{{MathFunction::inverse, 0.0f, 0, f(kInf)},
            {MathFunction::inverse, -0.0f, 0, f(-kInf)},
            {MathFunction::inverse, kInf, 0, f(0.0f)},
            {MathFunction::inverse, -kInf, 0, f(-0.0f)},
            {MathFunction::log2, 0.0f, 0, f(-kInf)},
            {MathFunction::log2, -0.0f, 0, f(-kInf)},
            {MathFunction::log2, 1.0f, 0, f(0.0f)},
            {MathFunction::log2, -1.0f, 0, kNan},
            {MathFunction::log2, kInf, 0, f(kInf)},
            {MathFunction::log2, 8.0f, 0, f(3.0f)},
            {MathFunction::exp2, 0.0f, 0, f(1.0f)},
            {MathFunction::exp2, -0.0f, 0, f(1.0f)},
            {MathFunction::exp2, kInf, 0, f(kInf)},
            {MathFunction::exp2, -kInf, 0, f(0.0f)},
            {MathFunction::exp2, 200.0f, 0, f(kInf)},
            {MathFunction::exp2, -200.0f, 0, f(0.0f)},
            {MathFunction::exp2, -149.0f, 0, 1},
            {MathFunction::sqrt, 0.0f, 0, f(0.0f)},
            {MathFunction::sqrt, -0.0f, 0, f(-0.0f)},
            {MathFunction::sqrt, -1.0f, 0, kNan},
            {MathFunction::sqrt, kInf, 0, f(kInf)},
            {MathFunction::rsqrt, 0.0f, 0, f(kInf)},
            {MathFunction::rsqrt, -0.0f, 0, f(-kInf)},
            {MathFunction::rsqrt, -4.0f, 0, kNan},
            {MathFunction::rsqrt, kInf, 0, f(0.0f)},
            {MathFunction::rsqrt, 4.0f, 0, f(0.5f)},
            {MathFunction::sin, 0.0f, 0, f(0.0f)},
            {MathFunction::sin, -0.0f, 0, f(-0.0f)},
            {MathFunction::sin, kInf, 0, kNan},
            {MathFunction::cos, 0.0f, 0, f(1.0f)},
            {MathFunction::cos, -kInf, 0, kNan},
            {MathFunction::divide, 1.0f, 0.0f, f(kInf)},
            {MathFunction::divide, -1.0f, 0.0f, f(-kInf)},
            {MathFunction::divide, 0.0f, 0.0f, kNan},
            {MathFunction::divide, kInf, kInf, kNan},
            {MathFunction::divide, 1.0f, -kInf, f(-0.0f)},
            {MathFunction::divide, 7.0f, 2.0f, f(3.5f)},
            {MathFunction::power, 2.0f, 10.0f, f(1024.0f)},
            {MathFunction::power, -2.0f, 3.0f, f(8.0f)},
            {MathFunction::power, 5.0f, 0.0f, f(1.0f)},
            {MathFunction::power, 0.0f, 2.0f, f(0.0f)},
            {MathFunction::power, 0.0f, -2.0f, f(kInf)},
            {MathFunction::power, kInf, 2.0f, f(kInf)},
            {MathFunction::power, kInf, -2.0f, f(0.0f)}};
  for (const GenId gen : {GenId::gen6, GenId::gen7, GenId::gen8, GenId::gen9, GenId::gen11, GenId::gen12}) {
    for (const auto& one : cases) {
      const bool denormal = one.result == 1;
      if (denormal && gen < GenId::gen8) {
        continue;
      }
      ThreadBench bench(gen);
      bench.thread.control[0] = kKeepDenormals;
      bench.set(2, 0, one.a);
      bench.set(6, 0, one.b);
      const bool two = one.function == MathFunction::divide || one.function == MathFunction::power;
      bench.run(math(one.function, two ? 2 : 1, Type::f, 1));
      EXPECT_EQ(bench.get<uint32_t>(20, 0), one.result)
          << static_cast<int>(one.function) << " of " << one.a << " " << one.b;
      // A NaN is returned quiet.
      bench.set<uint32_t>(2, 0, 0x7f80'1234);
      bench.run(math(one.function, two ? 2 : 1, Type::f, 1));
      EXPECT_EQ(bench.get<uint32_t>(20, 0), 0x7fc0'1234u);
    }
  }
}

TEST(EuPrecision, IntegerDivisionIsExact) {
  Random random(3);
  for (const GenId gen : {GenId::gen6, GenId::gen9, GenId::gen12}) {
    ThreadBench bench(gen);
    for (unsigned round = 0; round < 400; ++round) {
      for (unsigned i = 0; i < 8; ++i) {
        bench.set(2, i, static_cast<uint32_t>(random.bits() >> (32 + random.below(32))));
        bench.set(6, i, static_cast<uint32_t>(random.bits() >> (32 + random.below(32))) | 1u);
      }
      for (const Type type : {Type::d, Type::ud}) {
        bench.run(math(MathFunction::int_divide_both, 2, type, 8));
        for (unsigned i = 0; i < 8; ++i) {
          const bool is_signed = type == Type::d;
          const int64_t a = is_signed ? bench.get<int32_t>(2, i) : int64_t{bench.get<uint32_t>(2, i)};
          const int64_t b = is_signed ? bench.get<int32_t>(6, i) : int64_t{bench.get<uint32_t>(6, i)};
          // Definition: a = q b + r, where r has the sign of a and a smaller magnitude than b.
          const auto q = bench.get<uint32_t>(20, i);
          const auto r = bench.get<uint32_t>(21, i);
          const int64_t remainder = is_signed ? static_cast<int32_t>(r) : int64_t{r};
          ASSERT_EQ(static_cast<uint32_t>(a), q * static_cast<uint32_t>(b) + r);
          ASSERT_LT(std::abs(remainder), std::abs(b));
          ASSERT_TRUE(remainder == 0 || (remainder < 0) == (a < 0)) << a << " / " << b;
        }
      }
    }
  }
}

// Converts every half float to F, D and UW, with and without half denormals.
TEST(EuPrecision, EveryHalfConvertsToFloatAndInteger) {
  ThreadBench bench(GenId::gen9);
  for (unsigned first = 0; first < 0x10000; first += 16) {
    for (unsigned i = 0; i < 16; ++i) {
      bench.set(2, i, static_cast<uint16_t>(first + i));
    }
    for (const uint32_t control : {0u, 0x400u}) {
      bench.thread.control[0] = control;
      bench.run({make(Op::mov, 16, dst(20, Type::f), {grf(2, Type::hf)}),
                 make(Op::mov, 16, dst(24, Type::d), {grf(2, Type::hf)}),
                 make(Op::mov, 16, dst(28, Type::uw), {grf(2, Type::hf)})});
      for (unsigned i = 0; i < 16; ++i) {
        const unsigned code = first + i;
        const bool nan = (code & 0x7fff) > 0x7c00;
        const bool flushed = control == 0 && (code & 0x7c00) == 0;
        const double value = flushed ? std::copysign(0.0, half_value(code)) : half_value(code);
        if (nan) {
          ASSERT_EQ(bench.get<uint32_t>(20, i), ((code & 0x8000u) << 16) | 0x7fc0'0000 | ((code & 0x3ffu) << 13));
          ASSERT_EQ(bench.get<int32_t>(24, i), 0);
          ASSERT_EQ(bench.get<uint16_t>(28, i), 0);
          continue;
        }
        ASSERT_EQ(bench.get<uint32_t>(20, i), std::bit_cast<uint32_t>(static_cast<float>(value))) << code;
        const double limited = std::min(std::max(value, -2147483648.0), 2147483647.0);
        ASSERT_EQ(bench.get<int32_t>(24, i), static_cast<int32_t>(limited)) << code;
        ASSERT_EQ(bench.get<uint16_t>(28, i), static_cast<uint16_t>(std::min(std::max(value, 0.0), 65535.0)));
      }
    }
  }
}

// The nearest halves below and above a number, from a list of all halves.
struct Neighbours {
  double below, above;
};
Neighbours neighbours(double value) {
  static const std::vector<double> all = [] {
    std::vector<double> list;
    for (unsigned code = 0; code <= 0x7c00; ++code) {
      list.push_back(half_value(code));
      if (code != 0) {
        list.push_back(-half_value(code));
      }
    }
    std::sort(list.begin(), list.end());
    return list;
  }();
  const auto above = std::lower_bound(all.begin(), all.end(), value);
  return {*above == value ? value : *(above - 1), *above};
}

TEST(EuPrecision, SinglesRoundToHalvesInEveryMode) {
  ThreadBench bench(GenId::gen9);
  Random random(8);
  for (unsigned round = 0; round < 3000; ++round) {
    // Halves, midpoints of two halves, and the next floats on either side.
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned code = random.below(0x7c00);
      const double low = half_value(code);
      const double high = code == 0x7bff ? 65536.0 : half_value(code + 1);
      const double picks[]{low, (low + high) / 2, low + (high - low) * random.below(4096) / 4096.0};
      auto value = static_cast<float>(picks[random.below(3)]);
      value = random.chance(30) ? std::nextafter(value, random.chance(50) ? 0.0f : 1e6f) : value;
      bench.set(2, i, random.chance(50) ? -value : value);
    }
    for (unsigned mode = 0; mode < 4; ++mode) {
      bench.thread.control[0] = kKeepDenormals | mode << 4;
      bench.run(make(Op::mov, 16, dst(20, Type::hf), {grf(2, Type::f)}));
      for (unsigned i = 0; i < 16; ++i) {
        const auto value = static_cast<double>(bench.get<float>(2, i));
        const auto [below, above] = neighbours(value);
        double expected = 0;
        if (below == above) {
          expected = below;
        } else if (mode == 0) {
          // For rounding, infinity counts as the next power of two.
          const double top = std::isinf(above) ? 65536.0 : above;
          const double bottom = std::isinf(below) ? -65536.0 : below;
          const double to_low = value - bottom;
          const double to_high = top - value;
          const bool low_even = (half_code(below) & 1) == 0;
          expected = to_low < to_high || (to_low == to_high && low_even) ? below : above;
        } else {
          expected = mode == 1 ? above : mode == 2 ? below : value < 0 ? above : below;
        }
        const unsigned bits = expected == 0 && value < 0 ? 0x8000u : half_code(expected);
        ASSERT_EQ(bench.get<uint16_t>(20, i), bits) << value << " in mode " << mode;
      }
    }
  }
}

TEST(EuPrecision, ConversionsOfDoublesAndQwordsRoundLikeTheHost) {
  Random random(17);
  const int modes[]{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  ThreadBench bench(GenId::gen9);
  for (unsigned round = 0; round < 3000; ++round) {
    const auto bits = (random.bits() & 0x800f'ffff'ffff'ffff) | (uint64_t{1023 - 140 + random.below(280)} << 52);
    const auto value = std::bit_cast<double>(bits);
    const auto integer = static_cast<int64_t>(random.bits()) >> random.below(64);
    for (unsigned mode = 0; mode < 4; ++mode) {
      bench.thread.control[0] = kKeepDenormals | mode << 4;
      bench.set(2, 0, value);
      bench.set(3, 0, integer);
      bench.run({make(Op::mov, 1, dst(20, Type::f), {scalar(2, Type::df)}),
                 make(Op::mov, 1, dst(21, Type::f), {scalar(3, Type::q)}),
                 make(Op::mov, 1, dst(22, Type::df), {scalar(3, Type::q)}),
                 make(Op::mov, 1, dst(23, Type::f), {scalar(3, Type::uq)}),
                 make(Op::mov, 1, dst(24, Type::df), {scalar(3, Type::uq)}),
                 make(Op::mov, 1, dst(25, Type::q), {scalar(2, Type::df)})});
      // The host's conversions are the reference.
      std::fesetround(modes[mode]);
      volatile double from = value;
      volatile int64_t whole = integer;
      volatile auto positive_whole = static_cast<uint64_t>(integer);
      volatile auto single = static_cast<float>(from);
      volatile auto single_of = static_cast<float>(whole);
      volatile auto double_of = static_cast<double>(whole);
      volatile auto single_of_positive = static_cast<float>(positive_whole);
      volatile auto double_of_positive = static_cast<double>(positive_whole);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(bench.get<float>(20, 0), single) << value << " " << mode;
      ASSERT_EQ(bench.get<float>(21, 0), single_of) << integer << " " << mode;
      ASSERT_EQ(bench.get<double>(22, 0), double_of) << integer << " " << mode;
      if (mode == 0) {  // the host converts unsigned integers correctly in this mode only
        ASSERT_EQ(bench.get<float>(23, 0), single_of_positive) << integer;
        ASSERT_EQ(bench.get<double>(24, 0), double_of_positive) << integer;
      }
      const int64_t cut = value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : static_cast<int64_t>(value);
      ASSERT_EQ(bench.get<int64_t>(25, 0), cut) << value;
    }
  }
}

// docs/eu-precision.md lists every approximate function with the bound that the fidelity report gives.
TEST(EuPrecision, TheDocumentListsEveryApproximateFunction) {
  std::ifstream file(halogen::test::source_folder() / "docs" / "eu-precision.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const std::string document = text.str();
  for (const MathBound& bound : math_bounds()) {
    std::string row = "| `";
    row += bound.name;
    row += "` |";
    const size_t at = document.find(row);
    ASSERT_NE(at, std::string::npos) << bound.name;
    const std::string line = document.substr(at, document.find('\n', at) - at);
    EXPECT_NE(line.find(bound.hardware), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace halogen::eu::test
