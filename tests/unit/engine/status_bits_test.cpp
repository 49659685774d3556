// Interrupt status bits that the streamers set, and their writes to the hardware status page. G45 PRM vol. 1b 1.20,
// 3.7, 5.4 (seed 003); DG1 PRM vol. 13, interrupt control registers (seed 000); notes (seed 004), interrupts.
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kIsr = 0x20ac, kIir = 0x20a4, kImr = 0x20a8;
constexpr uint32_t kUser = 1u << 1, kNotify = 1u << 18, kMasterError = 1u << 15;
using Dwords = FlowBench::Dwords;

class StatusBits : public ::testing::TestWithParam<std::string> {
 protected:
  StatusBits() : bench(GetParam()) { bench.start_ring(kRcs); }
  FlowBench bench;
};

TEST_P(StatusBits, MasterErrorIsSetWhileAnUnmaskedErrorIsSet) {
  COVERS("G45-5.4.1-01");
  bench.write(kImr, ~kMasterError);
  bench.run_all(kRcs, {0xe000'0000, kNoop});  // a reserved client
  EXPECT_EQ(bench.reg(kRcs, kEsr) & 1, 1u);
  EXPECT_EQ(bench.read(kIsr) & kMasterError, 0u) << "masked in EMR";
  bench.set_reg(kRcs, kEmr, ~1u);
  EXPECT_EQ(bench.read(kIsr) & kMasterError, kMasterError);
  EXPECT_EQ(bench.read(kIir) & kMasterError, kMasterError);
  bench.set_reg(kRcs, kEmr, ~0u);
  EXPECT_EQ(bench.read(kIsr) & kMasterError, 0u);
}

TEST_P(StatusBits, UserInterruptIsSetByTheCommand) {
  COVERS("G45-5.4.7-01");
  COVERS("G45-3.7-01");
  const uint64_t data = bench.allocate(1);
  bench.write(kImr, ~kUser);
  bench.run_all(kRcs, bench.store(data, 1));
  EXPECT_EQ(bench.read(kIir) & kUser, 0u);
  bench.run_all(kRcs, FlowBench::join({{kUserInterrupt, kNoop}, bench.store(data, 2)}));
  EXPECT_EQ(bench.read(kIir) & kUser, kUser);
  EXPECT_EQ(bench.peek(data), 2u) << "parsing continues";
  // While the interrupt is pending, another one changes nothing.
  const uint32_t status = bench.read(kIsr);
  bench.run_all(kRcs, {kUserInterrupt, kUserInterrupt});
  EXPECT_EQ(bench.read(kIir) & kUser, kUser);
  EXPECT_EQ(bench.read(kIsr), status);
  bench.write(kIir, kUser);
  EXPECT_EQ(bench.read(kIir) & kUser, 0u) << "three commands gave one interrupt";
  bench.run_all(kRcs, {kUserInterrupt, kNoop});
  EXPECT_EQ(bench.read(kIir) & kUser, kUser) << "the interrupt can be raised again";
}

TEST_P(StatusBits, NotifyFollowsThePostSyncWrite) {
  COVERS("G45-5.4.8-01");
  const uint64_t data = bench.allocate(1);
  bench.write(kImr, ~kNotify);
  const auto control = [&](uint32_t flags, uint32_t value) {
    return Dwords{0x7a00'0002 | 1u << 14 | flags, static_cast<uint32_t>(data) | 4, value, 0};
  };
  bench.run_all(kRcs, control(0, 1));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.read(kIir) & kNotify, 0u) << "notify is not enabled";
  bench.run_all(kRcs, control(1u << 8, 2));
  EXPECT_EQ(bench.peek(data), 2u) << "the write of the command is done";
  EXPECT_EQ(bench.read(kIir) & kNotify, kNotify);
}

INSTANTIATE_TEST_SUITE_P(Gen4, StatusBits, ::testing::ValuesIn(gen4_chips()), chip_name);

// Later chips: the first level of each kind of interrupt logic, with the registers that the Linux driver unmasks and
// reads.
struct UserInterruptPlace {
  const char* chip;
  uint32_t mask, enable, identity, bit;
};

TEST(UserInterrupts, CommandRaisesTheInterruptOfItsEngine) {
  COVERS("NOTES-IRQ-02");
  const std::vector<UserInterruptPlace> places = {
      {"i965", 0x20a8, 0x20a0, 0x20a4, 1u << 1}, {"gm965", 0x20a8, 0x20a0, 0x20a4, 1u << 1},
      {"g45", 0x20a8, 0x20a0, 0x20a4, 1u << 1},  {"gm45", 0x20a8, 0x20a0, 0x20a4, 1u << 1},
      {"snb", 0x44014, 0x4401c, 0x44018, 1},     {"bdw", 0x44304, 0x4430c, 0x44308, 1},
      {"chv", 0x44304, 0x4430c, 0x44308, 1},     {"skl", 0x44304, 0x4430c, 0x44308, 1},
      {"icl", 0x190090, 0x190030, 0x190018, 1},  {"tgl", 0x190090, 0x190030, 0x190018, 1},
      {"dg1", 0x190090, 0x190030, 0x190018, 1},
  };
  for (const UserInterruptPlace& place : places) {
    FlowBench bench(place.chip);
    const bool collapsed = place.identity == 0x190018;
    bench.start_ring(kRcs);
    if (collapsed) {
      bench.write(place.enable, 1u << 16);  // render class, in the high half
      bench.write(place.mask, ~(1u << 16));
    } else {
      bench.write(place.enable, place.bit);
      bench.write(place.mask, ~place.bit);
    }
    if (place.identity != 0x20a4) {
      bench.set_reg(kRcs, 0xa8, ~1u);  // the engine's own mask, if it has one
    }
    bench.run_all(kRcs, {kNoop, kNoop});
    EXPECT_EQ(bench.read(place.identity) & place.bit, 0u) << place.chip;
    bench.run_all(kRcs, {kUserInterrupt, kNoop});
    EXPECT_EQ(bench.read(place.identity) & place.bit, place.bit) << place.chip;
  }
}

class StatusReports : public ::testing::TestWithParam<std::string> {};

TEST_P(StatusReports, StatusIsWrittenToThePageOfTheEngine) {
  constexpr uint32_t kMark = 0x1234'5678;
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  bench.start_ring(kRcs);
  interrupt::InterruptUnit& interrupts = bench.device->interrupts();
  const auto after = [&](auto action) {
    bench.poke(page, kMark);
    action();
    return bench.peek(page);
  };
  const auto user = [&] { bench.run_all(kRcs, {kUserInterrupt, kNoop}); };
  const auto notify = [&] { bench.run_all(kRcs, {0x7a00'0004, 1u << 8, 0, 0, 0, 0}); };
  const auto parity = [&] { interrupts.raise(0, EngineCause::l3_parity); };
  EXPECT_EQ(after(user), kMark) << "every bit is masked";
  EXPECT_EQ(after(notify), kMark);
  bench.set_reg(kRcs, kHwstam, ~1u);
  EXPECT_EQ(after(user), 0u) << "event bit 0 is written as 0";
  EXPECT_EQ(after(notify), kMark);
  bench.set_reg(kRcs, kHwstam, ~(1u << 4));
  EXPECT_EQ(after(notify), 0u) << "event bit 4 is written as 0";
  EXPECT_EQ(after(user), kMark);
  bench.set_reg(kRcs, kHwstam, ~(1u << 5));
  EXPECT_NE(after(parity), kMark) << "the render engine has L3 parity errors";
  // Bits that cannot be unmasked.
  bench.set_reg(kRcs, kHwstam, ~(1u << 8 | 1u << 7 | 1u << 6));
  EXPECT_EQ(after([&] { interrupts.raise(0, EngineCause::context_switch); }), kMark);
  EXPECT_EQ(after([&] { interrupts.raise(0, EngineCause::watchdog); }), kMark);
  EXPECT_EQ(after([&] { interrupts.set_level(0, EngineCause::page_fault, true); }), kMark);
  interrupts.set_level(0, EngineCause::page_fault, false);
  // A level: 1 while the error is set, 0 after it is cleared.
  bench.set_reg(kRcs, kHwstam, ~(1u << 3));
  bench.set_reg(kRcs, kEmr, ~1u);
  EXPECT_EQ(after([&] { bench.run_all(kRcs, {0xe000'0000, kNoop}); }), 1u << 3);
  EXPECT_EQ(after([&] { bench.set_reg(kRcs, kEmr, ~0u); }), 0u);
}

INSTANTIATE_TEST_SUITE_P(Gen12, StatusReports, ::testing::Values("tgl", "dg1"), chip_name);

}  // namespace
}  // namespace halogen
