// Invalid descriptors, images and submissions. The engine continues or hangs, software can reset it, and the host
// process neither hangs nor crashes.
#include <gtest/gtest.h>

#include <random>

#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

class ExeclistHostileTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Resets the engine and checks that it works afterwards.
  static void expect_recovery(ContextBench& bench, const char* engine = "rcs0") {
    bench.device->reset_engine(bench.engine_model(engine));
    bench.set_reg(engine, ContextBench::kStatusPageAddress, static_cast<uint32_t>(bench.status_page(engine)));
    bench.set_reg(engine, ContextBench::kMode, 0x8000'8000);
    const uint64_t data = bench.allocate(1);
    Context context = bench.create(engine, 0x77);
    bench.emit(context, ContextBench::store(data, 0x600d));
    bench.run(context);
    EXPECT_EQ(bench.peek(data), 0x600du);
  }
};

TEST_P(ExeclistHostileTest, EngineRecoversFromDescriptorsOfUnmappedMemory) {
  ContextBench bench(GetParam());
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x7fff'f000}, uint64_t{0xffff'f000}}) {
    bench.submit_raw("rcs0", {address | 1});
    EXPECT_TRUE(bench.device->settle());
    expect_recovery(bench);
  }
}

TEST_P(ExeclistHostileTest, EngineRecoversFromAContextWhoseImageIsItsRing) {
  ContextBench bench(GetParam());
  Context context = bench.create("rcs0", 1, 0, 1);
  bench.set_image(context, ContextBench::kImageStart, static_cast<uint32_t>(context.address + 0x1000));
  bench.set_image(context, ContextBench::kImageTail, 0xff8);
  bench.submit({&context});
  bench.device->advance(1'000'000);
  // Status page, ring and image share one page.
  bench.set_reg("rcs0", ContextBench::kStatusPageAddress, static_cast<uint32_t>(context.address + 0x1000));
  bench.submit({&context});
  bench.device->advance(1'000'000);
  expect_recovery(bench);
}

// Endless loops in the restore and in the stream, and a batch whose page tables are its own pages.
TEST_P(ExeclistHostileTest, EndlessBatchLoopCanBeReset) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t loop = bench.allocate(1);
  bench.poke(loop, {0x1880'0001, static_cast<uint32_t>(loop), 0});
  for (const bool in_restore : {false, true}) {
    Context context = bench.create("rcs0", 1);
    bench.emit(context, {0x1880'0001, static_cast<uint32_t>(loop), 0, 0});
    if (in_restore) bench.set_image(context, bench.image_restore_batch(), static_cast<uint32_t>(loop) | 1);
    bench.submit({&context});
    EXPECT_FALSE(bench.device->settle(1'000'000)) << "the loop does not end";
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kActiveHead) & ~0xfffu, loop);
    Context other = bench.create("bcs0", 2);
    bench.emit(other, ContextBench::store(data, in_restore));
    bench.emit(other, ContextBench::store(data + 4, 7));
    bench.submit({&other});
    bench.device->advance(1'000'000);
    EXPECT_EQ(bench.peek(data), uint32_t{in_restore});
    EXPECT_EQ(bench.peek(data + 4), 7u) << "the other engine continues";
    expect_recovery(bench);
  }
}

TEST_P(ExeclistHostileTest, EngineRecoversFromSelfReferencingImagesAndTables) {
  ContextBench bench(GetParam());
  for (const bool indirect : {true, false}) {  // the image is executed as commands during its own restore
    Context context = bench.create("rcs0", 1, 0);
    const auto image = static_cast<uint32_t>(context.address + 0x1000);
    bench.set_image(context, indirect ? bench.image_indirect() : bench.image_restore_batch(),
                    image | (indirect ? 0x3f : 1));
    bench.set_image(context, bench.image_indirect_offset(), 0);
    bench.emit(context, {0});
    bench.submit({&context});
    bench.device->advance(1'000'000);
    expect_recovery(bench);
  }
  // Every page table of the process is one page, which is also its data.
  Context context = bench.create("rcs0", 3);
  bench.map_process(context, 0, bench.allocate(1));
  for (uint64_t index = 0; index < 512; ++index) {
    bench.host.put<uint64_t>(context.tables + 8 * index, context.tables | 3);
  }
  bench.emit(context, {0x1880'0101, 0x1000, 0, 0});
  bench.submit({&context});
  bench.device->advance(1'000'000);
  expect_recovery(bench);
}

TEST_P(ExeclistHostileTest, EngineRecoversFromRingPointersOutOfBounds) {
  ContextBench bench(GetParam());
  for (const auto& [dword, value] :
       std::initializer_list<std::pair<unsigned, uint32_t>>{{ContextBench::kImageHead, 0x1f'fffc},
                                                            {ContextBench::kImageTail, 0x1f'fff8},
                                                            {ContextBench::kImageRingControl, 0},
                                                            {ContextBench::kImageStart, 0xffff'f000},
                                                            {ContextBench::kImageBatch, 0x7fff'f001}}) {
    Context context = bench.create("rcs0", 1);
    bench.emit(context, {0});
    bench.set_image(context, dword, value);
    bench.submit({&context});
    EXPECT_TRUE(bench.device->settle());
    expect_recovery(bench);
  }
}

// A register load in an image may write any register, including the reset register and the submission ports.
TEST_P(ExeclistHostileTest, EngineRecoversFromImagesThatResetOrSubmit) {
  ContextBench bench(GetParam());
  for (const uint32_t reg : {0x941cu, 0x2230u, 0x2550u, 0x229cu, 0x2080u, 0x20d0u, 0x2030u, 0x203cu, 0x22030u}) {
    for (const unsigned at : {0x34u, 0x50u}) {
      Context context = bench.create("rcs0", 1, 0);
      bench.set_image(context, at, 0x1100'0001);
      bench.set_image(context, at + 1, reg);
      bench.set_image(context, at + 2, 0xffff'ffff);
      bench.emit(context, {0});
      bench.submit({&context});
      bench.device->advance(1'000'000);
      expect_recovery(bench);
    }
  }
}

TEST_P(ExeclistHostileTest, EngineRecoversFromRandomImagesAndDescriptors) {
  std::mt19937 generator(20240611);
  const auto random = [&] { return static_cast<uint32_t>(generator()); };
  ContextBench bench(GetParam());
  constexpr uint32_t kInteresting[] = {0,           0x0500'0000, 0x1100'0001, 0x1108'1019, 0x1100'10ff, 0x1102'100f,
                                       0x1880'0101, 0x0280'0000, 0x0e40'c002, 0x7a00'0004, 0x2600,      0x244,
                                       0x34,        0x30,        0x38,        0x3c,        0x1c0,       0x1c4};
  for (unsigned round = 0; round < 60; ++round) {
    Context first = bench.create("rcs0", random() & 0x7ff, random() & 0xf);
    Context second = bench.create("rcs0", random() & 0x7ff, random() & 0xf);
    for (Context* const context : {&first, &second}) {
      for (unsigned change = random() % 40; change != 0; --change) {
        const bool near = random() % 2 == 0;
        bench.set_image(*context, random() % (near ? 0x60 : 0x400),
                        random() % 4 == 0 ? random() : kInteresting[random() % std::size(kInteresting)]);
      }
      std::vector<uint32_t> commands(random() % 60);
      for (uint32_t& command : commands) {
        command = random() % 8 == 0 ? random() : kInteresting[random() % std::size(kInteresting)];
      }
      bench.emit(*context, commands);
    }
    for (unsigned turn = 0; turn < 4; ++turn) {
      std::vector<uint64_t> descriptors{bench.descriptor(first), bench.descriptor(second)};
      if (random() % 4 == 0) {
        descriptors[random() % 2] ^= uint64_t{1} << (random() % 64);
      }
      bench.submit_raw("rcs0", descriptors);
      bench.device->advance(random() % 5000);
    }
    bench.device->advance(100'000);
    const device::DeviceState state = bench.device->snapshot();
    bench.device->restore(state);
    EXPECT_EQ(bench.device->snapshot(), state);
    bench.device->reset_engine(bench.engine_model("rcs0"));
    bench.set_reg("rcs0", ContextBench::kStatusPageAddress, static_cast<uint32_t>(bench.status_page("rcs0")));
    bench.set_reg("rcs0", ContextBench::kMode, 0x8000'8000);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExeclistHostileTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
