// Engines that lose and regain power: DG1 PRM vol. 13, "Global State" and "Power Context Image" (seed 000). The tests
// use only force wake registers and engine registers; reading the register bank directly shows that the values were
// lost meanwhile.
#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

struct PowerBench : ContextBench {
  PowerBench() : ContextBench("dg1") {}

  void let_sleep() {
    for (const spec::WakePort& port : device->mmio().wake().config().wake()->ports) write(port.request, 0x0001'0000);
  }
  // Reads the power well directly, whether software can reach it or not.
  uint32_t inside(std::string_view engine, uint32_t offset) {
    const mmio::RegisterBank& bank = device->mmio().bank();
    return bank.peek(*bank.find(engine_model(engine).mmio_base + offset));
  }
};

class PowerContext : public ::testing::TestWithParam<const char*> {};

TEST_P(PowerContext, GlobalStateBelongsToTheEngineAndSurvivesPowerLoss) {
  COVERS("DG1-PWR-01");
  PowerBench bench;
  const char* const engine = GetParam();
  // HWSTAM, SEMA_WAIT_POLL, EMR, FORCE_TO_NONPRIV, CSB_INTERRUPT_MASK.
  const std::pair<uint32_t, uint32_t> globals[] = {
      {0x98, 0xffff'feff}, {0x24c, 0x1234}, {0xb4, 0xffff'fffe}, {0x4d4, 0x2248}, {0x218, 0x8}};
  for (const auto& [offset, value] : globals) bench.set_reg(engine, offset, value);
  Context context = bench.create(engine, 1);
  Context other = bench.create(engine, 2);
  bench.run(context);
  bench.run(other);
  const auto check = [&](const char* when) {
    for (const auto& [offset, value] : globals) {
      EXPECT_EQ(bench.reg(engine, offset), value) << std::hex << offset << when;
    }
    EXPECT_EQ(bench.reg(engine, ContextBench::kMode) & 0x8000, 0x8000u) << when;
    EXPECT_EQ(bench.reg(engine, ContextBench::kStatusPageAddress), bench.status_page(engine)) << when;
  };
  check(" after two contexts ran");
  const uint32_t pointers = bench.reg(engine, ContextBench::kStatusPointer);
  const uint32_t entry = bench.reg(engine, ContextBench::kStatusBuffer);
  for (unsigned again = 0; again < 2; ++again) {
    bench.let_sleep();
    bench.device->advance(10'000);
    EXPECT_EQ(bench.reg(engine, 0x98), 0u) << "the powered-down engine does not respond";
    EXPECT_EQ(bench.inside(engine, ContextBench::kStatusPageAddress), 0u) << "power is off";
    EXPECT_EQ(bench.inside(engine, 0x24c), 0u) << "the value after reset";
    bench.wake_all();
    check(" after power is back");
    EXPECT_EQ(bench.reg(engine, ContextBench::kStatusPointer), pointers);
    EXPECT_EQ(bench.reg(engine, ContextBench::kStatusBuffer), entry);
  }
  bench.statuses(engine);
  bench.run(context);  // the engine works as before; "active to idle" is masked
  EXPECT_EQ(bench.statuses(engine), (std::vector{bench.idle_to_active(context)}));
}

// A write to a shadow register wakes the engine. The restore of the power context does not undo the write.
TEST_P(PowerContext, SubmissionWakesTheEngine) {
  PowerBench bench;
  const char* const engine = GetParam();
  const uint64_t data = bench.allocate(1);
  bench.set_reg(engine, 0x24c, 0x1234);
  Context context = bench.create(engine, 1);
  bench.run(context);
  bench.statuses(engine);
  bench.let_sleep();
  bench.device->advance(10'000);
  EXPECT_EQ(bench.inside(engine, ContextBench::kStatusPageAddress), 0u);
  bench.host.log.clear();
  bench.emit(context, ContextBench::store(data, 1));
  bench.submit({&context});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.events(EventKind::terminated_access), 0u) << "shadow registers do not terminate";
  EXPECT_EQ(bench.inside(engine, ContextBench::kStatusPageAddress), 0u) << "the engine sleeps again when it is done";
  bench.wake_all();
  EXPECT_EQ(bench.reg(engine, 0x24c), 0x1234u);
  EXPECT_EQ(bench.statuses(engine), (std::vector{bench.idle_to_active(context), bench.complete_to_idle(context)}));
}

// The power context image is part of the device state: saved in one device, restored in another.
TEST_P(PowerContext, SleepingEngineSurvivesASnapshot) {
  PowerBench bench;
  const char* const engine = GetParam();
  bench.set_reg(engine, 0x24c, 0x1234);
  bench.let_sleep();
  bench.device->advance(10'000);
  PowerBench second;
  second.device->restore(bench.device->snapshot());
  second.wake_all();
  EXPECT_EQ(second.reg(engine, 0x24c), 0x1234u);
  // A reset is not a power-on: the saved image is discarded.
  second.let_sleep();
  second.device->advance(10'000);
  second.device->reset(device::ResetKind::function_level);
  second.enable();
  second.wake_all();
  EXPECT_EQ(second.reg(engine, 0x24c), 0u);
}

// The ring is restored disabled, then gets its pointers, and is enabled last.
TEST_P(PowerContext, RingIsEnabledLast) {
  COVERS("DG1-PWR-06");
  PowerBench bench;
  const char* const engine = GetParam();
  const uint64_t data = bench.allocate(1);
  bench.set_reg(engine, ContextBench::kMode, 0x8000'0000);  // a legacy ring
  bench.start_ring(engine, 2);
  bench.emit(engine, ContextBench::store(data, 1));
  bench.EngineBench::submit(engine);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  bench.let_sleep();
  bench.device->advance(10'000);
  for (const uint32_t offset : {0x30u, 0x38u, 0x3cu}) EXPECT_EQ(bench.inside(engine, offset), 0u) << offset;
  using Writes = std::vector<std::pair<uint32_t, uint32_t>>;
  Writes writes;
  const uint32_t base = bench.engine_model(engine).mmio_base;
  const auto watch = bench.device->mmio().bank().touched.listen([&](const mmio::RegisterTouch& touch) {
    const uint32_t offset = touch.slot->offset - base;
    if (touch.is_write && offset >= 0x30 && offset <= 0x3c) writes.emplace_back(offset, touch.value);
  });
  bench.wake_all();
  const auto start = static_cast<uint32_t>(bench.ring_start(engine));
  EXPECT_EQ(writes, (Writes{{0x3c, 0x1000}, {0x34, 16}, {0x30, 16}, {0x38, start}, {0x3c, 0x1001}}));
  EXPECT_EQ(bench.reg(engine, EngineBench::kControl), 0x1001u);
  EXPECT_EQ(bench.reg(engine, EngineBench::kTail), 16u);
  EXPECT_EQ(bench.reg(engine, EngineBench::kHead), 16u);
  bench.emit(engine, ContextBench::store(data, 2));
  bench.EngineBench::submit(engine);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 2u) << "the ring continues";
  EXPECT_EQ(bench.reg(engine, EngineBench::kHead), 32u);
}

INSTANTIATE_TEST_SUITE_P(Engines, PowerContext, ::testing::Values("bcs0", "vcs0", "vcs2", "vecs0"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace halogen
