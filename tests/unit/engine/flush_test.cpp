// Flushes and their post-sync writes. G45 PRM vol. 1b 1.7, 2.5, 5.3.10, 5.3.11 (seed 003); layouts of PIPE_CONTROL and
// MI_FLUSH_DW from Mesa's genxml and Linux i915.
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0", kBcs = "bcs0";
constexpr uint32_t kIsr = 0x20ac, kSyncStatus = 1u << 12;

// Returns a PIPE_CONTROL with the flags of Gen6 and later, post-sync operation, address and data.
FlowBench::Dwords pipe_control(const FlowBench& bench, uint32_t flags, unsigned operation, uint64_t address,
                               uint64_t data) {
  const auto low = static_cast<uint32_t>(data), high = static_cast<uint32_t>(data >> 32);
  const auto at = static_cast<uint32_t>(address);
  if (bench.is_gen8_on()) {
    return {0x7a00'0004, flags | operation << 14 | 1u << 24, at, 0, low, high};
  }
  if (bench.is_gen4()) {
    return {0x7a00'0002 | flags | operation << 14, at | 4, low, high};
  }
  return {0x7a00'0003, flags | operation << 14, at | 4, low, high};
}

class PipeControl : public ::testing::TestWithParam<std::string> {};

TEST_P(PipeControl, WritesImmediateData) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, pipe_control(bench, 0, 1, data + 8, 0x1122'3344'5566'7788));
  EXPECT_EQ(bench.peek(data + 8), 0x5566'7788u);
  EXPECT_EQ(bench.peek(data + 12), 0x1122'3344u);
  bench.run_all(kRcs, pipe_control(bench, 0, 0, data + 16, 5));
  EXPECT_EQ(bench.peek(data + 16), 0u) << "no post-sync operation, hence no write";
}

TEST_P(PipeControl, WritesTheDepthCount) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.set_reg(kRcs, 0x350, 0x1234'5678);
  bench.set_reg(kRcs, 0x354, 0x9a);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, pipe_control(bench, 0, 2, data, 0));
  EXPECT_EQ(bench.peek(data), 0x1234'5678u);
  EXPECT_EQ(bench.peek(data + 4), 0x9au);
}

TEST_P(PipeControl, WritesTheTimestamp) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.device->advance(5'000'000);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({pipe_control(bench, 0, 3, data, 0), pipe_control(bench, 0, 3, data + 8, 0)}));
  const uint64_t first = bench.peek(data) | uint64_t{bench.peek(data + 4)} << 32;
  const uint64_t second = bench.peek(data + 8) | uint64_t{bench.peek(data + 12)} << 32;
  EXPECT_NE(first, 0u);
  EXPECT_GE(second, first);
  const uint64_t now = bench.reg(kRcs, 0x358) | uint64_t{bench.reg(kRcs, 0x35c)} << 32;
  EXPECT_LE(second, now);
}

TEST_P(PipeControl, ReservedAddressesFault) {
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  bench.emit(kRcs, pipe_control(bench, 0, 1, 0x0800'0000, 1));
  bench.submit(kRcs);
  bench.device->advance(1000);
  EXPECT_GE(bench.events(EventKind::fault), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, PipeControl, ::testing::ValuesIn(all_chips()), chip_name);

class StatusIndex : public ::testing::TestWithParam<std::string> {};

TEST_P(StatusIndex, PipeControlStoresToTheStatusPage) {
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  bench.start_ring(kRcs);
  FlowBench::Dwords command = pipe_control(bench, 1u << 21, 1, 0x100, 0x77);
  bench.run_all(kRcs, command);
  EXPECT_EQ(bench.peek(page + 0x100), 0x77u);
}

TEST_P(StatusIndex, FlushDwWritesImmediateData) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kBcs);
  const auto low = static_cast<uint32_t>(data);
  // The short form writes a dword, the long form a quadword.
  bench.run_all(kBcs, bench.is_gen8_on() ? FlowBench::Dwords{0x1300'4002, low | 4, 0, 0x11, 0}
                                         : FlowBench::Dwords{0x1300'4001, low | 4, 0x11, 0});
  EXPECT_EQ(bench.peek(data), 0x11u);
  bench.poke(data + 12, 0x99);
  bench.run_all(kBcs, bench.is_gen8_on() ? FlowBench::Dwords{0x1300'4003, (low + 8) | 4, 0, 0x22, 0x33}
                                         : FlowBench::Dwords{0x1300'4002, (low + 8) | 4, 0x22, 0x33});
  EXPECT_EQ(bench.peek(data + 8), 0x22u);
  EXPECT_EQ(bench.peek(data + 12), 0x33u);
}

INSTANTIATE_TEST_SUITE_P(Chips, StatusIndex, ::testing::Values("snb", "bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         chip_name);

class RegisterWrite8 : public ::testing::TestWithParam<std::string> {};

TEST_P(RegisterWrite8, PostSyncOperationLoadsARegister) {
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const uint32_t gpr = bench.engine_model(kRcs).mmio_base + 0x600;
  bench.run_all(kRcs, {0x7a00'0004, 1u << 23, gpr, 0, 0xabcd'ef01, 0});
  EXPECT_EQ(bench.read(gpr), 0xabcd'ef01u);
}

INSTANTIATE_TEST_SUITE_P(Chips, RegisterWrite8, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"), chip_name);

class Gen4Flush : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Flush, StoreAfterAFlushRunsWhenTheFlushIsDone) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  for (const uint32_t bits : {0u, 2u, 4u, 6u}) {
    bench.run_all(kRcs, FlowBench::join({{kFlush | bits, kNoop}, bench.store(data, bits + 1)}));
    EXPECT_EQ(bench.peek(data), bits + 1);
  }
  EXPECT_EQ(bench.events(), 0u);
}

// A long BLT precedes the flush: when the store after the flush is visible, every line is drawn.
TEST_P(Gen4Flush, FlushWaitsForABlt) {
  FlowBench bench(GetParam());
  constexpr uint32_t kLines = 1024;
  const uint64_t data = bench.allocate(1), target = bench.allocate(kLines);
  bench.start_ring(kRcs);
  // XY_COLOR_BLT, PATCOPY, 32 bits per pixel.
  bench.emit(kRcs, {0x5430'0004, 0x03f0'1000, 0, kLines << 16 | 1024, static_cast<uint32_t>(target), 0x1234'5678});
  bench.emit(kRcs, FlowBench::join({{kFlush, kNoop}, bench.store(data, 1)}));
  bench.submit(kRcs);
  bench.device->advance(1000);
  EXPECT_EQ(bench.peek(data), 0u) << "the BLT still runs";
  for (unsigned step = 0; step < 1000 && bench.peek(data) == 0; ++step) {
    bench.device->advance(1000);
  }
  ASSERT_EQ(bench.peek(data), 1u);
  for (uint32_t line = 0; line < kLines; ++line) {
    ASSERT_EQ(bench.peek(target + 0x1000 * line + 4092), 0x1234'5678u) << line;
  }
}

// A page is remapped while the BLT engine holds the old translation: after a flush it draws to the new page.
TEST_P(Gen4Flush, BltUsesChangedEntriesAfterAFlush) {
  FlowBench bench(GetParam());
  const uint64_t target = bench.allocate(1), other = bench.allocate(1);
  bench.start_ring(kRcs);
  const auto draw = [&](uint32_t colour) {
    return FlowBench::Dwords{0x5430'0004, 0x03f0'1000, 0, 1u << 16 | 16, static_cast<uint32_t>(target), colour};
  };
  bench.run_all(kRcs, draw(1));
  EXPECT_EQ(bench.peek(target), 1u);
  bench.map(target / EngineBench::kPage, EngineBench::host_address(other));
  bench.run_all(kRcs, FlowBench::join({{kFlush, kNoop}, draw(2)}));
  EXPECT_EQ(bench.peek(target), 1u);
  EXPECT_EQ(bench.peek(other), 2u);
}

TEST_P(Gen4Flush, FlushResetsTheStatisticsExceptDepthCountAndTimestamp) {
  COVERS("G45-1.7-05");
  FlowBench bench(GetParam());
  bench.device->advance(1'000'000);
  for (uint32_t at = 0x310; at <= 0x354; at += 4) {
    bench.set_reg(kRcs, at, at);
  }
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {kFlush, kNoop});
  EXPECT_EQ(bench.reg(kRcs, 0x310), 0x310u) << "bit 3 clear: the counter is unchanged";
  bench.run_all(kRcs, {kFlush | 8, kNoop});
  for (uint32_t at = 0x310; at < 0x350; at += 4) {
    EXPECT_EQ(bench.reg(kRcs, at), 0u) << at;
  }
  EXPECT_EQ(bench.reg(kRcs, 0x350), 0x350u);
  EXPECT_EQ(bench.reg(kRcs, 0x354), 0x354u);
  const uint64_t time = bench.reg(kRcs, 0x358) | uint64_t{bench.reg(kRcs, 0x35c)} << 32;
  EXPECT_NE(time, 0u);
  bench.set_reg(kRcs, 0x350, 0);
  bench.set_reg(kRcs, 0x354, 0);
  EXPECT_EQ(bench.reg(kRcs, 0x350), 0u) << "writing zero resets it";
}

TEST_P(Gen4Flush, NotifyInterruptIsRaised) {
  FlowBench bench(GetParam());
  bench.write(0x20a8, ~(1u << 18));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, pipe_control(bench, 1u << 8, 0, 0, 0));
  EXPECT_EQ(bench.read(0x20a4) & 1u << 18, 1u << 18);
}

TEST_P(Gen4Flush, SyncFlushTogglesTheStatus) {
  COVERS("G45-5.3.11-03");
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  bench.set_reg(kRcs, kHwstam, ~kSyncStatus);
  bench.start_ring(kRcs);
  EXPECT_EQ(bench.read(kIsr) & kSyncStatus, 0u);
  bench.set_reg(kRcs, kInstpm, 0x0020'0020);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kInstpm) & 0x20, 0u) << "the bit is cleared when the flush is done";
  EXPECT_EQ(bench.read(kIsr) & kSyncStatus, kSyncStatus);
  EXPECT_EQ(bench.peek(page) & kSyncStatus, kSyncStatus) << "the status is written to the status page";
  bench.set_reg(kRcs, kInstpm, 0x0020'0020);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.read(kIsr) & kSyncStatus, 0u) << "the status toggles";
  EXPECT_EQ(bench.peek(page) & kSyncStatus, 0u);
  // If commands are pending, the flush happens before the next command.
  const uint64_t data = bench.allocate(1);
  bench.emit(kRcs, bench.store(data, 1));
  bench.submit(kRcs);
  bench.set_reg(kRcs, kInstpm, 0x0020'0020);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(page) & kSyncStatus, kSyncStatus);
  EXPECT_EQ(bench.peek(data), 1u);
  // The next command finds the flush done: it stores the toggled status and the cleared request bit.
  bench.emit(kRcs, {0x1240'0001, kIsr, static_cast<uint32_t>(data) + 4, kNoop});
  bench.emit(kRcs, {0x1240'0001, 0x2000 + kInstpm, static_cast<uint32_t>(data) + 8, kNoop});
  bench.poke(data + 4, ~0u);
  bench.poke(data + 8, ~0u);
  bench.submit(kRcs);
  bench.set_reg(kRcs, kInstpm, 0x0020'0020);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 4) & kSyncStatus, 0u);
  EXPECT_EQ(bench.peek(data + 8) & 0x20, 0u);
}

// Every MI command is looked at while the parser is held at the next MI command, a wait for a condition code.
TEST_P(Gen4Flush, ParsedMiCommandMeansThatEarlierOnesAreComplete) {
  COVERS("G45-5.3.11-01");
  constexpr uint32_t kConditionCodes = 0x28, kCacheMode0 = 0x120, kCcid = 0x180, kUserBit = 2;
  constexpr uint32_t kLoadImmediate = 0x22u << 23 | 1;
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1), first = bench.allocate(1), second = bench.allocate(1);
  const auto context = [](uint64_t at) {
    return FlowBench::Dwords{kSetContext, static_cast<uint32_t>(at) | 0x101, kNoop, kNoop};
  };
  bench.write(0x20a8, ~kUserBit);
  bench.start_ring(kRcs);
  // The parser stops at a wait after `command`; the result of the command must be there already.
  uint32_t mark = 0x7000;
  const auto after = [&](const FlowBench::Dwords& command, auto&& expect) {
    ++mark;
    bench.set_reg(kRcs, kConditionCodes, 0x0001'0001);
    bench.emit(kRcs, FlowBench::join({command, {kWaitForEvent | 1u << 9, kNoop | 0x0040'0000 | mark}}));
    bench.submit(kRcs);
    bench.device->advance(1'000'000);
    EXPECT_NE(bench.reg(kRcs, kNopid), mark) << "the parser is held";
    expect();
    bench.set_reg(kRcs, kConditionCodes, 0x0001'0000);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.reg(kRcs, kNopid), mark);
  };
  after({kNoop | 0x0040'0005}, [&] { EXPECT_EQ(bench.reg(kRcs, kNopid), 5u); });
  after({kLoadImmediate, 0x2000 + kCacheMode0, 0xffff'0023}, [&] { EXPECT_EQ(bench.reg(kRcs, kCacheMode0), 0x23u); });
  after({kUserInterrupt}, [&] { EXPECT_EQ(bench.read(0x20a4) & kUserBit, kUserBit); });
  after(context(first), [&] { EXPECT_EQ(bench.reg(kRcs, kCcid) & 0xffff'f801, first | 1); });
  after(context(second), [&] { EXPECT_NE(bench.peek(first), 0u) << "the image of the context that left"; });
  // Stores, batches and flips may come later: only that they come is promised.
  const uint64_t batch = bench.place(FlowBench::join({bench.store(data + 4, 2), {kBatchEnd}}));
  bench.run_all(kRcs, FlowBench::join({bench.store(data, 1), bench.batch(batch)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen4Flush, ::testing::ValuesIn(gen4_chips()), chip_name);

TEST(SuspendFlush, SuspendedFlushDelaysTheSyncFlush) {
  FlowBench bench("snb");
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {kSuspendFlush | 1, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kMiMode) & 0x8000, 0x8000u);
  bench.set_reg(kRcs, kInstpm, 0x0020'0020);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kInstpm) & 0x20, 0x20u);
  bench.run_all(kRcs, {kSuspendFlush, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kInstpm) & 0x20, 0u);
}

}  // namespace
}  // namespace halogen
