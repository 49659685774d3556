// Batches that run while a context is loaded: INDIRECT_CTX in the middle of the restore, BB_PER_CTX_PTR at its end.
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
  // An engine context of software's own: two register loads in lines 5 and 7.
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

TEST_P(WorkaroundTest, BothRunBeforeTheRing) {
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
  EXPECT_EQ(value(3), 2u) << "the indirect one first, then the batch";
  EXPECT_EQ(value(4), 2u) << "then the ring";
  // Pointers are the context's own.
  Context other = create(2);
  bench.emit(other, load(5, 1));
  bench.set_reg("rcs0", gpr(3), 0);
  bench.run(other);
  EXPECT_EQ(value(3), 0u);
  EXPECT_EQ(value(5), 1u);
}

TEST_P(WorkaroundTest, IndirectRunsAtItsPlaceInTheImage) {
  COVERS("DG1-WA-02");
  Context context = create(1);
  bench.poke(indirect, load(0, 7));
  bench.poke(indirect + 12, load(1, 7));
  bench.emit(context, {0});
  set_indirect(context, 1, 6);
  bench.run(context);
  EXPECT_EQ(value(0), 7u) << "restored before";
  EXPECT_EQ(value(1), 1u) << "restored after";
  // One line earlier than the first load, and behind the second.
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
  // Another context, another pointer.
  Context none = create(4);
  bench.run(none);
  EXPECT_EQ(value(0), 1u);
  // Always through the global table, whatever the process has there.
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
  std::vector<uint32_t> commands = load(1, 9);  // after all of the image
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
  EXPECT_EQ(value(3), 0u) << "behind the end";
  EXPECT_EQ(value(4), 0u) << "the global table";
  // Disabled for another context.
  Context off = create(2);
  set_batch(off, 0);
  bench.run(off);
  EXPECT_EQ(value(1), 1u);
}

TEST_P(WorkaroundTest, SizesAndBits) {
  COVERS("DG1-WA-04");
  bench.poke(indirect, load(5, 1));
  bench.poke(indirect + kLine, load(6, 1));
  bench.poke(indirect + 2 * kLine, load(7, 1));
  for (uint32_t lines = 0; lines <= 3; ++lines) {
    for (unsigned number = 5; number <= 7; ++number) {
      bench.set_reg("rcs0", gpr(number), 0);
    }
    Context context = create(1);
    set_indirect(context, lines, 0xd);  // where drivers of Gen12 have it
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

// A context that is in the engine already is not loaded again.
TEST_P(WorkaroundTest, NotOnALiteRestore) {
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

// Batches that point nowhere, never end or call themselves stop the engine, not the host. A reset brings it back.
TEST_P(WorkaroundTest, Hostile) {
  for (const uint32_t pointer : {0x7fff'f001u, static_cast<uint32_t>(batch) | 1u}) {
    ContextBench other(GetParam());
    const uint64_t loop = other.allocate(1);
    other.poke(loop, {0x1880'0001, static_cast<uint32_t>(loop), 0});
    Context context = other.create("rcs0", 1);
    other.set_image(context, other.image_restore_batch(),
                    pointer == 0x7fff'f001 ? pointer : static_cast<uint32_t>(loop) | 1u);
    other.emit(context, {0});
    other.submit({&context});
    other.device->advance(300'000);
    EXPECT_LE(other.statuses("rcs0").size(), 1u) << "it never got to its ring";
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, WorkaroundTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
