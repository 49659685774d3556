// Kernels of a unit: what is read from memory, when code is compared with memory, and what is counted.
#include "message/kernel_table.h"

#include "eu/isa/assembler.h"
#include "message_bench.h"

namespace halogen::message {
namespace {

class KernelTableTest : public MessageBench {
 protected:
  void put(uint32_t offset, const std::string& text) {
    const auto code = eu::assemble(generation_.id(), text);
    ASSERT_TRUE(code.ok()) << code.message();
    std::memcpy(memory_.bytes().data() + offset, code->data(), code->size());
  }
  std::string count(const KernelTable& table) {
    FidelityReport report;
    table.report(report);
    return report.to_json("x");
  }
  // Runs a thread from `entry` to its end.
  eu::ThreadStatus run(KernelTable& table, DispatchedKernel& kernel, uint32_t entry) {
    eu::Thread thread;
    thread.start(entry, 0xff);
    const eu::ThreadStatus status = table.run(kernel, memory_.space(), kVa, thread, 100, functions_);
    instructions_ = thread.instructions;
    moved_ = thread.grf[5 * eu::kGrfBytes];
    return status;
  }

  eu::KernelLibrary library_{generation_.id()};
  uint64_t instructions_ = 0;
  std::byte moved_{};
};

// Opcode 0 is illegal and ends the code. Bit 29 marks it as compact.
TEST_P(KernelTableTest, CompactInstructionAtTheEndOfMemoryNeedsNoNextPage) {
  constexpr uint32_t kLast = 0x20'0000 - 8;
  word(kLast) = 1u << 29;
  word(kLast + 4) = 0;
  KernelTable table(library_);
  const DispatchedKernel& kernel = table.find(memory_.space(), kVa, kLast, true);
  EXPECT_EQ(memory_.faults(), 0u);
  EXPECT_EQ(kernel.program->kernel().instruction_count(), 1u);
  EXPECT_TRUE(kernel.program->complete());
  word(kLast) = 0;  // half of a native instruction at the end of memory
  EXPECT_FALSE(table.find(memory_.space(), kVa, kLast, true).program->complete());
  ASSERT_NE(memory_.faults(), 0u);
  EXPECT_EQ(memory_.first_faults().at(0), kVa + 0x20'0000);
}

TEST_P(KernelTableTest, CodeIsComparedOnlyOnRequest) {
  word(0) = 0;
  KernelTable table(library_);
  const DispatchedKernel& kernel = table.find(memory_.space(), kVa, 0, true);
  const std::shared_ptr<const eu::Program> first = kernel.program;
  word(4) = 7;  // another illegal instruction
  EXPECT_EQ(table.find(memory_.space(), kVa, 0, false).program, first);
  EXPECT_NE(table.find(memory_.space(), kVa, 0, true).program, first);
}

TEST_P(KernelTableTest, TwoTablesShareOneProgram) {
  word(0) = 0;
  KernelTable vertices(library_);
  KernelTable pixels(library_);
  EXPECT_EQ(vertices.find(memory_.space(), kVa, 0, true).program, pixels.find(memory_.space(), kVa, 0, true).program);
  EXPECT_EQ(library_.statistics().prepared, 1u);
}

// The target of the jump is in a register. Its code is not part of the program until a thread arrives there.
TEST_P(KernelTableTest, CodeAfterAnIndirectJumpIsReadWhenAThreadReachesIt) {
  constexpr uint32_t kFar = 0x8000;
  const auto illegal = [&](uint32_t offset) {
    for (uint32_t i = 0; i < 16; i += 4) word(offset + i) = 0;
  };
  // The offset is relative to the next instruction; on Gen12, to the jump itself.
  put(0, GetParam() == "dg1" ? "(W) mov (1|M0) r2.0<1>:d 0x7ff0:d\n" : "(W) mov (1|M0) r2.0<1>:d 0x7fe0:d\n");
  put(16, "(W) jmpi (1|M0) r2.0\n");
  illegal(32);
  put(kFar, "(W) mov (8|M0) r5.0<1>:ud 0x55:ud\n");
  illegal(kFar + 16);
  KernelTable table(library_);
  DispatchedKernel& kernel = table.find(memory_.space(), kVa, 0, true);
  const std::shared_ptr<const eu::Program> before = kernel.program;
  EXPECT_TRUE(before->lacks(kFar));
  EXPECT_EQ(run(table, kernel, 0), eu::ThreadStatus::illegal);
  EXPECT_EQ(moved_, std::byte{0x55});
  EXPECT_EQ(instructions_, 4u);
  EXPECT_NE(kernel.program, before);
  // The page now belongs to the program, so changing it changes the code.
  const std::shared_ptr<const eu::Program> extended = kernel.program;
  EXPECT_EQ(table.find(memory_.space(), kVa, 0, true).program, extended);
  put(kFar, "(W) mov (8|M0) r5.0<1>:ud 0x66:ud\n");
  DispatchedKernel& changed = table.find(memory_.space(), kVa, 0, true);
  EXPECT_NE(changed.program, extended);
  EXPECT_EQ(run(table, changed, 0), eu::ThreadStatus::illegal);
  EXPECT_EQ(moved_, std::byte{0x66});
}

TEST_P(KernelTableTest, CountsOfAReplacedProgramStayInTheReport) {
  put(0, "(W) mov (8|M0) r5.0<1>:ud 0x55:ud\n");
  for (uint32_t i = 16; i < 32; i += 4) word(i) = 0;
  KernelTable table(library_);
  run(table, table.find(memory_.space(), kVa, 0, true), 0);
  const std::string before = count(table);
  EXPECT_NE(before.find("mov ud->ud"), std::string::npos) << before;
  word(16 + 4) = 9;  // another illegal instruction: another program
  table.find(memory_.space(), kVa, 0, true);
  EXPECT_EQ(count(table), before);
}

INSTANTIATE_TEST_SUITE_P(Chips, KernelTableTest, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
