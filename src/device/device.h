// One graphics device. A machine reaches it through PCI configuration space, BARs, I/O ports and reset; it reaches the
// machine through Host: memory accesses, interrupts and Events. It owns all its units. Two devices share no state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fidelity.h"
#include "base/result.h"
#include "base/stop_flag.h"
#include "device/clock.h"
#include "device/compression_port.h"
#include "device/config_space.h"
#include "device/engine_set.h"
#include "device/firmware.h"
#include "device/host.h"
#include "device/memory_unit.h"
#include "device/observation.h"
#include "device/options.h"
#include "device/reset_unit.h"
#include "device/timestamps.h"
#include "device/unit.h"
#include "display/display.h"
#include "interrupt/interrupt_unit.h"
#include "mmio/mmio_space.h"
#include "platform/display_phys.h"
#include "platform/power_controller.h"
#include "platform/power_wells.h"
#include "platform/sideband.h"
#include "spec/device_model.h"

namespace halogen::device {

enum class ResetKind : uint8_t {
  power_on,        // everything, with memory
  function_level,  // registers and configuration; memory keeps its content
  driver,          // requested through GU_CNTL: registers and local memory; configuration stays
};

// Everything that changes while a device runs. A snapshot is a copy.
struct DeviceState {
  ConfigState config;
  mmio::MmioState mmio;
  MemoryState memory;  // of the device; the host saves its own memory
  VirtualClock clock;
  std::vector<engine::EngineState> engines;
  interrupt::InterruptState interrupts;
  display::DisplayState display;
  platform::SidebandState sideband;
  oa::UnitState observation;
  uint32_t io_index = 0;  // MMIO_INDEX of the I/O BAR
  bool interrupt = false;
  bool operator==(const DeviceState&) const = default;
};

class Device : private EngineListener,
               private memory::FaultListener,
               private interrupt::InterruptListener,
               private display::DisplayListener,
               private display::DisplayMemory {
 public:
  static Result<std::unique_ptr<Device>> create(const spec::DeviceModel& model, Host& host, DeviceOptions options = {});
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const spec::DeviceModel& model() const { return model_; }
  const DeviceOptions& options() const { return options_; }

  // Access 1, 2 or 4 bytes of configuration space.
  uint32_t config_read(uint32_t offset, unsigned bytes) const;
  void config_write(uint32_t offset, unsigned bytes, uint32_t value);

  // Access 1, 2, 4 or 8 bytes of a BAR, named by the index of its first register. Undecoded reads give all ones.
  uint64_t bar_read(unsigned bar, uint64_t offset, unsigned bytes);
  void bar_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value);

  // Access a block of an aperture or local memory BAR. False: a part does not decode; nothing is done.
  bool bar_read_block(unsigned bar, uint64_t offset, std::span<std::byte> into);
  bool bar_write_block(unsigned bar, uint64_t offset, std::span<const std::byte> from);

  // Handle CPU accesses to system memory that the device has taken (stolen memory): reads give all ones, writes
  // are dropped. A front end asks closes_memory() before it accesses its own memory.
  bool closes_memory(PhysAddr address) const {
    return memory_.map().is_stolen(memory::MemorySpace::system, address.value);
  }
  uint64_t closed_read(PhysAddr address, unsigned bytes) const;
  void closed_write(PhysAddr address, unsigned bytes, uint64_t value) const;

  // Access the registers of the IOMMU that serves the device: 4 KB that firmware places outside the BARs (iommu.h). All
  // ones: the device has none.
  uint64_t iommu_read(uint32_t offset, unsigned bytes);
  void iommu_write(uint32_t offset, unsigned bytes, uint64_t value);

  // Access I/O ports: the I/O BAR if it decodes, and the VGA ports.
  uint32_t io_read(uint16_t port, unsigned bytes);
  void io_write(uint16_t port, unsigned bytes, uint32_t value);

  void reset(ResetKind kind);
  void reset_engine(const spec::EngineModel& engine) { reset_unit_.reset_engine(engine); }

  // Lets virtual time pass and engines work. Register writes only request work; it is done here. It ends early if
  // stop_flag() is raised.
  void advance(uint64_t nanoseconds);
  // Lets engines work until none can continue without input, for at most this much virtual time. True: all engines are
  // settled (idle, hung, or waiting for an event that time alone does not bring).
  bool settle(uint64_t limit = kSettleLimit);
  static constexpr uint64_t kSettleLimit = 100'000'000;
  // The flag that ends advance() and settle() early. Any thread may raise it; the owner clears it. Work continues
  // afterwards where it was. Only an engine whose work was in the middle of a thread or of a piece of a picture is
  // hung until it is reset.
  StopFlag& stop_flag() { return engines_.stop(); }
  // Returns the number of the engine whose slice runs, or ran last. Any thread may call it.
  unsigned engine_at_work() const { return engines_.at_work(); }
  const VirtualClock& clock() const { return clock_; }

  // Drops every host address of memory that the device keeps, before memory of the host goes away (host.h has the order
  // of work). Commands that are in progress look their memory up again and may access a hole. Must not be called by the
  // host inside another call.
  void revoke_memory();

  // Sets the level of the interrupt that the interrupt logic drives: INTx, or a message on each rising edge.
  void set_interrupt(bool asserted);

  // Returns the picture that a pipe shows now. No value: the pipe is off. A page that cannot be read is a fault of the
  // display.
  std::optional<picture::Image> take_frame(unsigned pipe);
  // Sets a function that is called at each vertical blank, after its flips: the time to take a frame. It must not
  // advance time. Empty: no observer.
  void set_vblank_observer(std::function<void(unsigned pipe)> observer) { vblank_observer_ = std::move(observer); }

  DeviceState snapshot() const;
  void restore(const DeviceState& state);
  FidelityReport fidelity() const;

  // Returns Engine::work_done() of the engine.
  const engine::WorkDone& work_done(const spec::EngineModel& engine) const {
    return engines_.engine(number_of(engine)).work_done();
  }
  // Returns Engine::time_spent() of the engine.
  const engine::TimeSpent& time_spent(const spec::EngineModel& engine) const {
    return engines_.engine(number_of(engine)).time_spent();
  }

  // Units of the device.
  mmio::MmioSpace& mmio() { return mmio_; }
  const ConfigSpace& config() const { return config_; }
  const MemoryLayout& memory_layout() const { return firmware_.layout(); }
  ResetUnit& reset_unit() { return reset_unit_; }
  MemoryUnit& memory() { return memory_; }
  // Returns graphics memory as a stream of an engine sees it (MemoryUnit::space).
  memory::AddressSpace& space(unsigned engine, memory::Stream stream,
                              memory::TableKind asked = memory::TableKind::per_process) {
    return memory_.space(engine, stream, asked);
  }
  OwnFrames& local_memory() { return memory_.map().own(); }
  Host& host() { return host_; }
  EngineSet& engines() { return engines_; }
  interrupt::InterruptUnit& interrupts() { return interrupts_; }
  display::Display& display() override { return display_; }
  Observation& observation() { return observation_; }

 private:
  Device(const spec::DeviceModel& chip, Host& host, DeviceOptions options);

  const spec::BarModel* usable_bar(unsigned index, uint64_t offset, unsigned bytes, uint64_t value,
                                   memory::Direction direction);
  uint64_t mmio_bar_read(uint64_t offset, unsigned bytes);
  void mmio_bar_write(uint64_t offset, unsigned bytes, uint64_t value);
  const spec::BarModel* block_bar(unsigned index, uint64_t offset, uint64_t bytes);
  void local_write(uint64_t offset, std::span<const std::byte> from);
  uint32_t io_bar_read(uint64_t offset, unsigned bytes);
  void io_bar_write(uint64_t offset, unsigned bytes, uint32_t value);
  void check_states(const display::PlaneLines& lines);
  void list_units();
  void connect_resets();
  std::optional<uint64_t> next_event() const;
  std::optional<uint64_t> next_deadline() const;
  class Working;
  bool step(uint64_t limit);
  unsigned number_of(const spec::EngineModel& engine) const;
  void on_engine_interrupt(unsigned engine, EngineCause cause) override;
  void on_fault(unsigned engine, const memory::Fault& fault) override { engines_.on_fault(engine, fault); }
  void on_resume(unsigned engine) override { engines_.on_resume(engine); }
  void on_catastrophic(unsigned engine, const memory::Fault& fault) override;
  void on_pending(unsigned engine, bool pending, bool repair) override;
  void on_invalid_tile() override;
  void on_engine_lost(unsigned engine) override { reset_unit_.set_catastrophic(model_.engines[engine]); }
  oa::CountsWanted counts_wanted(unsigned /*engine*/) override { return observation_.counts_wanted(); }
  void on_engine_work(unsigned engine, const oa::WorkSpan& span) override { observation_.on_engine_work(engine, span); }
  void on_engine_time(unsigned engine, const oa::TimeSpan& span) override { observation_.on_engine_time(engine, span); }
  size_t counter_report(unsigned engine, const oa::CommandReport& command,
                        std::span<uint32_t, oa::kMaxReportDwords> into) override {
    return observation_.counter_report(engine, command, into);
  }
  void on_engine_level(unsigned engine, EngineCause cause, bool asserted) override;
  void on_interrupt_level(bool asserted) override;
  void on_status_report(unsigned engine, uint32_t status) override;
  void on_vblank(unsigned pipe) override;
  void on_line_compare(unsigned pipe, bool in_window) override;
  void on_flip_pending(unsigned plane, bool pending) override;
  void on_overlay_flip_pending(bool pending) override;
  void on_overlay_fetch(const display::OverlayFlip& request, std::span<std::byte> into) override;
  void on_pipe_event(unsigned pipe, bool asserted) override;
  void on_underrun(unsigned pipe) override;
  memory::AddressSpace& display_space(memory::Stream stream) override { return memory_.external_space(stream); }
  void raise(EventKind kind, std::string_view place, uint64_t address, uint64_t value, std::string detail) const;

  spec::DeviceModel model_;  // with the chosen stepping; the other members refer to it
  DeviceOptions options_;
  Host& host_;
  VirtualClock clock_;
  ConfigSpace config_;
  mmio::MmioSpace mmio_;
  ResetUnit reset_unit_;
  Timestamps timestamps_;
  Firmware firmware_;
  platform::PowerController power_controller_;
  platform::PowerWells power_wells_;
  platform::Sideband sideband_;
  platform::DisplayPhys display_phys_;
  MemoryUnit memory_;
  interrupt::InterruptUnit interrupts_;
  std::optional<interrupt::InterruptSource> invalid_tile_;  // of the render engine
  Observation observation_;
  display::Display display_;
  CompressionPort compression_;
  EngineSet engines_;
  std::vector<Unit> units_;
  std::vector<TimedUnit> timed_units_;
  uint32_t io_index_ = 0;
  bool interrupt_ = false;
  bool works_ = false;  // in advance() or settle()
  bool line_ = false;   // the last level that the host received
  std::function<void(unsigned)> vblank_observer_;
};

}  // namespace halogen::device
