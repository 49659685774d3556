// The kernel scenario on every chip, repeated in several ways: twice, beside another device on a second host thread,
// from host threads that take turns, and with a separate host thread that advances time. Memory, device state and
// Events must be the same at the end.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "kernel_execlists.h"
#include "kernel_rings.h"

namespace halogen {
namespace {

class KernelTest : public ::testing::TestWithParam<std::string> {};

std::unique_ptr<KernelScenario> make_scenario(const std::string& chip) {
  if (Generation(*spec::find_device(chip)).has_execlists()) return std::make_unique<ExeclistScenario>(chip);
  return std::make_unique<RingScenario>(chip);
}
FinalState run_scenario(KernelScenario& scenario) {
  for (unsigned number = 0; number < KernelScenario::kSteps && !::testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE(number);
    scenario.step(number);
  }
  return scenario.final_state();
}
FinalState run_scenario(const std::string& chip) {
  return run_scenario(*make_scenario(chip));
}

TEST_P(KernelTest, EnginesAreUsedPreemptedResumedAndReset) {
  run_scenario(GetParam());
}

TEST_P(KernelTest, RunsAreDeterministic) {
  const FinalState first = run_scenario(GetParam());
  const FinalState second = run_scenario(GetParam());
  EXPECT_EQ(first.memory, second.memory);
  EXPECT_TRUE(first == second);
}

// Two devices share no state, whatever the scheduling of their host threads is.
TEST_P(KernelTest, ResultDoesNotDependOnAnotherDevice) {
  const FinalState alone = run_scenario(GetParam());
  FinalState beside[2];
  std::thread threads[2];
  for (unsigned i = 0; i < 2; ++i) {
    threads[i] = std::thread([&beside, i, chip = GetParam()] { beside[i] = run_scenario(chip); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const FinalState& each : beside) {
    EXPECT_EQ(each.memory, alone.memory);
    EXPECT_TRUE(each == alone);
  }
}

// A device is not bound to a host thread: each step runs on another one.
TEST_P(KernelTest, ResultDoesNotDependOnTheCallingThread) {
  const FinalState alone = run_scenario(GetParam());
  const auto scenario = make_scenario(GetParam());
  for (unsigned number = 0; number < KernelScenario::kSteps; ++number) {
    std::thread([&scenario, number] { scenario->step(number); }).join();
  }
  EXPECT_EQ(scenario->final_state().memory, alone.memory);
  EXPECT_TRUE(scenario->final_state() == alone);
}

// A host thread that runs functions one after the other. The caller waits for each.
class DeviceThread {
 public:
  DeviceThread() : thread_([this] { work(); }) {}
  ~DeviceThread() {
    hand_over({});
    thread_.join();
  }
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  void run(const std::function<void()>& work) {
    hand_over(work);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !full_; });
  }

 private:
  void hand_over(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    full_ = true;
    changed_.notify_all();
  }
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return full_; });
      if (!work_) return;
      work_();
      full_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool full_ = false;
  std::thread thread_;
};

// One host thread accesses registers; another advances time, in which the engines work.
TEST_P(KernelTest, ResultIsTheSameIfTimeAdvancesOnItsOwnThread) {
  const FinalState alone = run_scenario(GetParam());
  const auto scenario = make_scenario(GetParam());
  DeviceThread device;
  scenario->set_time_runner([&device](const std::function<void()>& work) { device.run(work); });
  const FinalState apart = run_scenario(*scenario);
  EXPECT_EQ(apart.memory, alone.memory);
  EXPECT_TRUE(apart == alone);
}

INSTANTIATE_TEST_SUITE_P(Chips, KernelTest, ::testing::ValuesIn(all_chips()), chip_name);

// Host threads that only share a lock. Their scheduling decides how much time passes between two register accesses, so
// times differ from run to run, but the results in memory do not.
class FreeThreads : public ::testing::TestWithParam<std::string> {};

TEST_P(FreeThreads, OneLockAroundTheDeviceIsEnough) {
  constexpr uint32_t kRounds = 50;
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(bench.model.engines.size());
  for (const spec::EngineModel& each : bench.model.engines) bench.start_ring(each.name);
  std::mutex lock;
  bool last = false;
  bool settled = false;
  std::thread time([&] {
    for (bool go_on = true; go_on; std::this_thread::yield()) {
      const std::lock_guard guard(lock);
      go_on = !last;
      bench.device->advance(1000);
    }
    const std::lock_guard guard(lock);
    settled = bench.device->settle();
  });
  for (uint32_t round = 0; round < kRounds; ++round) {
    uint64_t at = data + 4 * round;
    for (const spec::EngineModel& each : bench.model.engines) {
      const std::lock_guard guard(lock);
      bench.emit(each.name, bench.store(at, round + 1));
      bench.submit(each.name);
      at += EngineBench::kPage;
    }
  }
  {
    const std::lock_guard guard(lock);
    last = true;
  }
  time.join();
  EXPECT_TRUE(settled);
  for (size_t number = 0; number < bench.model.engines.size(); ++number) {
    for (uint32_t round = 0; round < kRounds; ++round) {
      ASSERT_EQ(bench.peek(data + number * EngineBench::kPage + 4 * round), round + 1) << number;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, FreeThreads, ::testing::ValuesIn(all_chips()), chip_name);

// Drivers of Gen11 and later do not set the execlist bit: they disable the legacy ring.
class NoLegacyRing : public ::testing::TestWithParam<const char*> {};

TEST_P(NoLegacyRing, ContextsArePreempted) {
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
