// BLIT_CCTL of Gen12's copy engine, which only stores its value, and the flush after a BLT.
#include "blit_bench.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kLoadRegister = 0x1100'0001, kStoreRegister = 0x1240'0002, kControlRegister = 0x22204;

class Gen12Blit : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen12Blit, CacheControlBelongsToTheContext) {
  ContextBench bench(GetParam());
  bench.set_reg("bcs0", 0x204, 0x7f7f);
  EXPECT_EQ(bench.read(kControlRegister), 0x7f7fu);
  bench.set_reg("bcs0", 0x204, 0x0102);
  EXPECT_EQ(bench.read(kControlRegister), 0x0102u);
  const uint64_t data = bench.allocate(1);
  ContextBench::Context first = bench.create("bcs0", 1);
  ContextBench::Context second = bench.create("bcs0", 2);
  bench.emit(first, {kLoadRegister, kControlRegister, 0x0a05});
  bench.run(first);
  EXPECT_EQ(bench.image(first, 0x44), kControlRegister);
  EXPECT_EQ(bench.image(first, 0x45), 0x0a05u);
  bench.emit(second, {kLoadRegister, kControlRegister, 0x1210});
  bench.run(second);
  EXPECT_EQ(bench.image(second, 0x45), 0x1210u);
  // Back to the first context, now with its image restored.
  bench.set_image(first, ContextBench::kImageControl, 0xffff'0000 | ContextBench::kNoSwitchOnWait);
  bench.emit(first, {kStoreRegister, kControlRegister, static_cast<uint32_t>(data), 0});
  bench.run(first);
  EXPECT_EQ(bench.peek(data), 0x0a05u);
  EXPECT_EQ(bench.image(first, 0x45), 0x0a05u);
  EXPECT_EQ(bench.image(second, 0x45), 0x1210u);
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen12Blit, ::testing::Values("tgl", "dg1"),
                         [](const auto& chip) { return chip.param; });

class BlitFlush : public ::testing::TestWithParam<std::string> {
 protected:
  BlitBench bench{GetParam()};
};

// A BLT of 16 MB drawn over one page, then an MI_FLUSH_DW that writes a number: when the number is visible, the BLT is
// complete.
TEST_P(BlitFlush, FlushCompletesAfterTheLastPixel) {
  constexpr int kLines = 4095;
  const uint64_t target = bench.allocate(1);
  const uint64_t number = bench.allocate(1);
  const Dwords flush = bench.wide() ? Dwords{0x1300'4003, static_cast<uint32_t>(number) | 4, 0, 0x600d, 0}
                                    : Dwords{0x1300'4002, static_cast<uint32_t>(number) | 4, 0x600d, 0};
  // XOR: an odd number of lines leaves the colour.
  bench.emit(bench.engine, bench.color(target, control(kDepth32, 0x5a, 0), {0, 0, 1024, kLines}, 0x1234'5678) + flush);
  bench.submit(bench.engine);
  unsigned before = 0;
  for (unsigned step = 0; step < 100 && bench.peek(number) == 0; ++step) {
    bench.device->advance(100'000);
    before += bench.peek(number) == 0 ? 1u : 0u;
  }
  EXPECT_GE(before, 5u) << "8 bytes per nanosecond";
  ASSERT_EQ(bench.peek(number), 0x600du);
  for (uint64_t at = 0; at < 4096; at += 4) {
    ASSERT_EQ(bench.peek(target + at), 0x1234'5678u) << at;
  }
  EXPECT_TRUE(bench.device->settle());
  EXPECT_TRUE(bench.idle());
  EXPECT_EQ(bench.host.log.events().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, BlitFlush, ::testing::Values("snb", "bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen
