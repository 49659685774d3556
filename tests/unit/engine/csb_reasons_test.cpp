// Reasons of context switches: every case of the manual's table with each switch detail it may have; the plane, pipe or
// token that a context waited for; and the mask that suppresses reports.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;
using Dwords = std::vector<uint32_t>;
using Entries = std::vector<uint64_t>;

constexpr uint32_t kArbCheck = 0x0280'0000;
// Switch details.
constexpr uint32_t kFlip = 1, kBlank = 2, kScanLine = 3, kSemaphore = 4, kPreempted = 5;
constexpr uint32_t kPreemptToIdle = 2;

struct ReasonBench : ContextBench {
  explicit ReasonBench(std::string_view name) : ContextBench(name) {
    start_pipe(0);
    write(0x7019c, 0x10'0000);  // a flip of plane 1 and a flip of plane 4, both pending until the vertical blank
    write(0x7029c, 0x10'0000);
  }
  // 640 by 80 of 768 by 100 pixels, one frame per sixtieth of a second. The tests end before the first vertical blank.
  void start_pipe(uint32_t pipe) {
    const uint32_t timing = 0x60000 + 0x1000 * pipe;
    write(timing, 767u << 16 | 639);
    write(timing + 0x4, 767u << 16 | 639);
    write(timing + 0x8, 751u << 16 | 655);
    write(timing + 0xc, 99u << 16 | 79);
    write(timing + 0x10, 99u << 16 | 79);
    write(timing + 0x14, 85u << 16 | 83);
    write(0x70008 + 0x1000 * pipe, 1u << 31);
  }
  // A wait that never ends, selected by its switch detail. The number is a plane, a pipe or a token.
  Dwords wait(uint32_t detail, uint32_t number) {
    switch (detail) {
      case kFlip:
        return {0x0200'0000 | number};
      case kBlank:
        return {0x0200'0000 | number << 8};
      case kScanLine:  // a window of all lines
        return {0x0900'0000, 99, 0x0200'0000 | number << 12};
      default: {
        Dwords command = wait_for(flag, 1, false);
        if (command.size() == 5) {
          command[4] = number << 5;
        }
        return command;
      }
    }
  }
  void go_on() { device->advance(20'000); }
  Entries seen() { return statuses("rcs0"); }
  Context fresh(uint32_t id, const Dwords& commands, uint32_t control = kRestoreInhibit) {
    Context context = create("rcs0", id, control);
    emit(context, commands);
    return context;
  }
  void preempt_to_idle() { set_reg("rcs0", kQueueControl, kPreemptToIdle); }

  uint64_t flag = allocate(1);
};

constexpr uint32_t kStays = ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait;

TEST(CsbReasons, TheTenCasesAreReportedWithEveryDetail) {
  COVERS("DG1-CSB-03");
  for (const char* const chip : {"tgl", "dg1"}) {
    ReasonBench bench(chip);
    const Dwords points(200, kArbCheck), none(200, 0);
    const auto entry = [&](bool new_queue, const Context* away, const Context* to, uint32_t detail = 0) {
      return bench.new_form(new_queue, away, to, detail);
    };
    // Cases without a wait: 1, 10 and 8.
    Context a = bench.fresh(0xab, {0, 0}), b = bench.fresh(0x7bc, {0, 0});
    bench.submit({&a, &b});
    bench.go_on();
    EXPECT_EQ(bench.seen(), (Entries{entry(true, nullptr, &a), entry(false, &a, &b), entry(false, &b, nullptr)}));
    // Case 2 with 5 and with 0, and case 3.
    for (const bool preempted : {true, false}) {
      a = bench.fresh(0xab, preempted ? points : none);
      bench.submit({&a});
      bench.device->advance(1200);
      bench.preempt_to_idle();
      bench.go_on();
      EXPECT_EQ(bench.seen(),
                (Entries{entry(true, nullptr, &a), entry(true, &a, nullptr, preempted ? kPreempted : 0)}));
    }
    bench.preempt_to_idle();
    bench.go_on();
    EXPECT_EQ(bench.seen(), (Entries{entry(true, nullptr, nullptr)}));
    // Cases 4 and 5.
    for (const bool preempted : {true, false}) {
      a = bench.fresh(0xab, preempted ? points : none);
      bench.submit({&a});
      bench.device->advance(1200);
      bench.submit({&b});
      bench.go_on();
      EXPECT_EQ(bench.seen(), (Entries{entry(true, nullptr, &a), entry(true, &a, &b, preempted ? kPreempted : 0),
                                       entry(false, &b, nullptr)}));
    }
    // Case 7.
    a = bench.fresh(0xab, none);
    bench.submit({&a});
    bench.device->advance(1200);
    bench.submit({&a});
    bench.go_on();
    EXPECT_EQ(bench.seen(), (Entries{entry(true, nullptr, &a), entry(true, &a, &a), entry(false, &a, nullptr)}));
    // Cases with a wait: 9, 10, 6 and 2. Bits 43:37 hold the number that was waited for.
    for (const uint32_t detail : {kFlip, kBlank, kScanLine, kSemaphore}) {
      const uint32_t number = detail == kSemaphore ? 0x15 : 1;
      const uint32_t both = detail | number << 5;
      a = bench.fresh(0xab, bench.wait(detail, number));
      bench.submit({&a, &b});
      bench.go_on();
      EXPECT_EQ(bench.seen(),
                (Entries{entry(true, nullptr, &a), entry(false, &a, &b, both), entry(false, &b, nullptr)}))
          << detail;
      a = bench.fresh(0xab, bench.wait(detail, number));
      bench.submit({&a});
      bench.go_on();
      EXPECT_EQ(bench.seen(), (Entries{entry(true, nullptr, &a), entry(false, &a, nullptr, both)})) << detail;
      for (const bool to_idle : {false, true}) {
        a = bench.fresh(0xab, bench.wait(detail, number), kStays);
        bench.submit({&a});
        bench.go_on();
        EXPECT_EQ(bench.seen(), (Entries{entry(true, nullptr, &a)})) << detail;
        if (to_idle) {
          bench.preempt_to_idle();
          bench.go_on();
          EXPECT_EQ(bench.seen(), (Entries{entry(true, &a, nullptr, both)})) << detail;
        } else {
          bench.submit({&b});
          bench.go_on();
          EXPECT_EQ(bench.seen(), (Entries{entry(true, &a, &b, both), entry(false, &b, nullptr)})) << detail;
        }
      }
    }
    // A wait that ended leaves nothing in a later entry: the same context is preempted later.
    a = bench.fresh(0xab, bench.wait(kSemaphore, 0x15), kStays);
    bench.emit(a, points);
    bench.submit({&a});
    bench.go_on();
    bench.submit({&a});  // a lite restore: the context continues to wait
    bench.poke(bench.flag, 1);
    bench.device->advance(500);
    bench.submit({&b});
    bench.go_on();
    EXPECT_EQ(bench.seen(), (Entries{entry(true, nullptr, &a), entry(true, &a, &a), entry(true, &a, &b, kPreempted),
                                     entry(false, &b, nullptr)}));
    ASSERT_LT(bench.device->clock().nanoseconds, 13'000'000u) << "before the first vertical blank";
  }
}

// The layout of an entry, written out. Planes, pipes and tokens have different details.
TEST(CsbReasons, EntryNamesThePlanePipeOrTokenWaitedFor) {
  COVERS("DG1-CSB-04");
  for (const char* const chip : {"tgl", "dg1"}) {
    ReasonBench bench(chip);
    struct Row {
      uint32_t detail, number;
    };
    for (const auto& [detail, number] : {Row{kFlip, 1}, Row{kFlip, 4}, Row{kBlank, 1}, Row{kBlank, 2}, Row{kBlank, 4},
                                         Row{kScanLine, 1}, Row{kSemaphore, 0}, Row{kSemaphore, 31}}) {
      Context a = bench.create("rcs0", 0x2d5, ContextBench::kRestoreInhibit);
      a.id |= 0x21u << 23;
      bench.emit(a, bench.wait(detail, number));
      bench.submit({&a});
      bench.go_on();
      const uint64_t idle = 0x7ff;
      EXPECT_EQ(bench.seen(), (Entries{idle << 47 | 0x21ull << 26 | 0x2d5ull << 15 | 1,
                                       0x21ull << 58 | 0x2d5ull << 47 | uint64_t{number} << 37 |
                                           uint64_t{detail} << 32 | idle << 15}))
          << detail << ' ' << number;
    }
    // A poll sets bit 2.
    Context a = bench.fresh(0x2d5, bench.wait_for(bench.flag, 1));
    bench.submit({&a});
    bench.go_on();
    EXPECT_EQ(bench.seen().back(), 0x2d5ull << 47 | uint64_t{kSemaphore} << 32 | 0x7ffull << 15 | 4);
    // Class and instance of another engine: video is class 1.
    Context video = bench.create("vcs2", 0x155, ContextBench::kRestoreInhibit);
    bench.emit(video, bench.wait(kSemaphore, 3));
    bench.submit({&video});
    bench.go_on();
    EXPECT_EQ(bench.statuses("vcs2").back(),
              0x155ull << 47 | 3ull << 37 | uint64_t{kSemaphore} << 32 | 0x7ffull << 15 | 2 << 6 | 1 << 3);
  }
}

// The older form has one flag per kind of wait, and the plane or pipe in bits 14:12.
TEST(CsbReasons, OlderFormHasAFlagForEachKindOfWait) {
  const auto reported = [](ReasonBench& bench, const Dwords& commands) {
    Context a = bench.fresh(0x51, commands);
    bench.submit({&a});
    bench.go_on();
    const Entries entries = bench.seen();
    EXPECT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries.back() >> 32, a.id);
    return static_cast<uint32_t>(entries.back());
  };
  ReasonBench icl("icl");
  EXPECT_EQ(reported(icl, icl.wait(kFlip, 1)), 0x28u);
  EXPECT_EQ(reported(icl, icl.wait(kFlip, 4)), 0x28u | 4 << 12);
  EXPECT_EQ(reported(icl, icl.wait(kBlank, 1)), 0x48u);
  EXPECT_EQ(reported(icl, icl.wait(kBlank, 3)), 0x48u | 2 << 12);
  EXPECT_EQ(reported(icl, icl.wait(kScanLine, 1)), 0x108u);
  EXPECT_EQ(reported(icl, icl.wait(kSemaphore, 0)), 0x88u);
  // MI_WAIT_FOR_EVENT has one bit per pipe for the vertical blank: 3, 11 and 21.
  for (const char* const chip : {"bdw", "skl", "icl"}) {
    ReasonBench bench(chip);
    EXPECT_EQ(reported(bench, {0x0180'0000 | 1u << 3}), 0x48u) << chip;
    EXPECT_EQ(reported(bench, {0x0180'0000 | 1u << 11}), 0x48u | 1 << 12) << chip;
    EXPECT_EQ(reported(bench, {0x0180'0000 | 1u << 21}), 0x48u | 2 << 12) << chip;
  }
  // Sprites of Broadwell: sprite A is bit 2 and sprite B bit 10 of the command; flips select them as planes 2 and 3.
  ReasonBench bdw("bdw");
  bdw.start_pipe(1);
  bdw.write(0x7129c, 0x10'0000);
  EXPECT_EQ(reported(bdw, {0x0180'0000 | 1u << 1}), 0x28u);
  EXPECT_EQ(reported(bdw, {0x0180'0000 | 1u << 2}), 0x28u | 2 << 12);
  EXPECT_EQ(reported(bdw, {0x0180'0000 | 1u << 10}), 0x28u | 3 << 12);
}

// A masked reason leaves no entry and raises no interrupt; the other reasons do. The mask bits have the positions of
// the flags of the older form.
TEST(CsbReasons, EveryReasonCanBeMasked) {
  COVERS("DG1-CSB-08");
  constexpr uint32_t kIdleToActive = 1u << 0, kNewQueue = 1u << 1, kElement = 1u << 2, kToIdle = 1u << 3,
                     kComplete = 1u << 4, kLite = 1u << 15;
  constexpr uint32_t kWaits[] = {0, 1u << 5, 1u << 6, 1u << 8, 1u << 7};  // by detail
  for (const char* const chip : {"icl", "tgl", "dg1"}) {
    ReasonBench bench(chip);
    bench.unmask_context_switches();
    const Dwords points(200, kArbCheck), none(200, 0);
    // Runs the scenario once for each single mask bit. `reasons` holds the reasons of each switch in the scenario.
    const auto check = [&](const std::vector<uint32_t>& reasons, const auto& scenario) {
      std::vector<uint32_t> masks{0};
      uint32_t all = 0;
      for (const uint32_t each : reasons) {
        all |= each;
      }
      for (const uint32_t bit : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 15u}) {
        masks.push_back(1u << bit);
      }
      masks.push_back(all);
      for (const uint32_t mask : masks) {
        bench.set_reg("rcs0", ContextBench::kStatusMask, mask);
        scenario();
        size_t expected = 0;
        for (const uint32_t each : reasons) {
          expected += (each & mask) == 0 ? 1u : 0u;
        }
        EXPECT_EQ(bench.seen().size(), expected) << chip << std::hex << " mask " << mask << " of reasons " << all;
        EXPECT_EQ(bench.take_context_switch(), expected != 0) << std::hex << mask;
      }
      bench.set_reg("rcs0", ContextBench::kStatusMask, 0);
    };
    Context b = bench.fresh(0x7b, {0, 0});
    check({kIdleToActive, kElement | kComplete, kToIdle | kComplete}, [&] {
      Context a = bench.fresh(0xab, {0, 0});
      bench.submit({&a, &b});
      bench.go_on();
    });
    check({kIdleToActive, kNewQueue, kToIdle | kComplete}, [&] {
      Context a = bench.fresh(0xab, points);
      bench.submit({&a});
      bench.device->advance(1200);
      bench.submit({&b});
      bench.go_on();
    });
    check({kIdleToActive, kNewQueue | kLite, kToIdle | kComplete}, [&] {
      Context a = bench.fresh(0xab, none);
      bench.submit({&a});
      bench.device->advance(1200);
      bench.submit({&a});
      bench.go_on();
    });
    for (const uint32_t detail : {kFlip, kBlank, kScanLine, kSemaphore}) {
      check({kIdleToActive, kToIdle | kWaits[detail]}, [&] {
        Context a = bench.fresh(0xab, bench.wait(detail, 1));
        bench.submit({&a});
        bench.go_on();
      });
    }
    ASSERT_LT(bench.device->clock().nanoseconds, 13'000'000u) << "before the first vertical blank";
  }
}

}  // namespace
}  // namespace halogen
