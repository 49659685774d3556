// Requests of command streams to the display: flips of planes and of the overlay, and scan line windows.
#include <algorithm>
#include <bit>
#include <utility>

#include "display/display.h"
#include "hw/display_pipe.h"
#include "hw/enums.h"
#include "hw/overlay.h"
#include "spec/packing.h"

namespace halogen::display {

namespace {

constexpr std::string_view kFlip = "MI_DISPLAY_FLIP";
constexpr std::string_view kOverlay = "MI_OVERLAY_FLIP";
constexpr std::string_view kScanLines = "MI_LOAD_SCAN_LINES";
constexpr uint64_t kMicrosecond = 1000;
constexpr uint32_t kPageMask = 0xfff;

}  // namespace

const PlaneModel* Display::find_plane(unsigned number) const {
  const auto found = std::ranges::find(planes_, number, &PlaneModel::number);
  return found == planes_.end() ? nullptr : &*found;
}

const PlaneModel* Display::find_plane(unsigned pipe, unsigned place) const {
  const auto found = std::ranges::find_if(
      planes_, [&](const PlaneModel& plane) { return plane.pipe == pipe && plane.place == place; });
  return found == planes_.end() ? nullptr : &*found;
}

const PlaneImage* Display::active_image(unsigned plane) const {
  const PlaneModel* model = find_plane(plane);
  return model == nullptr ? nullptr : &state_.planes[index_of(*model)].active;
}

bool Display::flip_pending(unsigned plane) const {
  const PlaneModel* model = find_plane(plane);
  return model != nullptr && !state_.planes[index_of(*model)].waiting.empty();
}

bool Display::something_waits(unsigned pipe) const {
  const auto waits = [pipe](const PlaneState& plane) {
    return !plane.waiting.empty() && plane.waiting.front().pipe == pipe;
  };
  return std::ranges::any_of(state_.planes, waits) ||
         (state_.overlay.waiting.has_value() && state_.overlay.waiting->pipe == pipe);
}

void Display::flip_problem(const FlipRequest& request, std::string_view detail) {
  raise(EventKind::undefined_behaviour, kFlip, request.base, request.plane, detail);
}

// Returns whether the plane and its tiling support asynchronous flips. False: the flip happens at the vertical blank
// instead. Violations of software rules are reported and otherwise ignored.
bool Display::async_allowed(const PlaneModel& plane, const FlipRequest& request) {
  const PlaneImage& active = state_.planes[index_of(plane)].active;
  const PlaneControl control = unpack_control(plane, model_.gen, active.control);
  const uint64_t stride = uint64_t{active.stride} * stride_unit_B(plane);
  if (request.queued) {
    flip_problem(request, "asynchronous flip into the queue");
  }
  if (request.fitter.has_value()) {
    flip_problem(request, "asynchronous flip with a panel fitter");
  }
  if (rules_.async_alignment_B != 0 && request.base % rules_.async_alignment_B != 0) {
    flip_problem(request, "asynchronous flip to a misaligned surface");
  }
  if (rules_.async_stride_power_of_two && !std::has_single_bit(stride)) {
    flip_problem(request, "asynchronous flip with a stride that is not a power of two");
  }
  if (control.rotated_180 && stride < rules_.async_rotated_stride_B) {
    flip_problem(request, "asynchronous flip of a rotated plane with too small a stride");
  }
  if (plane.number >= 64 || (rules_.async_planes >> plane.number & 1) == 0) {
    flip_problem(request, "asynchronous flip of a plane that does not support it");
    return false;
  }
  if ((rules_.async_tilings >> control.tiling & 1) == 0) {
    flip_problem(request, "asynchronous flip of a surface whose tiling does not support it");
    return false;
  }
  return true;
}

// An asynchronous flip keeps the visible pitch and tiling.
PlaneImage Display::command_image(const PlaneModel& plane, const FlipRequest& request, bool async) const {
  PlaneImage image = async ? state_.planes[index_of(plane)].active : read_image(mmio_.bank(), plane.slots);
  image.surface = (request.base & ~kPageMask) | (image.surface & kPageMask);
  if (!request.async) {
    image.stride = request.pitch / stride_unit_B(plane);
    image.control = with_tiling(plane, model_.gen, image.control, request.tiled);
  }
  return image;
}

// Writes the request to the plane's registers, where software can read it.
void Display::program(const PlaneModel& plane, const FlipRequest& request, const PlaneImage& image) {
  mmio::RegisterBank& bank = mmio_.bank();
  bank.poke(*plane.slots.surface, image.surface);
  if (!request.async) {
    bank.poke(*plane.slots.stride, image.stride);
    bank.poke(*plane.slots.control, image.control);
  }
}

void Display::flip(const FlipRequest& request) {
  const PlaneModel* plane = find_plane(request.plane);
  if (plane == nullptr) {
    flip_problem(request, "plane does not exist");
    return;
  }
  const unsigned index = index_of(*plane);
  const bool async = request.async && async_allowed(*plane, request);
  const PlaneImage image = command_image(*plane, request, async);
  const unsigned pipe = unpack_control(*plane, model_.gen, image.control).pipe;
  PendingFlip flip{.image = image,
                   .pipe = pipe,
                   .command = true,
                   .queued = request.queued && !request.async,
                   .fitter = request.async ? std::nullopt : request.fitter};
  std::vector<PendingFlip>& waiting = state_.planes[index].waiting;
  const bool undefined = std::ranges::any_of(
      waiting, [&flip](const PendingFlip& other) { return other.command && !(other.queued || flip.queued); });
  if (undefined) {
    flip_problem(request, "flip while another flip of the plane is pending");
  }
  if (flip.queued && waiting.size() >= kFlipQueueDepth) {
    raise(EventKind::unsupported, kFlip, request.base, request.plane, "flip dropped; the flip queue is full");
    return;
  }
  program(*plane, request, image);
  submit(index, flip, async);
}

void Display::surface_write(unsigned plane, uint32_t surface) {
  const PlaneModel& model = planes_[plane];
  PlaneImage image = read_image(mmio_.bank(), model.slots);
  image.surface = surface;
  const PlaneControl control = unpack_control(model, model_.gen, image.control);
  submit(plane, {.image = image, .pipe = control.pipe}, control.async_flip);
}

// An unqueued flip drops all queued flips.
void Display::submit(unsigned plane, PendingFlip flip, bool at_once) {
  std::vector<PendingFlip>& waiting = state_.planes[plane].waiting;
  const bool pending = !waiting.empty();
  if (!flip.queued) {
    waiting.clear();
  }
  flip.async = at_once;
  const bool now = at_once || !pipe_running(flip.pipe);
  waiting.push_back(flip);
  if (!pending) {
    listener_.on_flip_pending(planes_[plane].number, true);
  }
  if (now && !state_.planes[plane].waiting.empty()) {
    perform(plane);
  }
}

void Display::perform(unsigned plane) {
  PlaneState& state = state_.planes[plane];
  const PendingFlip flip = state.waiting.front();
  state.waiting.erase(state.waiting.begin());
  state.active = flip.image;
  if (compressor_ != nullptr) {
    const FlipKind by = flip.command ? FlipKind::command_sync : FlipKind::register_sync;
    compressor_->on_flip(planes_[plane].number, flip.async ? FlipKind::async : by);
  }
  const unsigned place = planes_[plane].place;
  if (flip.pipe < pipes()) {
    const PipeSlots& slots = registers_.slots().pipes[flip.pipe];
    mmio::RegisterBank& bank = mmio_.bank();
    if (place == 0 && slots.flip_count != nullptr) {
      bank.poke(*slots.flip_count, bank.peek(*slots.flip_count) + 1);
    }
    if (place == 0 && slots.flip_time != nullptr) {
      bank.poke(*slots.flip_time, static_cast<uint32_t>(state_.now_ns / kMicrosecond));
    }
    if (flip.fitter.has_value()) {
      state_.pipes[flip.pipe].fitter = *flip.fitter;
      registers_.set_source_size(flip.pipe, flip.fitter->horizontal_size, flip.fitter->vertical_size);
    }
  }
  if (state.waiting.empty()) {
    listener_.on_flip_pending(planes_[plane].number, false);
  }
  if (flip.pipe < pipes() && place < bits_.flip_done.size()) {
    latch(flip.pipe, bits_.flip_done[place]);
  }
}

void Display::take_offsets(unsigned pipe) {
  for (const PlaneModel& plane : planes_) {
    PlaneImage& active = state_.planes[index_of(plane)].active;
    if (unpack_control(plane, model_.gen, active.control).pipe == pipe) {
      const PlaneImage image = read_image(mmio_.bank(), plane.slots);
      active.linear_offset = image.linear_offset;
      const bool panned = std::exchange(active.tile_offset, image.tile_offset) != image.tile_offset;
      if (panned && compressor_ != nullptr) {
        compressor_->on_pan(plane.number);
      }
    }
  }
}

// The overlay.

void Display::overlay_flip(const OverlayFlip& request) {
  OverlayState& overlay = state_.overlay;
  const auto problem = [&](std::string_view detail) {
    raise(EventKind::undefined_behaviour, kOverlay, request.address.value, static_cast<uint64_t>(request.mode), detail);
  };
  switch (request.mode) {
    case OverlayMode::flip_on:
      if (overlay.on) problem("overlay switched on while it is on");
      overlay.on = true;
      break;
    case OverlayMode::flip_off:
      if (!overlay.on) problem("overlay switched off while it is off");
      if (!overlay.coefficients_loaded) problem("overlay switched off before coefficients were loaded");
      overlay.on = false;
      break;
    case OverlayMode::flip_continue:
      if (!overlay.on) problem("overlay flip while the overlay is off");
      break;
    case OverlayMode::reserved:
      problem("reserved overlay flip mode");
      return;
  }
  const bool pending = overlay.waiting.has_value();
  overlay.waiting = request;
  if (!pending) {
    listener_.on_overlay_flip_pending(true);
  }
  if (!pipe_running(request.pipe) && overlay.waiting.has_value()) {
    problem("overlay flip on a pipe that does not run");
    perform_overlay();
  }
}

unsigned Display::overlay_pipe() const {
  const std::vector<uint32_t>& loaded = state_.overlay.registers;
  if (!loaded.empty()) {
    return static_cast<unsigned>(hw::OVERLAY_REGISTERS::unpack(model_.gen, loaded).pipe_select);
  }
  return !pipe_running(0) && pipe_running(1) ? 1 : 0;
}

void Display::perform_overlay() {
  OverlayState& overlay = state_.overlay;
  const OverlayFlip request = *overlay.waiting;
  if (request.mode != OverlayMode::flip_off) {
    overlay.coefficients_loaded |= request.coefficients;
    overlay.registers.resize(kOverlayPage_B / sizeof(uint32_t));
    const std::span<std::byte> page = std::as_writable_bytes(std::span(overlay.registers));
    listener_.on_overlay_fetch(request, request.coefficients ? page : page.first(kOverlayRegisters_B));
  }
  overlay.active = request;
  overlay.waiting.reset();
  if (request.pipe < pipes()) {
    latch(request.pipe, bits_.overlay_updated);
  }
  listener_.on_overlay_flip_pending(false);
}

// Scan line windows.

std::optional<unsigned> Display::pipe_of_select(unsigned select) {
  constexpr unsigned kWidest = 7;  // three bits
  if (select > kWidest) {
    return std::nullopt;
  }
  switch (static_cast<hw::ScanLineDisplay>(select)) {
    case hw::ScanLineDisplay::DISPLAY_PIPE_A:
      return 0;
    case hw::ScanLineDisplay::DISPLAY_PIPE_B:
      return 1;
    case hw::ScanLineDisplay::DISPLAY_PIPE_C:
      return 2;
    case hw::ScanLineDisplay::DISPLAY_PIPE_D:
      return 3;
  }
  return std::nullopt;
}

void Display::load_scan_lines(unsigned pipe, unsigned first, unsigned last, bool inclusive) {
  const uint64_t lines = uint64_t{first} << 16 | last;
  if (pipe >= pipes()) {
    raise(EventKind::undefined_behaviour, kScanLines, pipe, lines, "pipe does not exist");
    return;
  }
  if (first > last) {
    raise(EventKind::undefined_behaviour, kScanLines, pipe, lines, "scan line window ends before it starts");
  }
  set_window(pipe, {{first, last}, inclusive});
}

void Display::set_window(unsigned pipe, const ScanLineWindow& window) {
  state_.pipes[pipe].window = window;
  registers_.show_window(pipe, window.span, window.inclusive);
  update_window(pipe);
}

void Display::update_window(unsigned pipe) {
  const bool inside = in_window(pipe);
  if (inside == std::exchange(state_.pipes[pipe].in_window, inside)) {
    return;
  }
  latch(pipe, inside ? bits_.line_compare : 0);
  listener_.on_line_compare(pipe, inside);
}

// Like the scan line counter, the register holds the line minus one.
void Display::load_window(uint32_t value) {
  const auto load = spec::unpack_register<hw::DE_LOAD_SL>(model_.gen, value);
  const unsigned pipe = load.pipe_b ? 1 : 0;
  if (load.load && pipe < pipes()) {
    set_window(pipe, {{load.start_scan_line + 1u, load.end_scan_line + 1u}, load.inclusive});
  }
}

bool Display::in_window(unsigned pipe, uint64_t at) const {
  if (!pipe_running(pipe) || !state_.pipes[pipe].window.has_value()) {
    return false;
  }
  const PipeState& state = state_.pipes[pipe];
  return state.window->span.holds(state.raster.line(position(state, at))) == state.window->inclusive;
}

std::optional<uint64_t> Display::window_changes_at(unsigned pipe, uint64_t at) const {
  const std::optional<uint64_t> in = next_of(pipe, Edge::window, at);
  const std::optional<uint64_t> out = next_of(pipe, Edge::window_end, at);
  if (!in.has_value() || !out.has_value()) {
    return in.has_value() ? in : out;
  }
  return std::min(*in, *out);
}

}  // namespace halogen::display
