// Selection of tiling (G45 PRM vol. 1b 4.5.4, seed 003): a fence for CPU accesses, the tiling bit of the command for
// the BLT engine. These tests combine both.
#include "blit_bench.h"

namespace halogen {
namespace {

class TilingDetection : public ::testing::TestWithParam<std::string> {};

TEST_P(TilingDetection, FencesAndTilingBitsAreIndependent) {
  COVERS("G45-4.5.5-01");
  BlitBench bench(GetParam());
  constexpr uint64_t kPages = 16;
  constexpr int kPitch = 1024;
  uint64_t surface = bench.allocate(1);
  while (surface % 0x10'0000 != 0) surface = bench.allocate(1);
  bench.allocate(kPages - 1);

  const auto draw = [&](bool tiled, int x, int y, uint32_t value) {
    const int pitch = tiled ? kPitch / 4 : kPitch;  // in dwords for tiled surfaces
    bench.run_commands(bench.color(surface, control(kDepth32, 0xf0, pitch), {x, y, x + 1, y + 1}, value,
                                   kWriteAll | (tiled ? kTiled : 0)));
  };
  const auto linear = [&](int x, int y) { return surface + static_cast<uint64_t>(y * kPitch + 4 * x); };
  const auto tiled = [&](int x, int y) {
    return surface + device::x_tiled(static_cast<uint64_t>(4 * x), static_cast<uint64_t>(y), kPitch);
  };

  for (const bool fence : {false, true}) {
    if (fence) bench.set_fence(0, surface, surface / EngineBench::kPage + kPages - 1, kPitch, false);
    const uint32_t mark = fence ? 0x5000 : 0x1000;
    draw(false, 130, 9, mark + 1);
    EXPECT_EQ(bench.peek(linear(130, 9)), mark + 1) << "a fence does not tile a linear BLT";
    draw(true, 130, 9, mark + 2);
    EXPECT_EQ(bench.peek(tiled(130, 9)), mark + 2) << "a tiled BLT needs no fence";
    EXPECT_EQ(bench.peek(linear(130, 9)), mark + 1);
    // The same pixel as the CPU sees it.
    EXPECT_EQ(bench.aperture(linear(130, 9)), mark + (fence ? 2 : 1));
  }
  EXPECT_EQ(bench.host.log.events().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, TilingDetection, ::testing::Values("i965", "gm965", "g45", "gm45", "bdw", "skl"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen
