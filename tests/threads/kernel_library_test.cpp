// Host threads that share one kernel library and its executor. The preset tsan builds this program with
// ThreadSanitizer, so it links the EU room alone.
#include "eu/library/kernel_library.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "eu/isa/assembler.h"

namespace halogen::eu {
namespace {

constexpr spec::GenId kGen = spec::GenId::gen9;
constexpr unsigned kThreads = 8;
constexpr unsigned kKernels = 12;
constexpr unsigned kRounds = 400;
constexpr uint32_t kSpacing_B = 0x100;

// A view of guest memory that belongs to one host thread. Code of one address can change between lookups.
class Memory final : public CodeMemory {
 public:
  bool read(uint64_t page, CodePage& into) override {
    const auto found = pages_.find(page);
    if (found == pages_.end()) {
      return false;
    }
    into = found->second;
    return true;
  }
  void put(uint32_t offset, const std::vector<std::byte>& code) {
    for (const std::byte each : code) {
      pages_[offset / kCodePage_B][offset % kCodePage_B] = each;
      ++offset;
    }
  }

 private:
  std::map<uint64_t, CodePage> pages_;
};

class Target final : public MessageTarget {
 public:
  SendOutcome send(Thread&, const Message&) override { return SendOutcome::done; }
};

// Returns code that leaves `value` in the eight channels of r10.
std::vector<std::byte> stores(unsigned value) {
  auto code = assemble(kGen, "mov (8|M0) r10.0<1>:ud " + std::to_string(value) +
                                 ":ud\n(W) send.ts (8|M0) null r127 0x0 0x02000010 {EOT}\n");
  EXPECT_TRUE(code.ok()) << code.message();
  return code.value();
}

// Returns what a thread of this program leaves in the last channel of r10.
uint32_t result_of(const Executor& executor, const Program& program) {
  const auto thread = std::make_unique<Thread>();
  thread->start(program.kernel().entry(), 0xff);
  Target target;
  const auto counts = executor.make_counts(program.kernel());
  EXPECT_EQ(executor.run(*thread, program.kernel(), 100, target, counts.get()), ThreadStatus::ended);
  uint32_t value = 0;
  std::memcpy(&value, thread->grf.data() + 10 * kGrfBytes + 7 * sizeof(value), sizeof(value));
  return value;
}

void on_every_thread(const std::function<void(unsigned)>& work) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      start.arrive_and_wait();
      work(number);
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
}

// The library holds 4 of 12 kernels, so that lookups insert and evict all the time. Threads hold and run programs that
// other threads evict.
TEST(KernelLibraryThreads, LookupsInsertAndEvictWhileProgramsRun) {
  KernelLibrary library(kGen, ExecutorKind::interpreter, {.programs = 4, .instructions = 1000});
  on_every_thread([&](unsigned number) {
    Memory memory;
    for (unsigned kernel = 0; kernel < kKernels; ++kernel) {
      memory.put(kernel * kSpacing_B, stores(1000 + kernel));
    }
    std::shared_ptr<const Program> held;
    unsigned held_kernel = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
      const unsigned kernel = (round * (2 * number + 1) + number) % kKernels;
      const auto program = library.find(memory, kernel * kSpacing_B);
      EXPECT_TRUE(program->matches(memory));
      EXPECT_EQ(result_of(library.executor(), *program), 1000 + kernel);
      if (held != nullptr) {
        EXPECT_EQ(result_of(library.executor(), *held), 1000 + held_kernel);
      }
      if (round % 5 == 0) {
        held = program;
        held_kernel = kernel;
      }
      EXPECT_LE(library.statistics().programs, 4u);
    }
  });
  EXPECT_EQ(library.statistics().programs, 4u);
  EXPECT_EQ(library.statistics().instructions, 8u);
  EXPECT_GT(library.statistics().prepared, kKernels) << "programs came back after eviction";
}

// Each thread overwrites the code at one entry in its own order: programs of one entry compete.
TEST(KernelLibraryThreads, OverwrittenCodeNeverYieldsTheProgramOfAnotherThread) {
  KernelLibrary library(kGen, ExecutorKind::interpreter, {.programs = 3, .instructions = 1000});
  on_every_thread([&](unsigned number) {
    Memory memory;
    for (unsigned round = 0; round < kRounds; ++round) {
      const unsigned value = (round * 5 + number) % 7;
      memory.put(0, stores(value));
      EXPECT_EQ(result_of(library.executor(), *library.find(memory, 0)), value);
    }
  });
}

// A page that only a register leads to is added for one caller; the shared program does not change.
TEST(KernelLibraryThreads, ExtendingAProgramLeavesTheSharedOneAlone) {
  constexpr uint32_t kFar = 3 * kCodePage_B;
  KernelLibrary library(kGen);
  on_every_thread([&](unsigned number) {
    Memory memory;
    memory.put(0, stores(1));
    memory.put(kFar, stores(100 + number));
    for (unsigned round = 0; round < kRounds; ++round) {
      const auto program = library.find(memory, 0);
      EXPECT_TRUE(program->lacks(kFar));
      const auto extended = library.extend(*program, memory, kFar);
      ASSERT_NE(extended, nullptr);
      EXPECT_FALSE(extended->lacks(kFar));
      EXPECT_NE(extended->digest(), program->digest());
      EXPECT_EQ(result_of(library.executor(), *extended), 1u);
    }
  });
  EXPECT_EQ(library.statistics().programs, 1u);
  EXPECT_EQ(library.statistics().prepared, 1 + kThreads * kRounds);
}

}  // namespace
}  // namespace halogen::eu
