// Preemption: the points at which a running context may be replaced, and resumption without visible effect.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kArbCheck = 0x0280'0000;
constexpr uint32_t kArbOff = 0x0400'0000;
constexpr uint32_t kArbOn = 0x0400'0001;
constexpr uint32_t kBatchEnd = 0x0500'0000;
constexpr uint32_t kLoadRegister = 0x1100'0001;

class PreemptTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Counts up in memory at `data`, with a preemption point after each step if requested.
  static std::vector<uint32_t> steps(uint64_t data, uint32_t first, uint32_t count, bool points) {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < count; ++i) {
      const std::vector<uint32_t> store = ContextBench::store(data, first + i);
      out.insert(out.end(), store.begin(), store.end());
      out.push_back(points ? kArbCheck : 0);
    }
    return out;
  }
};

// Ring, batch and second level batch: the context is preempted inside each and resumes at the exact command.
TEST_P(PreemptTest, ResumesInsideBatches) {
  COVERS("DG1-EL-11");
  ContextBench bench(GetParam());
  for (const spec::EngineModel& engine : bench.model.engines) {
    const uint64_t data = bench.allocate(1);
    const uint64_t trail = bench.allocate(1);
    const uint64_t process = 0x1'0000'0000 - 0x10'0000;  // just below 4 GB, for chips with 32 bits
    const uint64_t first = bench.allocate(2);
    const uint64_t second = bench.allocate(2);
    Context context = bench.create(engine.name, 0x51);
    Context other = bench.create(engine.name, 0x52);
    for (uint64_t page = 0; page < 2 * 4096; page += 4096) {
      bench.map_process(context, process + page, first + page);
      bench.map_process(context, process + 0x4000 + page, second + page);
    }
    bench.map_process(context, process + 0x8000, data);
    // Stores in the address space of the process: a batch in per-process tables is not privileged.
    const auto count = [&](uint32_t from, uint32_t steps_of) {
      std::vector<uint32_t> out;
      for (uint32_t i = 0; i < steps_of; ++i) {
        out.insert(out.end(),
                   {0x1000'0002, static_cast<uint32_t>(process + 0x8000 + 4 * (from + i)), 0, from + i, kArbCheck, 0});
      }
      return out;
    };
    std::vector<uint32_t> outer = count(0, 60);
    outer.insert(outer.end(), {0x18c0'0101, static_cast<uint32_t>(process + 0x4000), 0});  // second level
    const std::vector<uint32_t> after = count(120, 60);
    outer.insert(outer.end(), after.begin(), after.end());
    outer.push_back(kBatchEnd);
    std::vector<uint32_t> inner = count(60, 60);
    inner.push_back(kBatchEnd);
    bench.poke(first, outer);
    bench.poke(second, inner);
    bench.emit(context, {kLoadRegister, engine.mmio_base + 0x600, 0x600d'0001});
    bench.emit(context, {0x1880'0101, static_cast<uint32_t>(process), 0});
    bench.emit(context, ContextBench::store(trail, 1));
    unsigned switches = 0;
    bench.submit({&context});
    for (unsigned turn = 0; turn < 200 && bench.peek(trail) == 0; ++turn) {
      bench.device->advance(1300);
      bench.emit(other, {kLoadRegister, engine.mmio_base + 0x600, 0xbad});
      bench.submit({&other});
      bench.device->advance(2500);
      for (const uint64_t status : bench.statuses(engine.name)) {
        switches += status == bench.preempted(context, other) ? 1u : 0u;
      }
      // No store is lost or executed early.
      uint32_t done = 0;
      while (done < 180 && (done == 0 || bench.peek(data + 4 * done) == done)) {
        ++done;
      }
      for (uint32_t rest = done; rest < 180; ++rest) {
        EXPECT_EQ(bench.peek(data + 4 * rest), 0u);
      }
      EXPECT_EQ(bench.reg(engine.name, ContextBench::kGpr), 0xbadu);
      bench.set_image(context, ContextBench::kImageControl, 0xffff'0008);  // restore everything from here on
      bench.submit({&context});
    }
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(trail), 1u) << engine.name;
    EXPECT_GE(switches, 6u);
    for (uint32_t i = 0; i < 180; ++i) {
      EXPECT_EQ(bench.peek(data + 4 * i), i);
    }
    EXPECT_EQ(bench.reg(engine.name, ContextBench::kGpr), 0x600d'0001u);
  }
}

// Only the listed commands, and only while arbitration is on. (With the next tests: DG1-EL-12.)
TEST_P(PreemptTest, PreemptionPointsAreTheListedCommands) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context other = bench.create("rcs0", 0x62);
  bench.emit(other, ContextBench::store(data + 0x100, 0));
  // Returns how far `commands` of a context have run when another context is submitted after 1.5 us.
  const auto reached = [&](const std::vector<uint32_t>& commands) {
    Context context = bench.create("rcs0", 0x61, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
    bench.poke(data, 0);
    bench.emit(context, commands);
    bench.submit({&context});
    bench.device->advance(1500);
    bench.submit({&other});
    EXPECT_TRUE(bench.device->settle());
    return bench.peek(data);
  };
  // No preemption point: the context runs to its end, which is an element boundary.
  EXPECT_EQ(reached(steps(data, 1, 300, false)), 300u);
  // MI_ARB_CHECK.
  EXPECT_LT(reached(steps(data, 1, 300, true)), 150u);
  // MI_ARB_ON_OFF disables arbitration around all commands, then around some.
  std::vector<uint32_t> bracketed{kArbOff, 0};
  const std::vector<uint32_t> body = steps(data, 1, 300, true);
  bracketed.insert(bracketed.end(), body.begin(), body.end());
  std::vector<uint32_t> whole = bracketed;
  whole.insert(whole.end(), {kArbOn, 0});
  EXPECT_EQ(reached(whole), 300u);
  std::vector<uint32_t> part = bracketed;
  part.insert(part.end(), {kArbOn, kArbCheck});
  const std::vector<uint32_t> more = steps(data, 301, 100, true);
  part.insert(part.end(), more.begin(), more.end());
  EXPECT_EQ(reached(part), 300u);
  // A semaphore wait that is not satisfied is a preemption point; a satisfied wait is not.
  const uint64_t flag = data + 0x200;
  bench.poke(flag, 1);
  std::vector<uint32_t> waits;
  for (uint32_t i = 1; i <= 200; ++i) {
    const std::vector<uint32_t> store = ContextBench::store(data, i);
    const std::vector<uint32_t> wait = bench.wait_for(flag, i == 150 ? 2 : 1);
    waits.insert(waits.end(), store.begin(), store.end());
    waits.insert(waits.end(), wait.begin(), wait.end());
  }
  EXPECT_EQ(reached(waits), 150u);
  // With arbitration off the same wait keeps the engine.
  std::vector<uint32_t> held{kArbOff, 0};
  held.insert(held.end(), waits.begin(), waits.end());
  held.insert(held.end(), {kArbOn, 0});
  Context context = bench.create("rcs0", 0x63, ContextBench::kRestoreInhibit, 4);
  bench.statuses("rcs0");
  bench.poke(data, 0);
  bench.emit(context, held);
  bench.submit({&context});
  bench.device->advance(100'000);
  bench.submit({&other});
  bench.device->advance(100'000);
  EXPECT_EQ(bench.peek(data), 150u);
  EXPECT_EQ(bench.statuses("rcs0").size(), 1u) << "the context was switched in and stays";
  bench.poke(flag, 2);
  bench.device->advance(100'000);
  bench.poke(flag, 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 200u);
}

// The end of a context is a preemption point only while arbitration is on: else the next element of the old queue runs
// first.
TEST_P(PreemptTest, ElementBoundaryIsAPreemptionPoint) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const auto make = [&](uint32_t id, uint32_t count, bool off, bool on_again) {
    Context context = bench.create("rcs0", id, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
    bench.emit(context, {off ? kArbOff : kArbOn, 0});
    bench.emit(context, steps(data + 4 * id, 1, count, false));
    bench.emit(context, {on_again ? kArbOn : 0, 0});
    return context;
  };
  for (const bool off : {false, true}) {
    for (const bool on_again : {false, true}) {
      const bool held = off && !on_again;
      // A new queue while the first of two elements runs.
      Context first = make(1, 200, off, on_again), second = make(2, 10, false, false),
              other = make(3, 10, false, false);
      bench.submit({&first, &second});
      bench.device->advance(1500);
      bench.submit({&other});
      EXPECT_TRUE(bench.device->settle());
      EXPECT_EQ(bench.peek(data + 4), 200u);
      EXPECT_EQ(bench.peek(data + 8), held ? 10u : 0u);
      EXPECT_EQ(bench.peek(data + 12), 10u);
      const std::vector straight{bench.idle_to_active(first), bench.complete_to_queue(first, other),
                                 bench.complete_to_idle(other)};
      const std::vector in_turn{bench.idle_to_active(first), bench.complete_to_element(first, second),
                                bench.complete_to_queue(second, other), bench.complete_to_idle(other)};
      EXPECT_EQ(bench.statuses("rcs0"), held ? in_turn : straight) << off << on_again;
      // The last element of a queue: there is no other work.
      Context alone = make(4, 200, off, on_again);
      bench.submit({&alone});
      bench.device->advance(1500);
      bench.submit({&other});
      EXPECT_TRUE(bench.device->settle());
      EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(alone), bench.complete_to_queue(alone, other),
                                                     bench.complete_to_idle(other)}));
      for (uint32_t id = 1; id < 5; ++id) {
        bench.poke(data + 4 * id, 0);
      }
    }
  }
  // Resubmitting the running context is a new queue too.
  Context first = make(1, 200, true, false), second = make(2, 10, false, false);
  bench.submit({&first, &second});
  bench.device->advance(1500);
  bench.emit(first, ContextBench::store(data + 4, 999));
  bench.submit({&first});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 4), 999u);
  EXPECT_EQ(bench.peek(data + 8), 10u);
  EXPECT_EQ(bench.statuses("rcs0"),
            (std::vector{bench.idle_to_active(first), bench.complete_to_element(first, second),
                         bench.complete_to_queue(second, first), bench.complete_to_idle(first)}));
}

// An unsatisfied wait for a display event: pipe A is off, so its vertical blank never occurs.
TEST_P(PreemptTest, UnsatisfiedWaitForEventIsAPreemptionPoint) {
  COVERS("DG1-EL-12");
  constexpr uint32_t kWaitForBlank = 0x0180'0008;
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const auto status = [&](bool new_queue, const Context& away, const Context* to) {
    const uint32_t flags = 0x40 | (new_queue ? 0x2u : to != nullptr ? 0x4u : 0x8u);
    return bench.status_names_both() ? bench.new_form(new_queue, &away, to, 2 | 1u << 5)
                                     : ContextBench::old_form(flags, &away);
  };
  // The context leaves by itself if its control register allows that, else when a new queue is submitted.
  Context waiting = bench.create("rcs0", 0x64, ContextBench::kRestoreInhibit);
  Context other = bench.create("rcs0", 0x65);
  bench.emit(waiting, {kWaitForBlank});
  bench.emit(other, ContextBench::store(data, 1));
  bench.submit({&waiting, &other});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(waiting), status(false, waiting, &other),
                                                 bench.complete_to_idle(other)}));
  bench.submit({&waiting});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(waiting), status(false, waiting, nullptr)}));
  bench.set_image(waiting, ContextBench::kImageControl, 0xffff'0008);
  bench.submit({&waiting, &other});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(waiting)})) << "the context stays";
  bench.submit({&other});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0"), (std::vector{status(true, waiting, &other), bench.complete_to_idle(other)}));
  EXPECT_EQ(bench.image(waiting, ContextBench::kImageHead) & 0x1f'fffc, 0u) << "the wait is executed again";
  // No preemption while arbitration is off.
  Context held = bench.create("rcs0", 0x66, ContextBench::kRestoreInhibit);
  bench.emit(held, {kArbOff, kWaitForBlank});
  bench.submit({&held});
  EXPECT_TRUE(bench.device->settle());
  bench.submit({&other});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(held)}));
}

// A lite restore reads only the tail; a forced restore reads the whole image.
TEST_P(PreemptTest, LiteRestoreReadsTheTailAndForcedRestoreTheImage) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const bool forced : {false, true}) {
    Context context = bench.create("rcs0", 0x71, ContextBench::kNoSwitchOnWait, 2);
    bench.emit(context, {kLoadRegister, 0x2600, 1});
    bench.emit(context, std::vector<uint32_t>(300, kArbCheck));
    bench.submit({&context});
    bench.device->advance(1500);
    bench.statuses("rcs0");
    bench.emit(context, ContextBench::store(data, forced ? 3 : 2));
    bench.set_reg("rcs0", ContextBench::kGpr, 0x77);  // in the engine, not in an image
    bench.submit({&context}, forced ? 4 : 0);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data), forced ? 3u : 2u);
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kGpr), 0x77u);
    const uint64_t full =
        bench.status_names_both() ? bench.new_form(true, &context, &context, 5) : ContextBench::old_form(0x2, &context);
    EXPECT_EQ(bench.statuses("rcs0"),
              (std::vector{forced ? full : bench.lite_restore(context), bench.complete_to_idle(context)}));
  }
}

TEST_P(PreemptTest, PreemptedImageShowsWhereTheContextStopped) {
  ContextBench bench(GetParam());
  Context context = bench.create("rcs0", 0x71);
  Context other = bench.create("rcs0", 0x72);
  bench.emit(context, std::vector<uint32_t>(300, kArbCheck));
  bench.submit({&context});
  bench.device->advance(1500);
  bench.submit({&other});
  EXPECT_TRUE(bench.device->settle());
  const uint32_t head = bench.image(context, ContextBench::kImageHead) & 0x1f'fffc;
  EXPECT_GT(head, 0u);
  EXPECT_LT(head, 1200u);
  EXPECT_EQ(bench.reg("rcs0", 0x14c) & 0x1f'fffc, head);
}

// A snapshot at any point, in the middle of switches and batches, leads to the same memory.
TEST_P(PreemptTest, SnapshotDuringASwitchOrBatchChangesNothing) {
  const auto drive = [](ContextBench& bench, unsigned cut) {
    const uint64_t data = bench.allocate(1);
    const uint64_t batch = bench.allocate(1);
    const uint64_t restore_batch = bench.allocate(1);
    bench.poke(batch, steps(data + 0x80, 1, 80, true));
    bench.poke(batch + 4 * 5 * 80, {kBatchEnd});
    bench.poke(restore_batch, steps(data + 0x90, 7, 20, false));
    bench.poke(restore_batch + 4 * 5 * 20, {kBatchEnd});
    Context a = bench.create("rcs0", 1);
    Context b = bench.create("rcs0", 2);
    bench.set_image(a, 0x19, 0);
    bench.emit(a, {0x1880'0001, static_cast<uint32_t>(batch), 0});
    bench.emit(a, steps(data, 1, 40, true));
    bench.emit(b, steps(data + 0x40, 1, 60, true));
    if (bench.model.gen != spec::GenId::gen8) {
      bench.set_image(b, bench.image_restore_batch(), static_cast<uint32_t>(restore_batch | 1));
    }
    for (unsigned step = 0; step < 30; ++step) {
      bench.submit({step % 2 == 0 ? &a : &b, step % 2 == 0 ? &b : &a});
      bench.device->advance(700);
      if (step == cut) {
        const device::DeviceState state = bench.device->snapshot();
        bench.device->reset(device::ResetKind::function_level);
        bench.device->restore(state);
        EXPECT_EQ(bench.device->snapshot(), state);
      }
    }
    EXPECT_TRUE(bench.device->settle());
    std::vector<uint32_t> memory;
    for (uint64_t at = 0; at < 4096; at += 4) {
      memory.push_back(bench.peek(data + at));
      memory.push_back(bench.peek(bench.status_page("rcs0") + at));
      memory.push_back(bench.image(a, static_cast<unsigned>(at / 4)));
      memory.push_back(bench.image(b, static_cast<unsigned>(at / 4)));
    }
    return memory;
  };
  ContextBench whole(GetParam());
  const std::vector<uint32_t> expected = drive(whole, 1000);
  for (const unsigned cut : {0u, 3u, 7u, 8u, 12u, 21u}) {
    ContextBench bench(GetParam());
    EXPECT_EQ(drive(bench, cut), expected) << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, PreemptTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
