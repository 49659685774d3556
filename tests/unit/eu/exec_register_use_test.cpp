// Kernel::writes() covers all registers that threads write, and reset() restores the initial state.
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

class RegisterUseOf : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, RegisterUseOf, ::testing::ValuesIn(kGens));

TEST_P(RegisterUseOf, CoversAllRegistersThatThreadsWrite) {
  const auto executor = make_interpreter(GetParam());
  unsigned parts = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed * 6007);
    Thread start;
    randomise(random, start);
    start.mrf.fill(std::byte{0x5a});
    std::vector<Instruction> code;
    for (unsigned i = 0; i < 3; ++i) {
      code.push_back(seed % 2 == 0 ? random_instruction(random, GetParam())
                                   : random_wide_instruction(random, GetParam()));
    }
    code.push_back(end());
    const auto kernel = executor->prepare(make_code(code), 0);
    start.start(0, 0xffff'ffff);
    Thread thread = start;
    Target target;
    executor->run(thread, *kernel, 3, target);
    const RegisterUse use = kernel->writes();
    parts += use.grfs.all() ? 0u : 1u;
    for (size_t i = 0; i < kGrfs; ++i) {
      const size_t at = i * kGrfBytes;
      ASSERT_TRUE(use.grfs[i] || std::memcmp(thread.grf.data() + at, start.grf.data() + at, kGrfBytes) == 0)
          << "seed " << seed << " register " << i;
    }
    ASSERT_TRUE(use.mrfs || thread.mrf == start.mrf) << "seed " << seed;
    ASSERT_TRUE(use.accumulators || (thread.accumulator == start.accumulator && thread.extension == start.extension &&
                                     thread.macro == start.macro))
        << "seed " << seed;
  }
  EXPECT_GT(parts, 200u);
}

TEST_P(RegisterUseOf, ResetRestoresTheInitialThread) {
  const auto executor = make_interpreter(GetParam());
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed * 7001);
    std::vector<Instruction> code;
    for (unsigned i = 0; i < 3; ++i) {
      code.push_back(random_instruction(random, GetParam()));
    }
    code.push_back(end());
    const auto kernel = executor->prepare(make_code(code), 0);
    Thread thread;
    randomise(random, thread);
    thread.start(0, static_cast<uint32_t>(random.bits()));
    Target target;
    executor->run(thread, *kernel, 4, target);
    reset(thread, RegisterUse::all());
    ASSERT_TRUE(thread == Thread{}) << "seed " << seed;
    // Run again and reset only the registers of the kernel.
    thread.start(0, 0xffff'ffff);
    executor->run(thread, *kernel, 4, target);
    reset(thread, kernel->writes());
    ASSERT_TRUE(thread == Thread{}) << "seed " << seed;
  }
}

}  // namespace
}  // namespace halogen::eu::test
