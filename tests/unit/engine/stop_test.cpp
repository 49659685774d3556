// A raised stop flag ends advance() and settle() within one slice, whatever endless streams engines parse. The device
// continues afterwards as if nothing had happened.
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint64_t kSecond = 1'000'000'000;

class StopTest : public ::testing::TestWithParam<std::string> {};

// A batch that jumps to itself for ever.
TEST_P(StopTest, FlagEndsAnEndlessStreamBetweenTwoSlices) {
  constexpr uint32_t kLook = 50;
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const uint64_t batch = bench.allocate(1);
  bench.poke(batch, FlowBench::join({{kNoop, kNoop}, bench.batch(batch)}));
  bench.emit(kRcs, bench.batch(batch));
  bench.submit(kRcs);
  uint32_t looks = 0;
  bench.device->stop_flag().set_watch([&] { return ++looks >= kLook; });
  const uint64_t before = bench.device->clock().nanoseconds;
  bench.device->advance(kSecond);
  // A look is at most one slice, and the slice of an engine that works alone doubles up to six times.
  constexpr uint64_t kMaxSlice = device::EngineSet::kSlice << device::EngineSet::kMaxDoublings;
  EXPECT_LE(bench.device->clock().nanoseconds - before, kLook * kMaxSlice);
  EXPECT_LE(looks, kLook + 2);
  EXPECT_FALSE(bench.device->settle());
  bench.device->stop_flag().set_watch({});
  bench.device->advance(device::EngineSet::kSlice);
  bench.poke(batch, {kBatchEnd, kNoop});
  EXPECT_TRUE(bench.device->settle()) << "the stream continues";
}

TEST_P(StopTest, StopsDoNotChangeWhatAStreamWrites) {
  constexpr uint32_t kStores = 60;
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  const uint64_t data = bench.allocate(1);
  for (uint32_t i = 0; i < kStores; ++i) {
    bench.emit(kRcs, FlowBench::join({bench.store(data + 4 * i, i + 1), {kNoop, kNoop}}));
  }
  bench.submit(kRcs);
  const uint64_t end = bench.device->clock().nanoseconds + 1'000'000;
  for (uint32_t round = 0; bench.device->clock().nanoseconds < end; ++round) {
    ASSERT_LT(round, 10'000u);
    uint32_t looks = 0;
    bench.device->stop_flag().set_watch([&] { return ++looks > 1 + round % 3; });
    bench.device->advance(end - bench.device->clock().nanoseconds);
    bench.device->stop_flag().set_watch({});
    const device::DeviceState state = bench.device->snapshot();
    bench.device->restore(state);
  }
  EXPECT_TRUE(bench.device->settle());
  for (uint32_t i = 0; i < kStores; ++i) {
    EXPECT_EQ(bench.peek(data + 4 * i), i + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, StopTest, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen
