// The command streamers of 965 to GM45 as a whole: the duties of the parser, prefetch, coherency of page tables, and
// the register block. G45 PRM vol. 1b 1.5, 1.19, 5.2, 5.3.3, 5.3.10, 5.8 (seed 003).
#include <utility>

#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kSyncStatus = 1u << 12, kNonSecure = 1u << 8;
using Dwords = FlowBench::Dwords;

class Gen4Streamers : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Streamers, CommandParserPerformsAllItsDuties) {
  COVERS("G45-5.3.3-01");
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  const uint64_t data = bench.allocate(1);
  bench.set_reg(kRcs, kHwstam, ~kSyncStatus);
  bench.start_ring(kRcs, 32);
  bench.set_reg(kRcs, EngineBench::kControl, 31u << 12 | 2u << 1 | 1);  // reports the head at every page
  bench.device->advance(10'000);
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kHead), 0u) << "the ring is empty";
  // It detects work, reads the ring and batch, and executes MI commands.
  const uint64_t batch = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}}));
  bench.run_all(kRcs, FlowBench::join({bench.batch(batch), bench.store(data + 4, 2)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
  // It reports its head automatically.
  bench.run_all(kRcs, Dwords(1100, kNoop));
  EXPECT_GE(bench.peek(page + 16) & 0x1f'fffc, 4096u);
  // It passes commands to other clients, unless INSTPM disables their group.
  bench.set_reg(kRcs, kInstpm, 0x0008'0008);
  bench.run_all(kRcs, {0x7100'0002, 0, 0, 0});  // MEDIA_OBJECT without any state: reported by the back end
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u) << "no back end received the command";
  bench.set_reg(kRcs, kInstpm, 0x0008'0000);
  bench.run_all(kRcs, {0x7100'0002, 0, 0, 0});
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "a back end received the command";
  // It performs a sync flush.
  const uint32_t before = bench.peek(page) & kSyncStatus;
  bench.set_reg(kRcs, kInstpm, 0x0020'0020);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kInstpm) & 0x20, 0u);
  EXPECT_NE(bench.peek(page) & kSyncStatus, before);
  // It protects batches.
  const uint64_t hostile = bench.place({0x1100'0001, 0x2310, 0x55, kBatchEnd});
  bench.run_all(kRcs, bench.batch(hostile, kNonSecure));
  EXPECT_EQ(bench.read(0x2310), 0u);
  bench.run_all(kRcs, bench.batch(hostile));
  EXPECT_EQ(bench.read(0x2310), 0x55u);
}

TEST_P(Gen4Streamers, PrefetchNeedsAMappedPageAfterTheBatch) {
  COVERS("G45-1.5-07");
  const auto error_of = [&](unsigned lines, uint64_t end_at, bool page_behind) {
    device::DeviceOptions options;
    options.prefetch_lines = lines;
    FlowBench bench(GetParam(), options);
    const uint64_t data = bench.allocate(1);
    bench.start_ring(kRcs);
    const uint64_t batch = bench.allocate(1);
    if (page_behind) {
      bench.allocate(1);
    }
    bench.poke(batch + end_at, kBatchEnd);
    bench.run_all(kRcs, FlowBench::join({bench.batch(batch), bench.store(data, 1)}));
    EXPECT_EQ(bench.peek(data), 1u);
    return bench.read(0x2024) != 0;
  };
  EXPECT_TRUE(error_of(8, 4092, false)) << "the batch ends in the last line";
  EXPECT_TRUE(error_of(8, 4096 - 7 * 64, false)) << "the batch ends seven lines before the end";
  EXPECT_FALSE(error_of(8, 4096 - 9 * 64, false)) << "the end of the page is outside the prefetch distance";
  EXPECT_FALSE(error_of(8, 4092, true)) << "one extra page is enough";
  EXPECT_FALSE(error_of(0, 4092, false)) << "the streamer does not prefetch";
}

TEST_P(Gen4Streamers, BatchStartIsAlignedToSixtyFourBytes) {
  COVERS("G45-1.5-10");
  FlowBench bench(GetParam());
  const uint64_t batch = bench.allocate(1);
  for (uint32_t i = 0; i < 32; ++i) {
    bench.poke(batch + 64 * i, {kNoop | 0x0040'0000 | (i + 1), kBatchEnd});
    bench.poke(batch + 64 * i + 16, {kNoop | 0x0040'1000 | (i + 1), kBatchEnd});
    bench.poke(batch + 64 * i + 32, {kNoop | 0x0040'2000 | (i + 1), kBatchEnd});
  }
  bench.start_ring(kRcs);
  for (const uint32_t offset : {0u, 64u, 64u * 31, 16u, 48u, 64u + 32}) {
    bench.run_all(kRcs, bench.batch(batch + offset));
    EXPECT_EQ(bench.reg(kRcs, kNopid), offset / 64 + 1) << offset;
  }
}

TEST_P(Gen4Streamers, ContextThatWasNeverSetIsSavedWithResetValues) {
  COVERS("G45-5.8.1-07");
  FlowBench bench(GetParam());
  const uint64_t first = bench.allocate(1), second = bench.allocate(1);
  const uint32_t reset_value = bench.read(0x2120);
  bench.start_ring(kRcs);
  const auto switch_to = [&](uint64_t context, uint32_t flags) {
    bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(context) | 0x100 | flags, kNoop, kNoop});
  };
  switch_to(first, 1);
  switch_to(second, 1);  // saves registers that were never written
  bench.write(0x2120, 0xffff'0005);
  switch_to(first, 0);
  EXPECT_EQ(bench.read(0x2120), reset_value) << "the values after a reset";
  switch_to(second, 0);
  EXPECT_EQ(bench.read(0x2120), 5u);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(Gen4Streamers, ExtendedStateFlagsAreInTheContextId) {
  FlowBench bench(GetParam());
  const uint64_t first = bench.allocate(1);
  bench.start_ring(kRcs);
  for (const uint32_t flags : {0u, 4u, 8u, 12u}) {
    bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(first) | 0x100 | flags | 1, kNoop, kNoop});
    EXPECT_EQ(bench.reg(kRcs, 0x180) & 0xc, flags);
  }
}

TEST_P(Gen4Streamers, RegisterBlockIsHalfAMegabyte) {
  COVERS("G45-5.2-01");
  FlowBench bench(GetParam());
  // The first BAR holds the block's base address.
  bench.device->config_write(0x10, 4, 0xd000'0000);
  EXPECT_EQ(bench.device->config_read(0x10, 4) & ~0xfu, 0xd000'0000u);
  bench.device->config_write(0x10, 4, 0xffff'ffff);
  const uint32_t bytes = ~(bench.device->config_read(0x10, 4) & ~0xfu) + 1;
  EXPECT_GE(bytes, 0x8'0000u);
  bench.device->config_write(0x10, 4, 0xd000'0000);
  bench.write(0x2310, 0x1234);
  EXPECT_EQ(bench.read(0x2310), 0x1234u);
  bench.host.log.clear();
  static_cast<void>(bench.read(0x7'fffc));
  EXPECT_EQ(bench.events(EventKind::bad_access), 0u) << "the last dword of the block is decoded";
  for (uint32_t at = 0x8'0000; at < bytes; at += 0x8'0000) {
    if (at + 0x2310 < bench.model.gtt_offset || at >= bench.model.gtt_offset + bench.model.gtt_bytes) {
      EXPECT_NE(bench.read(at + 0x2310), 0x1234u) << "no copy of the registers after the block";
    }
  }
}

TEST_P(Gen4Streamers, ChangedEntryIsUsedByCpuAndStreamImmediately) {
  FlowBench bench(GetParam());
  const uint64_t page = bench.allocate(1), other = bench.allocate(1), batch = bench.allocate(1);
  bench.poke(page, {kNoop | 0x0040'0001, kBatchEnd});
  bench.poke(other, {kNoop | 0x0040'0002, kBatchEnd});
  bench.start_ring(kRcs);
  static_cast<void>(batch);
  bench.run_all(kRcs, bench.batch(page));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 1u);
  EXPECT_EQ(bench.aperture(page), kNoop | 0x0040'0001);
  bench.map(page / EngineBench::kPage,
            EngineBench::host_address(other));  // only the entry is written; nothing is flushed
  EXPECT_EQ(bench.aperture(page), kNoop | 0x0040'0002);
  bench.run_all(kRcs, bench.batch(page));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 2u);
}

// GR06 and MSR are I/O ports. The paging registers have no memory-mapped offset that is known, so an access finds none.
TEST_P(Gen4Streamers, PortOnlyVgaRegistersAreReportedIfMemoryMapped) {
  COVERS("G45-5.2-02");
  constexpr uint32_t kIndex = 0x3ce, kData = 0x3cf, kMiscWrite = 0x3c2, kMiscRead = 0x3cc;
  FlowBench bench(GetParam());
  bench.host.log.clear();
  const auto write_b = [&](uint32_t port, uint32_t value) { bench.device->bar_write(0, port, 1, value); };
  size_t seen = 0;
  const auto reported = [&] { return std::exchange(seen, bench.undefined()) != bench.undefined(); };
  bench.device->io_write(kIndex, 1, 6);
  bench.device->io_write(kData, 1, 0x0c);
  EXPECT_EQ(bench.device->io_read(kData, 1), 0x0cu);
  bench.device->io_write(kMiscWrite, 1, 0x67);
  EXPECT_EQ(bench.device->io_read(kMiscRead, 1), 0x67u);
  EXPECT_FALSE(reported()) << "as ports";
  write_b(kData, 0x04);
  EXPECT_TRUE(reported());
  EXPECT_EQ(bench.device->bar_read(0, kData, 1), 0x04u) << "the access is done";
  EXPECT_TRUE(reported());
  write_b(kMiscWrite, 0x63);
  EXPECT_TRUE(reported());
  EXPECT_EQ(bench.device->bar_read(0, kMiscRead, 1), 0x63u);
  EXPECT_TRUE(reported());
  // Index and data in one access; other registers are memory-mapped too.
  bench.device->bar_write(0, kIndex, 2, 0x0508);
  EXPECT_FALSE(reported()) << "GR08";
  bench.device->bar_write(0, kIndex, 2, 0x0506);
  EXPECT_TRUE(reported()) << "GR06";
  write_b(0x3c4, 1);
  write_b(0x3c5, 1);
  EXPECT_FALSE(reported());
}

INSTANTIATE_TEST_SUITE_P(Gen4, Gen4Streamers, ::testing::ValuesIn(gen4_chips()), chip_name);

TEST(UpdateGttOrder, UpdateGttTakesEffectAfterAFlush) {
  COVERS("G45-1.19-08");
  for (const bool flushed : {true, false}) {
    FlowBench bench("gm45");
    const uint64_t page = bench.allocate(1), other = bench.allocate(1);
    bench.start_ring(kRcs);
    const auto at = static_cast<uint32_t>(page);
    const auto entry = static_cast<uint32_t>(bench.pte(EngineBench::host_address(other)));
    bench.run_all(kRcs, FlowBench::join({bench.store(page, 1),  // the old translation is in use
                                         {flushed ? kFlush : kNoop},
                                         {0x1180'0001, at, entry},
                                         bench.store(page + 4, 2)}));
    EXPECT_EQ(bench.peek(page), 1u) << "commands before it used the old entry";
    EXPECT_EQ(bench.peek(page + 4), 0u);
    EXPECT_EQ(bench.peek(other + 4), 2u) << "commands after it use the new entry; stores need no flush";
  }
}

}  // namespace
}  // namespace halogen
