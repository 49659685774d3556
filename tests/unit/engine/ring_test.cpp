// Rings: software writes commands and the tail, the engine parses them.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/engine_bench.h"

namespace halogen {
namespace {

class RingTest : public ::testing::TestWithParam<const char*> {};

TEST_P(RingTest, StoresFromTheRing) {
  EngineBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring("rcs0");
  // MI_STORE_DATA_IMM of one dword through the global table; bit 22 is the address type or the global table.
  bench.run("rcs0", {0x10400002, 0, static_cast<uint32_t>(data + 0x40), 0xcafe1234});
  EXPECT_EQ(bench.peek(data + 0x40), 0xcafe1234u);
  EXPECT_EQ(bench.reg("rcs0", EngineBench::kHead), 16u);
}

INSTANTIATE_TEST_SUITE_P(Rings, RingTest, ::testing::Values("i965", "gm965", "g45", "gm45", "snb"));

}  // namespace
}  // namespace halogen
