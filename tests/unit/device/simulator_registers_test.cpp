// Registers that only clients of simulators write: page attributes at 0x4100 to 0x4124 (NEO in simulator mode).
#include <gtest/gtest.h>

#include "test_host.h"

namespace halogen::device {
namespace {

TEST(SimulatorRegisters, PageAttributesAtTheOldOffsetsAreKept) {
  for (const char* const chip : {"tgl", "dg1"}) {
    Bench bench(chip);
    bench.write(0xa188, 0x0001'0001);  // wakes the GT domain
    for (uint32_t offset = 0x4100; offset <= 0x4124; offset += 4) {
      bench.write(offset, offset ^ 0x5a5a'0000);
      EXPECT_EQ(bench.read(offset), offset ^ 0x5a5a'0000) << chip << std::hex << " " << offset;
    }
    EXPECT_EQ(bench.events(), 0u) << chip;
    bench.write(0x4128, 1);
    EXPECT_EQ(bench.events(), 1u) << chip << ": nothing follows them";
  }
}

}  // namespace
}  // namespace halogen::device
