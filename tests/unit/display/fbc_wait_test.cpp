// MI_WAIT_FOR_EVENT for the compressor, which makes the ring wait while a pass runs.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/fbc_bench.h"

namespace halogen::display::fbc_test {
namespace {

TEST(FbcWait, RingWaitsUntilTheCompressorIsIdle) {
  COVERS("G45-1.21-09");
  for (const bool busy : {true, false}) {
    SCOPED_TRACE(busy);
    FbcBench bench;
    constexpr uint64_t kRing = 0xc00'0000;    // graphics address
    constexpr uint64_t kResult = 0xc00'1000;  // the ring stores here when it continues
    bench.map(kRing >> 12, 0x800'0000);
    bench.map(kResult >> 12, 0x800'1000);
    const uint32_t commands[] = {
        0x03u << 23 | 1u << 4, 0, 0x20u << 23 | 1u << 22 | 2, 0, static_cast<uint32_t>(kResult), 0x600d, 0, 0};
    for (uint32_t i = 0; i < std::size(commands); ++i) {
      bench.put_aperture(kRing + 4 * i, commands[i]);
    }
    bench.enable();
    if (busy) {
      bench.request();
    }
    bench.next_vblank();
    bench.write(0x2038, static_cast<uint32_t>(kRing));
    bench.write(0x2034, 0);
    bench.write(0x203c, 1);
    bench.write(0x2030, sizeof commands);
    bench.device->advance(200'000);
    EXPECT_EQ((bench.status() & FbcBench::kCompressing) != 0, busy);
    EXPECT_EQ(bench.host.value_at<uint32_t>(0x800'1000), busy ? 0u : 0x600du);
    bench.device->advance(FbcBench::kQuarterFrame);
    EXPECT_EQ(bench.status() & FbcBench::kCompressing, 0u);
    EXPECT_EQ(bench.host.value_at<uint32_t>(0x800'1000), 0x600du);
  }
}

}  // namespace
}  // namespace halogen::display::fbc_test
