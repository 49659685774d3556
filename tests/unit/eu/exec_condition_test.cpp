// Overflow and unordered conditions, and every comparison of a result with zero, compared with arithmetic in wider
// integers.
#include <cmath>
#include <limits>

#include "unit/eu/naive_numbers.h"

namespace halogen::eu::test {
namespace {

class Conditions : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, Conditions, ::testing::ValuesIn(kGens));

TEST_P(Conditions, OverflowIsSetIfTheDestinationCannotHoldTheResult) {
  Random random(static_cast<uint64_t>(GetParam()) + 300);
  for (unsigned round = 0; round < 400; ++round) {
    const Type type = random.pick({Type::d, Type::ud, Type::w, Type::uw});
    const unsigned size = size_of(type);
    ThreadBench bench(GetParam(), 0xff);
    bench.thread.flag[0] = random.below(256);
    for (unsigned i = 0; i < 8; ++i) {
      for (const unsigned reg : {2u, 3u}) {
        const uint64_t bits =
            random.chance(50) ? random.bits()
                              : random.pick<uint64_t>({0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff, 0x7fff, 0x8000});
        std::memcpy(bench.thread.grf.data() + reg * kGrfBytes + i * size, &bits, size);
      }
    }
    const bool saturate = random.chance(30);
    Instruction in = with(make(Op::add, 8, dst(20, type), {grf(2, type), grf(3, type)}), Condition::overflow);
    in.saturate = saturate;
    bench.run(in);
    for (unsigned i = 0; i < 8; ++i) {
      const auto number = [&](unsigned reg) {
        uint64_t bits = 0;
        std::memcpy(&bits, bench.thread.grf.data() + reg * kGrfBytes + i * size, size);
        return decode(type, bits).i;
      };
      const Big exact = number(2) + number(3);
      const bool overflows = exact < type_min(type) || exact > type_max(type);
      ASSERT_EQ(((bench.thread.flag[0] >> i) & 1) != 0, overflows) << "lane " << i << " size " << size;
      const Big kept = saturate ? std::min(std::max(exact, type_min(type)), type_max(type)) : keep_bits(type, exact);
      ASSERT_EQ(static_cast<int64_t>(number(20)), static_cast<int64_t>(kept));
    }
  }
}

TEST_P(Conditions, InfiniteResultsOverflowAndNanResultsAreUnordered) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const struct {
    float a, b;
    bool overflows, unordered;
  } cases[]{{1, 2, false, false},
            {kMax, kMax, true, false},
            {-kMax, -kMax, true, false},
            {HUGE_VALF, 1, true, false},
            {HUGE_VALF, -HUGE_VALF, false, true},
            {NAN, 1, false, true},
            {1, NAN, false, true},
            {0, -0.0f, false, false}};
  for (const auto& one : cases) {
    ThreadBench bench(GetParam());
    bench.set(2, 0, one.a);
    bench.set(3, 0, one.b);
    const auto add = make(Op::add, 1, dst(4, Type::f), {scalar(2, Type::f), scalar(3, Type::f)});
    bench.run(with(add, Condition::overflow));
    EXPECT_EQ((bench.thread.flag[0] & 1) != 0, one.overflows) << one.a << " " << one.b;
    bench.run(with(add, Condition::unordered));
    EXPECT_EQ((bench.thread.flag[0] & 1) != 0, one.unordered) << one.a << " " << one.b;
  }
}

TEST_P(Conditions, ConditionsTestTheStoredResult) {
  Random random(static_cast<uint64_t>(GetParam()) + 500);
  for (unsigned round = 0; round < 300; ++round) {
    const Type type = random.pick({Type::d, Type::ud, Type::w, Type::uw});
    const auto condition = static_cast<Condition>(1 + random.below(6));
    const unsigned size = size_of(type);
    ThreadBench bench(GetParam(), 0xff);
    for (unsigned i = 0; i < 8; ++i) {
      for (const unsigned reg : {2u, 3u}) {
        const uint64_t bits = random.chance(60) ? random.below(3) - 1u : random.bits();
        std::memcpy(bench.thread.grf.data() + reg * kGrfBytes + i * size, &bits, size);
      }
    }
    bench.run(with(make(Op::add, 8, dst(20, type), {grf(2, type), grf(3, type)}), condition));
    for (unsigned i = 0; i < 8; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, bench.thread.grf.data() + 20 * kGrfBytes + i * size, size);
      ASSERT_EQ(((bench.thread.flag[0] >> i) & 1) != 0, relation(condition, decode(type, bits).i, Big{0}));
    }
  }
}

// A write mask excludes components of the flag too, even if no register is written.
TEST(EuConditions, Align16WriteMaskAlsoMasksFlagsIfTheDestinationIsNull) {
  for (const GenId gen : {GenId::gen4, GenId::gen6, GenId::gen7, GenId::gen9}) {
    for (const bool general : {false, true}) {
      ThreadBench bench(gen, 0xff);
      bench.options.only_generic = general;
      bench.set<int32_t>(2, 0, 1);
      bench.set<int32_t>(3, 0, 2);
      bench.thread.flag = {0x40, 0};
      Instruction in = with(make(Op::cmp, 8, null(Type::d), {scalar(2, Type::d), scalar(3, Type::d)}), Condition::less);
      in.align16 = true;
      in.dst.write_mask = 0x3;
      bench.run(in);
      // Components x and y of two groups of four are written; bit 6, the second z, keeps its value.
      EXPECT_EQ(bench.thread.flag[0], 0x73u) << static_cast<int>(gen) << (general ? " general" : "");
    }
  }
}

}  // namespace
}  // namespace halogen::eu::test
