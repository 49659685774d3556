// Command formats, and the engines' interrupt status writes to their status pages, on DG1. DG1 PRM vol. 13, "Command
// Streamer Command Formats" and the table of interrupt bits (seed 000).
#include <gtest/gtest.h>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

class FormatTest : public ::testing::TestWithParam<const char*> {};

// The first dword of a command identifies it and gives its length: implied, fixed or variable.
TEST_P(FormatTest, ImpliedFixedAndVariableLengthsAreParsed) {
  COVERS("DG1-CS-06");
  MiBench bench("dg1", GetParam());
  const uint64_t data = bench.allocate(1);
  const auto expect_clean = [&](const char* what) { EXPECT_EQ(bench.events(), 0u) << what; };
  // Implied length: one dword, whatever the low bits are.
  bench.go(Dwords{0x0040'0002} + bench.store(data, 1));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 2u) << "NOPID";
  // Fixed length that is also encoded in the header.
  bench.go(Dwords{0x1040'0002, low(data + 4), 0, 2} + bench.store(data + 8, 3));
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.peek(data + 8), 3u);
  expect_clean("implied and fixed lengths");
  // Variable length: the header gives the number of register and value pairs.
  for (const unsigned pairs : {1u, 2u, 5u, 16u}) {
    Dwords load{0x1100'0000 | (2 * pairs - 1)};
    for (unsigned i = 0; i < 16; ++i) bench.write(bench.gpr(i), 0);
    for (unsigned i = 0; i < pairs; ++i) load = load + Dwords{bench.gpr(i), 0x100 * pairs + i};
    bench.go(load + bench.store(data + 12, pairs));
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT_EQ(bench.read(bench.gpr(i)), i < pairs ? 0x100 * pairs + i : 0u) << pairs << " pairs, " << i;
    }
    EXPECT_EQ(bench.peek(data + 12), pairs);
  }
  expect_clean("any number of pairs");
  // Sequences are padded to a quadword. In a ring, half a quadword lies before the tail and is not parsed; in a batch,
  // dwords after the end are not parsed.
  bench.emit(bench.engine_name,
             bench.store(data + 16, 4) + Dwords{0x0040'0005});  // five dwords and one dword of padding
  const auto tail = static_cast<uint32_t>(bench.ring_tail(bench.engine_name));
  bench.set_reg(bench.engine_name, EngineBench::kTail, tail - 4);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 16), 4u);
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 2u) << "the command in the incomplete quadword was not parsed";
  bench.set_reg(bench.engine_name, EngineBench::kTail, tail);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 5u);
  EXPECT_EQ(bench.reg(bench.engine_name, EngineBench::kHead), tail);
  bench.go_in_batch(bench.store(data + 20, 5) + Dwords{0x0040'0006}, true);  // six dwords including the batch end
  EXPECT_EQ(bench.peek(data + 20), 5u);
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 6u);
  expect_clean("padding");
}

// Dword 0 of the status page: level bits show their level, event bits read zero. Each bit has a mask bit in the
// engine's HWSTAM.
TEST_P(FormatTest, UnmaskedInterruptBitsAreWrittenToTheStatusPage) {
  COVERS("DG1-HWSP-03");
  MiBench bench("dg1", GetParam());
  const bool render = bench.engine_name == "rcs0" || bench.engine_name == "ccs0";
  const uint64_t page = bench.allocate(1);
  constexpr uint32_t kHwstam = 0x98, kEmr = 0xb4, kUntouched = 0x1234'5678;
  bench.set_reg(bench.engine_name, 0x80, low(page));
  const Dwords user{0x0100'0000};
  const Dwords notify = render ? Dwords{0x7a00'0004, 1u << 20 | 1u << 8, 0, 0, 0, 0} : Dwords{0x1300'0103, 0, 0, 0, 0};
  const auto written = [&](const Dwords& commands) {
    bench.poke(page, kUntouched);
    bench.go(commands);
    return bench.peek(page);
  };
  EXPECT_EQ(written(user + notify), kUntouched) << "all bits are masked after reset";
  bench.set_reg(bench.engine_name, kHwstam, ~1u);
  EXPECT_EQ(written(user), 0u) << "the user interrupt bit is unmasked";
  EXPECT_EQ(written(notify), kUntouched) << "the notify bit is masked";
  bench.set_reg(bench.engine_name, kHwstam, ~(1u << 4));
  EXPECT_EQ(written(notify), 0u) << "the notify bit is unmasked";
  EXPECT_EQ(written(user), kUntouched) << "the user interrupt bit is masked";
  // The mask belongs to the engine: interrupts of other engines are not written to this page.
  const std::string_view other = bench.engine_name == "bcs0" ? "vcs0" : "bcs0";
  bench.set_reg(bench.engine_name, kHwstam, ~0x19u);
  bench.start_ring(other);
  bench.poke(page, kUntouched);
  bench.run(other, {0x0100'0000, 0});
  EXPECT_EQ(bench.peek(page), kUntouched);
  // Bits that cannot be unmasked: context switch, page fault, watchdog.
  bench.set_reg(bench.engine_name, kHwstam, ~0x1c0u);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u)
      << "status_report_test.cpp checks that nothing is written";
  // Error bits are levels. The status page is written when the level rises and when it falls. Only a reset clears this
  // error, but the mask removes it from the level.
  bench.set_reg(bench.engine_name, kHwstam, ~8u);
  bench.set_reg(bench.engine_name, kEmr, ~1u);
  EXPECT_EQ(written({0xe000'0000, 0}), 8u) << "an error is reported";
  bench.poke(page, kUntouched);
  bench.set_reg(bench.engine_name, kEmr, ~0u);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(page), 0u) << "the masked error is removed";
}

INSTANTIATE_TEST_SUITE_P(Engines, FormatTest, ::testing::Values("rcs0", "bcs0", "vcs0", "vcs2", "vecs0", "ccs0"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace halogen
