// Layouts of counter reports. Sizes are those of Linux's i915_perf.c, positions those that Mesa's intel_perf reads:
// dword 4 + n and byte 160 + n for A(n), dword 48 + n for B(n), dword 56 + n for C(n).
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "hw/oa_report.h"
#include "spec/device_model.h"
#include "spec/structure_size.h"

namespace halogen::spec {
namespace {

template <class Report>
std::array<uint32_t, 64> words_of(GenId gen, const Report& report) {
  std::array<uint32_t, 64> words{};
  EXPECT_TRUE(report.pack(gen, std::span(words).first(bytes_of<Report>(gen) / 4)));
  return words;
}

class OaReport : public ::testing::TestWithParam<GenId> {};

TEST_P(OaReport, FormatsHaveTheSizesThatLinuxUses) {
  EXPECT_EQ(bytes_of<hw::OA_REPORT_A12>(GetParam()), 64u);
  EXPECT_EQ(bytes_of<hw::OA_REPORT_A12_B8_C8>(GetParam()), 128u);
  EXPECT_EQ(bytes_of<hw::OA_REPORT_A36_B8_C8>(GetParam()), 256u);
  EXPECT_EQ(bytes_of<hw::OA_REPORT_C4_B8>(GetParam()), 64u);
}

TEST_P(OaReport, HeaderComesFirst) {
  const auto words = words_of(
      GetParam(), hw::OA_REPORT_C4_B8{.header = {.report_id = 1, .timestamp = 2, .context_id = 3, .gpu_ticks = 4}});
  EXPECT_EQ(words, (std::array<uint32_t, 64>{1, 2, 3, 4}));
}

TEST_P(OaReport, CountersOfTheLargestFormatAreAtTheOffsetsThatDriversRead) {
  hw::OA_REPORT_A36_B8_C8 report;
  for (uint32_t n = 0; n < 36; ++n) report.a[n].low = 0xa00 + n;
  for (uint8_t n = 0; n < 32; ++n) report.a_high[n].value = static_cast<uint8_t>(0x80 + n);
  for (uint32_t n = 0; n < 8; ++n) report.b[n].value = 0xb00 + n;
  for (uint32_t n = 0; n < 8; ++n) report.c[n].value = 0xc00 + n;
  const auto words = words_of(GetParam(), report);
  const auto bytes = std::as_bytes(std::span(words));
  for (uint32_t n = 0; n < 36; ++n) EXPECT_EQ(words[4 + n], 0xa00 + n);
  for (uint32_t n = 0; n < 32; ++n) EXPECT_EQ(static_cast<uint32_t>(bytes[160 + n]), 0x80 + n);
  for (uint32_t n = 0; n < 8; ++n) EXPECT_EQ(words[48 + n], 0xb00 + n);
  for (uint32_t n = 0; n < 8; ++n) EXPECT_EQ(words[56 + n], 0xc00 + n);
}

TEST_P(OaReport, SmallFormatsHaveTheCountersOfTheirNames) {
  hw::OA_REPORT_A12_B8_C8 both;
  both.a[11].low = 18;
  both.b[0].value = 20;
  both.c[7].value = 37;
  auto words = words_of(GetParam(), both);
  EXPECT_EQ(words[15], 18u);
  EXPECT_EQ(words[16], 20u);
  EXPECT_EQ(words[31], 37u);
  hw::OA_REPORT_C4_B8 few;
  few.c[3].value = 3;
  few.b[0].value = 10;
  words = words_of(GetParam(), few);
  EXPECT_EQ(words[7], 3u);
  EXPECT_EQ(words[8], 10u);
}

INSTANTIATE_TEST_SUITE_P(Generations, OaReport, ::testing::Values(GenId::gen8, GenId::gen9, GenId::gen11, GenId::gen12),
                         [](const auto& each) { return std::string(name_of(each.param)); });

}  // namespace
}  // namespace halogen::spec
