// Contexts of GM45's run lists: their tables, their probes, and which table each command's address goes through. Seed
// 003 1.5.1, 1.13, 1.19, 3.4, 4.6.
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kGfxMode = 0x520, kRccid = 0x190, kRncid = 0x198, kTableBase = 0x20c4, kErrors = 0x2024;
using Dwords = FlowBench::Dwords;

// Two contexts, each with a page table of its own: the same pages, elsewhere in memory.
struct TwoContexts : FlowBench {
  static constexpr uint64_t kTables[2] = {0x0400'0000, 0x0401'0000};
  static constexpr uint64_t kOther[2] = {0x0500'0000, 0x0600'0000};

  TwoContexts() : FlowBench("gm45") {
    for (const unsigned which : {0u, 1u}) {
      for (uint64_t page = 0; page < 1024; ++page) {
        host.put<uint32_t>(kTables[which] + 4 * page, static_cast<uint32_t>(kOther[which] + page * kPage) | 1);
      }
      contexts[which] = allocate(8);
    }
    status = give_status_page(kRcs);
    data = allocate(1);
    set_reg(kRcs, kGfxMode, 0x8000'8000);
    // The second one first, so that an image of it exists; then back to the first.
    use_table(1);
    set_reg(kRcs, kRccid, static_cast<uint32_t>(contexts[1]) | 1);
    start_ring(kRcs);
    ask_for(0);
    run_all(kRcs, {kArbCheck, kNoop});
    use_table(0);
    start_ring(kRcs);
    host.log.clear();
  }
  void use_table(unsigned which) { write(kTableBase, static_cast<uint32_t>(kTables[which]) | 1); }
  void ask_for(unsigned which) { set_reg(kRcs, kRncid, static_cast<uint32_t>(contexts[which]) | 1); }
  // Leaves the running context for another.
  void switch_to(unsigned which) {
    ask_for(which);
    run_all(kRcs, {kArbCheck, kNoop});
    EXPECT_EQ(reg(kRcs, kRccid), contexts[which] | 1);
  }
  uint32_t process(unsigned which, uint64_t address) { return host.value_at<uint32_t>(kOther[which] + address); }
  void put_process(unsigned which, uint64_t address, uint32_t value) {
    host.put<uint32_t>(kOther[which] + address, value);
  }

  uint64_t contexts[2] = {}, status = 0, data = 0;
};

TEST(RunListTables, GoWithTheirContext) {
  COVERS("G45-4.6-02");
  TwoContexts bench;
  EXPECT_EQ(bench.read(kTableBase), TwoContexts::kTables[0] | 1);
  const auto own = [&](uint32_t value) { return Dwords{0x1040'0002, 0, static_cast<uint32_t>(bench.data), value}; };
  bench.run_all(kRcs, own(1));
  EXPECT_EQ(bench.process(0, bench.data), 1u);
  bench.ask_for(1);
  bench.run_all(kRcs, {kArbCheck, kNoop});
  EXPECT_EQ(bench.read(kTableBase), TwoContexts::kTables[1] | 1) << "restored";
  bench.start_ring(kRcs);
  bench.run_all(kRcs, own(2));
  EXPECT_EQ(bench.process(1, bench.data), 2u);
  EXPECT_EQ(bench.process(0, bench.data), 1u);
  bench.switch_to(0);
  EXPECT_EQ(bench.read(kTableBase), TwoContexts::kTables[0] | 1) << "saved and restored";
  // A physical address: nothing maps it. And with the table off, accesses of the process use the global one.
  bench.write(kTableBase, static_cast<uint32_t>(TwoContexts::kTables[0]));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, own(3));
  EXPECT_EQ(bench.peek(bench.data), 3u);
  EXPECT_EQ(bench.process(0, bench.data), 1u);
}

TEST(RunListTables, UpdatesReachTheRunningContextOnly) {
  COVERS("G45-1.19-03");
  TwoContexts bench;
  const auto page = static_cast<uint32_t>(bench.data);
  const uint64_t entry = bench.data / EngineBench::kPage * 4;
  bench.run_all(kRcs, {0x11c0'0001, page, 0x0700'0001});
  EXPECT_EQ(bench.host.value_at<uint32_t>(TwoContexts::kTables[0] + entry), 0x0700'0001u);
  EXPECT_EQ(bench.host.value_at<uint32_t>(TwoContexts::kTables[1] + entry), TwoContexts::kOther[1] + bench.data + 1);
  // A fault stops the parser: the update that would repair the page is never parsed.
  bench.host.put<uint32_t>(TwoContexts::kTables[0] + entry + 4, 0);
  bench.run_all(kRcs, {kFlush, kNoop});
  bench.poke(bench.allocate(1), 0);
  bench.run_all(kRcs, FlowBench::join({bench.batch(bench.data + EngineBench::kPage, 1u << 8),
                                       {0x11c0'0001, page + 0x1000, 0x0700'1001}}));
  EXPECT_EQ(bench.host.value_at<uint32_t>(TwoContexts::kTables[0] + entry + 4), 0u);
}

TEST(RunListSemaphores, NeedASharedPlace) {
  COVERS("G45-3.4-08");
  TwoContexts bench;
  const auto at = static_cast<uint32_t>(bench.data);
  const auto signal = [&](bool global) { return Dwords{0x0b20'0001u | (global ? 1u << 22 : 0u), 1, at}; };
  const auto wait = [&](bool global) { return Dwords{0x0b10'0001u | (global ? 1u << 22 : 0u), 1, at}; };
  // Different tables: the signal of one does not reach the other.
  bench.run_all(kRcs, signal(false));
  EXPECT_EQ(bench.process(0, bench.data), 1u);
  bench.ask_for(1);
  bench.run_all(kRcs, {kArbCheck, kNoop});
  bench.start_ring(kRcs);
  bench.emit(kRcs, FlowBench::join({wait(false), {kNoop | 0x0040'0005}}));
  bench.submit(kRcs);
  bench.device->advance(100'000);
  EXPECT_NE(bench.reg(kRcs, kNopid), 5u);
  bench.put_process(1, bench.data, 1);
  bench.device->advance(100'000);
  EXPECT_EQ(bench.reg(kRcs, kNopid), 5u) << "its own place";
  // The global table is one for all.
  bench.run_all(kRcs, signal(true));
  bench.switch_to(0);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({wait(true), {kNoop | 0x0040'0006}}));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 6u);
}

TEST(RunListAddresses, AreOfTheTableThatTheCommandChooses) {
  COVERS("G45-1.5.1-05");
  TwoContexts bench;
  const auto data = static_cast<uint32_t>(bench.data);
  // The start of a batch: secure ones are of the global table.
  const uint64_t batch = bench.place({kNoop | 0x0040'0001, kBatchEnd});
  bench.put_process(0, batch, kNoop | 0x0040'0002);
  bench.put_process(0, batch + 4, kBatchEnd);
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 1u);
  bench.run_all(kRcs, bench.batch(batch, 1u << 8));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 2u);
  struct Row {
    const char* name;
    Dwords global, own;
    uint32_t value;
  };
  bench.write(0x2310, 0x77);  // a counter that nothing counts here
  const std::vector<Row> rows = {
      {"MI_STORE_DATA_IMM", {0x1060'0002, 0, data, 5}, {0x1040'0002, 0, data + 4, 5}, 5},
      {"MI_SEMAPHORE_MBOX", {0x0b60'0001, 1, data + 8}, {0x0b20'0001, 1, data + 12}, 1},
  };
  uint32_t at = 0;
  for (const Row& row : rows) {
    bench.run_all(kRcs, row.global);
    bench.run_all(kRcs, row.own);
    EXPECT_EQ(bench.peek(bench.data + at), row.value) << row.name;
    EXPECT_EQ(bench.process(0, bench.data + at), 0u) << row.name;
    EXPECT_EQ(bench.peek(bench.data + at + 4), 0u) << row.name;
    EXPECT_EQ(bench.process(0, bench.data + at + 4), row.value) << row.name;
    at += 8;
  }
  // A register goes through the table that its command came from, here the global one, or to physical memory.
  bench.run_all(kRcs, {0x1240'0001, 0x2310, data + 16});
  bench.run_all(kRcs, {0x1200'0001, 0x2310, static_cast<uint32_t>(EngineBench::host_address(bench.data + 20))});
  EXPECT_EQ(bench.peek(bench.data + 16), 0x77u);
  EXPECT_EQ(bench.peek(bench.data + 20), 0x77u);
  EXPECT_EQ(bench.process(0, bench.data + 16), 0u);
  // The index goes to the global status page, or to the one in the image of the context.
  bench.run_all(kRcs, {0x1080'0001, 0x100, 8});
  EXPECT_EQ(bench.peek(bench.status + 0x100), 8u);
  bench.run_all(kRcs, {0x10a0'0001, 0x104, 9});
  EXPECT_EQ(bench.peek(bench.contexts[0] + 0x5000 + 0x104), 9u);
  EXPECT_EQ(bench.peek(bench.status + 0x104), 0u);
  // A flip has no choice: its command has no bit for it, and what the plane shows is an address of the global table.
  bench.run_all(kRcs, {0x0a00'0001, 4096, data | 1, kNoop});
  EXPECT_EQ(bench.read(0x7019c), data);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST(RunListProbes, AreTriedAgainWhenTheContextComesBack) {
  COVERS("G45-1.13.1-02");
  TwoContexts bench;
  const auto data = static_cast<uint32_t>(bench.data);
  const uint64_t entry = TwoContexts::kTables[0] + bench.data / EngineBench::kPage * 4;
  bench.run_all(kRcs, {kProbe | 1, data | 7, (data + 0x1000) | 900, kNoop});
  EXPECT_EQ(bench.read(kErrors), 0u) << "the test access finds both pages";
  EXPECT_EQ(bench.reg(kRcs, 0x480), 1u << 7);
  EXPECT_EQ(bench.reg(kRcs, 0x480 + 4 * 28), 1u << 4);
  bench.switch_to(1);
  EXPECT_EQ(bench.reg(kRcs, 0x480), 0u) << "the other context has no probes";
  EXPECT_EQ(bench.read(kErrors), 0u);
  // The page goes away while the context is out.
  bench.host.put<uint32_t>(entry, 0);
  bench.start_ring(kRcs);
  bench.switch_to(0);
  EXPECT_EQ(bench.reg(kRcs, 0x480), 1u << 7) << "its slots are back";
  EXPECT_NE(bench.read(kErrors), 0u) << "and were probed again";
}

TEST(RunListProbes, AreOfTheProcess) {
  COVERS("G45-1.13.1-04");
  TwoContexts bench;
  // A page that only the process has, and one that only the global table has.
  bench.run_all(kRcs, {kProbe, 0x003e'8000 | 7});
  EXPECT_EQ(bench.read(kErrors), 0u);
  bench.host.put<uint32_t>(TwoContexts::kTables[0] + bench.data / EngineBench::kPage * 4, 0);
  bench.run_all(kRcs, {0x1060'0002, 0, static_cast<uint32_t>(bench.data), 1});
  EXPECT_EQ(bench.peek(bench.data), 1u) << "the global table has it";
  EXPECT_EQ(bench.read(kErrors), 0u);
  bench.run_all(kRcs, {kProbe, static_cast<uint32_t>(bench.data) | 8});
  EXPECT_NE(bench.read(kErrors), 0u);
}

// The command behind a probe that faulted waits until its context is back.
TEST(RunListProbes, AFaultHoldsTheNextCommand) {
  TwoContexts bench;
  bench.ask_for(1);
  bench.run_all(kRcs, FlowBench::join({{kProbe, 0x0fff'0000 | 3}, bench.store(bench.status + 0x200, 1)}));
  EXPECT_EQ(bench.reg(kRcs, kRccid), bench.contexts[1] | 1);
  EXPECT_EQ(bench.peek(bench.status + 0x200), 0u);
}

TEST(RunListProbes, ANewOneReplacesTheOldOneOfItsSlot) {
  COVERS("G45-1.13.2-02");
  for (const bool replaced : {false, true}) {
    TwoContexts bench;
    const auto data = static_cast<uint32_t>(bench.data);
    const uint64_t entry = TwoContexts::kTables[0] + bench.data / EngineBench::kPage * 4;
    bench.run_all(kRcs, {kProbe, data | 7});
    if (replaced) {
      bench.run_all(kRcs, {kProbe, (data + 0x1000) | 7});
    }
    bench.switch_to(1);
    bench.host.put<uint32_t>(entry, 0);
    bench.start_ring(kRcs);
    bench.switch_to(0);
    EXPECT_EQ(bench.read(kErrors) != 0, !replaced) << "nobody looks at the first page any more";
  }
}

}  // namespace
}  // namespace halogen
