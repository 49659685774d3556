// The observation unit of a device: counters, triggers, and the reports that they write to memory. Time passes for it
// at certain points: an access to a register, a command, the end of a slice of the engines. What happened since is then
// computed from spans of work, in closed form.
//
// DG1 PRM, Performance Visibility (seed 000); Cherryview observability (seed 002); Linux i915 for registers and bits.
// Not modelled: reports on power and clock changes (the model has neither), the signal network but for known lists,
// PERFCNT counters, free-running copies and sampled counters, whose addresses are not published.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "memory/address_space.h"
#include "memory/memory_clients.h"
#include "mmio/mmio_space.h"
#include "oa/context_tag.h"
#include "oa/domain.h"
#include "oa/flexible_events.h"
#include "oa/report.h"
#include "oa/settings.h"
#include "oa/signal_network.h"
#include "oa/work_counts.h"
#include "spec/device_model.h"

namespace halogen::oa {

class Sampler;

// The device as the unit sees it.
class Environment {
 public:
  virtual ~Environment() = default;
  // Returns the present time: that of an engine during its access, otherwise that of the device.
  virtual uint64_t time_ns() const = 0;
  // Returns graphics memory as reports see it: the global table, or those of the render engine's context.
  virtual memory::AddressSpace& report_space(memory::TableKind table) = 0;
  virtual void on_half_full() = 0;
};

struct ContextChange {
  uint64_t time_ns = 0;
  ContextTag to;
  bool reports = false;  // the change causes a report
  bool operator==(const ContextChange&) const = default;
};

// Counters of a context that is not in the engine.
struct SavedCounters {
  uint32_t image = 0;
  Counters counters;
  bool operator==(const SavedCounters&) const = default;
};

// The number of clocks for which the unit is busy with the report of a trigger. Triggers in this time are lost. No
// source states the duration; the value is that of the longest report at 4 bytes per clock.
inline constexpr uint64_t kReportClocks = 64;

// State outside of registers: plain data.
struct UnitState {
  uint64_t now_ns = 0;  // reports are written up to this time
  uint64_t context_now_ns = 0;
  DomainState global;
  DomainState context;
  bool enabled = false;
  ContextTag running;                  // in the render engine now
  bool left = false;                   // it is leaving, so nothing counts for it
  ContextTag reported;                 // in reports: at `now_ns`
  std::vector<ContextChange> changes;  // after `now_ns`
  std::vector<SavedCounters> saved;    // the least recently used first
  NetworkState network;
  std::array<TriggerState, kTriggers> report_triggers{};
  uint16_t report_lanes_before = 0;
  uint64_t quiet_until = 0;  // the clock until which a report of a trigger is being written
  IntegratorRests rests{};
  bool operator==(const UnitState&) const = default;
};

class Unit final : public mmio::RegisterHandler {
 public:
  Unit(const spec::DeviceModel& model, mmio::MmioSpace& mmio, Environment& environment, EventSink& events,
       std::string path);
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  // False: the device has no unit; nothing below has an effect.
  bool exists() const { return rules_.exists; }
  const EuArray& eus() const { return eus_; }

  // Lets a sampler count from now on. It must outlive the unit, or be taken away again. Null: none.
  void set_sampler(Sampler* sampler);

  // Advances to a time that every engine has reached.
  void advance_to(uint64_t nanoseconds);
  CountsWanted counts_wanted();
  // Add work and time of an engine. The calls for one engine come in the order of time.
  void add_work(const WorkSpan& span, bool render);
  void add_time(const TimeSpan& span, bool render);
  // Report steps of the render engine: it starts to leave its context, has loaded a context, continues the same context
  // with a new descriptor, or has no context any more.
  void leave_context(uint64_t time_ns);
  void load_context(uint64_t time_ns, uint64_t descriptor);
  void rename_context(uint64_t time_ns, uint64_t descriptor);
  void unload_context(uint64_t time_ns);

  // Executes MI_REPORT_PERF_COUNT at the present time and returns the dwords of the report. 0: the device has no unit.
  size_t command_report(const CommandReport& command, std::span<uint32_t, kMaxReportDwords> into);

  void reset();          // reset of the GT or of the device; call it after the registers were reset
  void reset_context();  // of the render engine
  void refresh() { stale_ = true; }
  // Adds the fidelity class of the counters to `report`, if a report was written or a counter read.
  void report(FidelityReport& report) const;
  UnitState state() const;
  void restore(const UnitState& state);  // call after the registers were restored

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  // The effect of a register access besides a new configuration.
  enum class Role : uint8_t {
    none,
    setting,
    head,
    status,
    counter_a,
    counter_a32,
    ticks,
    counter_b,
    counter_c,
    select,
    word,
    network_enable,
    invalidate,
    frequency
  };
  struct Hook {
    Role role = Role::none;
    bool context = false;  // of the render engine's unit
  };

  void attach_all();
  void attach(std::string_view name, Role role, bool context = false);
  uint64_t clock_at(uint64_t ns) const;

  // unit_time.cpp
  void advance_global(uint64_t ns);
  void advance_context(uint64_t ns);
  void configure();
  uint16_t find_lanes(bool context);
  void note_network();
  void check_buffer();
  bool active() const { return state_.enabled || settings_.context_enabled; }
  std::optional<uint64_t> next_timer(uint64_t after_ns) const;
  std::optional<uint64_t> next_trigger(unsigned number);
  void move_to(uint64_t ns);
  void skip_overwritten(uint64_t ns);
  void change_context(const ContextChange& change);
  void note_change(const ContextChange& change);

  // unit_reports.cpp
  struct Reasons {
    bool timer = false;
    bool context_switch = false;
    bool frequency = false;
    std::array<bool, kTriggers> triggers{};
    bool operator==(const Reasons&) const = default;
  };
  void write_buffer_report(const Reasons& reasons);
  memory::AccessResult write_bytes(std::span<const std::byte> bytes);
  uint32_t report_id(const Reasons& reasons) const;
  void advance_tail(uint64_t bytes, bool timer);
  uint32_t timestamp(uint64_t ns) const;

  Domain& domain(bool context) { return context && rules_.split ? context_ : global_; }
  uint64_t counter_value(const Hook& hook, const mmio::RegisterSlot& slot);
  void write_counter(const Hook& hook, const mmio::RegisterWrite& write);
  void keep_counters(uint32_t image);
  void forget_settings();
  void raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail);

  const spec::DeviceModel& model_;
  const ObservationRules& rules_;
  uint64_t clock_hz_;
  EuArray eus_;
  mmio::RegisterBank& bank_;
  Environment& environment_;
  EventSink& events_;
  std::string path_;
  std::string_view render_;
  SettingRegisters registers_;
  std::vector<Hook> hooks_;  // by slot number

  // Derived from registers and the running context. `stale_`: to be derived again before the next use.
  Settings settings_;
  bool stale_ = true;
  FlexibleEvents flexible_;
  bool looked_at_ = false;  // a report was written, or a counter read
  bool network_unknown_ = false;
  uint64_t told_network_ = 0;            // the list that the last Event was about
  uint64_t told_buffer_ = ~uint64_t{0};  // the base that the last Event was about
  std::array<bool, kTriggers> lost_{};   // a trigger fired while a report was being written

  UnitState state_;  // except the states of the domains, which these objects hold:
  Domain global_;
  Domain context_;

  Sampler* sampler_ = nullptr;  // not a part of the device
};

}  // namespace halogen::oa
