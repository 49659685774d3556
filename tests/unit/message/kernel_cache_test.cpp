// Code at the end of memory.
#include "message/kernel_cache.h"
#include "eu/exec/executor.h"
#include "message_bench.h"

namespace halogen::message {
namespace {

class CodeAtTheEnd : public MessageBench {};

// Opcode 0 is illegal: nothing goes on behind it. Bit 29 says that it is compact.
TEST_P(CodeAtTheEnd, ACompactInstructionNeedsNoPageBehindIt) {
  const auto executor = eu::make_interpreter(generation_.id());
  constexpr uint32_t kLast = 0x20'0000 - 8;
  word(kLast) = 1u << 29;
  word(kLast + 4) = 0;
  KernelCache cache;
  CachedKernel& kernel = cache.find(*executor, generation_.id(), memory_.space(), kVa, kLast, true);
  EXPECT_EQ(memory_.faults(), 0u);
  EXPECT_EQ(kernel.kernel->instruction_count(), 1u);
  word(kLast) = 0;  // a native one is only half there
  KernelCache other;
  other.find(*executor, generation_.id(), memory_.space(), kVa, kLast, true);
  ASSERT_NE(memory_.faults(), 0u);
  EXPECT_EQ(memory_.first_faults().at(0), kVa + 0x20'0000);
}

INSTANTIATE_TEST_SUITE_P(Chips, CodeAtTheEnd, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
