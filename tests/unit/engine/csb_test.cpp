// Context status buffer: the entry for each kind of switch, its address, and the interrupt that follows.
#include <gtest/gtest.h>

#include "covers.h"
#include "engine_events.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kArbCheck = 0x0280'0000;
constexpr uint32_t kSemaphore = 4;  // switch details
constexpr uint32_t kPreempted = 5;

// A ring that loops over preemption points until the test ends the loop.
void emit_points(ContextBench& bench, Context& context, unsigned count) {
  bench.emit(context, std::vector<uint32_t>(count, kArbCheck));
}

class CsbTest : public ::testing::TestWithParam<const char*> {};

// The cases of the manual's table that every chip reports, by the table's numbers.
TEST_P(CsbTest, CommonSwitchesAreReported) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context a = bench.create("rcs0", 0xab);
  Context b = bench.create("rcs0", 0x1bc);
  // Cases 1 and 10: from idle and back to idle.
  bench.emit(a, ContextBench::store(data, 1));
  bench.run(a);
  EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(a), bench.complete_to_idle(a)}));
  // Case 8: the next element.
  bench.submit({&a, &b});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0"),
            (std::vector{bench.idle_to_active(a), bench.complete_to_element(a, b), bench.complete_to_idle(b)}));
  // Case 4: a new queue when the context is complete, because it has no preemption point.
  bench.emit(a, std::vector<uint32_t>(200, 0));
  bench.submit({&a});
  bench.device->advance(1200);
  bench.submit({&b});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0"),
            (std::vector{bench.idle_to_active(a), bench.complete_to_queue(a, b), bench.complete_to_idle(b)}));
  // Case 5: a new queue preempts the context.
  emit_points(bench, a, 200);
  bench.submit({&a});
  bench.device->advance(1200);
  bench.submit({&b});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0"),
            (std::vector{bench.idle_to_active(a), bench.preempted(a, b), bench.complete_to_idle(b)}));
  EXPECT_LT(bench.image(a, ContextBench::kImageHead) & 0x1f'fffc, a.tail);
  // Case 7: the same context again (lite restore).
  bench.submit({&a});
  bench.device->advance(1200);
  bench.emit(a, ContextBench::store(data, 7));
  bench.submit({&a});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 7u);
  EXPECT_EQ(bench.statuses("rcs0"),
            (std::vector{bench.idle_to_active(a), bench.lite_restore(a), bench.complete_to_idle(a)}));
}

TEST(Csb, EveryEntryRaisesOneInterrupt) {
  COVERS("DG1-CSB-01");
  for (const char* const chip : {"tgl", "dg1"}) {
    for (const char* const engine : {"rcs0", "bcs0", "vcs2", "vecs0"}) {
      ContextBench bench(chip);
      EngineEvents events(bench);
      Context a = bench.create(engine, 1);
      Context b = bench.create(engine, 2);
      bench.emit(a, std::vector<uint32_t>(300, kArbCheck));
      bench.emit(b, std::vector<uint32_t>(300, kArbCheck));
      std::vector<uint64_t> seen;
      for (unsigned step = 0; step < 400; ++step) {
        if (step == 0) {
          bench.submit({&a, &b});
        } else if (step == 120) {  // during the second context
          bench.submit({&a});
        }
        bench.device->advance(50);
        const std::vector<uint64_t> reports = bench.statuses(engine);
        EXPECT_EQ(events.take(engine), reports.empty() ? 0u : kSwitchEvent) << chip << engine << step;
        seen.insert(seen.end(), reports.begin(), reports.end());
      }
      EXPECT_EQ(seen, (std::vector{bench.new_form(true, nullptr, &a), bench.new_form(false, &a, &b),
                                   bench.new_form(true, &b, &a, kPreempted), bench.new_form(false, &a, nullptr)}))
          << chip << engine;
    }
  }
}

// All ten cases, in the form that names both contexts.
TEST(Csb, TheTenCasesAreReported) {
  COVERS("DG1-CSB-02");
  for (const char* const chip : {"tgl", "dg1"}) {
    ContextBench bench(chip);
    const uint64_t data = bench.allocate(1);
    const auto settle = [&] { bench.device->advance(100'000); };
    // Contexts that leave the engine when they wait, for cases 9 and 10.
    Context a = bench.create("vcs2", 0xab, ContextBench::kRestoreInhibit);
    Context b = bench.create("vcs2", 0x7bc, ContextBench::kRestoreInhibit);
    a.id |= 0x21u << 23;
    b.id |= 0x12u << 23;
    const auto entry = [&](bool new_queue, const Context* away, const Context* to, uint32_t detail = 0,
                           bool polls = false) { return bench.new_form(new_queue, away, to, detail, polls); };
    using Entries = std::vector<uint64_t>;
    const auto seen = [&] { return bench.statuses("vcs2"); };

    // One entry written out: video class 1, instance 2; context IDs at bits 15 and 47, counters at bits 26 and 58.
    bench.run(a);  // cases 1 and 10
    EXPECT_EQ(seen(), (Entries{0x7ffull << 47 | 0x21ull << 26 | 0xabull << 15 | 2 << 6 | 1 << 3 | 1,
                               0x21ull << 58 | 0xabull << 47 | 0x7ffull << 15 | 2 << 6 | 1 << 3}));
    // Case 2: preempt to idle, by the control register and by a queue without a valid element.
    for (const bool by_queue : {false, true}) {
      emit_points(bench, a, 200);
      bench.submit({&a});
      bench.device->advance(1200);
      if (by_queue) {
        bench.submit_raw("vcs2", {0});
      } else {
        bench.set_reg("vcs2", ContextBench::kQueueControl, 2);
      }
      settle();
      EXPECT_EQ(seen(), (Entries{entry(true, nullptr, &a), entry(true, &a, nullptr, kPreempted)}));
    }
    // Case 3: preempt to idle while no context runs.
    bench.set_reg("vcs2", ContextBench::kQueueControl, 2);
    settle();
    EXPECT_EQ(seen(), (Entries{entry(true, nullptr, nullptr)}));
    // Cases 4 and 8.
    bench.emit(b, std::vector<uint32_t>(200, 0));
    bench.submit({&b});
    bench.device->advance(1200);
    bench.submit({&a, &b});
    settle();
    EXPECT_EQ(seen(), (Entries{entry(true, nullptr, &b), entry(true, &b, &a), entry(false, &a, &b),
                               entry(false, &b, nullptr)}));
    // Case 5.
    emit_points(bench, a, 200);
    bench.submit({&a});
    bench.device->advance(1200);
    bench.submit({&b});
    settle();
    EXPECT_EQ(seen(), (Entries{entry(true, nullptr, &a), entry(true, &a, &b, kPreempted), entry(false, &b, nullptr)}));
    // Case 7.
    bench.submit({&a});
    bench.device->advance(1200);
    bench.submit({&a});
    settle();
    EXPECT_EQ(seen(), (Entries{entry(true, nullptr, &a), entry(true, &a, &a), entry(false, &a, nullptr)}));
    // Cases 9 and 10: contexts that leave because they wait, for a poll and for a signal.
    bench.emit(a, bench.wait_for(data, 1));
    bench.emit(b, bench.wait_for(data, 2, false));
    bench.submit({&a, &b});
    settle();
    EXPECT_EQ(seen(), (Entries{entry(true, nullptr, &a), entry(false, &a, &b, kSemaphore, true),
                               entry(false, &b, nullptr, kSemaphore)}));
    // Case 6: a context that waits in the engine until a new queue is submitted.
    bench.set_image(a, ContextBench::kImageControl, 0xffff'0008);
    bench.submit({&a});
    settle();
    EXPECT_EQ(seen(), (Entries{entry(true, nullptr, &a)}));
    bench.poke(data, 2);
    bench.submit({&b});
    settle();
    EXPECT_EQ(seen(), (Entries{entry(true, &a, &b, kSemaphore, true), entry(false, &b, nullptr)}));
  }
}

TEST_P(CsbTest, BufferWrapsAndIsFollowedByTheIndexOfTheLastEntry) {
  COVERS("DG1-CSB-05");
  ContextBench bench(GetParam());
  const uint64_t page = bench.status_page("rcs0");
  Context context = bench.create("rcs0", 0x15);
  const unsigned entries = bench.status_entries();
  for (unsigned dword = 0; dword < 64; ++dword) {
    bench.poke(page + dword * 4, 0x5a5a'0000 | dword);
  }
  for (unsigned run = 1; run <= entries + 3; ++run) {
    bench.run(context);
    const unsigned last = (2 * run - 1) % entries;  // two entries per run
    EXPECT_EQ(bench.peek(page + bench.status_index_dword() * 4), last);
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kStatusPointer) & 0xf, last);
    const uint64_t at = page + (0x10 + 2 * last) * 4;
    EXPECT_EQ(bench.peek(at) | uint64_t{bench.peek(at + 4)} << 32, bench.complete_to_idle(context));
    const uint32_t mmio =
        last < 6 ? ContextBench::kStatusBuffer + 8 * last : ContextBench::kStatusBufferUpper + 8 * (last - 6);
    EXPECT_EQ(bench.reg("rcs0", mmio) | uint64_t{bench.reg("rcs0", mmio + 4)} << 32, bench.complete_to_idle(context));
  }
  // Nothing else in the page changed.
  for (unsigned dword = 0; dword < 64; ++dword) {
    const bool owned = (dword >= 0x10 && dword < 0x10 + 2 * entries) || dword == bench.status_index_dword();
    if (!owned) {
      EXPECT_EQ(bench.peek(page + dword * 4), 0x5a5a'0000 | dword) << dword;
    }
  }
}

// Drivers set the pointers after a reset. The next entry follows the write pointer.
TEST_P(CsbTest, SoftwareMaySetThePointers) {
  ContextBench bench(GetParam());
  Context context = bench.create("rcs0", 0x15);
  bench.run(context);
  const uint32_t last = bench.status_entries() - 1;
  bench.set_reg("rcs0", ContextBench::kStatusPointer, 0xffff'0000 | last << 8 | last);
  EXPECT_EQ(bench.reg("rcs0", ContextBench::kStatusPointer), last << 8 | last);
  bench.run(context);
  EXPECT_EQ(bench.reg("rcs0", ContextBench::kStatusPointer), last << 8 | 1u);
  EXPECT_EQ(bench.peek(bench.status_page("rcs0") + bench.status_index_dword() * 4), 1u);
}

TEST(Csb, BufferOffsetIsThatOfDriversOrThatOfTheManual) {
  COVERS("DG1-CSB-06");
  for (const bool manual : {false, true}) {
    ContextBench bench("dg1", {.manual_status_place = manual});
    const uint64_t page = bench.status_page("bcs0");
    Context context = bench.create("bcs0", 0x15);
    bench.run(context);
    const unsigned first = manual ? 0x28 : 0x10;
    const unsigned index = manual ? 0x47 : 0x2f;
    EXPECT_EQ(bench.peek(page + index * 4), 1u);
    const uint64_t entry = page + (first + 2) * 4;
    EXPECT_EQ(bench.peek(entry) | uint64_t{bench.peek(entry + 4)} << 32, bench.complete_to_idle(context));
    EXPECT_EQ(bench.peek(page + (manual ? 0x2f : 0x47) * 4), 0u);
    EXPECT_EQ(bench.peek(page + (manual ? 0x12 : 0x2a) * 4), 0u);
  }
}

TEST(Csb, MaskedReasonsLeaveNoEntryAndRaiseNoInterrupt) {
  for (const char* const chip : {"icl", "tgl", "dg1"}) {
    ContextBench bench(chip);
    bench.unmask_context_switches();
    Context a = bench.create("rcs0", 0x15);
    Context b = bench.create("rcs0", 0x16);
    const auto run = [&](uint32_t mask) {
      bench.set_reg("rcs0", ContextBench::kStatusMask, mask);
      bench.submit({&a, &b});
      EXPECT_TRUE(bench.device->settle());
    };
    run(1u << 0);
    EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.complete_to_element(a, b), bench.complete_to_idle(b)}));
    run(1u << 2);
    EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(a), bench.complete_to_idle(b)}));
    run(1u << 3);
    EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(a), bench.complete_to_element(a, b)}));
    EXPECT_TRUE(bench.take_context_switch());
    run(1u << 0 | 1u << 2 | 1u << 3);
    EXPECT_TRUE(bench.statuses("rcs0").empty());
    EXPECT_FALSE(bench.take_context_switch()) << "no entry, hence no interrupt";
    run(0);
    EXPECT_EQ(bench.statuses("rcs0").size(), 3u);
    EXPECT_TRUE(bench.take_context_switch());
  }
}

// One submission from idle causes two switches and two interrupts.
TEST_P(CsbTest, EachSwitchRaisesAnInterrupt) {
  COVERS("NOTES-IRQ-03");
  ContextBench bench(GetParam());
  bench.unmask_context_switches();
  Context context = bench.create("rcs0", 0x15);
  bench.emit(context, std::vector<uint32_t>(500, 0));
  EXPECT_FALSE(bench.take_context_switch());
  bench.submit({&context});
  bench.device->advance(2000);  // the context runs
  EXPECT_EQ(bench.statuses("rcs0").size(), 1u);
  EXPECT_TRUE(bench.take_context_switch());
  EXPECT_FALSE(bench.take_context_switch());
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.statuses("rcs0").size(), 1u);
  EXPECT_TRUE(bench.take_context_switch());
  EXPECT_FALSE(bench.take_context_switch());
}

INSTANTIATE_TEST_SUITE_P(Chips, CsbTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
