// Batch buffers: start from the ring, chaining, calls and end. G45 PRM vol. 1b 1.4, 1.5, 5.3.5 (seed 003); DG1 PRM vol.
// 13, batch buffers (seed 000).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kSecondLevel = 1u << 22;
constexpr uint32_t kNonSecure = 1u << 8;  // Gen4; later: the table of the process

class BatchTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BatchTest, BatchEndContinuesAfterTheBatchStart) {
  COVERS("G45-1.4-01");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}, bench.store(data + 8, 9)}));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({bench.batch(batch), bench.store(data + 4, 2)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.peek(data + 8), 0u) << "not executed: lies after the end of the batch";
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kHead), bench.ring_tail(kRcs));
}

TEST_P(BatchTest, ChainedBatchReturnsToTheRing) {
  COVERS("G45-5.3.5-01");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  uint64_t next = bench.place(FlowBench::join({bench.store(data, 100), {kBatchEnd}}));
  for (uint32_t i = 0; i < 20; ++i) {  // more than any call stack could hold
    next =
        bench.place(FlowBench::join({bench.store(data + 4 + 4 * i, i + 1), bench.batch(next), bench.store(data, 7)}));
  }
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({bench.batch(next), bench.store(data + 0x100, 2)}));
  EXPECT_EQ(bench.peek(data), 100u) << "commands after a chained start are not executed";
  EXPECT_EQ(bench.peek(data + 0x100), 2u);
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(bench.peek(data + 4 + 4 * i), i + 1);
  }
}

TEST_P(BatchTest, BatchLengthIsNotLimited) {
  COVERS("DG1-CS-05");
  COVERS("G45-5.3.5-02");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.allocate(300);                              // more than a megabyte
  bench.poke(batch + 299 * EngineBench::kPage - 8, bench.store(data, 3));  // a command that crosses a page boundary
  bench.poke(batch + 299 * EngineBench::kPage + 8, kBatchEnd);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({bench.batch(batch), bench.store(data + 4, 2)}));
  EXPECT_EQ(bench.peek(data), 3u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
}

TEST_P(BatchTest, ActiveHeadIsInTheBatch) {
  FlowBench bench(GetParam());
  const uint64_t batch = bench.place({kNoop, kNoop, 0xffff'ffff});  // reserved client: a parse error
  bench.start_ring(kRcs);
  bench.emit(kRcs, bench.batch(batch));
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kActhd), batch + 8);
  EXPECT_EQ(bench.reg(kRcs, kIpehr), 0xffff'ffffu);
  EXPECT_EQ(bench.reg(kRcs, 0x140), (batch + 8) | 1) << "the valid bit and the batch head";
  EXPECT_EQ(bench.reg(kRcs, 0x64) & 8, 8u) << "the error came from a batch";
}

TEST_P(BatchTest, EndWithoutABatchIsReported) {
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {kBatchEnd, kNoop});
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kHead), 8u);
}

INSTANTIATE_TEST_SUITE_P(Chips, BatchTest, ::testing::ValuesIn(all_chips()), chip_name);

class Gen4Batch : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Batch, PhysicalBatchIsFetchedAboveFourGigabytes) {
  COVERS("G45-1.5-03");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  // The batch lies above 4 GB and is mapped by no table: bits 35:32 of the address are in bits 3:0.
  bench.host.top = uint64_t{1} << 36;
  const uint64_t far = 0x3'2000'0040;
  uint64_t at = far;
  for (const uint32_t dword : FlowBench::join({bench.store(data, 0x77), {kBatchEnd}})) {
    bench.host.put<uint32_t>(at, dword);
    at += 4;
  }
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({{kBatchStart, 0x2000'0040 | 3}, bench.store(data + 4, 2)}));
  EXPECT_EQ(bench.peek(data), 0x77u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
}

TEST_P(Gen4Batch, PhysicalBatchMustNotCrossAPage) {
  COVERS("G45-1.5-05");
  COVERS("G45-5.3.5-02");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t page = bench.allocate(2);
  const auto physical = static_cast<uint32_t>(EngineBench::host_address(page));
  // A chained start in another physical page is allowed.
  const uint64_t other = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  bench.poke(page + 0xff8, {kBatchStart, static_cast<uint32_t>(EngineBench::host_address(other))});
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {kBatchStart, physical + 0xfc0});
  EXPECT_EQ(bench.peek(data), 1u);
  // A batch that runs past the end of its page is an error.
  bench.poke(page + 0xff8, {0u, 0u});
  bench.poke(page + 0x1000, FlowBench::join({bench.store(data, 2), {kBatchEnd}}));
  bench.run_all(kRcs, {kBatchStart, physical + 0xfc0});
  EXPECT_EQ(bench.peek(data), 1u) << "nothing after the page is fetched";
  EXPECT_EQ(bench.reg(kRcs, kEsr) & 1, 1u);
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST_P(Gen4Batch, BatchWithoutEndStopsAtAnUnmappedPage) {
  COVERS("G45-1.5-06");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.poke(batch + 0xff0, bench.store(data, 1));
  const uint64_t hole = 0x0700'0000;
  bench.map(hole / EngineBench::kPage - 1, EngineBench::host_address(batch));
  bench.run_all(kRcs, bench.batch(hole - EngineBench::kPage));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(kRcs, kActhd), hole);
  EXPECT_NE(bench.reg(kRcs, kEsr) & 0x30, 0u) << "a page table error";
  EXPECT_EQ(bench.reg(kRcs, kMiMode) & 0x200, 0u) << "the streamer is stuck";
}

TEST_P(Gen4Batch, BatchAcrossPagesOfDifferentTypesIsAnError) {
  COVERS("G45-1.5-08");
  FlowBench bench(GetParam());
  const uint64_t batch = bench.allocate(2);
  const uint64_t second = batch / EngineBench::kPage + 1;
  bench.set_entry(second, bench.entry(second) | 6);  // snooped
  bench.poke(batch + 0x1000, kBatchEnd);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST_P(Gen4Batch, OnlyNonSecureBatchesAreRestricted) {
  COVERS("G45-5.3.7-17");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const auto physical = static_cast<uint32_t>(EngineBench::host_address(data));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {0x1000'0002, 0, physical, 1});  // MI_STORE_DATA_IMM to a physical address
  EXPECT_EQ(bench.peek(data), 1u);
  const uint64_t batch = bench.place({0x1000'0002, 0, physical, 2, kBatchEnd});
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.peek(data), 2u);
  bench.poke(batch + 12, 3);
  bench.run_all(kRcs, bench.batch(batch, kNonSecure));
  EXPECT_EQ(bench.peek(data), 2u);
}

TEST_P(Gen4Batch, CpuWritesThroughTheApertureAreVisibleAfterTheTailWrite) {
  COVERS("G45-5.3.9-01");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.allocate(1);
  bench.start_ring(kRcs);
  for (uint32_t value = 1; value < 4; ++value) {
    uint64_t at = batch;
    for (const uint32_t dword : FlowBench::join({bench.store(data, value), {kBatchEnd}})) {
      bench.put_aperture(at, dword);
      at += 4;
    }
    bench.run_all(kRcs, bench.batch(batch));
    EXPECT_EQ(bench.aperture(data), value);
  }
}

TEST_P(Gen4Batch, ReservedArbitrationControlIsReported) {
  FlowBench bench(GetParam());
  const uint64_t batch = bench.place({kBatchEnd, kNoop});
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(batch, 2u << 9));
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST_P(Gen4Batch, AddressExtensionOfAGraphicsAddressIsReported) {
  COVERS("G45-1.5-09");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  bench.start_ring(kRcs);
  FlowBench::Dwords start = bench.batch(batch);
  start[1] |= 5;
  bench.run_all(kRcs, start);
  EXPECT_EQ(bench.events(EventKind::reserved_bits), 1u);
  EXPECT_EQ(bench.peek(data), 1u) << "the start address is aligned to 64 bytes";
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen4Batch, ::testing::ValuesIn(gen4_chips()), chip_name);

// A per-process table at 20C4h, with entries like those of the global table. It maps graphics page 1 and later pages to
// other memory.
struct ProcessBench : FlowBench {
  static constexpr uint64_t kTable = 0x0400'0000, kOther = 0x0500'0000;

  ProcessBench() : FlowBench("gm45") {
    for (uint64_t page = 0; page < 1024; ++page) {
      host.put<uint32_t>(kTable + 4 * page, static_cast<uint32_t>(kOther + page * kPage) | 1);
    }
    write(0x20c4, static_cast<uint32_t>(kTable) | 1);
  }
  void enable_process_space(std::string_view engine) { set_reg(engine, 0x520, 0x8000'8000); }
  void put_process(uint64_t address, const Dwords& dwords) {
    for (const uint32_t dword : dwords) {
      host.put<uint32_t>(kOther + address, dword);
      address += 4;
    }
  }
};

TEST(Gm45Batch, NonSecureBatchesAreFetchedThroughTheProcessTable) {
  ProcessBench bench;
  const uint64_t batch = bench.place({kNoop | 0x0040'0001, kBatchEnd});  // NOPID 1 in the global table
  bench.put_process(batch, {kNoop | 0x0040'0002, kBatchEnd});            // NOPID 2 in the per-process table
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(batch, kNonSecure));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 1u) << "per-process space disabled: global table";
  bench.enable_process_space(kRcs);
  bench.run_all(kRcs, bench.batch(batch, kNonSecure));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 2u);
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 1u) << "secure batch: global table";
}

TEST(Gm45Batch, ChainedBatchInheritsItsSecurity) {
  COVERS("G45-1.5-11");
  COVERS("G45-5.3.7-16");
  ProcessBench bench;
  bench.enable_process_space(kRcs);
  const uint64_t last = bench.place({kNoop | 0x0040'0001, kBatchEnd});
  bench.put_process(last, {kNoop | 0x0040'0002, kBatchEnd});
  const uint64_t first = bench.place(bench.batch(last, kNonSecure));
  bench.put_process(first, bench.batch(last));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(first));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 1u) << "still secure although the chained start is not";
  bench.run_all(kRcs, bench.batch(first, kNonSecure));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 2u) << "still not secure although the chained start is";
}

class LevelTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LevelTest, SecondLevelReturnsToTheFirst) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t second = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  const uint64_t first =
      bench.place(FlowBench::join({bench.batch(second, kSecondLevel), bench.store(data + 4, 2), {kBatchEnd}}));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({bench.batch(first), bench.store(data + 8, 3)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.peek(data + 8), 3u);
  EXPECT_EQ(bench.reg(kRcs, 0x150), first) << "start of the first level batch";
}

TEST_P(LevelTest, StartInASecondLevelBatchChains) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t third = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  const uint64_t second =
      bench.place(FlowBench::join({bench.batch(third, kSecondLevel), bench.store(data + 4, 2), {kBatchEnd}}));
  const uint64_t first =
      bench.place(FlowBench::join({bench.batch(second, kSecondLevel), bench.store(data + 8, 3), {kBatchEnd}}));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({bench.batch(first), bench.store(data + 12, 4)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 0u) << "the second level chained: control does not return to it";
  EXPECT_EQ(bench.peek(data + 8), 3u);
  EXPECT_EQ(bench.peek(data + 12), 4u);
}

TEST_P(LevelTest, FirstLevelStartLeavesTheSecondLevel) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t last = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  const uint64_t second = bench.place(bench.batch(last));
  const uint64_t first =
      bench.place(FlowBench::join({bench.batch(second, kSecondLevel), bench.store(data + 4, 2), {kBatchEnd}}));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({bench.batch(first), bench.store(data + 8, 3)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 0u);
  EXPECT_EQ(bench.peek(data + 8), 3u);
}

// MI_PREDICATE_RESULT_1 (41C) is the predicate of batch starts, not MI_PREDICATE_RESULT (418). The other engines have
// only the first of the two.
TEST_P(LevelTest, PredicatedStartDependsOnItsOwnPredicateResult) {
  FlowBench bench(GetParam());
  for (const spec::EngineModel& engine : bench.model.engines) {
    const uint64_t data = bench.allocate(1);
    const uint64_t batch = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
    bench.start_ring(engine.name);
    bench.set_reg(engine.name, 0x418, 1);
    bench.set_reg(engine.name, 0x41c, 0);
    bench.run_all(engine.name, bench.batch(batch, 1u << 15));
    EXPECT_EQ(bench.peek(data), 0u) << engine.name;
    bench.set_reg(engine.name, 0x418, 0);
    bench.set_reg(engine.name, 0x41c, 1);
    bench.run_all(engine.name, bench.batch(batch, 1u << 15));
    EXPECT_EQ(bench.peek(data), 1u) << engine.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, LevelTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"), chip_name);

TEST(Gen12Batch, NestedBatchModeReturnsThroughEachLevel) {
  FlowBench bench("dg1");
  bench.set_reg(kRcs, kMiMode, 0x1000'1000);
  const uint64_t data = bench.allocate(1);
  uint64_t next = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  for (uint32_t level = 1; level < 3; ++level) {
    next = bench.place(
        FlowBench::join({bench.batch(next, kSecondLevel), bench.store(data + 4 * level, level + 1), {kBatchEnd}}));
  }
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(next));
  for (uint32_t level = 0; level < 3; ++level) {
    EXPECT_EQ(bench.peek(data + 4 * level), level + 1) << "each level returns to its caller";
  }
}

TEST(Gen12Batch, UnlimitedNestingHangsOnlyItsEngine) {
  FlowBench bench("dg1");
  bench.set_reg(kRcs, kMiMode, 0x1000'1000);
  const uint64_t batch = bench.allocate(1);
  bench.poke(batch, bench.batch(batch, kSecondLevel));  // the batch calls itself
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.undefined(), 1u);
  bench.write(0x941c, 2);  // GDRST, render domain
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.store(data, 1));
  EXPECT_EQ(bench.peek(data), 1u) << "the engine works after a reset";
}

TEST(Gen8Batch, BatchOffsetIsAddedIfRequested) {
  FlowBench bench("skl");
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  bench.set_reg(kRcs, 0x158, 0x1000);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(batch - 0x1000, 1u << 16));
  EXPECT_EQ(bench.peek(data), 1u);
}

}  // namespace
}  // namespace halogen
