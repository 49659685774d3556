// Reports: a snapshot of the counters in one of four formats. The layouts are spec/structs/oa_report.toml.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/enums.h"
#include "hw/oa_report.h"
#include "oa/counters.h"

namespace halogen::oa {

inline constexpr size_t kMaxReportDwords = 64;

struct Report {
  hw::OaReportFormat format{};
  hw::OA_REPORT_HEADER header;
  Counters counters;
};

// The header fields of a report that a command provides.
struct CommandReport {
  uint32_t report_id = 0;
  uint32_t context_id = 0;
};

// Returns the number of dwords of a format. Codes without a format count as the smallest one.
size_t report_dwords(hw::OaReportFormat format);

// Writes the report. Returns its length in dwords.
size_t write_report(const Report& report, spec::GenId gen, std::span<uint32_t, kMaxReportDwords> into);

}  // namespace halogen::oa
