// Rings: software writes commands and the tail, the engine parses them. G45 PRM vol. 1b 5.3.4 (seed 003); DG1 PRM vol.
// 13, ring buffers (seed 000).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kHead = EngineBench::kHead, kTail = EngineBench::kTail, kStart = EngineBench::kStart,
                   kControl = EngineBench::kControl;

class RingTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RingTest, TailWriteSubmitsCommands) {
  COVERS("G45-5.3.4-14");
  COVERS("DG1-CS-03");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.emit(kRcs, bench.store(data + 0x40, 0xcafe1234));
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 0x40), 0u) << "nothing was submitted";
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 0x40), 0xcafe1234u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 16u);
  EXPECT_EQ(bench.reg(kRcs, kTail), 16u);
}

TEST_P(RingTest, WritingStartClearsHeadAndWrapCount) {
  COVERS("G45-5.3.4-03");
  FlowBench bench(GetParam());
  bench.set_reg(kRcs, kHead, 5u << 21 | 0x40);
  EXPECT_EQ(bench.reg(kRcs, kHead), 5u << 21 | 0x40);
  bench.set_reg(kRcs, kStart, 0x0012'3fff);
  EXPECT_EQ(bench.reg(kRcs, kStart), 0x0012'3000u) << "aligned to a page";
  EXPECT_EQ(bench.reg(kRcs, kHead), 0u);
}

TEST_P(RingTest, EnablingARingKeepsItsPointers) {
  COVERS("G45-5.3.4-01");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t ring = bench.allocate(4);
  bench.poke(ring + 0x2008, bench.store(data, 0x11));
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kHead, 3u << 21 | 0x2008);
  bench.set_reg(kRcs, kTail, 0x2018);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0u) << "a disabled ring is not parsed";
  EXPECT_EQ(bench.reg(kRcs, kHead), 3u << 21 | 0x2008);
  bench.set_reg(kRcs, kControl, 3u << 12 | 1);
  EXPECT_EQ(bench.reg(kRcs, kHead), 3u << 21 | 0x2008) << "enabling does not move the head";
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0x11u) << "a ring may be enabled with commands in it";
  EXPECT_EQ(bench.reg(kRcs, kHead), 3u << 21 | 0x2018);
  bench.set_reg(kRcs, kControl, 3u << 12);
  EXPECT_EQ(bench.reg(kRcs, kHead), 3u << 21 | 0x2018);
  EXPECT_EQ(bench.reg(kRcs, kTail), 0x2018u);
  EXPECT_EQ(bench.reg(kRcs, kStart), ring);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(RingTest, DisablingARingWithCommandsIsReported) {
  COVERS("G45-5.3.4-02");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.emit(kRcs, bench.store(data, 1));
  bench.submit(kRcs);
  bench.set_reg(kRcs, kControl, 0);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.peek(data), 0u);
}

TEST_P(RingTest, LongestRingIsTwoMegabytes) {
  COVERS("G45-5.3.4-04");
  COVERS("DG1-CS-04");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t ring = bench.allocate(512);
  constexpr uint32_t kLast = 0x20'0000 - 16;
  bench.poke(ring + kLast, bench.store(data, 0x21));
  bench.poke(ring, bench.store(data + 4, 0x22));
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kHead, kLast);
  bench.set_reg(kRcs, kTail, 16);
  bench.set_reg(kRcs, kControl, 511u << 12 | 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0x21u);
  EXPECT_EQ(bench.peek(data + 4), 0x22u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 1u << 21 | 16) << "one wrap";
}

TEST_P(RingTest, HeadFollowsTheParserAndComparesQuadwords) {
  COVERS("G45-5.3.4-05");
  FlowBench bench(GetParam());
  const uint64_t ring = bench.allocate(1);
  const uint64_t data = bench.allocate(1);
  bench.poke(ring + 0x14, kUserInterrupt);
  bench.poke(ring + 0x20, bench.store(data, 0x31));
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kHead, 0x14);
  bench.set_reg(kRcs, kTail, 0x10);
  bench.set_reg(kRcs, kControl, 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kHead), 0x14u) << "same quadword: the ring is empty";
  bench.set_reg(kRcs, kTail, 0x30);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0x31u) << "parsing starts at the dword of the head";
  EXPECT_EQ(bench.reg(kRcs, kHead), 0x30u);
}

TEST_P(RingTest, WrapCountHasElevenBits) {
  COVERS("G45-5.3.4-06");
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  const uint64_t ring = bench.allocate(1);
  bench.poke(ring, kReportHead);
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kHead, 2046u << 21 | 0xff8);
  bench.set_reg(kRcs, kTail, 8);
  bench.set_reg(kRcs, kControl, 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kHead), 2047u << 21 | 8);
  EXPECT_EQ(bench.peek(page + 16), 2047u << 21 | 4) << "reported with the head";
  bench.poke(ring, kNoop);
  bench.set_reg(kRcs, kTail, 0);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kHead), 0u) << "the count wraps after 2048 values";
}

TEST_P(RingTest, AllButOneQuadwordCanBeOutstanding) {
  COVERS("G45-5.3.4-07");
  FlowBench bench(GetParam());
  const uint64_t ring = bench.allocate(1);
  const uint64_t data = bench.allocate(1);
  bench.poke(ring + 0xfe8, bench.store(data, 0x41));
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kControl, 1);
  bench.set_reg(kRcs, kTail, 0xff8 | 7);
  EXPECT_EQ(bench.reg(kRcs, kTail), 0xff8u) << "in whole quadwords";
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kHead), 0xff8u);
  EXPECT_EQ(bench.peek(data), 0x41u);
}

TEST_P(RingTest, IncompleteCommandWaitsForItsRest) {
  COVERS("G45-5.3.4-08");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.emit(kRcs, bench.store(data, 0x51));
  bench.set_reg(kRcs, kTail, 8);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 0u);
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0x51u);
}

TEST_P(RingTest, AutomaticHeadReportsAtBlockBoundaries) {
  COVERS("G45-5.3.4-09");
  COVERS("G45-5.3.4-10");
  FlowBench bench(GetParam());
  for (const auto& [code, border] : {std::pair{1u, 0x1'0000u}, std::pair{3u, 0x2'0000u}}) {
    const uint64_t page = bench.give_status_page(kRcs);
    const uint64_t ring = bench.allocate(96);  // 384 KB of MI_NOOP
    bench.set_reg(kRcs, kControl, 0);
    bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
    bench.set_reg(kRcs, kTail, border - 0x1000);
    bench.set_reg(kRcs, kControl, 95u << 12 | code << 1 | 1);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(page + 16), 0u) << "no boundary passed";
    bench.set_reg(kRcs, kTail, border + 0x1000);
    EXPECT_TRUE(bench.device->settle());
    const uint32_t reported = bench.peek(page + 16);
    EXPECT_GE(reported, border);
    EXPECT_LE(reported, border + 0x1000);
    bench.poke(page + 16, 0);
    bench.set_reg(kRcs, kTail, border + 0x2000);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(page + 16), 0u) << "same block";
  }
}

// Each boundary is reported when the head passes it, with the head after it, however long the slice is.
TEST_P(RingTest, EveryBoundaryIsReported) {
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  const uint64_t data = bench.allocate(1);
  constexpr uint32_t kBorder = 0x1'0000, kBorders = 5;
  const uint64_t ring = bench.allocate(0x60);
  // After each boundary the stream copies the report, by MI_COPY_MEM_MEM or through a register that both chips have.
  const uint32_t scratch = bench.engine_model(kRcs).mmio_base + (bench.is_gen8_on() ? 0x600 : 0x94);
  for (uint32_t i = 1; i <= kBorders && bench.is_gen8_on(); ++i) {
    const auto to = static_cast<uint32_t>(data + 4 * i);
    const auto from = static_cast<uint32_t>(page + 16);
    bench.poke(ring + i * kBorder, {0x14c0'0002, scratch, from, 0, 0x1240'0002, scratch, to, 0});
  }
  bench.set_reg(kRcs, kControl, 0);
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kTail, kBorders * kBorder + 0x1000);
  bench.set_reg(kRcs, kControl, 0x5fu << 12 | 1u << 1 | 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(page + 16), kBorders * kBorder) << "the boundary, not the head at the end of the slice";
  for (uint32_t i = 1; i <= kBorders && bench.is_gen8_on(); ++i) {
    EXPECT_EQ(bench.peek(data + 4 * i), i * kBorder);
  }
}

// If a command crosses the boundary, the reported head is after that command.
TEST_P(RingTest, ReportedHeadIsAfterACommandThatCrossesTheBoundary) {
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  const uint64_t data = bench.allocate(1);
  const uint64_t ring = bench.allocate(0x20);
  bench.poke(ring + 0xfff8, bench.store(data, 7));
  bench.set_reg(kRcs, kControl, 0);
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kTail, 0x1'1000);
  bench.set_reg(kRcs, kControl, 0x1fu << 12 | 1u << 1 | 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 7u);
  EXPECT_EQ(bench.peek(page + 16), 0x1'0008u);
}

TEST_P(RingTest, CommandThatWrapsAtTheEndIsReported) {
  COVERS("G45-5.3.4-12");
  FlowBench bench(GetParam());
  const uint64_t ring = bench.allocate(1);
  const uint64_t data = bench.allocate(1);
  const FlowBench::Dwords store = bench.store(data, 0x61);
  bench.poke(ring + 0xff8, std::span(store).first(2));
  bench.poke(ring, std::span(store).last(2));
  bench.set_reg(kRcs, kStart, static_cast<uint32_t>(ring));
  bench.set_reg(kRcs, kHead, 0xff8);
  bench.set_reg(kRcs, kTail, 8);
  bench.set_reg(kRcs, kControl, 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.peek(data), 0x61u) << "it is executed nevertheless";
  EXPECT_EQ(bench.reg(kRcs, kHead), 1u << 21 | 8);
}

TEST_P(RingTest, HeadAndTailInOneCacheLineIsReported) {
  COVERS("G45-5.3.4-13");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  bench.set_reg(kRcs, kTail, 0x60);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.undefined(), 0u);
  bench.set_reg(kRcs, kTail, 0x48);  // the tail wraps into the cache line of the head
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST_P(RingTest, HeadAndTailOutsideTheRingAreReported) {
  FlowBench bench(GetParam());
  bench.start_ring(kRcs, 1);
  bench.set_reg(kRcs, kTail, 0x2000);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_GE(bench.undefined(), 1u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 0u);
}

TEST_P(RingTest, StoppedRingIsIdle) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  EXPECT_EQ(bench.reg(kRcs, kMiMode) & 0x200, 0x200u);
  bench.emit(kRcs, bench.store(data, 1));
  bench.submit(kRcs);
  EXPECT_EQ(bench.reg(kRcs, kMiMode) & 0x200, 0u) << "commands are pending";
  bench.set_reg(kRcs, kMiMode, 0x0100'0100);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.reg(kRcs, kMiMode) & 0x300, 0x300u);
  bench.set_reg(kRcs, kMiMode, 0x0100'0000);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, RingTest, ::testing::ValuesIn(all_chips()), chip_name);

class Gen4Ring : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Ring, ReadingAClearBitAcquiresTheRing) {
  COVERS("G45-5.3.4-15");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  EXPECT_EQ(bench.reg(kRcs, kTail), 0u);
  EXPECT_EQ(bench.reg(kRcs, kTail), 0u) << "disabled: reads zero";
  bench.set_reg(kRcs, kTail, 1);
  EXPECT_EQ(bench.reg(kRcs, kTail), 0u) << "disabled: writes are ignored";
  bench.set_reg(kRcs, kInstpm, 0x0100'0100);
  EXPECT_EQ(bench.reg(kRcs, kTail), 0u) << "the first reader acquires it";
  EXPECT_EQ(bench.reg(kRcs, kTail), 1u);
  EXPECT_EQ(bench.reg(kRcs, kTail), 1u);
  bench.set_reg(kRcs, kTail, 1);
  EXPECT_EQ(bench.reg(kRcs, kTail), 0u) << "a tail write releases it";
}

TEST_P(Gen4Ring, SnoopedRingMemoryIsReported) {
  COVERS("G45-5.3.4-11");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const uint64_t page = bench.ring_start(kRcs) / EngineBench::kPage;
  bench.set_entry(page, bench.entry(page) | 6);  // bits 2:1: snooped system memory
  bench.emit(kRcs, {kNoop, kNoop});
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_GE(bench.undefined(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Gen4, Gen4Ring, ::testing::ValuesIn(gen4_chips()), chip_name);

}  // namespace
}  // namespace halogen
