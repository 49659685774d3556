// Contexts of GM45's run lists: their page tables, their probes, and the table that each command's address uses. G45
// PRM vol. 1b 1.5.1, 1.13, 1.19, 3.4, 4.6 (seed 003).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kGfxMode = 0x520, kRccid = 0x190, kRncid = 0x198, kTableBase = 0x20c4, kErrors = 0x2024;
using Dwords = FlowBench::Dwords;

// Two contexts with different page tables: the same graphics pages map to different memory.
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
    // The second context runs first, so that it has an image; then the first resumes.
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
  // Switches from the running context to another.
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

TEST(RunListTables, TableBaseIsSavedAndRestoredWithTheContext) {
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
  // The base is a physical address and needs no mapping. With the per-process table disabled, accesses of the process
  // use the global table.
  bench.write(kTableBase, static_cast<uint32_t>(TwoContexts::kTables[0]));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, own(3));
  EXPECT_EQ(bench.peek(bench.data), 3u);
  EXPECT_EQ(bench.process(0, bench.data), 1u);
}

TEST(RunListTables, UpdateGttChangesOnlyTheTablesOfTheRunningContext) {
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

TEST(RunListSemaphores, ContextsNeedASharedSemaphorePage) {
  COVERS("G45-3.4-08");
  TwoContexts bench;
  const auto at = static_cast<uint32_t>(bench.data);
  const auto signal = [&](bool global) { return Dwords{0x0b20'0001u | (global ? 1u << 22 : 0u), 1, at}; };
  const auto wait = [&](bool global) { return Dwords{0x0b10'0001u | (global ? 1u << 22 : 0u), 1, at}; };
  // Different tables: a signal of one context does not reach the other.
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
  EXPECT_EQ(bench.reg(kRcs, kNopid), 5u) << "the signal went to the context's own page";
  // All contexts share the global table.
  bench.run_all(kRcs, signal(true));
  bench.switch_to(0);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({wait(true), {kNoop | 0x0040'0006}}));
  EXPECT_EQ(bench.reg(kRcs, kNopid), 6u);
}

TEST(RunListAddresses, CommandSelectsTheTable) {
  COVERS("G45-1.5.1-05");
  TwoContexts bench;
  const auto data = static_cast<uint32_t>(bench.data);
  // A batch start: secure batches use the global table.
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
  bench.write(0x2310, 0x77);  // a counter that nothing increments here
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
  // A register store uses the table of its command buffer, here the global table, or physical memory.
  bench.run_all(kRcs, {0x1240'0001, 0x2310, data + 16});
  bench.run_all(kRcs, {0x1200'0001, 0x2310, static_cast<uint32_t>(EngineBench::host_address(bench.data + 20))});
  EXPECT_EQ(bench.peek(bench.data + 16), 0x77u);
  EXPECT_EQ(bench.peek(bench.data + 20), 0x77u);
  EXPECT_EQ(bench.process(0, bench.data + 16), 0u);
  // An indexed store writes the global status page, or the status page in the context image.
  bench.run_all(kRcs, {0x1080'0001, 0x100, 8});
  EXPECT_EQ(bench.peek(bench.status + 0x100), 8u);
  bench.run_all(kRcs, {0x10a0'0001, 0x104, 9});
  EXPECT_EQ(bench.peek(bench.contexts[0] + 0x5000 + 0x104), 9u);
  EXPECT_EQ(bench.peek(bench.status + 0x104), 0u);
  // A flip has no choice of table: the plane shows an address in the global table.
  bench.run_all(kRcs, {0x0a00'0001, 4096, data | 1, kNoop});
  EXPECT_EQ(bench.read(0x7019c), data);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST(RunListProbes, ProbesAreRepeatedWhenTheContextResumes) {
  COVERS("G45-1.13.1-02");
  TwoContexts bench;
  const auto data = static_cast<uint32_t>(bench.data);
  const uint64_t entry = TwoContexts::kTables[0] + bench.data / EngineBench::kPage * 4;
  bench.run_all(kRcs, {kProbe | 1, data | 7, (data + 0x1000) | 900, kNoop});
  EXPECT_EQ(bench.read(kErrors), 0u) << "both probed pages are mapped";
  EXPECT_EQ(bench.reg(kRcs, 0x480), 1u << 7);
  EXPECT_EQ(bench.reg(kRcs, 0x480 + 4 * 28), 1u << 4);
  bench.switch_to(1);
  EXPECT_EQ(bench.reg(kRcs, 0x480), 0u) << "the other context has no probes";
  EXPECT_EQ(bench.read(kErrors), 0u);
  // The page is unmapped while the context is switched out.
  bench.host.put<uint32_t>(entry, 0);
  bench.start_ring(kRcs);
  bench.switch_to(0);
  EXPECT_EQ(bench.reg(kRcs, 0x480), 1u << 7) << "its slots are restored";
  EXPECT_NE(bench.read(kErrors), 0u) << "and probed again";
}

TEST(RunListProbes, ProbesUseTheProcessTable) {
  COVERS("G45-1.13.1-04");
  TwoContexts bench;
  // One page is mapped only for the process, one only in the global table.
  bench.run_all(kRcs, {kProbe, 0x003e'8000 | 7});
  EXPECT_EQ(bench.read(kErrors), 0u);
  bench.host.put<uint32_t>(TwoContexts::kTables[0] + bench.data / EngineBench::kPage * 4, 0);
  bench.run_all(kRcs, {0x1060'0002, 0, static_cast<uint32_t>(bench.data), 1});
  EXPECT_EQ(bench.peek(bench.data), 1u) << "the global table maps it";
  EXPECT_EQ(bench.read(kErrors), 0u);
  bench.run_all(kRcs, {kProbe, static_cast<uint32_t>(bench.data) | 8});
  EXPECT_NE(bench.read(kErrors), 0u);
}

TEST(RunListProbes, CommandAfterAFaultedProbeWaitsForItsContext) {
  TwoContexts bench;
  const auto mark = static_cast<uint32_t>(bench.status + 0x200);
  for (const uint32_t page : {static_cast<uint32_t>(bench.data), 0x0fff'0000u}) {
    bench.start_ring(kRcs);
    bench.poke(mark, 0u);
    bench.ask_for(1);
    bench.run_all(kRcs, {kProbe, page | 3, 0x1060'0002, 0, mark, 1});
    EXPECT_EQ(bench.reg(kRcs, kRccid), bench.contexts[1] | 1);
    EXPECT_EQ(bench.peek(mark), page == bench.data ? 1u : 0u) << "through the global table";
    bench.start_ring(kRcs);
    bench.switch_to(0);
  }
}

// A long BLT is at work when the probe is submitted: the context leaves after it, and the next command is not executed.
TEST(RunListProbes, FaultedProbeSwitchesContextsWhenThePipelineIsEmpty) {
  COVERS("G45-1.13.1-03");
  constexpr uint32_t kLines = 768, kBad = 0x0fff'0000;
  for (const bool faults : {false, true}) {
    SCOPED_TRACE(faults);
    TwoContexts bench;
    const auto data = static_cast<uint32_t>(bench.data);
    const uint64_t target = bench.allocate(kLines);
    bench.emit(kRcs, {0x5430'0004, 0x03f0'1000, 0, kLines << 16 | 1024, static_cast<uint32_t>(target), 0x1234'5678});
    bench.emit(kRcs, {kProbe, (faults ? kBad : data) | 3});
    bench.emit(kRcs, {0x1060'0002, 0, static_cast<uint32_t>(bench.status) + 0x200, 1});  // through the global table
    bench.submit(kRcs);
    const auto line_done = [&](uint32_t line) {
      return bench.peek(target + uint64_t{line} * 4096 + 4092) == 0x1234'5678u;
    };
    bench.device->advance(500);
    EXPECT_TRUE(line_done(0) && !line_done(kLines - 1)) << "the BLT is at work";
    EXPECT_EQ(bench.read(kErrors), 0u) << "the probe waits for it";
    bench.ask_for(1);
    for (unsigned step = 0; bench.reg(kRcs, kRccid) != (bench.contexts[1] | 1); ++step) {
      ASSERT_LT(step, 100'000u);
      bench.device->advance(500);
    }
    EXPECT_EQ(bench.read(kErrors) != 0, faults);
    EXPECT_EQ(bench.peek(bench.status + 0x200), faults ? 0u : 1u) << "the command behind the probe";
    for (uint32_t line = 0; line < kLines; ++line) {
      ASSERT_TRUE(line_done(line)) << line;
    }
  }
  // The probes of a command are all processed, whichever faults.
  TwoContexts bench;
  bench.run_all(kRcs, {kProbe | 2, kBad | 3, static_cast<uint32_t>(bench.data) | 7, kBad | 40});
  EXPECT_NE(bench.read(kErrors), 0u);
  EXPECT_EQ(bench.reg(kRcs, 0x480) & 1u << 7, 1u << 7) << "the valid probe behind the fault is in its slot";
}

TEST(RunListProbes, NewProbeReplacesTheProbeInItsSlot) {
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
    EXPECT_EQ(bench.read(kErrors) != 0, !replaced) << "the first page is no longer probed";
  }
}

}  // namespace
}  // namespace halogen
