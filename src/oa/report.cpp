#include "oa/report.h"

namespace halogen::oa {

namespace {

using hw::OaReportFormat;

constexpr size_t kSmall = 16;
constexpr size_t kMiddle = 32;

uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}

template <class Slots>
void put_booleans(Slots& slots, const std::array<uint64_t, kBooleans>& counts) {
  for (size_t index = 0; index < slots.size(); ++index) {
    slots[index].value = low(counts[index]);
  }
}

// The two formats with twelve A counters begin with A7.
template <class Slots>
void put_narrow(Slots& slots, const Counters& counters) {
  constexpr size_t kFirst = 7;
  for (size_t index = 0; index < slots.size(); ++index) {
    slots[index].low = low(counters.a[kFirst + index]);
  }
}

hw::OA_REPORT_A36_B8_C8 wide_report(const Report& report) {
  hw::OA_REPORT_A36_B8_C8 layout{.header = report.header};
  for (size_t index = 0; index < kACounters; ++index) {
    layout.a[index].low = low(report.counters.a[index]);
  }
  for (size_t index = 0; index < kWideCounters; ++index) {
    layout.a_high[index].value = static_cast<uint8_t>(report.counters.shown_a(index) >> 32);
  }
  put_booleans(layout.b, report.counters.b);
  put_booleans(layout.c, report.counters.c);
  return layout;
}

}  // namespace

size_t report_dwords(OaReportFormat format) {
  switch (format) {
    case OaReportFormat::A12:
    case OaReportFormat::C4_B8:
      break;
    case OaReportFormat::A12_B8_C8:
      return kMiddle;
    case OaReportFormat::A36_B8_C8:
      return kMaxReportDwords;
  }
  return kSmall;
}

size_t write_report(const Report& report, spec::GenId gen, std::span<uint32_t, kMaxReportDwords> into) {
  const size_t dwords = report_dwords(report.format);
  const std::span<uint32_t> out = into.first(dwords);
  switch (report.format) {
    case OaReportFormat::A12_B8_C8: {
      hw::OA_REPORT_A12_B8_C8 layout{.header = report.header};
      put_narrow(layout.a, report.counters);
      put_booleans(layout.b, report.counters.b);
      put_booleans(layout.c, report.counters.c);
      static_cast<void>(layout.pack(gen, out));
      return dwords;
    }
    case OaReportFormat::A36_B8_C8:
      static_cast<void>(wide_report(report).pack(gen, out));
      return dwords;
    case OaReportFormat::C4_B8: {
      hw::OA_REPORT_C4_B8 layout{.header = report.header};
      put_booleans(layout.c, report.counters.c);
      put_booleans(layout.b, report.counters.b);
      static_cast<void>(layout.pack(gen, out));
      return dwords;
    }
    case OaReportFormat::A12:
      break;
  }
  hw::OA_REPORT_A12 layout{.header = report.header};
  put_narrow(layout.a, report.counters);
  static_cast<void>(layout.pack(gen, out));
  return dwords;
}

}  // namespace halogen::oa
