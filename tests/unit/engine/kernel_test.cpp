// Every chip as a kernel drives it, and the same run again: twice, beside another device on a second thread, and from
// threads that take turns. Memory, the device and its events end the same.
#include <thread>

#include "flow_bench.h"
#include "kernel_story.h"

namespace halogen {
namespace {

class KernelTest : public ::testing::TestWithParam<std::string> {};

Ending tell(KernelStory& story) {
  for (unsigned number = 0; number < KernelStory::kSteps; ++number) story.step(number);
  return story.ending();
}
Ending tell(const std::string& chip) {
  return tell(*make_story(chip));
}

TEST_P(KernelTest, AllEnginesWorkAreInterruptedHangAndComeBack) {
  tell(GetParam());
}

TEST_P(KernelTest, TheSameStoryEndsTheSame) {
  const Ending first = tell(GetParam());
  EXPECT_EQ(first.memory, tell(GetParam()).memory);
  EXPECT_TRUE(first == tell(GetParam()));
}

// Two devices share nothing: neither sees the other, whatever the threads do to each other's time.
TEST_P(KernelTest, OneAndTwoThreadsEndTheSame) {
  const Ending alone = tell(GetParam());
  Ending beside[2];
  std::thread threads[2];
  for (unsigned i = 0; i < 2; ++i) {
    threads[i] = std::thread([&beside, i, chip = GetParam()] { beside[i] = tell(chip); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ending& each : beside) {
    EXPECT_EQ(each.memory, alone.memory);
    EXPECT_TRUE(each == alone);
  }
}

// A device belongs to no thread: each step is another one's.
TEST_P(KernelTest, ThreadsThatTakeTurnsEndTheSame) {
  const Ending alone = tell(GetParam());
  const auto story = make_story(GetParam());
  for (unsigned number = 0; number < KernelStory::kSteps; ++number) {
    std::thread([&story, number] { story->step(number); }).join();
  }
  EXPECT_EQ(story->ending().memory, alone.memory);
  EXPECT_TRUE(story->ending() == alone);
}

INSTANTIATE_TEST_SUITE_P(Chips, KernelTest, ::testing::ValuesIn(all_chips()), chip_name);

// Drivers of Gen11 and later do not set the execlist bit: they switch the legacy ring off.
class NoLegacyRing : public ::testing::TestWithParam<const char*> {};

TEST_P(NoLegacyRing, ContextsArePreemptedAllTheSame) {
  ContextBench bench(GetParam());
  bench.set_reg("rcs0", ContextBench::kMode, 0x8000'0000);
  bench.set_reg("rcs0", ContextBench::kMode, 0x0008'0008);
  const uint64_t data = bench.allocate(1);
  const uint64_t loop = bench.allocate(1);
  bench.poke(loop, {kArbCheck, 0x1880'0001, static_cast<uint32_t>(loop), 0});
  ContextBench::Context endless = bench.create("rcs0", 1);
  bench.emit(endless, {0x1880'0001, static_cast<uint32_t>(loop), 0, 0});
  ContextBench::Context urgent = bench.create("rcs0", 2);
  bench.emit(urgent, ContextBench::store(data, 7));
  bench.submit({&endless});
  bench.device->advance(10'000);
  bench.submit({&urgent});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 7u);
}

INSTANTIATE_TEST_SUITE_P(Chips, NoLegacyRing, ::testing::Values("icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
