#include "display/display.h"

#include <utility>

#include "base/bits.h"
#include "base/check.h"
#include "display/pixel_clock.h"
#include "hw/display_pipe.h"
#include "spec/packed.h"

namespace halogen::display {

namespace {

constexpr uint64_t kMicrosecond = 1000;

}  // namespace

Display::Display(const spec::DeviceModel& model, mmio::MmioSpace& mmio, DisplayListener& listener, EventSink& events,
                 std::string path)
    : model_(model),
      mmio_(mmio),
      listener_(listener),
      events_(events),
      path_(std::move(path)),
      rules_(display_rules(model.gen)),
      registers_(mmio.bank(), model.gen),
      planes_(find_planes(mmio.bank(), registers_.pipes())),
      cursor_models_(find_cursors(mmio.bank())) {
  find_status_bits();
  clear_state();
  attach();
  compressor_ = make_compressor({model_, mmio_.bank(), *this, events_, path_ + ".compressor"}, state_);
  set_line_provider(compressor_.get());
}

void Display::attach(const mmio::RegisterSlot* slot, Role role, unsigned index) {
  if (slot != nullptr) {
    parts_.emplace(slot, Part{role, index});
    mmio_.bank().attach(*slot, *this);
  }
}

void Display::attach() {
  const auto attach_transcoder = [this](const TranscoderSlots& slots, Role role, unsigned index) {
    for (const mmio::RegisterSlot* slot : {slots.h_total, slots.h_blank, slots.h_sync, slots.v_total, slots.v_blank,
                                           slots.v_sync, slots.configuration}) {
      attach(slot, role, index);
    }
  };
  const DisplaySlots& slots = registers_.slots();
  for (unsigned pipe = 0; pipe < pipes(); ++pipe) {
    const PipeSlots& of = slots.pipes[pipe];
    attach_transcoder(of.transcoder, Role::timing, pipe);
    for (const mmio::RegisterSlot* slot : {of.generator, of.multiplier, of.divisors[0].slot(), of.divisors[1].slot()}) {
      attach(slot, Role::timing, pipe);
    }
    attach(of.status, Role::status, pipe);
    attach(of.line, Role::line, pipe);
    attach(of.frame_high, Role::frame_high, pipe);
    attach(of.frame_pixel, Role::frame_pixel, pipe);
    attach(of.frame_count, Role::frame_count, pipe);
    attach(of.frame_time, Role::frame_time, pipe);
  }
  attach_transcoder(slots.panel, Role::panel, 0);
  attach(slots.panel_input.slot(), Role::panel, 0);
  attach(slots.load_window.slot(), Role::load_window, 0);
  for (const PlaneModel& plane : planes_) {
    attach(plane.slots.surface, Role::surface, index_of(plane));
    attach(plane.slots.live, Role::live, index_of(plane));
  }
  for (unsigned cursor = 0; cursor < cursor_models_.size(); ++cursor) {
    attach(cursor_models_[cursor].control, Role::cursor_control, cursor);
    attach(cursor_models_[cursor].base, Role::cursor_base, cursor);
    attach(cursor_models_[cursor].position, Role::cursor_position, cursor);
  }
}

// Bits that the layout of the device lacks stay zero.
void Display::find_status_bits() {
  const auto bits = [this](auto set) {
    hw::PIPESTAT status;
    set(status);
    return spec::packed32(status, model_.gen);
  };
  bits_.vblank = bits([](hw::PIPESTAT& s) { s.start_vblank_status = s.vblank_status = true; });
  bits_.vsync = bits([](hw::PIPESTAT& s) { s.vsync_status = true; });
  bits_.line_compare = bits([](hw::PIPESTAT& s) { s.display_line_compare_status = true; });
  bits_.hblank = bits([](hw::PIPESTAT& s) { s.hblank_status = true; });
  bits_.even_field = bits([](hw::PIPESTAT& s) { s.even_field_status = true; });
  bits_.odd_field = bits([](hw::PIPESTAT& s) { s.odd_field_status = true; });
  bits_.underrun = bits([](hw::PIPESTAT& s) { s.fifo_underrun_status = true; });
  bits_.overlay_updated = bits([](hw::PIPESTAT& s) { s.overlay_updated_status = true; });
  bits_.flip_done = {bits([](hw::PIPESTAT& s) { s.plane_flip_done_status = true; }),
                     bits([](hw::PIPESTAT& s) { s.sprite_0_flip_done_status = true; }),
                     bits([](hw::PIPESTAT& s) { s.sprite_1_flip_done_status = true; })};
  bits_.vblank_enable = bits([](hw::PIPESTAT& s) { s.vblank_enable = true; });
  bits_.hblank_enable = bits([](hw::PIPESTAT& s) { s.hblank_enable = true; });
}

void Display::clear_state() {
  state_ = DisplayState{.now_ns = state_.now_ns,
                        .pipes = std::vector<PipeState>(pipes()),
                        .planes = std::vector<PlaneState>(planes_.size()),
                        .cursors = std::vector<CursorState>(cursor_models_.size()),
                        .overlay = {}};
  cursors_.assign(pipes(), {});
}

void Display::reset() {
  clear_state();
  refresh();
}

void Display::refresh() {
  for (unsigned pipe = 0; pipe < pipes(); ++pipe) {
    state_.pipes[pipe].refused = false;
  }
  reconsider_all();
  if (compressor_ != nullptr) {
    compressor_->refresh();
  }
}

void Display::restore(const DisplayState& state) {
  check(state.pipes.size() == pipes() && state.planes.size() == planes_.size() &&
            state.cursors.size() == cursor_models_.size(),
        "snapshot of another device model");
  state_ = state;
}

void Display::report(FidelityReport& report) const {
  if (state_.assumed_clock) {
    report.touch(FidelityKind::reg, "PIPECONF", FidelityClass::approximate,
                 "pixel clock not modelled; the pipe runs at 60 frames per second");
  }
}

void Display::raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string_view detail) {
  events_.on_event({kind, item, path_, address, value, std::string(detail)});
}

// Registers.

uint32_t Display::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  const auto found = parts_.find(&slot);
  if (found == parts_.end()) {
    return stored;
  }
  const auto [role, index] = found->second;
  if (role == Role::live) {
    return state_.planes[index].active.surface;
  }
  if (role == Role::timing || role == Role::panel || role == Role::status || role == Role::load_window ||
      role == Role::surface || role == Role::cursor_control || role == Role::cursor_base ||
      role == Role::cursor_position) {
    return stored;
  }
  const PipeState& pipe = state_.pipes[index];
  const Raster& raster = pipe.raster;
  hw::PIPEFRAMEHIGH high;
  hw::PIPEFRAMEPIXEL low;
  switch (role) {
    case Role::line:
      return pipe.running ? registers_.line_value(raster.line_counter(position(pipe)),
                                                  raster.timing.interlaced && (vblank_count(index) & 1) != 0)
                          : 0;
    case Role::frame_high:
      high.frame_counter_high = static_cast<uint16_t>(frame_number(pipe) >> 8);
      return spec::packed32(high, model_.gen);
    case Role::frame_pixel:
      low.frame_counter_low = static_cast<uint8_t>(frame_number(pipe));
      low.pixel_counter = pipe.running ? static_cast<uint32_t>(raster.active_offset(position(pipe)) & low_mask(24)) : 0;
      return spec::packed32(low, model_.gen);
    case Role::frame_count:
      return static_cast<uint32_t>(vblank_count(index));
    case Role::frame_time:
      return static_cast<uint32_t>(last_vblank_ns(pipe) / kMicrosecond);
    case Role::timing:
    case Role::panel:
    case Role::status:
    case Role::load_window:
    case Role::surface:
    case Role::live:
    case Role::cursor_control:
    case Role::cursor_base:
    case Role::cursor_position:
      break;
  }
  return stored;
}

uint32_t Display::on_write(const mmio::RegisterWrite& write) {
  const auto found = parts_.find(&write.slot);
  if (found == parts_.end()) {
    return write.next;
  }
  const auto [role, index] = found->second;
  switch (role) {
    case Role::timing:
      reconsider(index);
      break;
    case Role::panel:
      reconsider_all();
      break;
    case Role::status:
      update_event(index, write.next);
      break;
    case Role::load_window:
      load_window(write.next);
      break;
    case Role::surface:
      surface_write(index, write.next);
      break;
    case Role::cursor_control:
    case Role::cursor_base:
    case Role::cursor_position:
      cursor_write(index, role, write.next);
      break;
    case Role::line:
    case Role::frame_high:
    case Role::frame_pixel:
    case Role::frame_count:
    case Role::frame_time:
    case Role::live:
      break;
  }
  return mmio_.bank().peek(write.slot);  // state bits, or a value that a listener has written since
}

void Display::latch(unsigned pipe, uint32_t bits) {
  const mmio::RegisterSlot* slot = registers_.slots().pipes[pipe].status;
  if (slot == nullptr || bits == 0) {
    return;
  }
  const uint32_t status = mmio_.bank().peek(*slot) | bits;
  mmio_.bank().poke(*slot, status);
  update_event(pipe, status);
}

// Each status bit in the low half has its enable bit sixteen bits above.
void Display::update_event(unsigned pipe, uint32_t status) {
  const mmio::AccessPolicy& policy = registers_.slots().pipes[pipe].status->policy;
  const bool asserted = ((status & policy.w1c) & ((status & policy.rw) >> 16)) != 0;
  if (asserted != state_.pipes[pipe].event) {
    state_.pipes[pipe].event = asserted;
    listener_.on_pipe_event(pipe, asserted);
  }
}

// Starting and stopping.

void Display::reconsider_all() {
  for (unsigned pipe = 0; pipe < pipes(); ++pipe) {
    reconsider(pipe);
  }
}

void Display::reconsider(unsigned pipe) {
  PipeState& state = state_.pipes[pipe];
  const TranscoderSlots& transcoder = registers_.transcoder(pipe);
  if (!registers_.enabled(transcoder)) {
    state.refused = false;
    stop(pipe);
    show_states();
    return;
  }
  Raster raster{registers_.timing(transcoder), {}};
  const std::string_view problem = settle(raster.timing);
  if (!problem.empty()) {
    stop(pipe);
    show_states();
    if (!std::exchange(state.refused, true)) {
      raise(EventKind::undefined_behaviour, "PIPECONF", transcoder.configuration->offset,
            registers_.peek(transcoder.configuration), problem);
    }
    return;
  }
  state.refused = false;
  const std::optional<PixelClock> clock = registers_.clock(pipe);
  raster.clock = clock.value_or(assumed_clock(raster.timing));
  state_.assumed_clock |= !clock.has_value();
  if (!state.running || state.raster != raster) {
    start(pipe, raster);
  }
  show_states();
}

void Display::start(unsigned pipe, const Raster& raster) {
  PipeState& state = state_.pipes[pipe];
  bank_counts(state);
  state.running = true;
  state.raster = raster;
  state.start_ns = state_.now_ns;
  cursors_[pipe].done = {};
  take_source(pipe);
  if (raster.timing.interlaced) {
    raise(EventKind::approximation, "PIPECONF", registers_.transcoder(pipe).configuration->offset, pipe,
          "interlaced mode shown as progressive");
  }
  update_window(pipe);
}

// Performs everything that waits for a vertical blank, as if the pipe had been off.
void Display::stop(unsigned pipe) {
  PipeState& state = state_.pipes[pipe];
  if (!state.running) {
    return;
  }
  bank_counts(state);
  state.running = false;
  state.raster = {};
  update_window(pipe);
  for (unsigned plane = 0; plane < state_.planes.size(); ++plane) {
    for (unsigned left = kFlipQueueDepth;
         left > 0 && !state_.planes[plane].waiting.empty() && state_.planes[plane].waiting.front().pipe == pipe;
         --left) {
      perform(plane);
    }
  }
  take_cursors(pipe);
  if (state_.overlay.waiting.has_value() && state_.overlay.waiting->pipe == pipe) {
    raise(EventKind::undefined_behaviour, "PIPECONF", registers_.transcoder(pipe).configuration->offset, pipe,
          "overlay flip pending while its pipe was disabled");
    perform_overlay();
  }
}

void Display::bank_counts(PipeState& pipe) {
  if (pipe.running) {
    const Pixels at = position(pipe);
    pipe.last_vblank_ns = last_vblank_ns(pipe);
    pipe.vblanks += static_cast<uint64_t>(pipe.raster.vblanks().count(at));
    pipe.frames += static_cast<uint64_t>(pipe.raster.frames().count(at));
  }
}

void Display::show_states() {
  const DisplaySlots& slots = registers_.slots();
  bool panel = false;
  for (unsigned pipe = 0; pipe < pipes(); ++pipe) {
    const bool fed = &registers_.transcoder(pipe) == &slots.panel;
    panel = panel || (fed && state_.pipes[pipe].running);
    registers_.show_running(slots.pipes[pipe].transcoder, !fed && state_.pipes[pipe].running);
  }
  registers_.show_running(slots.panel, panel);
}

}  // namespace halogen::display
