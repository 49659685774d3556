// Memory that the host takes away while engines work. Work is stopped between two slices, pages are taken back and
// protected (TestHost::take_back), and the work continues: its accesses fall into a hole and do not reach the pages.
#include <functional>
#include <utility>

#include "flow_bench.h"
#include "screen_bench.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kSlice = 20'000;

size_t holes(const EngineBench& bench) {
  return bench.events(EventKind::unmapped_memory) + bench.events(EventKind::fault);
}

// A batch that stores to one page and starts itself again, on each engine.
class RevokedStream : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr uint32_t kMarks = 64;

  void start(std::string_view engine) {
    engine_ = engine;
    data_ = bench.allocate(1);
    batch_ = bench.allocate(1);
    FlowBench::Dwords loop;
    for (uint32_t i = 0; i < kMarks; ++i) {
      loop = FlowBench::join({loop, bench.store(data_ + 4 * i, 0x100 + i)});
    }
    bench.poke(batch_, FlowBench::join({loop, bench.batch(batch_)}));
    bench.start_ring(engine);
    bench.emit(engine, bench.batch(batch_));
    bench.submit(engine);
    bench.device->advance(kSlice);
    EXPECT_EQ(bench.peek(data_ + 4 * (kMarks - 1)), 0x100 + kMarks - 1) << engine;
    bench.host.log.clear();
  }
  void take_back(uint64_t global, uint64_t pages = 1) {
    bench.host.take_back(*bench.device, EngineBench::host_address(global), pages * EngineBench::kPage);
  }

  FlowBench bench{GetParam()};
  std::string_view engine_;
  uint64_t data_ = 0;
  uint64_t batch_ = 0;
};

TEST_P(RevokedStream, StoresToRevokedPagesAreReported) {
  for (const spec::EngineModel& engine : bench.model.engines) {
    SCOPED_TRACE(engine.name);
    start(engine.name);
    take_back(data_);
    bench.device->advance(kSlice);
    EXPECT_NE(holes(bench), 0u);
    bench.set_reg(engine.name, EngineBench::kControl, 0);
  }
}

TEST_P(RevokedStream, FetchFromRevokedPagesIsReported) {
  for (const spec::EngineModel& engine : bench.model.engines) {
    SCOPED_TRACE(engine.name);
    start(engine.name);
    take_back(batch_);
    const uint64_t ring = bench.ring_start(engine.name);
    take_back(ring, 4);
    bench.device->advance(kSlice);
    EXPECT_NE(holes(bench), 0u);
    bench.set_reg(engine.name, EngineBench::kControl, 0);
  }
}

// Only the revoked page is a hole; the stream continues elsewhere.
TEST_P(RevokedStream, OtherPagesStayAccessible) {
  start("rcs0");
  const uint64_t other = bench.allocate(1);
  take_back(other);
  for (uint32_t i = 0; i < kMarks; ++i) bench.poke(data_ + 4 * i, 0);
  bench.device->advance(kSlice);
  EXPECT_EQ(bench.peek(data_ + 4 * (kMarks - 1)), 0x100 + kMarks - 1);
  EXPECT_EQ(holes(bench), 0u);
}

TEST_P(RevokedStream, StoreToARevokedStatusPageIsReported) {
  const uint64_t page = bench.give_status_page("rcs0");
  bench.start_ring("rcs0");
  const uint64_t batch = bench.allocate(1);
  const FlowBench::Dwords index = {0x1080'0001, 0x40 * 4, 0x77};  // MI_STORE_DATA_INDEX
  bench.poke(batch, FlowBench::join({index, {0}, bench.batch(batch)}));
  bench.emit("rcs0", bench.batch(batch));
  bench.submit("rcs0");
  bench.device->advance(kSlice);
  EXPECT_EQ(bench.peek(page + 0x40 * 4), 0x77u);
  take_back(page);
  bench.host.log.clear();
  bench.device->advance(kSlice);
  EXPECT_NE(holes(bench), 0u);
}

// A long blit is done in parts. With a pitch of zero all lines have the same address.
TEST_P(RevokedStream, BlitToARevokedTargetIsReported) {
  constexpr uint64_t kPages = 4;
  constexpr uint32_t kWidth = 4096, kLines = 8001, kXor = 0x5a;
  const std::string_view engine = bench.is_gen4() ? "rcs0" : "bcs0";
  const uint64_t target = bench.allocate(kPages);
  bench.start_ring(engine);
  const bool wide = bench.is_gen8_on();
  FlowBench::Dwords fill = {2u << 29 | 0x50u << 22 | 3u << 20 | (wide ? 5u : 4u), 3u << 24 | kXor << 16, 0,
                            kLines << 16 | kWidth, static_cast<uint32_t>(target)};
  if (wide) fill.push_back(0);
  fill.push_back(0xabcd'0123);
  bench.emit(engine, fill);
  bench.submit(engine);
  bench.device->advance(kSlice);
  bool changes = false;
  for (unsigned slices = 0; slices < 100 && !changes; ++slices) {
    const uint32_t before = bench.peek(target);
    bench.device->advance(kSlice);
    changes = bench.peek(target) != before;
  }
  ASSERT_TRUE(changes) << "the blit must be at work";
  bench.host.log.clear();
  take_back(target, kPages);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_NE(holes(bench), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedStream, ::testing::ValuesIn(all_chips()), chip_name);

std::vector<std::string> execlist_chips() {
  std::vector<std::string> names;
  for (const std::string& name : all_chips()) {
    if (Generation(*spec::find_device(name)).has_execlists()) names.push_back(name);
  }
  return names;
}

class RevokedContext : public ::testing::TestWithParam<std::string> {};

// A context waits; its image is taken back; another context preempts it, so the image is saved.
TEST_P(RevokedContext, SaveToARevokedImageIsReported) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  ContextBench::Context first = bench.create("rcs0", 1);
  ContextBench::Context second = bench.create("rcs0", 2);
  bench.emit(first, bench.store(data, 1));
  bench.emit(first, bench.wait_for(data + 8, 1));
  bench.emit(second, bench.store(data + 4, 2));
  bench.submit({&first});
  bench.device->advance(kSlice);
  EXPECT_EQ(bench.peek(data), 1u);
  bench.host.log.clear();
  bench.host.take_back(*bench.device, EngineBench::host_address(first.address), 3 * EngineBench::kPage);
  bench.submit({&second});
  bench.device->advance(50 * kSlice);
  EXPECT_NE(holes(bench), 0u);
}

// The tables of a running context are taken back.
TEST_P(RevokedContext, AccessThroughRevokedPageTablesIsReported) {
  ContextBench bench(GetParam());
  constexpr uint64_t kBatch = 0x40'0000, kData = 0x60'0000;
  const uint64_t batch = bench.allocate(1);
  const uint64_t data = bench.allocate(1);
  ContextBench::Context context = bench.create("rcs0", 1);
  bench.map_process(context, kBatch, batch);
  bench.map_process(context, kData, data);
  bench.poke(batch, {0x1000'0002, static_cast<uint32_t>(kData), 0, 5, 0x1880'0101, static_cast<uint32_t>(kBatch), 0});
  bench.emit(context, {0x1880'0101, static_cast<uint32_t>(kBatch), 0});
  bench.submit({&context});
  bench.device->advance(kSlice);
  ASSERT_EQ(bench.peek(data), 5u);
  bench.poke(data, 0);
  bench.host.log.clear();
  for (const auto& [place, table] : context.at) bench.host.take_back(*bench.device, table, EngineBench::kPage);
  bench.device->advance(kSlice);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_NE(holes(bench), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedContext, ::testing::ValuesIn(execlist_chips()), chip_name);

class RevokedOldContext : public ::testing::TestWithParam<std::string> {};

// MI_SET_CONTEXT saves the old context to its image.
TEST_P(RevokedOldContext, SaveToARevokedImageIsReported) {
  FlowBench bench(GetParam());
  constexpr uint32_t kGlobal = 1u << 8, kInhibit = 1;
  const uint64_t first = bench.allocate(32);
  const uint64_t second = bench.allocate(32);
  bench.start_ring("rcs0");
  bench.run_all("rcs0", {kSetContext, static_cast<uint32_t>(first) | kGlobal | kInhibit, kNoop, kNoop});
  bench.run_all("rcs0", {kSetContext, static_cast<uint32_t>(second) | kGlobal | kInhibit, kNoop, kNoop});
  bench.run_all("rcs0", {kSetContext, static_cast<uint32_t>(first) | kGlobal | kInhibit, kNoop, kNoop});
  bench.host.log.clear();
  bench.host.take_back(*bench.device, EngineBench::host_address(first), 32 * EngineBench::kPage);
  bench.emit("rcs0", {kSetContext, static_cast<uint32_t>(second) | kGlobal | kInhibit, kNoop, kNoop});
  bench.submit("rcs0");
  bench.device->advance(50 * kSlice);
  EXPECT_NE(holes(bench), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedOldContext, ::testing::ValuesIn(ring_chips()), chip_name);

class RevokedScreen : public ::testing::TestWithParam<std::string> {};

TEST_P(RevokedScreen, RevokedPagesAreScannedOutAsBlack) {
  ScreenBench bench(GetParam());
  constexpr uint32_t kLines = 80, kXrgb = 0b0110u << 26;
  const uint64_t surface = bench.allocate(kLines);  // one page per line
  for (uint32_t line = 0; line < kLines; ++line) bench.poke(surface + line * 4096, 0x0010'2030);
  bench.write(ScreenBench::timing(0, 0x1c), 639u << 16 | (kLines - 1));
  bench.write(ScreenBench::plane(0, 0x180), ScreenBench::kEnable | kXrgb);
  bench.write(ScreenBench::plane(0, 0x188), 4096);
  bench.start_pipe(0);
  bench.write(ScreenBench::plane(0, 0x19c), static_cast<uint32_t>(surface));
  bench.advance_to(bench.vblank_at(0, 1));
  const auto before = bench.device->take_frame(0);
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->at(0, kLines - 1).blue, 0x30);
  bench.host.take_back(*bench.device, EngineBench::host_address(surface), kLines * EngineBench::kPage);
  const auto after = bench.device->take_frame(0);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->at(0, kLines - 1).blue, 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedScreen, ::testing::Values("g45", "gm45"), chip_name);

}  // namespace
}  // namespace halogen
