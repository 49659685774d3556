// The specialised routines leave the same bits as the general path.

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr unsigned kInARow = 12;

class FastEqualsGeneral : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, FastEqualsGeneral, ::testing::ValuesIn(kGens));

TEST_P(FastEqualsGeneral, OnRandomInstructions) {
  const auto fast = make_interpreter(GetParam());
  const auto general = make_interpreter(GetParam(), {.only_generic = true});
  unsigned specialised = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed * 7919);
    Thread start;
    randomise(random, start);
    start.control[0] = random.chance(50) ? 0x4c0 : 0;
    if (random.chance(10)) {
      start.control[0] |= random.below(4) << 4;
    }
    std::vector<Instruction> code;
    for (unsigned i = 0; i < kInARow; ++i) {
      code.push_back(random_instruction(random, GetParam()));
    }
    code.push_back(end());
    const auto kernel = fast->prepare(make_code(code), 0);
    const auto judge = general->prepare(make_code(code), 0);
    std::string where = fmt::format("seed {}", seed);
    for (unsigned i = 0; i < kInARow; ++i) {
      const std::string line = fast->describe(*kernel, i * 16);
      where += "\n" + line;
      specialised += line.find("specialised") != std::string::npos ? 1u : 0u;
    }
    start.start(0, random.chance(50) ? 0xffff'ffff : static_cast<uint32_t>(random.bits()));
    Thread one = start;
    Thread two = start;
    Target target;
    fast->run(one, *kernel, kInARow + 1, target);
    general->run(two, *judge, kInARow + 1, target);
    ASSERT_EQ(difference(one, two), "") << where;
  }
  // The comparison is about something.
  EXPECT_GT(specialised, 500u);
}

}  // namespace
}  // namespace halogen::eu::test
