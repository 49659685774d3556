// Compares products of dwords through the accumulator, by specialised routines, with the general path and with the
// host's multiplication.
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

class Multiply : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, Multiply, ::testing::Values(GenId::gen11, GenId::gen12));

TEST_P(Multiply, MulAndMachGiveTheLowHalf) {
  const auto fast = make_interpreter(GetParam());
  const auto general = make_interpreter(GetParam(), {.only_generic = true});
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed * 104729);
    Thread start;
    randomise(random, start);
    const Type type = random.chance(50) ? Type::d : Type::ud;
    const unsigned size = 1u << random.below(5);
    const bool by_scalar = random.chance(30);
    const Region all{8, 8, 1};
    const Operand whole = by_scalar ? scalar(20, type) : grf(20, type, 0, all);
    const Operand low = by_scalar ? scalar(20, Type::uw) : grf(20, Type::uw, 0, {16, 8, 2});
    std::vector<Instruction> code;
    code.push_back(make(Op::mul, size, arf(Arf::accumulator, type, 0, 0, {0, 1, 1}), {grf(10, type, 0, all), low}));
    code.push_back(make(Op::mach, size, dst(30, type), {grf(10, type, 0, all), whole}));
    code.push_back(make(Op::mov, size, dst(40, type), {arf(Arf::accumulator, type, 0, 0, all)}));
    code.push_back(end());
    const auto kernel = fast->prepare(make_code(code), 0);
    const auto judge = general->prepare(make_code(code), 0);
    EXPECT_NE(fast->describe(*kernel, 0).find("specialised"), std::string::npos);
    EXPECT_NE(fast->describe(*kernel, 16).find("specialised"), std::string::npos);
    const auto mask = random.chance(50) ? 0xffff'ffffu : static_cast<uint32_t>(random.bits());
    start.start(0, mask);
    Thread one = start;
    Thread two = start;
    Target target;
    fast->run(one, *kernel, 4, target);
    general->run(two, *judge, 4, target);
    ASSERT_EQ(one.grf, two.grf) << seed;
    ASSERT_EQ(one.accumulator, two.accumulator) << seed;
    for (unsigned lane = 0; lane < size; ++lane) {
      const auto at = [&](const Thread& thread, unsigned reg, unsigned element) {
        uint32_t value = 0;
        std::memcpy(&value, thread.grf.data() + reg * 32 + element * 4, 4);
        return value;
      };
      if ((mask >> lane & 1) != 0) {
        ASSERT_EQ(at(one, 30, lane), at(start, 10, lane) * at(start, 20, by_scalar ? 0 : lane)) << seed << "." << lane;
      }
    }
  }
}

TEST_P(Multiply, SpecialisedFloatSumsWithAccumulatorsEqualTheGeneralPath) {
  const auto fast = make_interpreter(GetParam());
  const auto general = make_interpreter(GetParam(), {.only_generic = true});
  unsigned specialised = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed * 15485863);
    Thread start;
    randomise(random, start);
    start.control[0] = (random.chance(50) ? 0x4c0 : 0) | (random.chance(10) ? 0x30 : 0);
    const unsigned size = 1u << random.below(5);
    const Region all{8, 8, 1};
    const Operand sum = arf(Arf::accumulator, Type::f, 0, 0, all);
    const Operand to_sum = arf(Arf::accumulator, Type::f, 0, 0, {0, 1, 1});
    const Operand factor = random.chance(30) ? scalar(20, Type::f, 8) : grf(20, Type::f, 0, all);
    std::vector<Instruction> code;
    code.push_back(make(Op::mad, size, to_sum, {grf(8, Type::f, 0, all), grf(10, Type::f, 0, all), factor}));
    code.push_back(make(Op::mac, size, dst(30, Type::f), {grf(12, Type::f, 0, all), factor}));
    code.push_back(make(Op::mad, size, dst(32, Type::f), {sum, grf(14, Type::f, 0, all), factor}));
    code.push_back(make(Op::mac, size, to_sum, {grf(16, Type::f, 0, all), factor}));
    code.push_back(end());
    const auto kernel = fast->prepare(make_code(code), 0);
    const auto judge = general->prepare(make_code(code), 0);
    for (uint32_t i = 0; i < 4; ++i) {
      specialised += fast->describe(*kernel, i * 16).find("specialised") != std::string::npos ? 1u : 0u;
    }
    start.start(0, random.chance(50) ? 0xffff'ffffu : static_cast<uint32_t>(random.bits()));
    Thread one = start;
    Thread two = start;
    Target target;
    fast->run(one, *kernel, 5, target);
    general->run(two, *judge, 5, target);
    ASSERT_EQ(one.grf, two.grf) << seed;
    ASSERT_EQ(one.accumulator, two.accumulator) << seed;
    ASSERT_EQ(one.extension[0].valid, two.extension[0].valid) << seed;
  }
  EXPECT_EQ(specialised, 1600u);
}

}  // namespace
}  // namespace halogen::eu::test
