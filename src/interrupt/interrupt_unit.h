// The interrupt logic of a device, of all four kinds (InterruptKind). Inputs are events and conditions of engines,
// display and other units; outputs are one interrupt level, and status reports for the hardware status pages. G45 PRM
// vol. 1b 5.4 to 5.6 (seed 003) (one bank), seed 000 "Interrupts" (collapsed banks), Linux i915 for the generations
// between. Not modelled: PIPESTAT and hot plug registers (they belong to the display and drive a bit of a bank, see
// source()), virtual functions, and the unpublished registers of the hardware scheduler.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.h"
#include "gen/interrupt_cause.h"
#include "hw/hwsp.h"
#include "hw/interrupt_gen11.h"
#include "hw/interrupt_gen4.h"
#include "hw/interrupt_gen6.h"
#include "interrupt/bank.h"
#include "interrupt/collapsed.h"
#include "interrupt/names.h"
#include "mmio/mmio_space.h"
#include "mmio/register.h"

namespace halogen::interrupt {

class InterruptListener {
 public:
  virtual ~InterruptListener() = default;
  // Reports a change of the interrupt level. INTx follows the level; an MSI is sent on each rising edge.
  virtual void on_interrupt_level(bool asserted) = 0;
  // Reports a status change that HWSTAM passes, to be written to dword 0 of the engine's hardware status page.
  virtual void on_status_report(unsigned engine, uint32_t status) = 0;
};

// State outside of registers: plain data.
struct InterruptState {
  std::vector<uint32_t> second_events;  // by bank
  std::vector<uint32_t> levels;         // by engine: active conditions, in the engine's vector
  interrupt::CollapsedState collapsed;
  bool asserted = false;

  bool operator==(const InterruptState&) const = default;
};

// Status bits of one bank, for pipes, planes and other units. Engines have EnginePlace.
struct InterruptSource {
  size_t bank = 0;
  uint32_t bits = 0;
};

class InterruptUnit final : public mmio::RegisterHandler {
 public:
  InterruptUnit(const spec::DeviceModel& model, mmio::MmioSpace& mmio, InterruptListener& listener, EventSink& events,
                std::string path);
  InterruptUnit(const InterruptUnit&) = delete;
  InterruptUnit& operator=(const InterruptUnit&) = delete;

  // `engine` is the index in the model's list.
  void raise(unsigned engine, EngineCause cause);                  // an event; toggles the sync status
  void set_level(unsigned engine, EngineCause cause, bool holds);  // a condition

  // Sets whether a condition of a pipe, or of a plane on it (0 is the primary), holds. A flip holds from its request
  // until it is performed; its completion is the event. False: no bank of the device has a bit for it (on some devices
  // PIPESTAT has one instead).
  bool display(DisplayCause cause, unsigned pipe, unsigned plane, bool holds);
  bool display_event(DisplayCause cause, unsigned pipe, unsigned plane = 0);
  bool pipe_event(unsigned pipe, bool holds);  // an enabled status bit of PIPESTAT

  // Returns a status bit of another unit by register and field, for example source("PMISR", "mailbox_event"). No value:
  // the device does not have it.
  std::optional<InterruptSource> source(std::string_view status, std::string_view field, unsigned index = 0) const;
  void set_source(const InterruptSource& source, bool holds);
  void pulse_source(const InterruptSource& source);
  // Collapsed banks only: delivers a message of an engine or unit (structure INTERRUPT_MESSAGE).
  void deliver(uint32_t message);

  // Sets fault repair mode, in which the engine's page faults bypass the masks of the collapsed banks.
  void set_fault_repair(unsigned engine, bool on);

  // The hardware scheduler's side of the collapsed banks: the events of an engine class that it enables, the pending
  // sources in each of its two vectors (bits as in GT_INTR_DWn), and their events.
  void route_to_scheduler(spec::EngineClass engine_class, uint16_t events);
  uint32_t scheduler_vector(unsigned vector) const;
  uint16_t take_scheduler_events(unsigned vector, unsigned bit);

  bool asserted() const { return asserted_; }

  void reset();                        // call after the registers were reset
  void reset_engine(unsigned engine);  // call after the engine's registers were reset: ends its conditions
  void refresh();                      // registers were changed by another unit
  InterruptState snapshot() const;
  void restore(const InterruptState& state);  // call after the registers were restored; calls no listener

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  enum class Role : uint8_t {
    none,
    bank_mask,
    bank_identity,
    bank_enable,
    engine_mask,
    status_mask,
    summary,
    tile,
    pending,
    selector,
    identity,
    instance_mask,
  };
  struct Hook {
    Role role = Role::none;
    uint16_t number = 0;
  };
  // The registers and bits of an engine's causes.
  struct EnginePlace {
    std::optional<size_t> bank;                           // no value: messages, or no interrupts
    std::array<uint32_t, interrupt::kCauseCount> bits{};  // in the bank or in the message
    uint32_t all = 0;
    uint32_t events = 0;           // subset: events that stay until software acknowledges them
    uint32_t unreported = 0;       // bits that HWSTAM does not pass
    uint32_t keep_masked = 0;      // bits of HWSTAM that software must leave set
    mmio::Register<hw::IMR> mask;  // of the engine, before the bank
    mmio::Register<hw::HWSTAM> status_mask;
    std::optional<hw::InterruptClass> message_class;
  };
  struct Feed {
    size_t bank;
    uint32_t bits;
    std::optional<size_t> into_bank;  // else into a summary
    size_t summary;
    uint32_t field;
  };
  struct Summary {
    const mmio::RegisterSlot* slot;
    uint32_t enable;
    std::optional<size_t> above;
    uint32_t field;
  };

  // interrupt_setup.cpp: what the device has, by name.
  void find_banks();
  void find_summaries();
  void find_feeds();
  EnginePlace find_engine(const spec::EngineModel& engine) const;
  uint32_t find_cause(const interrupt::CauseNames& cause, const spec::EngineModel& engine, EnginePlace& place) const;
  void find_display();
  void attach_all();
  void attach(const mmio::RegisterSlot& slot, Role role, size_t number);
  std::optional<size_t> bank_of(std::string_view status, unsigned index) const;

  void set_bank_status(size_t bank, uint32_t bits, uint32_t value);
  void update_engines(size_t bank);
  void send(unsigned engine, uint32_t bits);
  void report_status(unsigned engine, uint32_t changed, uint32_t status);
  void acknowledge(size_t bank, uint32_t bits);
  uint32_t cause_bits(unsigned engine, EngineCause cause);
  void write_identity(const mmio::RegisterWrite& write, size_t bank);
  void write_enable(const mmio::RegisterWrite& write, size_t bank);
  void write_status_mask(const mmio::RegisterWrite& write, unsigned engine);
  void write_tile();
  void write_pending(const mmio::RegisterWrite& write, unsigned dword);

  void evaluate();
  bool evaluate_summaries();
  void set_asserted(bool asserted);
  void note(EventKind kind, std::string_view item, uint64_t offset, uint64_t value, std::string detail);

  const spec::DeviceModel& model_;
  spec::GenId gen_;
  InterruptKind kind_;
  mmio::RegisterBank& registers_;
  InterruptListener& listener_;
  EventSink& events_;
  std::string path_;

  std::vector<interrupt::Bank> banks_;
  std::vector<uint32_t> never_enable_;  // by bank: bits that software must not enable
  std::vector<Feed> feeds_;
  std::vector<size_t> direct_;  // banks without a summary above them
  std::vector<Summary> summaries_;
  std::vector<EnginePlace> engines_;
  std::array<std::array<std::array<InterruptSource, interrupt::kPlanes>, interrupt::kPipes>,
             interrupt::kDisplayCauseCount>
      display_{};
  mmio::Register<hw::DEIER> gate_;  // holds the master enable of the direct banks, on a chip without a summary
  mmio::Register<hw::MSTR_TILE_INTR> tile_;
  interrupt::Collapsed collapsed_;
  std::array<uint32_t, interrupt::kDwords> dword_fields_{};
  std::vector<Hook> hooks_;  // by slot number

  // State outside of the banks and the collapsed logic.
  std::vector<uint32_t> levels_;
  bool asserted_ = false;
};

}  // namespace halogen::interrupt
