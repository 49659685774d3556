#include "driver/queue/context_reports.h"

#include <array>
#include <utility>

#include "driver/hw/packed.h"
#include "hw/execlist.h"
#include "hw/mi.h"
#include "spec/first_bit.h"

namespace halogen::driver {
namespace {

constexpr uint16_t kNoContext = 0x7ff;  // in the format that names contexts
constexpr uint32_t kBothPointers = 0xffff'0000;
constexpr uint32_t kReadPointer = 0xff00'0000;

}  // namespace

ContextReports::ContextReports(Hardware& hardware, const spec::EngineModel& engine, PinnedMemory page)
    : hardware_(hardware), engine_(engine), page_(std::move(page)) {
  const spec::GenId gen = hardware.model().gen;
  const spec::Layout* const status = hw::HARDWARE_STATUS_PAGE::kDesc.layout(gen);
  check(status != nullptr && !status->groups.empty(), "a chip with execlists describes its context status reports");
  first_byte_ = status->groups.front().first_bit / 8;
  entries_ = status->groups.front().count;
  const auto index = spec::first_bit_of(gen, &hw::HARDWARE_STATUS_PAGE::last_written_status_offset);
  check(index.has_value(), "the status page holds the index of the last report");
  index_byte_ = *index / 8;
  names_both_ = spec::first_bit_of(gen, &hw::CONTEXT_STATUS::sw_context_id_to).has_value();
}

void ContextReports::set_pointers(uint32_t which, uint32_t write, uint32_t read) {
  hw::CTXT_ST_PTR pointers;
  pointers.write_pointer = static_cast<uint8_t>(write);
  pointers.read_pointer = static_cast<uint8_t>(read);
  const uint32_t at = hw::CTXT_ST_PTR::kDesc.offset(hardware_.model().id);
  hardware_.write(engine_, at, which | packed32(pointers, hardware_.model()));
}

void ContextReports::start() {
  seen_ = entries_ - 1;
  page_.store(index_byte_, seen_);
  set_pointers(kBothPointers, seen_, seen_);
}

ContextReport ContextReports::report_at(uint32_t entry) const {
  const uint32_t at = first_byte_ + 8 * entry;
  const std::array<uint32_t, 2> dwords{page_.load(at), page_.load(at + 4)};
  const auto status = hw::CONTEXT_STATUS::unpack(hardware_.model().gen, dwords);
  const bool taken = names_both_ ? status.new_queue || status.sw_context_id_away == kNoContext
                                 : status.idle_to_active || status.preempted;
  return taken ? ContextReport::taken : ContextReport::left;
}

std::vector<ContextReport> ContextReports::read() {
  std::vector<ContextReport> reports;
  const uint32_t last = page_.load(index_byte_) % entries_;
  if (last == seen_) return reports;
  reports.reserve(entries_);
  while (seen_ != last) {
    seen_ = (seen_ + 1) % entries_;
    reports.push_back(report_at(seen_));
  }
  set_pointers(kReadPointer, 0, seen_);
  return reports;
}

}  // namespace halogen::driver
