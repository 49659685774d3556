// Compares the specialised routines with the general path.
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr unsigned kInstructions = 12;

class FastEqualsGeneral : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, FastEqualsGeneral, ::testing::ValuesIn(kGens));

TEST_P(FastEqualsGeneral, OnRandomInstructions) {
  const auto fast = make_interpreter(GetParam());
  const auto general = make_interpreter(GetParam(), {.only_generic = true});
  unsigned specialised = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed * 7919);
    Thread start;
    randomise(random, start);
    start.control[0] = random.chance(50) ? 0x4c0 : 0;
    if (random.chance(10)) {
      start.control[0] |= random.below(4) << 4 | random.below(2);
    }
    std::vector<Instruction> code;
    for (unsigned i = 0; i < kInstructions; ++i) {
      code.push_back(seed % 2 == 0 ? random_instruction(random, GetParam())
                                   : random_wide_instruction(random, GetParam()));
    }
    code.push_back(end());
    const auto kernel = fast->prepare(make_code(code), 0);
    const auto judge = general->prepare(make_code(code), 0);
    start.start(0, random.chance(50) ? 0xffff'ffff : static_cast<uint32_t>(random.bits()));
    Thread one = start;
    Thread two = start;
    Target target;
    for (unsigned i = 0; i < kInstructions; ++i) {
      const std::string line = fast->describe(*kernel, i * 16);
      specialised += line.find("specialised") != std::string::npos ? 1u : 0u;
      fast->run(one, *kernel, 1, target);
      general->run(two, *judge, 1, target);
      const Instruction& in = code[i];
      ASSERT_EQ(difference(one, two), "")
          << "seed " << seed << " " << line
          << fmt::format(
                 "\nlanes {}+{} cr0 {:#x} dst file {} r{}.{}<{}> indirect {} align16 {} mask {:#x} condition {} "
                 "predicate {} sat {} acc {} math {}",
                 in.first_channel, in.exec_size, start.control[0], static_cast<int>(in.dst.file), in.dst.reg,
                 in.dst.sub, in.dst.region.horizontal, in.dst.indirect, in.align16, in.dst.write_mask,
                 static_cast<int>(in.condition), static_cast<int>(in.predicate), in.saturate, in.accumulator_write,
                 static_cast<int>(in.math))
          << fmt::format("\nsrc0 file {} r{} type {} neg {} abs {}; src1 file {} type {}",
                         static_cast<int>(in.src[0].file), in.src[0].reg, static_cast<int>(in.src[0].type),
                         in.src[0].negate, in.src[0].absolute, static_cast<int>(in.src[1].file),
                         static_cast<int>(in.src[1].type));
    }
  }
  // Guards against a test without specialised routines.
  EXPECT_GT(specialised, 500u * kInstructions / 4);
}

}  // namespace
}  // namespace halogen::eu::test
