// Samples of the counters: their times, their contexts, and that they add up to the work.
#include "oa/sampler.h"

#include <random>

#include <gtest/gtest.h>

#include "oa_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kPeriod = 1000;

oa::FlexibleEvents eu_active() {
  oa::FlexibleEvents events;
  events[0] = {.increment = oa::FlexibleEvent::kSomePipe};
  return events;
}

// A device with a sampler. The clocks of the model are three in 4 ns (OaBench).
struct SampledBench : OaBench {
  explicit SampledBench(const char* chip, uint64_t period = kPeriod)
      : OaBench(chip), sampler(eu_active(), period, [this](const oa::Sample& sample) { samples.push_back(sample); }) {
    // Sampling begins at a multiple of the period, which makes times in tests simple.
    device->advance(100 * kPeriod - now() % kPeriod);
    unit().set_sampler(&sampler);
    start = now();
  }
  ~SampledBench() { unit().set_sampler(nullptr); }

  oa::Unit& unit() { return device->observation().unit(); }
  void work(uint64_t after, uint64_t length, uint64_t barriers) {
    oa::WorkCounts counts;
    counts.barriers = barriers;
    device->observation().on_engine_work(
        0, {.begin_ns = start + after, .end_ns = start + after + length, .counts = counts});
  }
  void advance_to(uint64_t after) { device->advance(start + after - now()); }
  uint64_t sum(size_t counter) const {
    uint64_t sum = 0;
    for (const oa::Sample& sample : samples) sum += sample.counts[counter];
    return sum;
  }

  oa::Sampler sampler;
  std::vector<oa::Sample> samples;
  uint64_t start = 0;
};

class OaSampler : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, OaSampler, ::testing::ValuesIn(kOaChips), [](const auto& chip) { return chip.param; });

TEST_P(OaSampler, SamplesHaveLinearSharesOfTheirPeriods) {
  SampledBench bench(GetParam());
  bench.work(500, 2000, 4000);  // a quarter, a half, a quarter
  bench.advance_to(10 * kPeriod);
  ASSERT_EQ(bench.samples.size(), 3u);
  const uint64_t expected[] = {1000, 2000, 1000};
  for (size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(bench.samples[n].begin_ns, bench.start + n * kPeriod);
    EXPECT_EQ(bench.samples[n].end_ns, bench.start + (n + 1) * kPeriod);
    EXPECT_EQ(bench.samples[n].clocks, 450u);
    EXPECT_NEAR(static_cast<double>(bench.samples[n].counts[35]), static_cast<double>(expected[n]), 3);
  }
  EXPECT_EQ(bench.sum(35), 4000u);
}

TEST_P(OaSampler, TimeWithoutCountsIsOneSample) {
  SampledBench bench(GetParam());
  bench.work(100, 10, 1);
  bench.advance_to(500 * kPeriod);
  ASSERT_EQ(bench.samples.size(), 1u);
  bench.work(500 * kPeriod + 100, 10, 2);
  bench.advance_to(501 * kPeriod);
  ASSERT_EQ(bench.samples.size(), 3u);
  EXPECT_EQ(bench.samples[1].begin_ns, bench.start + kPeriod);
  EXPECT_EQ(bench.samples[1].end_ns, bench.start + 500 * kPeriod);
  EXPECT_EQ(bench.samples[1].counts, (std::array<uint64_t, 36>{}));
  EXPECT_EQ(bench.samples[2].begin_ns, bench.start + 500 * kPeriod);
  EXPECT_EQ(bench.samples[2].counts[35], 2u);
}

TEST_P(OaSampler, FinishEndsTheLastSample) {
  SampledBench bench(GetParam());
  bench.work(100, 100, 7);
  bench.advance_to(300);
  EXPECT_TRUE(bench.samples.empty());
  bench.sampler.finish();
  ASSERT_EQ(bench.samples.size(), 1u);
  EXPECT_EQ(bench.samples[0].end_ns, bench.start + 300);
  EXPECT_EQ(bench.samples[0].counts[35], 7u);
  bench.sampler.finish();
  EXPECT_EQ(bench.samples.size(), 1u) << "nothing has counted since";
}

// Engines are ahead of the device's time when the device becomes idle. What they did must not be lost.
TEST_P(OaSampler, FinishCountsWorkThatIsAheadOfTheDevice) {
  SampledBench bench(GetParam());
  bench.work(100, 5000, 50);
  bench.advance_to(300);
  bench.sampler.finish();
  EXPECT_EQ(bench.sum(35), 50u);
  EXPECT_EQ(bench.samples.size(), 6u);
  // The next work begins behind it, and its time is the device's again.
  bench.work(8000, 100, 3);
  bench.advance_to(9000);
  EXPECT_EQ(bench.sum(35), 53u);
}

// The work before and after the change belongs to one context each.
TEST_P(OaSampler, ChangeOfContextEndsASample) {
  SampledBench bench(GetParam());
  oa::Unit& unit = bench.unit();
  unit.load_context(bench.start + 100, uint64_t{0x11} << 32 | 0x1000);
  bench.work(100, 200, 20);
  unit.load_context(bench.start + 400, uint64_t{0x22} << 32 | 0x2000);
  bench.work(400, 100, 30);
  unit.unload_context(bench.start + 600);
  bench.advance_to(kPeriod);
  ASSERT_EQ(bench.samples.size(), 2u);
  EXPECT_EQ(bench.samples[0].end_ns, bench.start + 400);
  EXPECT_EQ(bench.samples[0].context.id(), 0x11u);
  EXPECT_EQ(bench.samples[0].counts[35], 20u);
  EXPECT_EQ(bench.samples[1].begin_ns, bench.start + 400);
  EXPECT_EQ(bench.samples[1].end_ns, bench.start + 600);
  EXPECT_EQ(bench.samples[1].context.id(), 0x22u);
  EXPECT_EQ(bench.samples[1].counts[35], 30u);
}

// The chip's own unit is off, so only the sampler asks for counts.
TEST_P(OaSampler, SamplerAloneMakesWorkCount) {
  SampledBench bench(GetParam());
  EXPECT_TRUE(bench.device->observation().counts_wanted().work);
  EXPECT_TRUE(bench.device->observation().counts_wanted().activity);
  bench.unit().set_sampler(nullptr);
  EXPECT_FALSE(bench.device->observation().counts_wanted().any());
}

// The same random work with and without a sampler: software reads the same reports and registers.
TEST_P(OaSampler, SoftwareSeesNoDifference) {
  const auto story = [](bool sampled) {
    OaBench bench(GetParam());
    oa::Sampler sampler(eu_active(), 77, [](const oa::Sample&) {});
    if (sampled) bench.device->observation().unit().set_sampler(&sampler);
    bench.map_buffer(0x400'0000, 1);
    bench.put(test_oa_network(GetParam()));
    bench.put(test_oa_counters(GetParam()));
    bench.set_timer(2);
    bench.enable();
    std::mt19937 random(5);
    for (unsigned n = 0; n < 100; ++n) {
      oa::WorkCounts counts;
      counts.barriers = random() % 1000;
      counts.threads[0] = random() % 50;
      const uint64_t begin = bench.now();
      bench.device->observation().on_engine_work(
          0, {.begin_ns = begin, .end_ns = begin + random() % 5000, .counts = counts});
      bench.device->observation().on_engine_time(0, {.begin_ns = begin, .end_ns = begin + random() % 900});
      bench.device->advance(random() % 3000);
    }
    std::vector<std::vector<uint32_t>> all;
    for (const OaReport& report : bench.reports()) all.push_back(report.dwords);
    bench.device->observation().unit().set_sampler(nullptr);
    return std::pair(all, bench.device->observation().state());
  };
  const auto [reports, state] = story(false);
  const auto [sampled_reports, sampled_state] = story(true);
  EXPECT_GT(reports.size(), 100u);
  EXPECT_EQ(reports, sampled_reports);
  EXPECT_TRUE(state == sampled_state);
}

// Random work, waits and contexts with several periods: samples follow each other without gaps, end at multiples of the
// period or at changes of context, and add up to the work.
TEST_P(OaSampler, RandomSamplesAddUp) {
  for (const uint64_t period : {100u, 999u, 20'000u, 1'000'000u}) {
    SampledBench bench(GetParam(), period);
    std::mt19937 random(static_cast<unsigned>(period));
    std::vector<uint64_t> changes;
    uint64_t total = 0, at = 0;
    for (unsigned n = 0; n < 300; ++n) {
      at += random() % 8 == 0 ? random() % 50'000 : random() % 200;
      const uint64_t length = random() % 5 == 0 ? random() % 9000 : random() % 60;
      if (random() % 4 == 0) {
        bench.unit().load_context(bench.start + at, uint64_t{random() % 3 + 1} << 32 | 0x1000 * (random() % 3 + 1));
        changes.push_back(bench.start + at);
      }
      const uint64_t count = random() % 500;
      bench.work(at, length, count);
      total += count;
      at += length;
      if (random() % 3 == 0) bench.advance_to(at);
    }
    bench.advance_to(at + 1);
    bench.sampler.finish();
    EXPECT_EQ(bench.sum(35), total) << period;
    uint64_t end = bench.start;
    for (const oa::Sample& sample : bench.samples) {
      EXPECT_EQ(sample.begin_ns, end);
      EXPECT_LT(sample.begin_ns, sample.end_ns);
      end = sample.end_ns;
      const bool last = &sample == &bench.samples.back();
      EXPECT_TRUE(end % period == 0 || last || std::ranges::find(changes, end) != changes.end()) << end;
    }
  }
}

// A span that begins long after the sampler's time costs nothing until then.
TEST_P(OaSampler, LongIdleTimeIsSkipped) {
  SampledBench bench(GetParam(), 100);
  constexpr uint64_t kHour = uint64_t{3600} * 1'000'000'000;
  bench.work(kHour, 250, 9);
  bench.advance_to(kHour + 1000);
  EXPECT_EQ(bench.sum(35), 9u);
  EXPECT_LE(bench.samples.size(), 5u);
}

// A snapshot can move the device's time back: sampling starts again there.
TEST_P(OaSampler, RestoredDeviceIsSampledFromItsTimeOn) {
  SampledBench bench(GetParam());
  const auto before = bench.device->snapshot();
  bench.advance_to(50 * kPeriod);
  bench.device->restore(before);
  bench.work(100, 10, 3);
  bench.advance_to(2 * kPeriod);
  ASSERT_EQ(bench.samples.size(), 1u);
  EXPECT_EQ(bench.samples[0].begin_ns, bench.start);
  EXPECT_EQ(bench.samples[0].counts[35], 3u);
}

// Without a unit nothing is sampled.
TEST(OaSamplerWithout, ChipsWithoutUnitGiveNoSamples) {
  for (const char* const chip : {"i965", "g45", "snb"}) {
    EngineBench bench(chip);
    unsigned samples = 0;
    oa::Sampler sampler(eu_active(), 100, [&](const oa::Sample&) { ++samples; });
    bench.device->observation().unit().set_sampler(&sampler);
    EXPECT_FALSE(bench.device->observation().counts_wanted().any()) << chip;
    bench.device->advance(10'000);
    sampler.finish();
    EXPECT_EQ(samples, 0u) << chip;
  }
}

}  // namespace
}  // namespace halogen
