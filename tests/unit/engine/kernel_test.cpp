// Every chip as a kernel drives it, through configuration space, BARs and memory alone: set-up, work on all engines at
// once, preemption, interrupts, a hang, a reset, and on.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kUserInterrupt = 0x0100'0000;
constexpr uint32_t kArbCheck = 0x0280'0000;
constexpr uint32_t kBatchEnd = 0x0500'0000;
constexpr uint32_t kGarbage = 0x7fff'ffff;  // no command of any engine

uint64_t hash_of(TestHost& host) {
  uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const auto& [number, page] : host.pages) {
    for (const std::byte byte : *page) {
      hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100'0000'01b3;
    }
    hash = (hash ^ number) * 0x100'0000'01b3;
  }
  return hash;
}

// Interrupts of every engine, as far up as the line.
void enable_interrupts(EngineBench& bench) {
  switch (bench.model.gen) {
    case spec::GenId::gen4:
    case spec::GenId::gen4_5:
      bench.write(0x20a8, 0);
      bench.write(0x20a0, 0x2 | 0x20);  // user interrupts of the render and the video streamer
      return;
    case spec::GenId::gen6:
      for (const spec::EngineModel& each : bench.model.engines) bench.set_reg(each.name, 0xa8, 0);
      bench.write(0x44014, 0);
      bench.write(0x4401c, 0xffff'ffff);
      bench.write(0x4400c, 0x8000'0000);
      return;
    case spec::GenId::gen8:
    case spec::GenId::gen9:
      for (const spec::EngineModel& each : bench.model.engines) bench.set_reg(each.name, 0xa8, 0);
      for (uint32_t bank = 0; bank < 4; ++bank) {
        bench.write(0x44304 + 0x10 * bank, 0);
        bench.write(0x4430c + 0x10 * bank, 0xffff'ffff);
      }
      bench.write(0x44200, 0x8000'0000);
      return;
    default:
      for (const uint32_t enable : {0x190030u, 0x190034u, 0x190048u}) bench.write(enable, 0xffff'ffff);
      for (uint32_t mask = 0x190090; mask <= 0x190104; mask += 4) bench.write(mask, 0);
      bench.write(0x190010, 0x8000'0000);
      if (bench.model.name == "dg1") bench.write(0x190008, 0x8000'0000);
  }
}

bool line(EngineBench& bench) {
  return !bench.host.line.empty() && bench.host.line.back();
}

class RingKernel : public ::testing::TestWithParam<const char*> {};

TEST_P(RingKernel, AllRingsWorkInterruptHangAndComeBack) {
  EngineBench bench(GetParam());
  enable_interrupts(bench);
  const uint64_t data = bench.allocate(1);
  unsigned number = 0;
  for (const spec::EngineModel& each : bench.model.engines) {
    bench.start_ring(each.name);
    for (uint32_t i = 0; i < 200; ++i) {
      // Bit 22: graphics address on the first parts, the global table on the later ones.
      bench.emit(each.name, {0x1040'0002, 0, static_cast<uint32_t>(data + 8 * number), i + 1});
    }
    bench.emit(each.name, {kUserInterrupt});
    ++number;
  }
  for (const spec::EngineModel& each : bench.model.engines) bench.submit(each.name);
  EXPECT_FALSE(line(bench));  // register writes ask, time does
  bench.device->advance(500);
  number = 0;
  for (const spec::EngineModel& each : bench.model.engines) {  // side by side: all have begun, none is done
    EXPECT_GT(bench.peek(data + 8 * number), 0u) << each.name;
    EXPECT_LT(bench.peek(data + 8 * number++), 200u) << each.name;
  }
  EXPECT_TRUE(bench.device->settle());
  for (number = 0; number < bench.model.engines.size(); ++number) EXPECT_EQ(bench.peek(data + 8 * number), 200u);
  EXPECT_TRUE(line(bench));

  // A parse error: the engine stands, its head shows where, and a reset brings it back.
  bench.emit("rcs0", {kGarbage, 0});
  bench.submit("rcs0");
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg("rcs0", 0x68), kGarbage);
  EXPECT_NE(bench.reg("rcs0", EngineBench::kHead) & 0x1f'fffc, bench.ring_tail("rcs0"));
  if (bench.model.gen == spec::GenId::gen6) {
    bench.write(0x941c, 2);
  } else {
    bench.device->config_write(0xc0, 1, 1);  // render domain
    bench.enable_table();
  }
  EXPECT_EQ(bench.reg("rcs0", EngineBench::kControl) & 1, 0u);
  bench.start_ring("rcs0");
  bench.run("rcs0", {0x1040'0002, 0, static_cast<uint32_t>(data + 0x100), 0x600d});
  EXPECT_EQ(bench.peek(data + 0x100), 0x600du);
}

INSTANTIATE_TEST_SUITE_P(Chips, RingKernel, ::testing::Values("i965", "gm965", "g45", "gm45", "snb"));

class ExeclistKernel : public ::testing::TestWithParam<const char*> {
 protected:
  // A context whose batch, in its own tables, counts in memory and lets others in between.
  static ContextBench::Context counting(ContextBench& bench, std::string_view engine, uint32_t id, uint64_t data,
                                        uint32_t stores) {
    constexpr uint64_t kBatch = 0x10'0000;
    constexpr uint64_t kData = 0x20'0000;
    ContextBench::Context context = bench.create(engine, id);
    const uint64_t batch = bench.allocate(4);
    for (uint64_t page = 0; page < 4; ++page) {
      bench.map_process(context, kBatch + page * 0x1000, batch + page * 0x1000);
    }
    bench.map_process(context, kData, data);
    std::vector<uint32_t> commands;
    for (uint32_t i = 0; i < stores; ++i) {
      for (const uint32_t dword : {0x1000'0002u, static_cast<uint32_t>(kData + 8 * id), 0u, i + 1, kArbCheck, 0u}) {
        commands.push_back(dword);
      }
    }
    commands.push_back(kBatchEnd);
    bench.poke(batch, commands);
    bench.emit(context, {0x1880'0101, static_cast<uint32_t>(kBatch), 0, 0, kUserInterrupt, 0});
    return context;
  }

  // The whole story; the hash of memory at its end.
  static uint64_t story(const char* chip) {
    ContextBench bench(chip);
    enable_interrupts(bench);
    const uint64_t data = bench.allocate(1);
    std::vector<ContextBench::Context> slow;
    std::vector<ContextBench::Context> urgent;
    uint32_t id = 1;
    for (const spec::EngineModel& each : bench.model.engines) {
      slow.push_back(counting(bench, each.name, id++, data, 300));
      urgent.push_back(counting(bench, each.name, id++, data, 5));
    }
    for (const ContextBench::Context& context : slow) bench.submit({&context});
    bench.device->advance(4000);
    for (uint32_t number = 0; number < slow.size(); ++number) {
      const uint32_t done = bench.peek(data + 8 * (2 * number + 1));
      EXPECT_GT(done, 0u) << slow[number].engine;
      EXPECT_LT(done, 300u) << slow[number].engine;
    }
    // Each engine gets a new queue: its context leaves at the next arbitration check and comes after the urgent one.
    for (size_t number = 0; number < slow.size(); ++number) bench.submit({&urgent[number], &slow[number]});
    EXPECT_TRUE(bench.device->settle());
    for (size_t number = 0; number < slow.size(); ++number) {
      EXPECT_EQ(bench.peek(data + 8 * (2 * number + 1)), 300u) << slow[number].engine;
      EXPECT_EQ(bench.peek(data + 8 * (2 * number + 2)), 5u) << slow[number].engine;
      const std::vector<uint64_t> expected = {
          bench.idle_to_active(slow[number]), bench.preempted(slow[number], urgent[number]),
          bench.complete_to_element(urgent[number], slow[number]), bench.complete_to_idle(slow[number])};
      EXPECT_EQ(bench.statuses(slow[number].engine), expected) << slow[number].engine;
    }
    EXPECT_TRUE(line(bench));

    // One engine hangs, the others do not care; a reset through its own handshake, and on.
    ContextBench::Context bad = bench.create("rcs0", 60);
    bench.emit(bad, {kGarbage, 0});
    ContextBench::Context good = counting(bench, "bcs0", 61, data, 7);
    bench.submit({&bad});
    bench.submit({&good});
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data + 8 * 61), 7u);
    EXPECT_EQ(bench.reg("rcs0", 0x68), kGarbage);
    bench.set_reg("rcs0", 0xd0, 0x0001'0001);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.reg("rcs0", 0xd0) & 2, 2u);
    bench.write(0x941c, 2);
    EXPECT_EQ(bench.read(0x941c) & 2, 0u);
    bench.set_reg("rcs0", 0xd0, 0x0001'0000);
    bench.set_reg("rcs0", ContextBench::kStatusPageAddress, static_cast<uint32_t>(bench.status_page("rcs0")));
    bench.set_reg("rcs0", ContextBench::kMode, 0x8000'8000);
    ContextBench::Context after = counting(bench, "rcs0", 62, data, 9);
    bench.submit({&after});
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data + 8 * 62), 9u);
    return hash_of(bench.host);
  }
};

TEST_P(ExeclistKernel, AllEnginesWorkPreemptHangAndComeBack) {
  story(GetParam());
}

TEST_P(ExeclistKernel, TheSameStoryEndsInTheSameMemory) {
  EXPECT_EQ(story(GetParam()), story(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Chips, ExeclistKernel, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
