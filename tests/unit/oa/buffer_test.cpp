// The report buffer: timer, formats, wrap, overflow, losses, its interrupt, and buffers that a hostile guest sets up.
#include <gtest/gtest.h>

#include "covers.h"
#include "oa_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kBase = 0x400'0000;

class OaBuffer : public ::testing::TestWithParam<const char*> {};

TEST_P(OaBuffer, TheTimerReportsWhenItsBitOfTheTimestampRises) {
  for (unsigned exponent = 0; exponent <= 20; ++exponent) {
    OaBench bench(GetParam());
    bench.map_buffer(kBase, 0);
    bench.device->advance(exponent * 1337 + 1);
    bench.set_timer(static_cast<int>(exponent));
    bench.enable();
    const uint64_t period = uint64_t{2} << exponent;
    const uint64_t enough = 20 * period * 1'000'000'000 / bench.model.timestamp_hz;
    bench.device->advance(enough / 2);
    bench.device->advance(enough - enough / 2);
    const std::vector<OaReport> reports = bench.reports();
    ASSERT_GE(reports.size(), 19u) << exponent;
    ASSERT_LE(reports.size(), 20u) << exponent;
    for (size_t n = 0; n < reports.size(); ++n) {
      EXPECT_EQ(reports[n].timestamp() % period, period / 2) << exponent;
      EXPECT_EQ(bench.reason(reports[n]), OaBench::kReasonTimer);
      if (n != 0) {
        EXPECT_EQ(reports[n].timestamp() - reports[n - 1].timestamp(), period) << exponent;
      }
      // Both show the first nanosecond of the tick.
      const uint64_t ns =
          (uint64_t{reports[n].timestamp()} * 1'000'000'000 + bench.model.timestamp_hz - 1) / bench.model.timestamp_hz;
      EXPECT_EQ(reports[n].ticks(), bench.clocks(ns));
    }
  }
}

TEST_P(OaBuffer, ExponentsThatTheTimestampDoesNotReachReportNothing) {
  OaBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  for (const int exponent : {31, 40, 62, 63}) {
    bench.set_timer(exponent);
    bench.enable();
    bench.device->advance(1'000'000'000);
    EXPECT_EQ(bench.tail(), kBase) << exponent;
  }
}

// Dword by dword, with counters that software has written.
TEST_P(OaBuffer, FormatsPlaceCountersAsTheTablesSay) {
  COVERS("CHV-OA-03");
  COVERS("CHV-OA-04");
  COVERS("CHV-OA-07");
  COVERS("DG1-OA-06");
  COVERS("DG1-OA-07");
  COVERS("DG1-OA-08");
  COVERS("DG1-OA-09");
  for (const uint32_t format : {OaBench::kA12, OaBench::kA12B8C8, OaBench::kA36B8C8, OaBench::kC4B8}) {
    OaBench bench(GetParam());
    bench.map_buffer(kBase, 0);
    for (uint32_t n = 0; n < 32; ++n) {
      bench.write(bench.at().a + 8 * n, 0xa000'0000 + n);
      bench.write(bench.at().a + 8 * n + 4, 0x40 + n);
    }
    for (uint32_t n = 0; n < 4; ++n) bench.write(bench.at().a + 0x100 + 4 * n, 0xa000'0020 + n);
    for (uint32_t n = 0; n < 8; ++n) {
      bench.write(bench.at().b + 4 * n, 0xb000'0000 + n);
      bench.write(bench.at().c + 4 * n, 0xc000'0000 + n);
    }
    bench.set_timer(3, /*resume=*/false);
    bench.enable(format);
    bench.device->advance(2000);
    ASSERT_GE((bench.tail() - kBase) / (4 * OaBench::dwords_of(format)), 1u);
    const OaReport report = bench.report_at(0, format);
    std::vector<uint32_t> expected;
    const auto add = [&expected](uint32_t first, uint32_t count) {
      for (uint32_t n = 0; n < count; ++n) expected.push_back(first + n);
    };
    if (format == OaBench::kA36B8C8) {
      add(0xa000'0000, 36);
      for (uint32_t n = 0; n < 8; ++n) expected.push_back((0x40 + 4 * n) * 0x0101'0101 + 0x0302'0100);
      add(0xb000'0000, 8);
      add(0xc000'0000, 8);
    } else if (format == OaBench::kC4B8) {
      add(0xc000'0000, 4);
      add(0xb000'0000, 8);
    } else {
      add(0xa000'0007, 12);
      if (format == OaBench::kA12B8C8) {
        add(0xb000'0000, 8);
        add(0xc000'0000, 8);
      }
    }
    EXPECT_EQ(std::vector<uint32_t>(report.dwords.begin() + 4, report.dwords.end()), expected) << "format " << format;
    const OaReport next = bench.report_at(4 * OaBench::dwords_of(format), format);
    EXPECT_EQ(next.timestamp() - report.timestamp(), 16u) << "the next report follows directly";
  }
}

TEST_P(OaBuffer, CountersHaveFortyOrThirtyTwoBits) {
  COVERS("CHV-OA-01");  // with OaState.PowerContextKeepsCounters
  COVERS("CHV-OA-02");
  OaBench bench(GetParam());
  for (uint32_t n = 0; n < 32; ++n) {
    bench.write(bench.at().a + 8 * n, 0x1234'5600 + n);
    bench.write(bench.at().a + 8 * n + 4, 0xffff'ff00 + n);
    EXPECT_EQ(bench.a(n), (uint64_t{n} << 32) + 0x1234'5600 + n);
  }
  for (uint32_t n = 32; n < 36; ++n) {
    bench.write(bench.at().a + 0x100 + 4 * (n - 32), 0x8765'4300 + n);
    EXPECT_EQ(bench.a(n), 0x8765'4300u + n);
  }
}

// Every size: the report that makes the tail meet the head sets the overflow bit; later reports overwrite old ones.
TEST_P(OaBuffer, TheLastFreeReportOverflowsEachSizeAndWraps) {
  COVERS("DG1-OA-21");
  COVERS("CHV-OA-10");  // with the other tests of this file
  for (unsigned size = 0; size < 8; ++size) {
    OaBench bench(GetParam());
    bench.map_buffer(kBase, size);
    const uint64_t bytes = uint64_t{128 * 1024} << size;
    const uint64_t capacity = bytes / 256;
    const uint64_t period_ns = 8'000'000'000 / bench.model.timestamp_hz;  // exponent 2
    bench.set_timer(2);
    bench.enable();
    while ((bench.tail() - kBase) / 256 < capacity - 1) {
      EXPECT_EQ(bench.status() & 2u, 0u);
      const uint64_t missing = capacity - 1 - (bench.tail() - kBase) / 256;
      bench.device->advance(std::max<uint64_t>(missing * period_ns * 7 / 8, 1));
    }
    ASSERT_EQ(bench.tail(), kBase + bytes - 256) << "size " << size;
    EXPECT_EQ(bench.status() & 2u, 0u) << "one report is free";
    while (bench.tail() != kBase) bench.device->advance(50);
    EXPECT_EQ(bench.status() & 2u, 2u) << "the tail met the head";
    EXPECT_EQ(bench.status() >> 17 & 1, bench.split() ? 0u : 1u) << "Gen12 has no wrap bits";
    const uint32_t first = bench.report_at(0).timestamp();
    EXPECT_EQ(bench.report_at(bytes - 256).timestamp() - first, (capacity - 1) * 8);
    bench.device->advance(period_ns);
    EXPECT_GT(bench.report_at(0).timestamp(), first) << "overwritten";
  }
}

// A long jump of idle time leaves the same buffer as many short steps.
TEST_P(OaBuffer, SkippedReportsLeaveTheBufferOfShortSteps) {
  const auto contents = [](uint64_t step) {
    OaBench bench(GetParam());
    bench.put(test_oa_network(GetParam()));
    bench.put(test_oa_counters(GetParam()));
    bench.map_buffer(kBase, 0);
    bench.set_timer(1);
    bench.enable();
    for (uint64_t time = 0; time < 2'000'000; time += step) bench.device->advance(step);
    std::vector<uint32_t> all{static_cast<uint32_t>(bench.tail()), bench.status()};
    for (uint64_t offset = 0; offset < 128 * 1024; offset += 256) {
      const OaReport report = bench.report_at(offset);
      all.insert(all.end(), report.dwords.begin(), report.dwords.end());
    }
    return all;
  };
  const auto expected = contents(10'000);
  EXPECT_EQ(contents(2'000'000), expected);
  EXPECT_EQ(contents(500'000), expected);
}

TEST_P(OaBuffer, AHeadThatMovesOnPreventsTheOverflow) {
  OaBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  bench.set_timer(2);
  bench.enable();
  for (unsigned part = 0; part < 64; ++part) {
    bench.device->advance(20'000);
    bench.set_head(bench.tail());
  }
  EXPECT_EQ(bench.status() & 2u, 0u);
  EXPECT_EQ(bench.status() >> 16 & 3, bench.split() ? 0u : 3u) << "both pointers passed the end";
  bench.write(bench.at().status, 0);
  EXPECT_EQ(bench.status(), 0u) << "software clears the bits";
}

TEST_P(OaBuffer, HalfOfTheBufferInterruptsOnce) {
  COVERS("DG1-OA-19");
  OaBench bench(GetParam());
  const bool banks = bench.model.gen < spec::GenId::gen11;
  if (banks) {
    bench.write(0x44334, ~(1u << 28));
    bench.write(0x4433c, 1u << 28);
  } else {
    bench.write(0x19003c, 0xffff'ffff);
    bench.write(0x1900ec, 0);
  }
  const auto pending = [&] { return banks ? bench.read(0x44338) >> 28 & 1 : bench.read(0x190018) >> 20 & 1; };
  bench.map_buffer(kBase, 0);
  bench.set_timer(2);
  bench.enable();
  while ((bench.tail() - kBase) < 64 * 1024 - 256) {
    EXPECT_EQ(pending(), 0u);
    bench.device->advance(400);
  }
  while ((bench.tail() - kBase) < 64 * 1024) bench.device->advance(50);
  ASSERT_EQ(pending(), 1u);
  if (banks) {
    EXPECT_EQ(bench.read(0x44338), 1u << 28) << "no other bit";
    bench.write(0x44338, 1u << 28);
  } else {
    bench.write(0x190070, 1u << 20);
    EXPECT_EQ(bench.read(0x190060) & 0xffff, 1u << 12) << "no other bit";
    bench.write(0x190060, 1u << 31);
    bench.write(0x190018, 1u << 20);
  }
  bench.device->advance(10'000);
  EXPECT_EQ(pending(), 0u);
}

TEST_P(OaBuffer, ReportIdsNameTheReason) {
  COVERS("CHV-OA-11");  // on chv and bdw; with OaContexts.ALoadReportsTheNewContext
  COVERS("DG1-OA-10");  // on tgl and dg1; likewise
  OaBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  bench.put(test_oa_counters(GetParam()));
  bench.write(bench.at().debug, 0x0060'0060);
  EXPECT_EQ(bench.read(bench.at().debug), 0x60u) << "masked";
  bench.write(bench.at().debug, 0x0020'0000);
  EXPECT_EQ(bench.read(bench.at().debug), 0x40u);
  bench.set_timer(4);
  bench.enable();
  bench.device->advance(10'000);
  const uint32_t id = bench.report_at(0).id();
  uint32_t expected = 1u << 19 | 1u << 18;  // timer; the start trigger has fired
  if (bench.model.name == "chv" || bench.model.name == "bdw") expected |= 1u << 17;  // threshold of report trigger 1
  if (bench.model.gen == spec::GenId::gen9 || bench.model.gen == spec::GenId::gen11) {
    expected |= 27u << 25 | 27;  // 450 MHz in units of 16.67 MHz
  }
  EXPECT_EQ(id, expected);
}

// Linux turns these reports off from Gen9 on, and has nothing to turn off on Gen8.
TEST_P(OaBuffer, EachRequestOfAFrequencyWritesAReport) {
  COVERS("DG1-OA-15");
  constexpr uint32_t kRequest = 0xa008, kClockChange = 1u << 24;
  OaBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  bench.put(test_oa_counters(GetParam()));
  bench.write(kRequest, 20u << 23);
  bench.enable();
  const auto reports = [&] { return (bench.read(bench.at().tail) - bench.read(bench.at().head)) / 256; };
  const uint32_t each = bench.model.gen == spec::GenId::gen8 ? 0 : 1;
  EXPECT_EQ(reports(), 0u) << "requests before the unit is enabled";
  bench.device->advance(1000);
  bench.write(kRequest, 15u << 23);
  EXPECT_EQ(reports(), each);
  bench.device->advance(1000);
  bench.write(kRequest, 15u << 23);
  EXPECT_EQ(reports(), 2 * each) << "to the same frequency";
  if (each != 0) {
    EXPECT_EQ(bench.report_at(0).id() & 0x01d8'0000, kClockChange) << "the only reason";
    EXPECT_EQ(bench.report_at(256).id() & 0x01d8'0000, kClockChange);
    EXPECT_EQ(bench.report_at(256).ticks() - bench.report_at(0).ticks(), OaBench::clocks(1000));
  }
  bench.write(bench.at().debug, 0x0020'0020);
  bench.write(kRequest, 30u << 23);
  EXPECT_EQ(reports(), 2 * each) << "turned off";
}

TEST_P(OaBuffer, UnmappedPagesAndBadAddressesAreReported) {
  for (const uint32_t base : {0x800'0000u, 0xffff'0000u, 0xfff0'0040u, 0u}) {
    OaBench bench(GetParam());
    bench.host.log.clear();
    bench.set_buffer(base, 3);
    bench.write(bench.at().tail, base + 0x123'4567);
    bench.set_timer(1);
    bench.enable();
    bench.device->advance(100'000);
    EXPECT_GT(bench.events(), 0u) << base;
    EXPECT_LT(bench.events(), 100'000u);
    bench.disable();
  }
}

TEST_P(OaBuffer, ATranslationThatChangedIsUsedAfterTheInvalidation) {
  OaBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  bench.set_timer(2);
  bench.enable();
  bench.device->advance(1000);
  bench.disable();
  constexpr uint64_t kElsewhere = 0x5000'0000;
  bench.map(kBase / 4096, kElsewhere);
  if (bench.split()) {
    bench.write(0xceec, 1);
    EXPECT_EQ(bench.read(0xceec), 0u) << "done";
  }
  bench.set_buffer(kBase, 0);
  bench.enable();
  bench.device->advance(1000);
  EXPECT_NE(bench.host.value_at<uint32_t>(kElsewhere + 4), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, OaBuffer, ::testing::ValuesIn(kOaChips),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace halogen
