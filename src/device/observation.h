// Connects the observation unit (oa/) with the device: contexts and work of engines, memory of its reports, its
// interrupt.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "device/clock.h"
#include "device/context_listener.h"
#include "device/host.h"
#include "device/memory_unit.h"
#include "interrupt/interrupt_unit.h"
#include "oa/unit.h"

namespace halogen::device {

class Observation final : public ContextListener, private oa::Environment {
 public:
  Observation(const spec::DeviceModel& model, mmio::MmioSpace& mmio, MemoryUnit& memory,
              interrupt::InterruptUnit& interrupts, const VirtualClock& clock, Host& host, const std::string& path);

  oa::Unit& unit() { return unit_; }
  oa::CountsWanted counts_wanted() { return unit_.counts_wanted(); }
  void on_engine_work(unsigned engine, const oa::WorkSpan& span) { unit_.add_work(span, is_render(engine)); }
  void on_engine_time(unsigned engine, const oa::TimeSpan& span) { unit_.add_time(span, is_render(engine)); }
  size_t counter_report(unsigned engine, const oa::CommandReport& command,
                        std::span<uint32_t, oa::kMaxReportDwords> into) {
    return is_render(engine) ? unit_.command_report(command, into) : 0;
  }
  void on_context_switch(unsigned engine, const engine::ContextStep& step) override;
  void advance_to(uint64_t nanoseconds) { unit_.advance_to(nanoseconds); }

  void reset() { unit_.reset(); }
  void reset_engine(unsigned engine);
  void refresh() { unit_.refresh(); }
  void report(FidelityReport& report) const { unit_.report(report); }
  oa::UnitState state() const { return unit_.state(); }
  void restore(const oa::UnitState& state) { unit_.restore(state); }

 private:
  bool is_render(unsigned engine) const { return engine == render_; }
  uint64_t time_ns() const override { return clock_.nanoseconds; }
  memory::AddressSpace& report_space(memory::TableKind table) override;
  void on_half_full() override;

  MemoryUnit& memory_;
  interrupt::InterruptUnit& interrupts_;
  const VirtualClock& clock_;
  spec::GenId gen_;
  unsigned render_ = 0;  // number of the render engine
  std::optional<interrupt::InterruptSource> half_full_;
  oa::Unit unit_;
};

}  // namespace halogen::device
