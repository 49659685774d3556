// Compares sums, products and fused sums of every float type with exact arithmetic, in every rounding and denormal
// mode.
#include "unit/eu/exact_arithmetic.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

struct FloatType {
  Type type;
  FloatFormat format;
  uint32_t keep;  // bit of cr0.0 that keeps denormals
};
constexpr FloatType kHalfType{Type::hf, kHalfFormat, 1u << 10};
constexpr FloatType kSingleType{Type::f, kSingleFormat, 1u << 7};
constexpr FloatType kDoubleType{Type::df, kDoubleFormat, 1u << 6};

// Returns a float near 1, near an end of the range or with few bits, so that ties and cancellation are frequent.
uint64_t random_float(Random& random, const FloatFormat& format) {
  const int width = format.mantissa + format.exponent_bits + 1;
  const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (;;) {
    uint64_t bits = random.bits() & all;
    const uint64_t top = (uint64_t{1} << format.exponent_bits) - 1;
    const auto with_exponent = [&](uint64_t field) {
      bits = (bits & ~(top << format.mantissa)) | ((field & top) << format.mantissa);
    };
    switch (random.below(5)) {
      case 0:
        with_exponent(static_cast<uint64_t>(format.bias) + random.below(6));
        break;
      case 1:
        with_exponent(random.below(3));
        break;
      case 2:
        with_exponent(top - 1 - random.below(3));
        break;
      case 3:
        with_exponent(static_cast<uint64_t>(format.bias) + random.below(static_cast<unsigned>(format.mantissa) + 3));
        bits &= ~((uint64_t{1} << (format.mantissa - 3)) - 1);
        break;
      default:
        break;
    }
    if (is_finite(format, bits)) {
      return bits;
    }
  }
}

uint64_t element(const ThreadBench& bench, unsigned reg, unsigned lane, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bench.thread.grf.data() + reg * kGrfBytes + lane * bytes, bytes);
  return bits;
}

class ExactFloats : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, ExactFloats, ::testing::ValuesIn(kGens));

TEST_P(ExactFloats, SumsAndProductsEqualExactArithmetic) {
  const GenId gen = GetParam();
  const bool late = gen >= GenId::gen8;
  std::vector<FloatType> types{kSingleType};
  if (late) {
    types.push_back(kHalfType);
  }
  if (gen == GenId::gen8 || gen == GenId::gen9) {
    types.push_back(kDoubleType);
  }
  Random random(static_cast<uint64_t>(gen) * 1009 + 5);
  constexpr unsigned kLanes = 8;
  for (const FloatType& of : types) {
    const unsigned bytes = size_of(of.type);
    for (unsigned round = 0; round < 600; ++round) {
      ThreadBench bench(gen);
      bench.options.only_generic = random.chance(30);
      const unsigned mode = random.below(4);
      const bool wants_denormals = random.chance(50);
      bench.thread.control[0] = mode << 4 | (wants_denormals ? of.keep : 0);
      const bool flush = !(wants_denormals && late);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (const unsigned reg : {2u, 4u, 6u}) {
          const uint64_t bits = random_float(random, of.format);
          std::memcpy(bench.thread.grf.data() + reg * kGrfBytes + lane * bytes, &bits, bytes);
        }
      }
      std::vector code{make(Op::add, kLanes, dst(20, of.type), {grf(2, of.type), grf(4, of.type)}),
                       make(Op::mul, kLanes, dst(22, of.type), {grf(2, of.type), grf(4, of.type)}),
                       make(Op::add, kLanes, dst(24, of.type), {grf(2, of.type), minus(grf(4, of.type))})};
      // Fused sums of doubles need more bits than Exact has.
      const bool fused = late && of.type != Type::df;
      if (fused) {
        code.push_back(make(Op::mad, kLanes, dst(26, of.type), {grf(6, of.type), grf(2, of.type), grf(4, of.type)}));
      }
      bench.run(code);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const Exact a = unpack(of.format, element(bench, 2, lane, bytes), flush);
        Exact b = unpack(of.format, element(bench, 4, lane, bytes), flush);
        const Exact c = unpack(of.format, element(bench, 6, lane, bytes), flush);
        const bool down = mode == 2;
        const auto wanted = [&](const Exact& value) { return round_and_pack(of.format, value, mode, flush); };
        const auto where = ::testing::Message() << "mode " << mode << " type " << static_cast<int>(of.type) << " of "
                                                << element(bench, 2, lane, bytes) << " and "
                                                << element(bench, 4, lane, bytes) << " flush " << flush;
        ASSERT_EQ(element(bench, 20, lane, bytes), wanted(sum(a, b, down))) << where;
        ASSERT_EQ(element(bench, 22, lane, bytes), wanted(product(a, b))) << where;
        if (fused) {
          ASSERT_EQ(element(bench, 26, lane, bytes), wanted(sum(product(a, b), c, down))) << where;
        }
        b.negative = !b.negative;
        ASSERT_EQ(element(bench, 24, lane, bytes), wanted(sum(a, b, down))) << where;
      }
    }
  }
}

}  // namespace
}  // namespace halogen::eu::test
