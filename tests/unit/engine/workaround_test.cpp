// Batches that run during a context restore: INDIRECT_CTX in the middle of the restore, BB_PER_CTX_PTR at its end.
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kLoadRegister = 0x1100'0001;
constexpr uint32_t kBatchEnd = 0x0500'0000;
constexpr uint32_t kLine = 64;

class WorkaroundTest : public ::testing::TestWithParam<const char*> {
 protected:
  ContextBench bench{GetParam()};
  const uint64_t indirect = bench.allocate(1);
  const uint64_t batch = bench.allocate(1);

  static uint32_t gpr(unsigned number) { return ContextBench::kGpr + 8 * number; }
  uint32_t value(unsigned number) { return bench.reg("rcs0", gpr(number)); }
  static std::vector<uint32_t> load(unsigned number, uint32_t value) {
    return {kLoadRegister, 0x2000 + gpr(number), value};
  }
  // An engine context written by software: two register loads in lines 5 and 7.
  Context create(uint32_t id, uint32_t control = ContextBench::kNoSwitchOnWait) {
    Context context = bench.create("rcs0", id, control);
    bench.poke(context.address + 0x1000 + 5 * kLine, load(0, 1));
    bench.poke(context.address + 0x1000 + 7 * kLine, load(1, 1));
    return context;
  }
  void set_indirect(const Context& context, uint32_t lines, uint32_t offset_lines) {
    bench.set_image(context, bench.image_indirect(), static_cast<uint32_t>(indirect | lines));
    bench.set_image(context, bench.image_indirect_offset(), offset_lines << 6);
  }
  void set_batch(const Context& context, uint32_t bits) {
    bench.set_image(context, bench.image_restore_batch(), static_cast<uint32_t>(batch | bits));
  }
};

TEST_P(WorkaroundTest, BothBatchesRunBeforeTheRing) {
  COVERS("DG1-WA-01");
  Context context = create(1);
  bench.poke(indirect, load(3, 1));
  bench.poke(batch, load(3, 2));
  bench.poke(batch + 12, load(4, 1));
  bench.poke(batch + 24, {kBatchEnd});
  bench.emit(context, load(4, 2));
  set_indirect(context, 1, 6);
  set_batch(context, 1);
  bench.run(context);
  EXPECT_EQ(value(3), 2u) << "INDIRECT_CTX runs first, then BB_PER_CTX_PTR";
  EXPECT_EQ(value(4), 2u) << "the ring runs last";
  // The pointers belong to the context.
  Context other = create(2);
  bench.emit(other, load(5, 1));
  bench.set_reg("rcs0", gpr(3), 0);
  bench.run(other);
  EXPECT_EQ(value(3), 0u);
  EXPECT_EQ(value(5), 1u);
}

// The offset of INDIRECT_CTX is in the engine context: if that is not restored, INDIRECT_CTX does not run.
// BB_PER_CTX_PTR does.
TEST_P(WorkaroundTest, IndirectBatchNeedsTheEngineContext) {
  for (const bool inhibited : {false, true}) {
    for (const bool ended : {false, true}) {
      Context context = create(1, ContextBench::kNoSwitchOnWait | (inhibited ? ContextBench::kRestoreInhibit : 0u));
      if (ended) {
        bench.set_image(context, 0x21, kBatchEnd);  // replaces the second load of the ring context
      }
      bench.poke(indirect, load(3, 7));
      bench.poke(batch, load(4, 7));
      bench.poke(batch + 12, {kBatchEnd});
      set_indirect(context, 1, 6);
      set_batch(context, 1);
      bench.set_reg("rcs0", gpr(3), 0);
      bench.set_reg("rcs0", gpr(4), 0);
      bench.run(context);
      EXPECT_EQ(value(3), inhibited || ended ? 0u : 7u) << inhibited << ended;
      EXPECT_EQ(value(4), 7u);
    }
  }
}

TEST_P(WorkaroundTest, IndirectBatchRunsAtItsOffsetInTheImage) {
  COVERS("DG1-WA-02");
  Context context = create(1);
  bench.poke(indirect, load(0, 7));
  bench.poke(indirect + 12, load(1, 7));
  bench.emit(context, {0});
  set_indirect(context, 1, 6);
  bench.run(context);
  EXPECT_EQ(value(0), 7u) << "restored before INDIRECT_CTX";
  EXPECT_EQ(value(1), 1u) << "restored after INDIRECT_CTX";
  // One line before the first load, and after the second.
  Context early = create(2);
  set_indirect(early, 1, 5);
  bench.run(early);
  EXPECT_EQ(value(0), 1u);
  EXPECT_EQ(value(1), 1u);
  Context late = create(3);
  set_indirect(late, 1, 13);
  bench.run(late);
  EXPECT_EQ(value(0), 7u);
  EXPECT_EQ(value(1), 7u);
  // Another context has another pointer.
  Context none = create(4);
  bench.run(none);
  EXPECT_EQ(value(0), 1u);
  // Fetched through the global table, whatever the process maps there.
  Context process = create(5);
  const uint64_t elsewhere = bench.allocate(1);
  bench.poke(elsewhere, load(6, 0xbad));
  bench.map_process(process, indirect, elsewhere);
  set_indirect(process, 1, 13);
  bench.set_reg("rcs0", gpr(6), 0);
  bench.run(process);
  EXPECT_EQ(value(6), 0u);
  EXPECT_EQ(value(1), 7u);
}

TEST_P(WorkaroundTest, RestoreBatchRunsToItsEnd) {
  COVERS("DG1-WA-03");
  Context context = create(1);
  std::vector<uint32_t> commands = load(1, 9);  // runs after the whole image is restored
  const std::vector<uint32_t> more = load(2, 9);
  commands.insert(commands.end(), more.begin(), more.end());
  commands.push_back(kBatchEnd);
  const std::vector<uint32_t> never = load(3, 9);
  commands.insert(commands.end(), never.begin(), never.end());
  bench.poke(batch, commands);
  const uint64_t elsewhere = bench.allocate(1);
  bench.poke(elsewhere, load(4, 0xbad));
  bench.map_process(context, batch, elsewhere);
  set_batch(context, 1);
  for (unsigned number = 1; number <= 4; ++number) {
    bench.set_reg("rcs0", gpr(number), 0);
  }
  bench.run(context);
  EXPECT_EQ(value(1), 9u);
  EXPECT_EQ(value(2), 9u);
  EXPECT_EQ(value(3), 0u) << "not executed: lies after the batch end";
  EXPECT_EQ(value(4), 0u) << "the global table";
  // Disabled for another context.
  Context off = create(2);
  set_batch(off, 0);
  bench.run(off);
  EXPECT_EQ(value(1), 1u);
}

TEST_P(WorkaroundTest, IndirectSizeAndBatchValidBitSelectWhatRuns) {
  COVERS("DG1-WA-04");
  bench.poke(indirect, load(5, 1));
  bench.poke(indirect + kLine, load(6, 1));
  bench.poke(indirect + 2 * kLine, load(7, 1));
  for (uint32_t lines = 0; lines <= 3; ++lines) {
    for (unsigned number = 5; number <= 7; ++number) {
      bench.set_reg("rcs0", gpr(number), 0);
    }
    Context context = create(1);
    set_indirect(context, lines, 0xd);  // the offset that drivers of Gen12 use
    bench.run(context);
    EXPECT_EQ(value(5), lines >= 1 ? 1u : 0u);
    EXPECT_EQ(value(6), lines >= 2 ? 1u : 0u);
    EXPECT_EQ(value(7), lines >= 3 ? 1u : 0u);
  }
  bench.poke(batch, load(5, 2));
  bench.poke(batch + 12, {kBatchEnd});
  for (const uint32_t bits : {0u, 1u, 4u, 5u}) {
    bench.set_reg("rcs0", gpr(5), 0);
    Context context = create(1);
    set_batch(context, bits);
    bench.run(context);
    EXPECT_EQ(value(5), (bits & 1) != 0 ? 2u : 0u);
  }
}

// The context is already on the engine and is not restored again.
TEST_P(WorkaroundTest, NeitherBatchRunsOnALiteRestore) {
  Context context = create(1);
  const uint64_t data = bench.allocate(1);
  bench.poke(batch, load(5, 2));
  bench.poke(batch + 12, {kBatchEnd});
  set_batch(context, 1);
  bench.emit(context, std::vector<uint32_t>(300, 0));
  bench.submit({&context});
  bench.device->advance(2000);
  EXPECT_EQ(value(5), 2u);
  bench.set_reg("rcs0", gpr(5), 0);
  bench.emit(context, ContextBench::store(data, 1));
  bench.submit({&context});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(value(5), 0u);
}

// Batches that are unmapped, never end, call themselves or hold invalid commands. The context never reaches its ring,
// its image is unchanged, other engines work, and a reset recovers the engine. Errors are reported; an endless loop is
// not an error.
struct HostileCase {
  const char* name;
  bool indirect;                   // INDIRECT_CTX, else BB_PER_CTX_PTR
  std::vector<uint32_t> commands;  // `kSelf` stands for their own address; empty: an unmapped page
  std::optional<EventKind> reported;
  bool quiet = true;  // no other Event is reported
};
constexpr uint32_t kSelf = 0xdead'beef;

TEST_P(WorkaroundTest, HostileBatchesStopOnlyTheirEngine) {
  const std::vector<HostileCase> cases = {
      {"a loop", false, {0x1880'0001, kSelf, 0}, std::nullopt},
      {"a loop in the restore", true, {0x1880'0001, kSelf, 0}, std::nullopt},
      {"calls itself", false, {0x18c0'0001, kSelf, 0}, std::nullopt, false},
      {"no command", false, {0x7fff'ffff, 0}, EventKind::unknown_command},
      {"an unknown command in the restore", true, {0x7fff'0000, 0}, EventKind::unknown_command},
      {"nowhere", false, {}, EventKind::fault},
  };
  for (const HostileCase& each : cases) {
    SCOPED_TRACE(each.name);
    ContextBench other(GetParam());
    const uint64_t data = other.allocate(1);
    const uint64_t page = other.allocate(1);
    uint64_t at = page;
    for (const uint32_t dword : each.commands) {
      other.poke(at, dword == kSelf ? static_cast<uint32_t>(page) : dword);
      at += 4;
    }
    if (each.commands.empty()) other.set_entry(page / 4096, 0);
    Context context = other.create("rcs0", 1, ContextBench::kNoSwitchOnWait);
    other.map_process(context, 0x20'0000, data);  // page tables, so that the context is otherwise valid
    if (each.indirect) {
      other.set_image(context, other.image_indirect(), static_cast<uint32_t>(page) | 1u);
      other.set_image(context, other.image_indirect_offset(), 13u << 6);
    } else {
      other.set_image(context, other.image_restore_batch(), static_cast<uint32_t>(page) | 1u);
    }
    other.emit(context, ContextBench::store(data, 1));
    std::vector<uint32_t> image;
    for (unsigned dword = 0; dword < 2048; ++dword) image.push_back(other.image(context, dword));
    other.host.log.clear();
    other.submit({&context});
    other.device->advance(300'000);
    EXPECT_EQ(other.peek(data), 0u) << "the context never reached its ring";
    EXPECT_EQ(other.statuses("rcs0"), std::vector<uint64_t>{other.idle_to_active(context)});
    for (unsigned dword = 0; dword < 2048; ++dword) {
      ASSERT_EQ(other.image(context, dword), image[dword]) << "the image was not saved, dword " << dword;
    }
    if (each.reported) {
      EXPECT_GE(other.events(*each.reported), 1u);
    } else if (each.quiet) {
      EXPECT_EQ(other.events(), 0u) << other.host.log.events()[0].to_string();
    }
    // Another engine is not affected.
    Context beside = other.create("bcs0", 2);
    other.map_process(beside, 0x20'0000, data);
    other.emit(beside, ContextBench::store(data + 4, 2));
    other.submit({&beside});
    other.device->advance(10'000);
    EXPECT_EQ(other.peek(data + 4), 2u);
    EXPECT_EQ(other.statuses("bcs0").size(), 2u);
    // After a reset the engine works.
    other.set_reg("rcs0", 0xd0, 0x0001'0001);
    other.device->advance(1000);
    EXPECT_EQ(other.reg("rcs0", 0xd0) & 3, 3u) << "ready";
    other.write(0x941c, 2);
    EXPECT_EQ(other.read(0x941c), 0u);
    other.set_reg("rcs0", 0xd0, 0x0001'0000);
    other.set_reg("rcs0", ContextBench::kStatusPageAddress, static_cast<uint32_t>(other.status_page("rcs0")));
    other.set_reg("rcs0", ContextBench::kMode, 0x8000'8000);
    other.forget_statuses("rcs0");
    other.set_image(context, other.image_indirect(), 0);
    other.set_image(context, other.image_restore_batch(), 0);
    other.run(context);
    EXPECT_EQ(other.peek(data), 1u) << "the same context without its batch";
    EXPECT_EQ(other.statuses("rcs0"),
              (std::vector<uint64_t>{other.idle_to_active(context), other.complete_to_idle(context)}));
  }
}

// A command that does not fit into the lines of INDIRECT_CTX is not executed. This is reported, and the restore
// continues.
TEST_P(WorkaroundTest, CommandBeyondTheEndOfIndirectCtxIsReported) {
  Context context = create(1);
  const uint64_t data = bench.allocate(1);
  bench.map_process(context, 0x20'0000, data);
  bench.poke(indirect, load(3, 1));
  bench.poke(indirect + 12, {0x7fff'ffff});
  bench.emit(context, ContextBench::store(data, 1));
  set_indirect(context, 1, 13);
  bench.run(context);
  EXPECT_EQ(value(3), 1u) << "the command before it is executed";
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, WorkaroundTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
