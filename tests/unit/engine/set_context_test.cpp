// Logical contexts before execlists: MI_SET_CONTEXT. G45 PRM vol. 1b 1.15, 5.8 (seed 003).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kCcid = 0x180, kCacheMode0 = 0x2120, kVertices = 0x2310;
constexpr uint32_t kInhibit = 1, kForce = 2, kExtendedRestore = 4, kExtendedSave = 8, kGlobal = 0x100;

class SetContext : public ::testing::TestWithParam<std::string> {
 protected:
  SetContext() : bench(GetParam()) {
    first = bench.allocate(1);
    second = bench.allocate(1);
    bench.start_ring(kRcs);
  }
  void switch_to(uint64_t context, uint32_t flags) {
    bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(context) | kGlobal | flags, kNoop, kNoop});
  }
  void set_state(uint32_t value) {
    bench.write(kCacheMode0, 0xffff'0000 | value);
    bench.write(kVertices, value * 3);
  }
  void expect_state(uint32_t value) {
    EXPECT_EQ(bench.read(kCacheMode0), value);
    EXPECT_EQ(bench.read(kVertices), value * 3);
  }
  bool saved(uint64_t context) { return bench.peek(context) != 0; }

  FlowBench bench;
  uint64_t first = 0, second = 0;
};

TEST_P(SetContext, SavesTheOldContextAndLoadsTheNew) {
  COVERS("G45-5.8.1-05");
  COVERS("G45-5.8.1-08");
  set_state(1);
  switch_to(first, kInhibit);
  EXPECT_FALSE(saved(first)) << "the first switch saves nothing: there was no valid context";
  expect_state(1);
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 0xffff'f801, first | 1);
  switch_to(second, kInhibit);
  EXPECT_TRUE(saved(first));
  expect_state(1);
  set_state(2);
  switch_to(first, 0);
  EXPECT_TRUE(saved(second));
  expect_state(1);
  switch_to(second, 0);
  expect_state(2);
  EXPECT_EQ(bench.undefined(), 0u);
}

// CCID is undefined at start: it may name any address, and only its valid bit says that a context is there to save.
TEST_P(SetContext, FirstValidIdSavesNoContext) {
  COVERS("G45-5.8.1-03");
  const auto global = bench.is_gen4() ? kGlobal : 0;  // CCID's own bit
  set_state(1);
  bench.set_reg(kRcs, kCcid, static_cast<uint32_t>(second) | global);
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 0xffff'f801, second) << "an address without the valid bit";
  switch_to(first, kInhibit);
  EXPECT_FALSE(saved(second));
  EXPECT_FALSE(saved(first));
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 0xffff'f801, first | 1);
  // With the valid bit, the same switch saves.
  bench.set_reg(kRcs, kCcid, static_cast<uint32_t>(second) | global | 1);
  switch_to(first, kInhibit);
  EXPECT_TRUE(saved(second));
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(SetContext, SameAddressIsANoop) {
  COVERS("G45-1.15-02");
  set_state(1);
  switch_to(first, kInhibit);
  switch_to(second, kInhibit);
  switch_to(first, 0);
  set_state(3);
  switch_to(first, 0);
  expect_state(3);
  switch_to(first, kForce);  // saves, and loads the same context again
  expect_state(3);
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 0xffff'f801, first | 1);
  switch_to(second, 0);
  expect_state(1);
  switch_to(first, 0);
  expect_state(3);
}

TEST_P(SetContext, RestoreInhibitKeepsTheRegisterValues) {
  COVERS("G45-1.15-05");
  set_state(1);
  switch_to(first, kInhibit);
  switch_to(second, kInhibit);
  set_state(2);
  switch_to(first, kInhibit);
  expect_state(2);
}

TEST_P(SetContext, RestoreInhibitWithForceRestoreIsReported) {
  COVERS("G45-1.15-03");
  switch_to(first, kInhibit | kForce);
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 3, 1u) << "neither bit is kept";
}

TEST_P(SetContext, MissingNoopIsReported) {
  COVERS("G45-1.15-06");
  bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(first) | kGlobal | kInhibit, kUserInterrupt, kNoop});
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST_P(SetContext, UseInABatchIsReported) {
  COVERS("G45-5.8.1-04");
  const uint64_t batch =
      bench.place({kSetContext, static_cast<uint32_t>(first) | kGlobal | kInhibit, kNoop, kBatchEnd});
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 1, 0u);
}

TEST_P(SetContext, ImageNotSavedByHardwareIsReported) {
  COVERS("G45-5.8.1-06");
  COVERS("G45-5.8.1-02");
  set_state(1);
  bench.poke(second, {0x1234'5678, 0x9abc'def0, 5});
  switch_to(first, kInhibit);
  switch_to(second, 0);
  EXPECT_EQ(bench.undefined(), 1u);
  expect_state(1);
}

TEST_P(SetContext, CopiedImageCanBeLoaded) {
  set_state(7);
  switch_to(first, kInhibit);
  switch_to(second, kInhibit);
  const uint64_t copy = bench.allocate(1);
  for (uint64_t at = 0; at < 2048; at += 4) {
    bench.poke(copy + at, bench.peek(first + at));
  }
  set_state(8);
  switch_to(copy, 0);
  expect_state(7);
}

TEST_P(SetContext, MiRegistersAreLoadCommandsInTheImage) {
  set_state(5);
  switch_to(first, kInhibit);
  EXPECT_FALSE(saved(first));
  switch_to(first, 0);
  EXPECT_FALSE(saved(first)) << "the address is unchanged";
  switch_to(first, kForce | kInhibit);
  EXPECT_TRUE(saved(first)) << "force restore saves too";
  bool found = false;
  for (uint64_t at = 0; at + 8 < 2048; at += 4) {
    found |= bench.peek(first + at) >> 23 == 0x22 && bench.peek(first + at + 4) == kCacheMode0 &&
             (bench.peek(first + at + 8) & 0xffff) == 5;
  }
  EXPECT_TRUE(found);
}

INSTANTIATE_TEST_SUITE_P(Rings, SetContext, ::testing::ValuesIn(ring_chips()), chip_name);

class Gen4Context : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Context, PhysicalContextsAreSavedAndLoaded) {
  COVERS("G45-1.15-01");
  FlowBench bench(GetParam());
  bench.host.top = uint64_t{1} << 36;
  bench.start_ring(kRcs);
  const uint64_t far = 0x5'3000'0800;
  bench.write(kCacheMode0, 0xffff'0011);
  bench.run_all(kRcs, {kSetContext, 0x3000'0800 | 5u << 4 | kInhibit, kNoop, kNoop});
  bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(bench.allocate(1)) | kGlobal | kInhibit, kNoop, kNoop});
  EXPECT_NE(bench.host.value_at<uint32_t>(far), 0u) << "saved at a 36-bit address, aligned to 2 KB";
  bench.write(kCacheMode0, 0xffff'0022);
  bench.run_all(kRcs, {kSetContext, 0x3000'0800 | 5u << 4, kNoop, kNoop});
  EXPECT_EQ(bench.read(kCacheMode0), 0x11u);
}

TEST_P(Gen4Context, PhysicalContextMustNotCrossAPage) {
  COVERS("G45-1.15-07");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const uint64_t page = bench.allocate(2);
  bench.poke(page + 0x1000, 0xdddd'dddd);
  const auto physical = static_cast<uint32_t>(EngineBench::host_address(page)) + 0x800;
  bench.set_reg(kRcs, 0x1a0, 0xff);  // the longest size
  bench.run_all(kRcs, {kSetContext, physical | kInhibit, kNoop, kNoop});
  bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(bench.allocate(1)) | kGlobal | kInhibit, kNoop, kNoop});
  EXPECT_NE(bench.peek(page + 0x800), 0u);
  EXPECT_EQ(bench.peek(page + 0x1000), 0xdddd'ddddu);
}

TEST_P(Gen4Context, SnoopedContextMemoryIsReported) {
  COVERS("G45-5.3.6-01");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const uint64_t context = bench.allocate(1);
  bench.set_entry(context / EngineBench::kPage, bench.entry(context / EngineBench::kPage) | 6);
  bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(context) | kGlobal | kInhibit, kNoop, kNoop});
  bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(bench.allocate(1)) | kGlobal | kInhibit, kNoop, kNoop});
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST_P(Gen4Context, SizeIsCountedInLines) {
  COVERS("G45-5.8.1-01");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const uint64_t context = bench.allocate(1), other = bench.allocate(1);
  for (uint64_t at = 0; at < 4096; at += 4) {
    bench.poke(context + at, 0xdddd'dddd);
  }
  EXPECT_EQ(bench.reg(kRcs, 0x1a0) & 0xff, 31u) << "2 KB in lines of 64 bytes, minus one";
  const auto leave = [&] {
    bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(context) | kGlobal | kInhibit, kNoop, kNoop});
    bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(other) | kGlobal | kInhibit, kNoop, kNoop});
  };
  bench.set_reg(kRcs, 0x1a0, 1);
  leave();
  EXPECT_NE(bench.peek(context + 64), 0xdddd'ddddu);
  EXPECT_EQ(bench.peek(context + 128), 0xdddd'ddddu) << "only two lines are written";
  bench.set_reg(kRcs, 0x1a0, 31);
  leave();
  EXPECT_NE(bench.peek(context + 2044), 0xdddd'ddddu);
  EXPECT_EQ(bench.peek(context + 2048), 0xdddd'ddddu) << "never more than 2 KB";
}

TEST_P(Gen4Context, ExtendedStateEnablesAreKept) {
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const auto context = static_cast<uint32_t>(bench.allocate(1));
  bench.run_all(kRcs, {kSetContext, context | kGlobal | kInhibit | kExtendedSave, kNoop, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 0xf, kExtendedSave | 1);
  bench.run_all(kRcs, {kSetContext, context | kGlobal | kExtendedRestore, kNoop, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kCcid) & 0xf, kExtendedRestore | 1) << "loaded although the address is unchanged";
}

TEST_P(Gen4Context, OnlyContextRegistersAreSavedAndRestored) {
  COVERS("G45-5.8-01");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const auto first = static_cast<uint32_t>(bench.allocate(1)), second = static_cast<uint32_t>(bench.allocate(1));
  const auto set_all = [&](uint32_t value) {
    bench.write(0x20c0, 0x0040'0000 | (value & 1) << 6);  // INSTPM, a bit without effect here
    bench.write(0x2120, 0xffff'0000 | value);
    bench.write(0x2124, 0xffff'0000 | value);
    bench.write(0x20e4, 0xffff'0000 | value << 12);
    for (uint32_t at = 0x2310; at <= 0x2354; at += 4) {
      bench.write(at, value + at);
    }
    bench.write(0x2098, value);  // HWSTAM is global
  };
  set_all(1);
  bench.run_all(kRcs, {kSetContext, first | kGlobal | kInhibit, kNoop, kNoop});
  bench.run_all(kRcs, {kSetContext, second | kGlobal | kInhibit, kNoop, kNoop});
  set_all(2);
  bench.run_all(kRcs, {kSetContext, first | kGlobal, kNoop, kNoop});
  EXPECT_EQ(bench.read(0x20c0) & 0x40, 0x40u);
  EXPECT_EQ(bench.read(0x2120), 1u);
  EXPECT_EQ(bench.read(0x2124), 1u);
  EXPECT_EQ(bench.read(0x20e4), 1u << 12);
  for (uint32_t at = 0x2310; at <= 0x2354; at += 4) {
    EXPECT_EQ(bench.read(at), 1 + at);
  }
  EXPECT_EQ(bench.read(0x2098), 2u) << "not saved";
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen4Context, ::testing::ValuesIn(gen4_chips()), chip_name);

}  // namespace
}  // namespace halogen
