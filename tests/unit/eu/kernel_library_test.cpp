// The kernel library decodes each kernel once for all threads and compares it with memory at every lookup.
#include "eu/library/kernel_library.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "eu/isa/assembler.h"

namespace halogen::eu {
namespace {

constexpr spec::GenId kGen = spec::GenId::gen9;
constexpr const char* kEnd = "(W) send.ts (8|M0) null r127 0x0 0x02000010 {EOT}\n";

// Memory with some pages, which records the pages that were read.
class Memory final : public CodeMemory {
 public:
  bool read(uint64_t page, CodePage& into) override {
    read_.push_back(page);
    const auto found = pages_.find(page);
    if (found == pages_.end()) {
      return false;
    }
    into = found->second;
    return true;
  }
  // Writes code and returns the offset after it.
  uint32_t put(uint32_t offset, const std::string& text) {
    const auto code = assemble(kGen, text);
    EXPECT_TRUE(code.ok()) << code.message();
    for (const std::byte each : code.value()) {
      pages_[offset / kCodePage_B][offset % kCodePage_B] = each;
      ++offset;
    }
    return offset;
  }
  std::vector<uint64_t> take_read() { return std::exchange(read_, {}); }

 private:
  std::map<uint64_t, CodePage> pages_;
  std::vector<uint64_t> read_;
};

std::string sum(unsigned into) {
  return "add (8|M0) r" + std::to_string(into) + ".0<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f\n" + kEnd;
}

TEST(KernelLibrary, TheSameCodeIsPreparedOnce) {
  KernelLibrary library(kGen);
  Memory memory;
  Memory copy;
  memory.put(0x40, sum(4));
  copy.put(0x40, sum(4));
  const auto first = library.find(memory, 0x40);
  EXPECT_EQ(first->kernel().instruction_count(), 2u);
  EXPECT_EQ(library.find(memory, 0x40), first);
  EXPECT_EQ(library.find(copy, 0x40), first) << "another address space with the same code";
  EXPECT_EQ(library.statistics().prepared, 1u);
}

TEST(KernelLibrary, EntryAndCodeTellProgramsApart) {
  KernelLibrary library(kGen);
  Memory memory;
  const uint32_t second = memory.put(0, sum(4));
  memory.put(second, sum(4));
  const auto at_zero = library.find(memory, 0);
  EXPECT_NE(library.find(memory, second), at_zero);
  Memory other;
  other.put(0, sum(5));
  const auto changed = library.find(other, 0);
  EXPECT_NE(changed, at_zero);
  EXPECT_NE(changed->digest(), at_zero->digest());
  EXPECT_EQ(library.find(memory, 0), at_zero) << "both programs are kept";
  EXPECT_EQ(library.statistics().prepared, 3u);
}

TEST(KernelLibrary, OverwrittenCodeYieldsANewProgram) {
  KernelLibrary library(kGen);
  Memory memory;
  memory.put(0, sum(4));
  const auto before = library.find(memory, 0);
  EXPECT_TRUE(before->matches(memory));
  memory.put(0, sum(6));
  EXPECT_FALSE(before->matches(memory));
  const auto after = library.find(memory, 0);
  EXPECT_NE(after, before);
  EXPECT_EQ(after->kernel().find(0)->dst.reg, 6);
  EXPECT_EQ(before->kernel().find(0)->dst.reg, 4) << "a program that is in use does not change";
}

TEST(KernelLibrary, UnreachableBytesAreNotPartOfAProgram) {
  KernelLibrary library(kGen);
  Memory memory;
  const uint32_t after = memory.put(0, sum(4));
  const auto program = library.find(memory, 0);
  memory.put(after, sum(7));
  EXPECT_TRUE(program->matches(memory));
  EXPECT_EQ(library.find(memory, 0), program);
}

// Two programs at the same entry may continue on different pages. A lookup must not read pages that decoding would not
// read, because they may be unmapped, and a fault would be visible to the guest.
TEST(KernelLibrary, ALookupReadsOnlyPagesThatDecodingReads) {
  KernelLibrary library(kGen);
  Memory far;
  far.put(0, "(W) jmpi (1|M0) 0x2000\n");
  far.put(0x2000, sum(4));
  ASSERT_TRUE(library.find(far, 0)->complete());
  EXPECT_EQ(far.take_read(), (std::vector<uint64_t>{0, 2}));
  Memory near;
  near.put(0, "(W) jmpi (1|M0) 0x200\n");
  near.put(0x200, sum(4));
  EXPECT_TRUE(library.find(near, 0)->complete());
  EXPECT_EQ(near.take_read(), std::vector<uint64_t>{0});
}

TEST(KernelLibrary, ProgramWithUnreadableCodeIsNotKept) {
  KernelLibrary library(kGen);
  Memory memory;
  memory.put(0, "(W) jmpi (1|M0) 0x2000\n");
  const auto torn = library.find(memory, 0);
  EXPECT_FALSE(torn->complete());
  EXPECT_FALSE(torn->matches(memory));
  EXPECT_EQ(library.statistics().programs, 0u);
  memory.put(0x2000, sum(4));
  EXPECT_TRUE(library.find(memory, 0)->complete());
  EXPECT_EQ(library.statistics().programs, 1u);
}

TEST(KernelLibrary, TheProgramUsedLeastRecentlyIsEvicted) {
  KernelLibrary library(kGen, ExecutorKind::interpreter, {.programs = 2, .instructions = 1000});
  std::vector<Memory> memories(3);
  for (unsigned i = 0; i < 3; ++i) {
    memories[i].put(0, sum(4 + i));
  }
  const auto first = library.find(memories[0], 0);
  const auto second = library.find(memories[1], 0);
  library.find(memories[0], 0);
  library.find(memories[2], 0);  // evicts the second program
  EXPECT_EQ(library.statistics().programs, 2u);
  EXPECT_EQ(library.find(memories[0], 0), first);
  EXPECT_EQ(library.statistics().prepared, 3u);
  EXPECT_NE(library.find(memories[1], 0), second);
  EXPECT_EQ(library.statistics().prepared, 4u);
  EXPECT_EQ(second->kernel().instruction_count(), 2u) << "an evicted program lives as long as it is held";
}

TEST(KernelLibrary, TheNumberOfInstructionsIsBounded) {
  KernelLibrary library(kGen, ExecutorKind::interpreter, {.programs = 100, .instructions = 5});
  std::vector<Memory> memories(3);
  for (unsigned i = 0; i < 3; ++i) {
    memories[i].put(0, sum(4 + i));
    library.find(memories[i], 0);
  }
  EXPECT_EQ(library.statistics().programs, 2u);
  EXPECT_EQ(library.statistics().instructions, 4u);
}

TEST(KernelLibrary, ConcurrentLookupsShareOneProgramAndOneDecode) {
  constexpr unsigned kThreads = 8;
  constexpr unsigned kKernels = 16;
  KernelLibrary library(kGen);
  std::vector<std::vector<std::shared_ptr<const Program>>> found(kThreads);
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      Memory memory;  // each thread has its own view of the same code
      uint32_t end = 0;
      std::vector<uint32_t> entries;
      for (unsigned kernel = 0; kernel < kKernels; ++kernel) {
        entries.push_back(end);
        end = memory.put(end, sum(4 + kernel));
      }
      start.arrive_and_wait();
      for (const uint32_t entry : entries) {
        found[number].push_back(library.find(memory, entry));
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  for (unsigned number = 1; number < kThreads; ++number) {
    EXPECT_EQ(found[number], found[0]);
  }
  EXPECT_EQ(library.statistics().prepared, kKernels);
}

TEST(ExecutorKind, NamesAreThoseOfTheCommandLine) {
  EXPECT_EQ(executor_named("interpreter"), ExecutorKind::interpreter);
  EXPECT_EQ(executor_named("compiled"), ExecutorKind::compiled);
  EXPECT_EQ(executor_named("check"), ExecutorKind::check);
  EXPECT_EQ(executor_named("jit"), std::nullopt);
  EXPECT_TRUE(is_available(ExecutorKind::interpreter));
  EXPECT_FALSE(is_available(ExecutorKind::compiled));
  EXPECT_FALSE(is_available(ExecutorKind::check));
}

}  // namespace
}  // namespace halogen::eu
