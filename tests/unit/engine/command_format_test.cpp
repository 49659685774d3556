// Formats of commands and the engines' own reports to their status pages, on DG1. Seed 000, "Command Streamer Command
// Formats" and the table of interrupt bits.
#include <gtest/gtest.h>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

class FormatTest : public ::testing::TestWithParam<const char*> {};

// The first dword tells what a command is and how long: by itself, by a field that never changes, or by one that does.
TEST_P(FormatTest, HeadersAndLengths) {
  COVERS("DG1-CS-06");
  MiBench bench("dg1", GetParam());
  const uint64_t data = bench.allocate(1);
  const auto expect_clean = [&](const char* what) { EXPECT_EQ(bench.events(), 0u) << what; };
  // Implied: one dword, whatever stands in its low bits.
  bench.go(Dwords{0x0040'0002} + bench.store(data, 1));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 2u) << "NOPID";
  // Fixed, and there all the same.
  bench.go(Dwords{0x1040'0002, low(data + 4), 0, 2} + bench.store(data + 8, 3));
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.peek(data + 8), 3u);
  expect_clean("lengths as they should be");
  // Variable: as many registers as the header says, each with its value, and the next command behind them.
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
  // Sequences are padded to a quadword: in a ring half a quadword is not there yet, in a batch the rest is not parsed.
  bench.emit(bench.engine_name, bench.store(data + 16, 4) + Dwords{0x0040'0005});  // five dwords and one of padding
  const auto tail = static_cast<uint32_t>(bench.ring_tail(bench.engine_name));
  bench.set_reg(bench.engine_name, EngineBench::kTail, tail - 4);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 16), 4u);
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 2u) << "behind the last whole quadword";
  bench.set_reg(bench.engine_name, EngineBench::kTail, tail);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 5u);
  EXPECT_EQ(bench.reg(bench.engine_name, EngineBench::kHead), tail);
  bench.go_in_batch(bench.store(data + 20, 5) + Dwords{0x0040'0006}, true);  // six dwords with its end
  EXPECT_EQ(bench.peek(data + 20), 5u);
  EXPECT_EQ(bench.reg(bench.engine_name, 0x94), 6u);
  expect_clean("padding");
}

// Status page, dword 0: bits of a level show it, bits of events read zero; each with a mask bit of the engine.
TEST_P(FormatTest, StatusWritesOfUnmaskedBits) {
  COVERS("DG1-HWSP-03");
  MiBench bench("dg1", GetParam());
  const bool render = bench.engine_name == "rcs0" || bench.engine_name == "ccs0";
  const uint64_t page = bench.allocate(1);
  constexpr uint32_t kHwstam = 0x98, kEmr = 0xb4, kNobody = 0x1234'5678;
  bench.set_reg(bench.engine_name, 0x80, low(page));
  const Dwords user{0x0100'0000};
  const Dwords notify = render ? Dwords{0x7a00'0004, 1u << 20 | 1u << 8, 0, 0, 0, 0} : Dwords{0x1300'0103, 0, 0, 0, 0};
  const auto written = [&](const Dwords& commands) {
    bench.poke(page, kNobody);
    bench.go(commands);
    return bench.peek(page);
  };
  EXPECT_EQ(written(user + notify), kNobody) << "all are masked after reset";
  bench.set_reg(bench.engine_name, kHwstam, ~1u);
  EXPECT_EQ(written(user), 0u) << "a user interrupt";
  EXPECT_EQ(written(notify), kNobody) << "another bit";
  bench.set_reg(bench.engine_name, kHwstam, ~(1u << 4));
  EXPECT_EQ(written(notify), 0u) << "a flush that notifies";
  EXPECT_EQ(written(user), kNobody) << "another bit";
  // The mask is the engine's own: nothing of the others comes into this page.
  const std::string_view other = bench.engine_name == "bcs0" ? "vcs0" : "bcs0";
  bench.set_reg(bench.engine_name, kHwstam, ~0x19u);
  bench.start_ring(other);
  bench.poke(page, kNobody);
  bench.run(other, {0x0100'0000, 0});
  EXPECT_EQ(bench.peek(page), kNobody);
  // Bits that cannot be unmasked: context switch, page fault, the watchdog.
  bench.set_reg(bench.engine_name, kHwstam, ~0x1c0u);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "status_report_test.cpp shows that nothing comes";
  // Errors: a level. The report comes when one is there, and when it no longer counts: only a reset ends this one, but
  // the mask takes it away from the level.
  bench.set_reg(bench.engine_name, kHwstam, ~8u);
  bench.set_reg(bench.engine_name, kEmr, ~1u);
  EXPECT_EQ(written({0xe000'0000, 0}), 8u) << "an error has come";
  bench.poke(page, kNobody);
  bench.set_reg(bench.engine_name, kEmr, ~0u);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(page), 0u) << "and has gone";
}

INSTANTIATE_TEST_SUITE_P(Engines, FormatTest, ::testing::Values("rcs0", "bcs0", "vcs0", "vcs2", "vecs0", "ccs0"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace halogen
