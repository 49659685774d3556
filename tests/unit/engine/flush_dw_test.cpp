// MI_FLUSH_DW, field by field, on every engine that has it. Bits: Mesa's genxml, ledger row DG1-CS-13.
#include "engine_events.h"
#include "flow_bench.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kFlushDw = 0x26u << 23, kNotify = 1u << 8, kImmediate = 1u << 14, kTime = 3u << 14,
                   kInvalidate = 1u << 18, kIndex = 1u << 21;

class FlushDw : public ::testing::TestWithParam<std::string> {
 protected:
  // The long form, with an address in the global table.
  FlowBench::Dwords flush(uint32_t bits, uint64_t address, uint32_t first = 0, uint32_t second = 0) const {
    const uint32_t at = static_cast<uint32_t>(address) | 4;
    return bench.is_gen8_on() ? FlowBench::Dwords{kFlushDw | bits | 3, at, 0, first, second}
                              : FlowBench::Dwords{kFlushDw | bits | 2, at, first, second};
  }
  std::vector<std::string_view> engines() const {
    std::vector<std::string_view> names;
    for (const spec::EngineModel& each : bench.model.engines) {
      if (each.engine_class == spec::EngineClass::blit || each.engine_class == spec::EngineClass::video ||
          each.engine_class == spec::EngineClass::vebox) {
        names.push_back(each.name);
      }
    }
    return names;
  }
  FlowBench bench{GetParam()};
};

TEST_P(FlushDw, NotifyInterruptIsRaisedForItsEngineOnly) {
  EngineEvents events(bench);
  ASSERT_GE(engines().size(), 2u);
  for (const std::string_view engine : engines()) {
    bench.start_ring(engine);
    bench.run_all(engine, flush(0, 0));
    EXPECT_EQ(events.take(engine) & kNotifyEvent, 0u) << engine;
    if (!bench.is_gen8_on() && engine == "vcs0") {
      continue;  // no source gives its bit on Sandy Bridge
    }
    bench.run_all(engine, flush(kNotify, 0));
    EXPECT_EQ(events.take(engine), kNotifyEvent) << engine;
    for (const std::string_view other : engines()) {
      EXPECT_EQ(events.take(other), 0u) << other;
    }
  }
}

TEST_P(FlushDw, WritesTheTimestamp) {
  const uint64_t data = bench.allocate(1);
  bench.device->advance(5'000'000);
  uint64_t at = data;
  for (const std::string_view engine : engines()) {
    const auto now = [&] { return bench.reg(engine, 0x358) | uint64_t{bench.reg(engine, 0x35c)} << 32; };
    const auto stored = [&](uint64_t place) { return bench.peek(place) | uint64_t{bench.peek(place + 4)} << 32; };
    bench.start_ring(engine);
    const uint64_t before = now();
    bench.run_all(engine, FlowBench::join({flush(kTime, at, 1, 2), flush(kTime, at + 8)}));
    EXPECT_GE(stored(at), before) << engine;
    EXPECT_GT(stored(at), 0u) << engine;
    EXPECT_GE(stored(at + 8), stored(at)) << engine;
    EXPECT_LE(stored(at + 8), now()) << engine;
    at += 16;
  }
}

TEST_P(FlushDw, StoresAtAnIndexOfTheStatusPage) {
  for (const std::string_view engine : engines()) {
    const uint64_t page = bench.allocate(1);
    if (bench.is_gen8_on()) {
      bench.set_reg(engine, kHwsPga, static_cast<uint32_t>(page));
    } else {
      bench.write(engine == "bcs0" ? 0x24080 : 0x14080, static_cast<uint32_t>(page));
    }
    bench.start_ring(engine);
    bench.run_all(engine, flush(kIndex | kImmediate, 0x100, 0x11, 0x22));
    EXPECT_EQ(bench.peek(page + 0x100), 0x11u) << engine;
    EXPECT_EQ(bench.peek(page + 0x104), 0x22u) << engine;
    EXPECT_EQ(bench.peek(page + 0x108), 0u) << engine;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, FlushDw, ::testing::Values("snb", "bdw", "chv", "skl", "icl", "tgl", "dg1"), chip_name);

// A page table entry changed in memory takes effect after a flush with the TLB invalidate bit. Without the bit the
// streamer may use the old entry, and the model does.
TEST(FlushDwTranslations, TlbInvalidateDropsOldTranslations) {
  for (const char* const chip : {"bdw", "skl", "icl", "tgl", "dg1"}) {
    for (const bool invalidate : {false, true}) {
      ContextBench bench(chip);
      if (!bench.has_wide_tables()) {
        continue;
      }
      constexpr uint64_t kProcess = 0x20'0000;
      const uint64_t first = bench.allocate(1), second = bench.allocate(1);
      ContextBench::Context context = bench.create("bcs0", 1);
      bench.map_process(context, kProcess, first);
      uint64_t table = context.tables;
      for (const unsigned shift : {39u, 30u, 21u}) {
        table = bench.host.value_at<uint64_t>(table + 8 * (kProcess >> shift & 0x1ff)) & ~uint64_t{0xfff};
      }
      const uint64_t entry = table + 8 * (kProcess >> 12 & 0x1ff) - ContextBench::host_address(0);
      ASSERT_EQ(bench.peek(entry), ContextBench::host_address(first) | 3);
      bench.emit(context, {0x1000'0002, kProcess, 0, 1});
      bench.emit(context, ContextBench::store(entry, static_cast<uint32_t>(ContextBench::host_address(second) | 3)));
      bench.emit(context, {kFlushDw | (invalidate ? kInvalidate : 0u) | 3, 0, 0, 0, 0});
      bench.emit(context, {0x1000'0002, kProcess + 4, 0, 2});
      bench.run(context);
      EXPECT_EQ(bench.peek(first), 1u) << chip;
      EXPECT_EQ(bench.peek(invalidate ? second + 4 : first + 4), 2u) << chip << invalidate;
    }
  }
}

}  // namespace
}  // namespace halogen
