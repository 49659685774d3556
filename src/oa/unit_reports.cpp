// Reports of the observation unit: in the buffer, and of MI_REPORT_PERF_COUNT.
#include <algorithm>

#include "base/ticks.h"
#include "hw/oa_report.h"
#include "oa/unit.h"

namespace halogen::oa {

namespace {

constexpr unsigned kLowClockBits = 7;  // low bits of the slice clock; the upper bits have a field of their own

}  // namespace

uint32_t Unit::timestamp(uint64_t ns) const {
  return static_cast<uint32_t>(ticks_after(ns, model_.timestamp_hz));
}

uint32_t Unit::report_id(const Reasons& reasons) const {
  const unsigned block = reasons.triggers[1] && !reasons.triggers[0] ? 1 : 0;
  hw::OA_REPORT_ID id;
  id.timer = reasons.timer;
  id.context_switch = reasons.context_switch;
  id.clock_ratio_change = reasons.frequency;
  id.internal_trigger_1 = reasons.triggers[0];
  id.internal_trigger_2 = reasons.triggers[1];
  id.start_trigger = global_.state().start[block].fired;
  id.threshold_enable = settings_.report_triggers[block].threshold_enable;
  id.context_valid = state_.reported.valid;
  id.context_valid_gen9 = state_.reported.valid;
  if (settings_.clocks_in_reports && rules_.report_clock_hz != 0) {
    const uint64_t clock = (clock_hz_ + rules_.report_clock_hz / 2) / rules_.report_clock_hz;
    id.unslice_clock = static_cast<uint16_t>(clock);
    id.slice_clock = static_cast<uint8_t>(clock & low_mask(kLowClockBits));
    id.slice_clock_high = static_cast<uint8_t>(clock >> kLowClockBits);
  }
  uint32_t dword = 0;
  static_cast<void>(id.pack(model_.gen, std::span(&dword, 1)));
  return dword;
}

void Unit::write_buffer_report(const Reasons& reasons) {
  const Report report{.format = settings_.format,
                      .header = {.report_id = report_id(reasons),
                                 .timestamp = timestamp(state_.now_ns),
                                 .context_id = state_.reported.id(),
                                 .gpu_ticks = static_cast<uint32_t>(clock_at(state_.now_ns))},
                      .counters = global_.state().counters};
  std::array<uint32_t, kMaxReportDwords> dwords{};
  const size_t count = write_report(report, model_.gen, dwords);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(dwords).first(count));
  const memory::AccessResult result = write_bytes(bytes);
  advance_tail(bytes.size(), reasons.timer);
  looked_at_ = true;
  note_network();
  bool lost = !ok(result);  // the fault was reported, and the report is lost
  for (unsigned number = 0; number < kTriggers; ++number) {
    if (reasons.triggers[number]) {
      state_.quiet_until = global_.state().clock + kReportClocks;
      lost |= lost_[number];
    }
  }
  if (lost) {
    registers_.add_status(false, false, true);
  }
}

memory::AccessResult Unit::write_bytes(std::span<const std::byte> bytes) {
  const ReportBuffer& buffer = settings_.buffer;
  memory::AddressSpace& space = environment_.report_space(
      settings_.buffer_in_global_table ? memory::TableKind::global : memory::TableKind::per_process);
  const auto first = static_cast<size_t>(std::min<uint64_t>(bytes.size(), buffer.base + buffer.bytes - buffer.tail));
  const memory::AccessResult result = space.write(GpuVa{buffer.tail}, bytes.first(first));
  if (first == bytes.size()) {
    return result;
  }
  return std::max(result, space.write(GpuVa{buffer.base}, bytes.subspan(first)));
}

void Unit::advance_tail(uint64_t bytes, bool timer) {
  const ReportBuffer::Step step = settings_.buffer.advance(bytes);
  registers_.publish_tail(settings_.buffer.tail);
  if (step.wrapped || step.overflow) {
    registers_.add_status(step.wrapped, step.overflow, false);
  }
  if (step.half_full && timer) {
    environment_.on_half_full();
  }
}

size_t Unit::command_report(const CommandReport& command, std::span<uint32_t, kMaxReportDwords> into) {
  if (!rules_.exists) {
    return 0;
  }
  const uint64_t now = environment_.time_ns();
  Report report{.header = {.report_id = command.report_id,
                           .timestamp = timestamp(now),
                           .context_id = command.context_id,
                           .gpu_ticks = static_cast<uint32_t>(clock_at(now))}};
  bool enabled = false;
  if (rules_.split) {
    advance_context(now);
    enabled = registers_.context_enabled();
    // Drivers' tests expect a whole report of zeros for a context that is not measured.
    report.format = enabled ? settings_.context_format : hw::OaReportFormat::A36_B8_C8;
    report.counters = enabled ? context_.state().counters : Counters{};
  } else {
    advance_global(now);
    enabled = state_.enabled;
    report.format = registers_.read().format;
    report.counters = enabled ? global_.state().counters : Counters{};
  }
  note_network();
  if (rules_.split ? !registers_.context_unit_enabled() : !enabled) {
    raise(EventKind::undefined_behaviour, "MI_REPORT_PERF_COUNT", 0, command.report_id,
          "counters are disabled: all counters in the report are zero");
  }
  return write_report(report, model_.gen, into);
}

}  // namespace halogen::oa
