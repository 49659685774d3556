// The settings of counting and reports, in one form for both register sets of chips: one unit (Gen8 to
// Gen11), or a global unit and one of the render engine (Gen12).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "gen/observation_rules.h"
#include "hw/context.h"
#include "hw/oa.h"
#include "hw/oa_counters.h"
#include "hw/power.h"
#include "mmio/mmio_space.h"
#include "mmio/register.h"
#include "oa/domain.h"
#include "oa/flexible_events.h"
#include "oa/report.h"
#include "oa/report_buffer.h"

namespace halogen::oa {

struct Settings {
  bool enabled = false;
  bool resumed = false;
  bool one_context = false;  // counting only for `context_id`
  uint32_t context_id = 0;
  hw::OaReportFormat format{};
  std::optional<unsigned> timer_exponent;  // no value: no timer
  bool clocks_in_reports = false;
  bool frequency_reports = false;
  bool switch_reports = false;
  ReportBuffer buffer;
  uint64_t asked_base = 0;  // of the buffer, before alignment
  bool buffer_in_global_table = true;
  CountConfig counting;  // without lanes and gate
  std::array<Trigger, kTriggers> report_triggers;
  bool network_enabled = false;

  // The unit of the render engine.
  bool context_enabled = false;
  hw::OaReportFormat context_format{};
  CountConfig context_counting;
};

// The registers themselves. Handlers are attached by the unit.
class SettingRegisters {
 public:
  SettingRegisters(mmio::MmioSpace& mmio, std::string_view render_engine);

  Settings read() const;
  FlexibleEvents flexible_events() const;
  // Return single bits, for callers that ask often; read() unpacks all settings.
  bool enabled() const;
  bool context_enabled() const;  // enabled in OAR_OACONTROL and in the context's CTXT_SR_CTL
  bool context_counts() const;   // and counting resumed in OACTXCONTROL
  bool context_unit_enabled() const;
  bool resumed() const;

  void publish_tail(uint64_t tail);
  void add_status(bool wrapped, bool overflow, bool lost);
  void note_head_wrap();

 private:
  void read_single(Settings& settings) const;
  void read_split(Settings& settings) const;
  void read_triggers(Settings& settings) const;
  CustomEvents read_events() const;
  CustomEvents read_context_events() const;

  spec::GenId gen_;
  const ObservationRules& rules_;
  mmio::RegisterBank& bank_;

  mmio::Register<hw::OACTXCONTROL> context_control_;
  mmio::Register<hw::OACTXID> context_id_;
  mmio::Register<hw::CTXT_SR_CTL> switch_control_;
  mmio::Register<hw::OACONTROL> control_;
  mmio::Register<hw::OADEBUG> debug_;
  mmio::Register<hw::OASTATUS> status_;
  mmio::Register<hw::OAHEADPTR> head_;
  mmio::Register<hw::OATAILPTR> tail_;
  mmio::Register<hw::OABUFFER> buffer_;
  mmio::Register<hw::OABUFFER_UDW> buffer_high_;
  mmio::Register<hw::OAG_OACONTROL> global_control_;
  mmio::Register<hw::OAG_OAGLBCTXCTRL> global_timer_;
  mmio::Register<hw::OAG_OADEBUG> global_debug_;
  mmio::Register<hw::OAG_OASTATUS> global_status_;
  mmio::Register<hw::OAG_OAHEADPTR> global_head_;
  mmio::Register<hw::OAG_OATAILPTR> global_tail_;
  mmio::Register<hw::OAG_OABUFFER> global_buffer_;
  mmio::Register<hw::OAR_OACONTROL> render_control_;
  mmio::Register<hw::GDT_CHICKEN_BITS> network_;
  mmio::Register<hw::RPM_CONFIG1> power_network_;
  mmio::Register<hw::OAG_SPCTR_CNF> context_select_;
};

}  // namespace halogen::oa
