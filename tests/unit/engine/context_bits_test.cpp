// Bits that change how a context is resumed or identified: nested batches, lite restores, forced page table reloads,
// the restore batch, semaphore signals to a context, and addresses with bit 47.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "covers.h"
#include "hw/mi.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;
using Dwords = std::vector<uint32_t>;

constexpr uint32_t kArbCheck = 0x0280'0000;
constexpr uint32_t kBatchEnd = 0x0500'0000;
constexpr uint32_t kNested = 1u << 22;
constexpr uint32_t kRestoreAll = 0xffff'0008;

void append(Dwords& to, const Dwords& more) {
  to.insert(to.end(), more.begin(), more.end());
}
Dwords start(uint64_t address, uint32_t bits = 0) {
  return {0x1880'0001 | bits, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32)};
}
// Writes i + 1 to dword i, with a preemption point after each store.
Dwords count(uint64_t data, uint32_t from, uint32_t steps) {
  Dwords out;
  for (uint32_t i = from; i < from + steps; ++i) {
    append(out, ContextBench::store(data + 4 * i, i + 1));
    out.push_back(kArbCheck);
  }
  return out;
}

// Three batch levels, each preempted repeatedly: every step runs once, in order.
TEST(NestedBatches, ResumeAtTheDeepestLevel) {
  for (const char* const chip : {"tgl", "dg1"}) {
    for (const char* const engine : {"rcs0", "bcs0", "vcs0"}) {
      ContextBench bench(chip);
      const uint64_t data = bench.allocate(1);
      const uint64_t levels[3] = {bench.allocate(1), bench.allocate(1), bench.allocate(1)};
      constexpr uint32_t kSteps = 40;
      // Level n: steps, a call of the next level, more steps.
      uint32_t before = 0, after = 6 * kSteps;
      for (unsigned level = 0; level < 3; ++level) {
        Dwords batch = count(data, before, kSteps);
        before += kSteps;
        after -= kSteps;
        if (level < 2) {
          append(batch, start(levels[level + 1], kNested));
        }
        append(batch, count(data, after, kSteps));
        batch.push_back(kBatchEnd);
        bench.poke(levels[level], batch);
      }
      Context context = bench.create(engine, 1);
      Context other = bench.create(engine, 2);
      bench.map_process(context, 0x20'0000, data);  // page tables, so that the context itself is valid
      bench.map_process(other, 0x20'0000, data);
      Dwords ring{0x1100'0001, bench.engine_model(engine).mmio_base + 0x9c, 0x1000'1000};
      append(ring, start(levels[0]));
      append(ring, ContextBench::store(data + 4 * 6 * kSteps, 0x77));
      bench.emit(context, ring);
      bench.emit(other, {0, 0});
      unsigned switches = 0;
      uint32_t done = 0;
      bench.submit({&context});
      for (unsigned turn = 0; turn < 300 && bench.peek(data + 4 * 6 * kSteps) == 0; ++turn) {
        bench.device->advance(700 + 10 * (turn % 7));
        bench.submit({&other});
        bench.device->advance(3000);
        for (const uint64_t status : bench.statuses(engine)) {
          switches += status == bench.preempted(context, other) ? 1u : 0u;
        }
        while (done < 6 * kSteps && bench.peek(data + 4 * done) == done + 1) {
          ++done;
        }
        for (uint32_t rest = done; rest < 6 * kSteps; ++rest) {
          ASSERT_EQ(bench.peek(data + 4 * rest), 0u) << "step executed too early: " << rest;
        }
        bench.set_image(context, ContextBench::kImageControl, kRestoreAll);
        bench.submit({&context});
      }
      EXPECT_TRUE(bench.device->settle());
      EXPECT_EQ(bench.peek(data + 4 * 6 * kSteps), 0x77u) << chip << ' ' << engine;
      EXPECT_EQ(done, 6 * kSteps);
      EXPECT_GE(switches, 20u);
      EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u);
    }
  }
}

TEST(NestedBatches, FourthLevelIsReported) {
  ContextBench bench("dg1");
  const uint64_t data = bench.allocate(1);
  uint64_t next = bench.allocate(1);
  bench.poke(next, {kBatchEnd});
  for (unsigned level = 0; level < 3; ++level) {
    const uint64_t at = bench.allocate(1);
    Dwords batch = start(next, kNested);
    append(batch, ContextBench::store(data, 1));
    batch.push_back(kBatchEnd);
    bench.poke(at, batch);
    next = at;
  }
  Context context = bench.create("rcs0", 1);
  bench.map_process(context, 0x20'0000, data);
  Dwords ring{0x1100'0001, 0x209c, 0x1000'1000};
  append(ring, start(next));
  bench.emit(context, ring);
  bench.submit({&context});
  bench.device->advance(100'000);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.statuses("rcs0").size(), 1u) << "the engine hangs";
}

// Bit 1 of MI_ARB_ON_OFF allows a lite restore while arbitration is off. The test also covers the layouts of the other
// commands in its ledger row.
TEST(LiteRestores, LiteRestoreWhileArbitrationIsOffNeedsBit1) {
  COVERS("DG1-CS-11");
  for (const char* const chip : {"icl", "tgl", "dg1"}) {
    for (const bool allowed : {false, true}) {
      ContextBench bench(chip);
      const uint64_t data = bench.allocate(1);
      Context context = bench.create("rcs0", 1, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
      Context other = bench.create("rcs0", 2);
      bench.emit(context, {0x0400'0000 | (allowed ? 2u : 0u), kArbCheck});
      bench.emit(context, Dwords(1000, kArbCheck));
      bench.emit(context, {0x0400'0001, 0});
      bench.submit({&context});
      bench.device->advance(3000);
      EXPECT_EQ(bench.statuses("rcs0").size(), 1u);
      bench.emit(context, ContextBench::store(data, 1));
      bench.submit({&context});
      bench.device->advance(3000);  // halfway to the command that switches arbitration on
      const std::vector<uint64_t> seen = bench.statuses("rcs0");
      EXPECT_EQ(seen, allowed ? std::vector{bench.lite_restore(context)} : std::vector<uint64_t>{}) << chip;
      // Other contexts wait in either case.
      if (allowed) {
        bench.submit({&other});
        bench.device->advance(2000);
        EXPECT_TRUE(bench.statuses("rcs0").empty());
      }
      EXPECT_TRUE(bench.device->settle());
      EXPECT_EQ(bench.peek(data), 1u) << "the ring completes in either case";
    }
    ContextBench bench(chip);
    const uint64_t data = bench.allocate(1);
    const uint64_t batch = bench.allocate(1);
    Context context = bench.create("rcs0", 1, ContextBench::kRestoreInhibit, 4);
    // A NOOP with a number, a batch in the global table, a batch that the predicate skips, and a batch whose end ends
    // the context.
    bench.emit(context, {0x0040'1234, 0});
    bench.set_reg("rcs0", 0x418, 0);
    bench.poke(batch, {0x0500'0001});
    bench.poke(batch + 64, ContextBench::store(data, 5));
    bench.poke(batch + 80, {kBatchEnd});
    bench.emit(context, start(batch + 64, 1u << 15));
    bench.emit(context, start(batch));
    bench.emit(context, ContextBench::store(data + 4, 6));
    bench.run(context);
    EXPECT_EQ(bench.reg("rcs0", 0x94) & 0x3f'ffff, 0x1234u);
    EXPECT_EQ(bench.peek(data), 0u) << "skipped by the predicate";
    EXPECT_EQ(bench.peek(data + 4), 0u) << "the end of the batch ended the context";
    EXPECT_EQ(bench.statuses("rcs0").back(), bench.complete_to_idle(context));
  }
}

class ContextBits : public ::testing::TestWithParam<const char*> {};

// Bit 1 of the descriptor: a lite restore reloads the page tables of the image only if the bit is set.
TEST_P(ContextBits, ForcedPageDirectoryRestoreReloadsTheTables) {
  COVERS("DG1-EL-09");  // with DescriptorFields
  for (const bool forced : {false, true}) {
    ContextBench bench(GetParam());
    const uint64_t process = 0x10'0000;
    const uint64_t batch = bench.allocate(1), first = bench.allocate(1), second = bench.allocate(1);
    // Two sets of tables for one context. They map the data to different pages.
    Context context = bench.create("rcs0", 1, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 2);
    Context twin = bench.create("rcs0", 1);
    for (Context* const each : {&context, &twin}) {
      bench.map_process(*each, process, batch);
      bench.map_process(*each, process + 0x1000, each == &context ? first : second);
    }
    bench.poke(batch, {0x1000'0002, static_cast<uint32_t>(process + 0x1000), 0, 1, kBatchEnd});
    bench.emit(context, start(process, 0x100));
    bench.emit(context, Dwords(600, kArbCheck));
    bench.submit({&context});
    bench.device->advance(2000);
    EXPECT_EQ(bench.peek(first), 1u);
    bench.poke(batch + 12, {2});
    bench.emit(context, start(process, 0x100));
    for (const unsigned value : {ContextBench::kImagePdp0, ContextBench::kImagePdp0High}) {
      bench.set_image(context, value, bench.image(twin, value));
    }
    bench.statuses("rcs0");
    bench.submit({&context}, forced ? 2 : 0);
    bench.device->advance(20'000);
    EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.lite_restore(context), bench.complete_to_idle(context)}));
    EXPECT_EQ(bench.peek(first), forced ? 1u : 2u);
    EXPECT_EQ(bench.peek(second), forced ? 2u : 0u);
  }
}

class DescriptorFields : public ::testing::TestWithParam<const char*> {};

// Positions, one bit after the other. Linux i915, intel_lrc.h.
TEST_P(DescriptorFields, EveryBitBelongsToItsField) {
  COVERS("DG1-EL-09");
  const spec::GenId gen = spec::find_device(GetParam())->gen;
  for (unsigned bit = 0; bit < 64; ++bit) {
    SCOPED_TRACE(bit);
    const uint64_t raw = uint64_t{1} << bit;
    const uint32_t dwords[2] = {static_cast<uint32_t>(raw), static_cast<uint32_t>(raw >> 32)};
    const auto seen = hw::CONTEXT_DESCRIPTOR::unpack(gen, dwords);
    const auto field = [&](unsigned high, unsigned low) {
      return bit >= low && bit <= high ? raw >> low : uint64_t{0};
    };
    EXPECT_EQ(seen.valid, bit == 0);
    EXPECT_EQ(seen.force_page_directory_restore, bit == 1);
    EXPECT_EQ(seen.force_restore, bit == 2);
    EXPECT_EQ(static_cast<uint64_t>(seen.addressing_mode), field(4, 3));
    EXPECT_EQ(seen.l3_llc_coherency_support, bit == 5);
    EXPECT_EQ(static_cast<uint64_t>(seen.fault_handling), field(7, 6));
    EXPECT_EQ(seen.privilege_access, bit == 8);
    EXPECT_EQ(seen.priority, field(10, 9));
    EXPECT_EQ(seen.logical_ring_context_address.value, field(31, 12) << 12);
    EXPECT_EQ(seen.sw_context_id, field(47, 37));
    EXPECT_EQ(seen.engine_instance, field(53, 48));
    EXPECT_EQ(seen.sw_counter, field(60, 55));
    EXPECT_EQ(seen.engine_class, field(63, 61));
  }
}

// An element without the valid bit is not a context: nothing runs, nothing is reported.
TEST_P(DescriptorFields, ValidBitDecidesWhetherAnElementRuns) {
  COVERS("DG1-EL-09");
  for (const bool valid : {false, true}) {
    ContextBench bench(GetParam());
    const uint64_t data = bench.allocate(1);
    Context context = bench.create("rcs0", 1);
    bench.emit(context, ContextBench::store(data, 1));
    bench.submit_raw("rcs0", {bench.descriptor(context) & ~uint64_t{valid ? 0u : 1u}});
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data), valid ? 1u : 0u);
    for (const uint64_t status : bench.statuses("rcs0")) {
      EXPECT_TRUE(valid || (status >> 32 != context.id && (status >> 47 & 0x7ff) != 1)) << std::hex << status;
    }
  }
}

// The engine context of the image, which is never saved here, loads a register. It is loaded again while the context
// runs only if the second submission forces a restore.
TEST_P(DescriptorFields, ForcedRestoreLoadsTheWholeImageAgain) {
  COVERS("DG1-EL-09");
  for (const bool forced : {false, true}) {
    ContextBench bench(GetParam());
    const uint64_t data = bench.allocate(1);
    Context context = bench.create("rcs0", 1, ContextBench::kSaveInhibit | ContextBench::kNoSwitchOnWait, 2);
    bench.set_image(context, 0x50, 0x1100'0001);
    bench.set_image(context, 0x51, 0x2600);
    bench.set_image(context, 0x52, 0xe0e0);
    bench.emit(context, {0x1100'0001, 0x2600, 5});
    bench.emit(context, bench.wait_for(data, 1));
    bench.emit(context, {0x1240'0002, 0x2600, static_cast<uint32_t>(data + 4), 0});
    bench.submit({&context});
    bench.device->advance(20'000);
    bench.emit(context, {0, 0});
    bench.submit({&context}, forced ? 4 : 0);
    bench.device->advance(50'000);
    bench.poke(data, 1);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data + 4), forced ? 0xe0e0u : 5u);
  }
}

// One set of pages, read as tables of two and of four levels, maps two pages to one address; a third page has it in the
// global table. Gen12 has no tables of two levels: such a context reaches nothing. Modes 0 and 2, with tables of a
// PASID, are in shared_memory_test.cpp.
TEST_P(DescriptorFields, AddressingModeAndPrivilegeBitSelectTheTables) {
  COVERS("DG1-EL-09");
  for (const auto& [bits, expected] : {std::pair{0x118u, 0u}, {0x108u, 1u}, {0x018u, 2u}}) {
    ContextBench bench(GetParam());
    const uint64_t pages[3] = {bench.allocate(1), bench.allocate(1), bench.allocate(1)};
    const uint64_t batch = bench.allocate(1);
    const uint64_t root = bench.allocate(1), second = bench.allocate(1), third = bench.allocate(1),
                   last = bench.allocate(1);
    const uint64_t address = pages[2];  // the global table maps it to the third page
    const auto entry = [&](uint64_t table, uint64_t index, uint64_t page) {
      bench.host.put<uint64_t>(bench.host_address(table) + 8 * index, bench.host_address(page) | 3);
    };
    ASSERT_LT(batch, 0x20'0000u) << "one table is enough";
    entry(root, 0, second);
    entry(second, 0, third);
    entry(third, 0, last);
    for (const uint64_t table : {last, second}) {
      entry(table, batch >> 12, batch);
      entry(table, address >> 12, table == last ? pages[0] : pages[1]);
    }
    Context context = bench.create("rcs0", 1);
    bench.set_image(context, ContextBench::kImagePdp0, static_cast<uint32_t>(bench.host_address(root)));
    bench.set_image(context, ContextBench::kImagePdp0High, static_cast<uint32_t>(bench.host_address(root) >> 32));
    bench.poke(batch, {0x1000'0002, static_cast<uint32_t>(address + 8), 0, 0x77, kBatchEnd});
    bench.emit(context, start(batch, 0x100));
    context.bits = bits;
    bench.host.log.clear();
    bench.run(context);
    const bool exists = expected != 1 || bench.model.gen == spec::GenId::gen11;
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(bench.peek(pages[i] + 8), exists && i == expected ? 0x77u : 0u) << std::hex << bits << ' ' << i;
    }
    EXPECT_EQ(bench.host.log.count(EventKind::unsupported), exists ? 0u : 1u);
  }
}

// The rest of the upper dword names the context in the status: class and instance of the engine, id, counter.
TEST_P(DescriptorFields, NamesAppearInTheStatus) {
  COVERS("DG1-EL-09");
  ContextBench bench(GetParam());
  Context context = bench.create("vcs0", 0x2a5);
  context.id |= 0x1bu << 23;
  bench.run(context);
  const std::vector<uint64_t> seen = bench.statuses("vcs0");
  ASSERT_EQ(seen.size(), 2u);
  if (bench.status_names_both()) {
    EXPECT_EQ(seen[1] >> 47 & 0x7ff, 0x2a5u);
    EXPECT_EQ(seen[1] >> 58 & 0x3f, 0x1bu);
    EXPECT_EQ(seen[1] >> 3 & 7, 1u);
  } else {
    EXPECT_EQ(seen[1] >> 32, uint64_t{1} << 29 | 0x1bu << 23 | 0x2a5u << 5);
  }
}

INSTANTIATE_TEST_SUITE_P(NewForm, DescriptorFields, ::testing::Values("icl", "tgl", "dg1"));

// A signal names its context by the upper dword of the descriptor.
TEST_P(ContextBits, SemaphoreSignalReachesTheNamedContext) {
  COVERS("DG1-CS-14");  // with semaphore_test.cpp and, for the token, csb_reasons_test.cpp
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context waiting = bench.create("rcs0", 0x31);
  bench.emit(waiting, bench.wait_for(data, 1, false));
  bench.emit(waiting, ContextBench::store(data + 4, 1));
  bench.submit({&waiting});
  bench.device->advance(20'000);
  bench.poke(data, 1);
  Context sender = bench.create("bcs0", 0x32);
  for (const uint32_t id : {0u, bench.upper_dword("rcs0", 0x32), waiting.id ^ 1u << 31}) {
    bench.emit(sender, {0x0d80'0000, id});
    bench.run(sender);
    EXPECT_EQ(bench.peek(data + 4), 0u) << std::hex << id;
  }
  bench.emit(sender, {0x0d80'0000, waiting.id});
  bench.run(sender);
  EXPECT_EQ(bench.peek(data + 4), 1u);
}

// Both forms of an address with bit 47 (with and without sign extension), in batch starts, in stores and across a
// preemption.
TEST_P(ContextBits, BatchesAndStoresAcceptBothFormsOfBit47) {
  ContextBench bench(GetParam());
  if (!bench.has_wide_tables()) {
    return;
  }
  const uint64_t plain = 0x8001'0000'0000, extended = 0xffff'8001'0000'0000;
  const uint64_t batch = bench.allocate(2), data = bench.allocate(1);
  Context context = bench.create("rcs0", 1);
  Context other = bench.create("rcs0", 2);
  bench.emit(other, {0, 0});
  bench.map_process(other, plain, batch);
  bench.map_process(context, plain, batch);
  bench.map_process(context, plain + 0x1000, batch + 0x1000);
  bench.map_process(context, plain + 0x2000, data);
  Dwords steps;
  for (uint32_t i = 0; i < 200; ++i) {
    const uint64_t to = (i % 2 == 0 ? plain : extended) + 0x2000 + 4 * i;
    append(steps, {0x1000'0002, static_cast<uint32_t>(to), static_cast<uint32_t>(to >> 32), i + 1, kArbCheck});
  }
  steps.push_back(kBatchEnd);
  bench.poke(batch, steps);
  for (const uint64_t form : {plain, extended}) {
    for (uint32_t i = 0; i < 200; ++i) {
      bench.poke(data + 4 * i, 0u);
    }
    bench.emit(context, start(form, 0x100));
    bench.submit({&context});
    bench.device->advance(1500);
    bench.submit({&other});  // leaves inside the batch and resumes there
    bench.device->advance(3000);
    EXPECT_GT(bench.peek(data), 0u);
    EXPECT_EQ(bench.peek(data + 4 * 199), 0u);
    bench.set_image(context, ContextBench::kImageControl, kRestoreAll);
    bench.run(context);
    for (uint32_t i = 0; i < 200; ++i) {
      ASSERT_EQ(bench.peek(data + 4 * i), i + 1) << std::hex << form;
    }
  }
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u);
}

// The same for atomics and post-sync writes, with one dword and with two.
TEST_P(ContextBits, AtomicsAndFlushesAcceptBothFormsOfBit47) {
  ContextBench bench(GetParam());
  if (!bench.has_wide_tables()) {
    return;
  }
  const uint64_t plain = 0x8001'0000'0000, extended = 0xffff'8001'0000'0000;
  for (const uint64_t form : {plain, extended}) {
    const auto low = [](uint64_t address) { return static_cast<uint32_t>(address); };
    const auto high = [](uint64_t address) { return static_cast<uint32_t>(address >> 32); };
    const uint64_t data = bench.allocate(1);
    Context render = bench.create("rcs0", 1);
    Context copy = bench.create("bcs0", 2);
    bench.map_process(render, plain, data);
    bench.map_process(copy, plain, data);
    bench.poke(data, 41);
    bench.emit(render, {0x1780'0501, low(form), high(form)});  // MI_ATOMIC, increment
    bench.emit(render,
               {0x7a00'0004, 1u << 14 | 1u << 20, low(form + 8), high(form), 11, 12});  // PIPE_CONTROL, write immediate
    bench.emit(copy, {0x1300'4003, low(form + 16), high(form), 21, 22});
    bench.emit(copy, {0x1300'4002, low(form + 24), high(form), 31});
    bench.run(render);
    bench.run(copy);
    EXPECT_EQ(bench.peek(data), 42u) << std::hex << form;
    const uint32_t expected[] = {11, 12, 21, 22, 31, 0};
    for (unsigned i = 0; i < 6; ++i) {
      EXPECT_EQ(bench.peek(data + 8 + 4 * i), expected[i]) << i << std::hex << ' ' << form;
    }
  }
  EXPECT_EQ(bench.events(EventKind::fault), 0u);
}

TEST_P(ContextBits, OtherBitsAboveBit47FaultAndStopTheEngine) {
  ContextBench bench(GetParam());
  if (!bench.has_wide_tables()) {
    return;
  }
  const uint64_t batch = bench.allocate(1), data = bench.allocate(1);
  Context context = bench.create("rcs0", 1);
  bench.map_process(context, 0x10'0000, batch);
  bench.poke(batch, {kBatchEnd});
  bench.emit(context, start(0x0001'0000'0010'0000, 0x100));
  bench.emit(context, ContextBench::store(data, 1));
  bench.submit({&context});
  bench.device->advance(50'000);
  EXPECT_EQ(bench.peek(data), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, ContextBits, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

// Bit 2 of BB_PER_CTX_PTR: the batch also runs on lite restores, and the stream then continues where it was.
TEST(RestoreBatch, RestoreBatchRunsOnALiteRestoreIfForced) {
  for (const char* const chip : {"tgl", "dg1"}) {
    for (const uint32_t bits : {1u, 5u, 4u}) {
      ContextBench bench(chip);
      const uint64_t data = bench.allocate(1), restore = bench.allocate(1), batch = bench.allocate(2);
      // The restore batch counts its runs with MI_ATOMIC increments.
      bench.poke(restore, {0x17c0'0501, static_cast<uint32_t>(data), 0, kBatchEnd});
      Dwords steps = count(data + 0x100, 0, 300);
      steps.push_back(kBatchEnd);
      bench.poke(batch, steps);
      Context context = bench.create("rcs0", 1);
      bench.set_image(context, bench.image_restore_batch(), static_cast<uint32_t>(restore | bits));
      bench.emit(context, start(batch));
      bench.submit({&context});
      bench.device->advance(2500);
      const bool valid = (bits & 1) != 0;
      EXPECT_EQ(bench.peek(data), valid ? 1u : 0u);
      bench.emit(context, ContextBench::store(data + 4, 1));
      bench.submit({&context});
      EXPECT_TRUE(bench.device->settle());
      EXPECT_EQ(bench.peek(data), bits == 5 ? 2u : valid ? 1u : 0u);
      EXPECT_EQ(bench.peek(data + 4), 1u);
      for (uint32_t i = 0; i < 300; ++i) {
        ASSERT_EQ(bench.peek(data + 0x100 + 4 * i), i + 1);
      }
      EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(context), bench.lite_restore(context),
                                                     bench.complete_to_idle(context)}));
    }
  }
}

// The same during a long BLT that inverts its destination: if the BLT restarted, its first lines would be inverted
// twice.
TEST(RestoreBatch, RestoreBatchWaitsForARunningBlt) {
  for (const char* const chip : {"tgl", "dg1"}) {
    ContextBench bench(chip);
    constexpr uint32_t kLines = 1024;  // one page per line
    const uint64_t process = 0x4000'0000;
    const uint64_t data = bench.allocate(1), restore = bench.allocate(1), target = bench.allocate(kLines);
    bench.poke(restore, {0x17c0'0501, static_cast<uint32_t>(data), 0, kBatchEnd});
    Context context = bench.create("bcs0", 1);
    for (uint32_t line = 0; line < kLines; ++line) {
      bench.map_process(context, process + 0x1000 * line, target + 0x1000 * line);
      bench.poke(target + 0x1000 * line, {line, ~line});
    }
    bench.set_image(context, bench.image_restore_batch(), static_cast<uint32_t>(restore | 5));
    // XY_COLOR_BLT, PATINVERT with ones, 32 bits per pixel.
    bench.emit(context, {0x5430'0005, 0x035a'1000, 0, kLines << 16 | 1024, static_cast<uint32_t>(process), 0, ~0u});
    bench.submit({&context});
    // The ring grows while the BLT runs.
    bench.device->advance(10'000);
    ASSERT_EQ(bench.peek(target), ~0u) << "the BLT has begun";
    ASSERT_EQ(bench.peek(target + 0x1000 * (kLines - 1)), kLines - 1) << "the BLT is not complete";
    bench.emit(context, ContextBench::store(data + 4, 1));
    bench.submit({&context});
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data), 2u) << "the restore batch ran again";
    EXPECT_EQ(bench.peek(data + 4), 1u);
    for (uint32_t line = 0; line < kLines; ++line) {
      ASSERT_EQ(bench.peek(target + 0x1000 * line), ~line) << chip;
      ASSERT_EQ(bench.peek(target + 0x1000 * line + 4), line) << chip;
    }
    EXPECT_EQ(bench.statuses("bcs0"), (std::vector{bench.idle_to_active(context), bench.lite_restore(context),
                                                   bench.complete_to_idle(context)}));
  }
}

// An unsuccessful register poll does not cause a switch and raises no interrupt. A new queue preempts it.
TEST(RegisterPolls, UnsuccessfulRegisterPollKeepsTheEngine) {
  for (const char* const chip : {"skl", "icl", "tgl", "dg1"}) {
    ContextBench bench(chip);
    const uint64_t data = bench.allocate(1);
    Context waiting =
        bench.create("rcs0", 1, ContextBench::kRestoreInhibit);  // a wait for memory would leave the engine
    Context other = bench.create("rcs0", 2);
    bench.emit(waiting, {0x0e01'c002, 9, 0x2608, 0});  // MI_SEMAPHORE_WAIT until GPR 1 equals 9
    bench.emit(waiting, ContextBench::store(data, 1));
    bench.emit(other, {0, 0});
    bench.submit({&waiting, &other});
    bench.device->advance(50'000);
    EXPECT_EQ(bench.statuses("rcs0").size(), 1u) << chip << ": the context stays";
    bench.submit({&other});
    bench.device->advance(50'000);
    EXPECT_EQ(bench.statuses("rcs0").size(), 2u) << chip << ": preempted, then the other context is complete";
    bench.set_reg("rcs0", 0x608, 9);
    bench.run(waiting);
    EXPECT_EQ(bench.peek(data), 1u) << chip;
  }
}

}  // namespace
}  // namespace halogen
