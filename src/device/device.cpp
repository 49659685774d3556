#include "device/device.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/submit/execlist.h"
#include "hw/interrupt_gen4.h"
#include "message/state_watch.h"
#include "mmio/register.h"

namespace halogen::device {

namespace {

constexpr uint32_t kAllOnes = 0xffff'ffff;

std::optional<uint64_t> earlier(std::optional<uint64_t> one, std::optional<uint64_t> other) {
  return one && other ? std::min(*one, *other) : (one ? one : other);
}

// Saturates instead of wrapping.
uint64_t later(uint64_t now, uint64_t by) {
  return by > ~now ? ~uint64_t{0} : now + by;
}

mmio::SteeringConfig steering_config(const spec::DeviceModel& model, const DeviceOptions& options) {
  mmio::SteeringConfig config = mmio::SteeringConfig::for_device(model.id);
  if (options.fuses) {
    config.fuses = *options.fuses;
  }
  return config;
}

MemoryLayout layout_of(const spec::DeviceModel& model, const DeviceOptions& options) {
  const uint64_t local = local_bytes(model, options);
  const uint64_t table = gtt_bytes(model, options);
  const uint64_t stolen = stolen_bytes(model, options);
  return local != 0 ? local_layout(local, stolen, table, options.wopcm_offset)
                    : system_layout(options.stolen_base, stolen, table, model.physical_bits, options.wopcm_offset);
}

}  // namespace

Result<std::unique_ptr<Device>> Device::create(const spec::DeviceModel& model, Host& host, DeviceOptions options) {
  if (const Result<void> checked = check_options(model, options); !checked) {
    return checked.error();
  }
  return std::unique_ptr<Device>(new Device(model, host, std::move(options)));
}

Device::Device(const spec::DeviceModel& chip, Host& host, DeviceOptions options)
    : model_(model_of(chip, options)),
      options_(std::move(options)),
      host_(host),
      config_(model_, options_),
      mmio_(model_, mmio::RegisterMap::for_device(model_), steering_config(model_, options_), host,
            options_.name + ".mmio"),
      reset_unit_(mmio_),
      timestamps_(mmio_, clock_),
      firmware_(mmio_, layout_of(model_, options_), config_.ggc(), options_, [this] { reset(ResetKind::driver); }),
      power_controller_(model_, mmio_, host, options_.name + ".pcode"),
      power_wells_(mmio_),
      sideband_(model_, mmio_, host, options_.name + ".sideband"),
      display_phys_(model_, mmio_, sideband_),
      memory_(model_, firmware_.layout(), local_bytes(model_, options_), mmio_, *this, host, options_.name),
      interrupts_(model_, mmio_, *this, host, options_.name + ".interrupts"),
      invalid_tile_(interrupts_.source("GTISR_0", "rcs_invalid_tile")),
      observation_(model_, mmio_, memory_, interrupts_, clock_, host, options_.name + ".oa"),
      display_(model_, mmio_, *this, host, options_.name + ".display"),
      compression_(display_, memory_, firmware_.layout()),
      engines_(model_, mmio_, memory_, clock_, host, *this, options_) {
  mmio_.wake().state().power_gating = options_.power_gating;
  if (options_.table_enabled) {
    memory_.keep_table_enabled();
  }
  list_units();
  connect_resets();
  if (observation_.unit().exists()) {
    engines_.add_context_listener(observation_);
  }
  for (unsigned number = 0; number < engines_.count(); ++number) {
    engines_.engine(number).fetch().set_prefetch_lines(options_.prefetch_lines);
    engine::ExeclistSubmission* const execlists = engines_.engine(number).execlists();
    if (execlists != nullptr && options_.manual_status_place) {
      execlists->status_buffer().set_first_dword(engine::ContextStatusBuffer::kManualFirstDword);
    }
  }
}

// Lists the units in the order of a reset: firmware writes registers after the bank is reset and before other units
// read them.
void Device::list_units() {
  Unit config = unit_of(config_, &DeviceState::config);
  config.reset = [this](ResetKind kind) {
    if (kind != ResetKind::driver) {
      config_.reset();
    }
  };
  Unit memory = unit_of(memory_, &DeviceState::memory);
  memory.reset = [this](ResetKind kind) {
    memory_.reset(/*clear_memory=*/kind != ResetKind::function_level);
    if (memory::Iommu* const iommu = memory_.iommu(); iommu != nullptr && kind == ResetKind::power_on) {
      iommu->reset();  // part of the machine, not of the device
    }
  };
  units_ = {
      std::move(config),
      unit_of(mmio_, &DeviceState::mmio),
      {.reset = [this](ResetKind) { firmware_.apply(); }, .refresh = [this] { firmware_.place_tables(); }},
      std::move(memory),
      unit_of(interrupts_, &DeviceState::interrupts),
      unit_of(display_, &DeviceState::display),
      unit_of(sideband_, &DeviceState::sideband),
      unit_of(engines_, &DeviceState::engines),
      unit_of(observation_, &DeviceState::observation),
  };
  timed_units_ = {
      {.next_event = [this] { return display_.next_event(EngineSet::kSlice); },
       .advance_to = [this](uint64_t nanoseconds) { display_.advance_to(nanoseconds); }},
      {.deadline = [this] { return engines_.next_deadline(); }, .pass_idle_time = [this] { engines_.pass_time(); }},
      {.advance_to = [this](uint64_t nanoseconds) { observation_.advance_to(nanoseconds); }},
  };
}

void Device::connect_resets() {
  reset_unit_.set_hooks({
      .engine =
          [this](const spec::EngineModel& engine) {
            const unsigned number = number_of(engine);
            engines_.reset_engine(number);
            interrupts_.reset_engine(number);
            observation_.reset_engine(number);
            return memory_.reset_engine(number);
          },
      .registers =
          [this] {
            for (const Unit& unit : units_) {
              if (unit.refresh) {
                unit.refresh();
              }
            }
          },
      .gt =
          [this] {
            memory_.reset_gt();
            observation_.reset();
          },
      .ready = [this](const spec::EngineModel& engine) { return !memory_.faults().engine(number_of(engine)).waiting; },
      .requested = [this](const spec::EngineModel& engine) { engines_.engine(number_of(engine)).wake(); },
  });
}

unsigned Device::number_of(const spec::EngineModel& engine) const {
  return static_cast<unsigned>(&engine - model_.engines.data());
}

uint32_t Device::config_read(uint32_t offset, unsigned bytes) const {
  if ((bytes != 1 && bytes != 2 && bytes != 4) || offset % bytes != 0) {
    raise(EventKind::bad_access, "config", offset, 0, fmt::format("read of {} bytes", bytes));
    return kAllOnes;
  }
  return config_.read(offset, bytes);
}

void Device::config_write(uint32_t offset, unsigned bytes, uint32_t value) {
  if ((bytes != 1 && bytes != 2 && bytes != 4) || offset % bytes != 0) {
    raise(EventKind::bad_access, "config", offset, value, fmt::format("write of {} bytes dropped", bytes));
    return;
  }
  const ConfigEffects effects = config_.write(offset, bytes, value);
  if (effects.function_level_reset) {
    reset(ResetKind::function_level);
  } else if (effects.graphics_reset) {
    reset_unit_.reset_gen4_domain(effects.reset_domain);
  }
  if (const std::optional<MsiTarget> message = config_.take_pending_msi()) {
    host_.send_message_interrupt(message->address, message->data);
  }
  set_interrupt(interrupt_);  // the command register and MSI enable decide about the line
}

void Device::reset(ResetKind kind) {
  io_index_ = 0;
  if (kind == ResetKind::power_on) {
    clock_ = {};
  }
  for (const Unit& unit : units_) {
    if (unit.reset) {
      unit.reset(kind);
    }
  }
  set_interrupt(false);
}

// Marks the time in which engines may run.
class Device::Working {
 public:
  explicit Working(bool& works) : works_(works), before_(std::exchange(works, true)) {}
  ~Working() { works_ = before_; }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  bool& works_;
  bool before_;
};

void Device::advance(uint64_t nanoseconds) {
  const Working working(works_);
  const uint64_t target = later(clock_.nanoseconds, nanoseconds);
  while (clock_.nanoseconds < target && !stop_flag().raised()) {
    step(target);
  }
}

bool Device::settle(uint64_t limit) {
  const Working working(works_);
  const uint64_t target = later(clock_.nanoseconds, limit);
  while (clock_.nanoseconds < target && !stop_flag().raised()) {
    const bool idle = !step(target) && !next_deadline();
    if (idle && clock_.nanoseconds >= target) {
      return true;
    }
  }
  return false;
}

void Device::revoke_memory() {
  check(!works_, "memory revoked while engines run");
  memory_.map().revoke();
}

std::optional<uint64_t> Device::next_event() const {
  std::optional<uint64_t> next;
  for (const TimedUnit& unit : timed_units_) {
    next = unit.next_event ? earlier(next, unit.next_event()) : next;
  }
  return next;
}

std::optional<uint64_t> Device::next_deadline() const {
  std::optional<uint64_t> next;
  for (const TimedUnit& unit : timed_units_) {
    next = unit.deadline ? earlier(next, unit.deadline()) : next;
  }
  return next;
}

// Runs one slice of every engine. If no engine has work, time jumps to the next deadline. Returns whether an engine
// worked.
bool Device::step(uint64_t limit) {
  const uint64_t slice_limit = std::min(limit, next_event().value_or(limit));
  const bool progress = engines_.run(slice_limit);
  if (!progress) {
    const uint64_t end = vblank_observer_ ? slice_limit : limit;  // an observer sees every vertical blank
    clock_.nanoseconds = std::min(end, std::max(clock_.nanoseconds, next_deadline().value_or(end)));
  }
  for (const TimedUnit& unit : timed_units_) {
    if (!progress && unit.pass_idle_time) {
      unit.pass_idle_time();
    }
    if (unit.advance_to) {
      unit.advance_to(clock_.nanoseconds);
    }
  }
  return progress;
}

void Device::on_engine_interrupt(unsigned engine, EngineCause cause) {
  interrupts_.raise(engine, cause);
}

void Device::on_engine_level(unsigned engine, EngineCause cause, bool asserted) {
  interrupts_.set_level(engine, cause, asserted);
}

void Device::on_catastrophic(unsigned engine, const memory::Fault& /*fault*/) {
  if (engine < engines_.count()) {
    on_engine_lost(engine);
  }
}

void Device::on_pending(unsigned engine, bool pending, bool repair) {
  if (pending) {  // the repair flag of the last fault outlives the pending level
    interrupts_.set_fault_repair(engine, repair);
  }
  interrupts_.set_level(engine, EngineCause::page_fault, pending);
}

// Only the render engine has tiled resources. The bit of its interrupt is published for Gen9 alone.
void Device::on_invalid_tile() {
  if (invalid_tile_ && !mmio::Register<hw::IMR>(mmio_.bank(), "rcs0").get().invalid_tile) {
    interrupts_.pulse_source(*invalid_tile_);
  }
}

void Device::on_interrupt_level(bool asserted) {
  set_interrupt(asserted);
}

void Device::on_status_report(unsigned engine, uint32_t status) {
  engines_.engine(engine).status_page().report_interrupts(status);
}

void Device::on_vblank(unsigned pipe) {
  interrupts_.display_event(DisplayCause::vblank, pipe);
  if (vblank_observer_) {
    vblank_observer_(pipe);
  }
}

void Device::on_line_compare(unsigned pipe, bool in_window) {
  interrupts_.display(DisplayCause::line_compare, pipe, 0, in_window);
}

void Device::on_flip_pending(unsigned plane, bool pending) {
  if (const display::PlaneModel* const model = display_.find_plane(plane)) {
    interrupts_.display(DisplayCause::flip_done, model->pipe, model->place, pending);
  }
}

void Device::on_overlay_flip_pending(bool pending) {
  interrupts_.display(DisplayCause::overlay_flip, 0, 0, pending);
}

// Reads one page through the global table. If it cannot be read, the registers read zero and a fault is reported.
void Device::on_overlay_fetch(const display::OverlayFlip& request, std::span<std::byte> into) {
  if (!ok(memory_.external_space(memory::Stream::overlay).read(GpuVa{request.address.value}, into))) {
    std::ranges::fill(into, std::byte{0});
  }
}

void Device::on_pipe_event(unsigned pipe, bool asserted) {
  interrupts_.pipe_event(pipe, asserted);
}

void Device::on_underrun(unsigned pipe) {
  interrupts_.display_event(DisplayCause::underrun, pipe);
}

void Device::set_interrupt(bool asserted) {
  const bool rises = asserted && !interrupt_;
  interrupt_ = asserted;
  config_.set_interrupt_status(asserted);
  if (rises && config_.bus_master()) {
    if (const std::optional<MsiTarget> message = config_.take_msi()) {
      host_.send_message_interrupt(message->address, message->data);
    }
  }
  const bool line = asserted && !config_.msi_enabled() && config_.line_interrupt_enabled();
  if (line != line_) {
    line_ = line;
    host_.set_interrupt_line(line);
  }
}

DeviceState Device::snapshot() const {
  DeviceState state;
  state.clock = clock_;
  state.io_index = io_index_;
  state.interrupt = interrupt_;
  for (const Unit& unit : units_) {
    if (unit.snapshot) {
      unit.snapshot(state);
    }
  }
  return state;
}

void Device::restore(const DeviceState& state) {
  clock_ = state.clock;
  for (const Unit& unit : units_) {
    if (unit.restore) {
      unit.restore(state);
    }
  }
  io_index_ = state.io_index;
  interrupt_ = state.interrupt;
  set_interrupt(interrupt_);
}

FidelityReport Device::fidelity() const {
  FidelityReport report;
  for (const Unit& unit : units_) {
    if (unit.report) {
      unit.report(report);
    }
  }
  return report;
}

// Reports blocks of a plane's surface that the display cannot decode.
void Device::check_states(const display::PlaneLines& lines) {
  message::StateWatch* const watch = engines_.state_watch();
  const uint64_t left = lines.left() * lines.pixel_B;
  const uint64_t row = std::min(lines.row(0), lines.row(lines.height - 1));
  const surface::SurfaceLayout layout = lines.layout();
  const message::StateWatch::Use use{
      .client = MemoryClient::display,
      .base = lines.base,
      .pattern = layout.pattern,
      .pitch_B = layout.pitch_B,
      .bytes = layout.row_B() * (row + lines.height),
      .boxes = {{.x_B = left, .end_x_B = left + lines.line_B(), .row = row, .end_row = row + lines.height}}};
  if (const auto finding = watch->check(use, memory_.external_space(memory::Stream::display_a))) {
    raise(EventKind::undefined_behaviour, "display", finding->base, finding->states,
          message::describe(MemoryClient::display, *finding));
  }
}

std::optional<picture::Image> Device::take_frame(unsigned pipe) {
  if (engines_.state_watch() != nullptr) {
    for (const display::PlaneModel& plane : display_.planes()) {
      const std::optional<display::PlaneLines> lines = display_.plane_lines(plane.number);
      if (lines && lines->enabled && lines->known_format && lines->pipe == pipe && lines->height != 0) {
        check_states(*lines);
      }
    }
  }
  return display_.take_frame(pipe, *this);
}

void Device::raise(EventKind kind, std::string_view place, uint64_t address, uint64_t value, std::string detail) const {
  host_.on_event({kind, {}, fmt::format("{}.{}", options_.name, place), address, value, std::move(detail)});
}

}  // namespace halogen::device
