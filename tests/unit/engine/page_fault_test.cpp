// The page fault interrupt: a level that is high while a fault in the per-process tables is pending. DG1 PRM vol. 13,
// bits of the interrupt control registers (seed 000).
#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kPageFault = 1u << 7;

struct FaultBench : ContextBench {
  explicit FaultBench(std::string_view chip) : ContextBench(chip), data(allocate(1)) {}

  // Stores to a page that the process does not map, then to a page in the global table.
  void fault(bool repair, uint32_t id) {
    Context context = create("rcs0", id);
    map_process(context, 0x10'0000, data);
    if (repair) {
      context.bits = 1u << 6;  // advanced context, fault and halt; the bench has no tables for it
    }
    emit(context, {0x1000'0002, 0x20'0000, 0, 1});
    emit(context, store(data + 4 * id, 1));
    submit({&context});
    device->advance(50'000);
    EXPECT_EQ(peek(data + 4 * id), 0u) << "the engine stopped";
    EXPECT_EQ(read(fault_register()) & 1, 1u);
  }
  uint32_t fault_register() const { return model.gen == spec::GenId::gen12 ? 0xcec4 : 0x4094; }
  void reset_render() {
    write(0x941c, 2);
    forget_statuses("rcs0");
    set_reg("rcs0", kStatusPageAddress, static_cast<uint32_t>(status_page("rcs0")));
    set_reg("rcs0", kMode, 0x8000'8000);
  }
  // Returns the events of the render engine that reach software, and acknowledges them.
  uint32_t take_events() {
    if ((read(0x190018) & 1) == 0) {
      return 0;
    }
    write(0x190070, 1);
    const uint32_t identity = read(0x190060);
    EXPECT_EQ(identity >> 31, 1u);
    EXPECT_EQ(identity >> 16 & 0x7fff, 0u) << "render, instance 0";
    write(0x190060, 1u << 31);
    write(0x190018, 1);
    return identity & 0xffff;
  }

  uint64_t data;
};

class CollapsedPageFault : public ::testing::TestWithParam<const char*> {};

// The mask applies, unless the context is in fault repair mode.
TEST_P(CollapsedPageFault, FaultRepairModeBypassesTheMask) {
  COVERS("DG1-HWSP-04");
  for (const bool repair : {false, true}) {
    for (const bool masked : {false, true}) {
      FaultBench bench(GetParam());
      bench.write(0x190030, 0xffff'0000);                         // all events of the render engine
      bench.write(0x190090, masked ? ~0u : ~(kPageFault << 16));  // its mask register
      EXPECT_EQ(bench.take_events(), 0u);
      const uint32_t expected = repair || !masked ? kPageFault : 0u;
      bench.fault(repair, 1);
      EXPECT_EQ(bench.take_events(), expected) << repair << masked;
      EXPECT_EQ(bench.take_events(), 0u) << "reported only once";
      // The fault is served; the next fault is a new one.
      bench.write(bench.fault_register(), 0);
      bench.reset_render();
      bench.fault(repair, 2);
      EXPECT_EQ(bench.take_events(), expected) << repair << masked;
      // A masked fault stays pending.
      bench.write(0x190090, ~(kPageFault << 16));
      EXPECT_EQ(bench.take_events(), kPageFault & ~expected);
    }
  }
}

TEST_P(CollapsedPageFault, MasksOfOtherEnginesStillApply) {
  FaultBench bench(GetParam());
  bench.write(0x190030, 0xffff'ffff);  // render and copy
  bench.write(0x190090, ~0u);
  bench.write(0x1900a0, ~0u);
  Context copy = bench.create("bcs0", 9);
  bench.map_process(copy, 0x10'0000, bench.data);
  bench.emit(copy, {0x1000'0002, 0x20'0000, 0, 1});
  bench.submit({&copy});
  bench.device->advance(50'000);
  bench.fault(true, 1);
  EXPECT_EQ(bench.read(0x190018), 1u) << "only the render engine";
}

INSTANTIATE_TEST_SUITE_P(Chips, CollapsedPageFault, ::testing::Values("icl", "tgl", "dg1"));

class BankPageFault : public ::testing::TestWithParam<const char*> {};

// The status bit stays set until software clears the fault register or the engine is reset.
TEST_P(BankPageFault, StatusBitIsSetWhileTheFaultIsPending) {
  constexpr uint32_t kStatus = 0x44300;
  FaultBench bench(GetParam());
  bench.write(0x20a8, ~kPageFault);
  EXPECT_EQ(bench.read(kStatus) & kPageFault, 0u);
  bench.fault(false, 1);
  EXPECT_EQ(bench.read(kStatus) & kPageFault, kPageFault);
  bench.write(bench.fault_register(), 0);
  EXPECT_EQ(bench.read(kStatus) & kPageFault, 0u);
  bench.reset_render();
  bench.write(0x20a8, ~kPageFault);
  bench.fault(false, 2);
  EXPECT_EQ(bench.read(kStatus) & kPageFault, kPageFault);
  bench.reset_render();
  EXPECT_EQ(bench.read(kStatus) & kPageFault, 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, BankPageFault, ::testing::Values("bdw", "chv", "skl"));

}  // namespace
}  // namespace halogen
