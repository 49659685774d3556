// Compares the interpreter with the naive evaluator, on random instructions of every generation.
#include "unit/eu/naive_alu.h"

#include <fmt/format.h>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

class SameAsNaive : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, SameAsNaive, ::testing::ValuesIn(kGens));

TEST_P(SameAsNaive, OnRandomInstructions) {
  const auto executor = make_interpreter(GetParam());
  Thread start;
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    Random random(seed * 104729 + static_cast<uint64_t>(GetParam()));
    if (seed % 8 == 1) {
      randomise(random, start);
      start.control[0] = random.chance(50) ? 0x4c0 : 0;
    }
    const Instruction in = random_instruction(random, GetParam());
    const std::vector code{in, end()};
    const auto kernel = executor->prepare(make_code(code), 0);
    start.start(0, random.chance(50) ? 0xffff'ffff : static_cast<uint32_t>(random.bits()));
    Thread model = start;
    Thread naive = start;
    Target target;
    executor->run(model, *kernel, 2, target);
    naive_run(naive, in, GetParam());
    const auto first_difference = [&] {
      size_t at = 0;
      while (at < model.grf.size() && model.grf[at] == naive.grf[at]) {
        ++at;
      }
      if (at == model.grf.size()) {
        return std::string("registers agree");
      }
      at &= ~size_t{7};
      uint64_t got = 0;
      uint64_t wanted = 0;
      uint64_t before = 0;
      std::memcpy(&got, model.grf.data() + at, 8);
      std::memcpy(&wanted, naive.grf.data() + at, 8);
      std::memcpy(&before, start.grf.data() + at, 8);
      return fmt::format("r{} byte {}: model {:#x}, naive {:#x}, before {:#x}; dst r{}.{} stride {} lanes {} sat {}",
                         at / 32, at % 32, got, wanted, before, in.dst.reg, in.dst.sub, in.dst.region.horizontal,
                         in.exec_size, in.saturate);
    };
    const bool same = model.grf == naive.grf && model.flag == naive.flag;
    ASSERT_TRUE(same) << "seed " << seed << ": " << executor->describe(*kernel, 0) << "\n"
                      << first_difference() << "\ncondition " << static_cast<int>(in.condition) << " predicate "
                      << static_cast<int>(in.predicate) << " flags "
                      << fmt::format("{:#x} {:#x}, naive {:#x} {:#x}", model.flag[0], model.flag[1], naive.flag[0],
                                     naive.flag[1]);
    if (GetParam() >= GenId::gen6) {
      ASSERT_EQ(std::memcmp(model.accumulator.data(), naive.accumulator.data(), 64), 0) << "seed " << seed;
    }
    start.accumulator.fill(std::byte{0});
  }
}

}  // namespace
}  // namespace halogen::eu::test
