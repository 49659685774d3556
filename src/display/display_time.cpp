// The display's time: finds the next edge, reports or skips edges, and computes the current beam positions.
#include <array>

#include "base/bits.h"
#include "base/check.h"
#include "display/display.h"

namespace halogen::display {

std::optional<uint64_t> Display::time_of(const PipeState& pipe, Pixels pixel) const {
  const std::optional<uint64_t> elapsed = pipe.raster.when(pixel);
  const uint64_t room = ~uint64_t{0} - pipe.start_ns;
  return elapsed.has_value() && *elapsed <= room ? std::optional(pipe.start_ns + *elapsed) : std::nullopt;
}

std::optional<EdgeStream> Display::stream(unsigned pipe, Edge edge) const {
  const PipeState& state = state_.pipes[pipe];
  if (!state.running) {
    return std::nullopt;
  }
  const bool hblanks = bit(state.watched, static_cast<unsigned>(PipeEdge::hblank)) ||
                       (registers_.peek(registers_.slots().pipes[pipe].status) & bits_.hblank_enable) != 0;
  switch (edge) {
    case Edge::vblank:
      return state.raster.vblanks();
    case Edge::vsync:
      return state.raster.vsyncs();
    case Edge::window:
      return state.window.has_value() ? state.raster.enters(state.window->span) : std::nullopt;
    case Edge::window_end:
      return state.window.has_value() ? state.raster.leaves(state.window->span) : std::nullopt;
    case Edge::hblank:
      return hblanks ? std::optional(state.raster.hblanks()) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<uint64_t> Display::next_of(unsigned pipe, Edge edge, uint64_t at) const {
  if (pipe >= pipes()) {
    return std::nullopt;
  }
  const std::optional<EdgeStream> edges = stream(pipe, edge);
  const PipeState& state = state_.pipes[pipe];
  return edges.has_value() ? time_of(state, edges->after(position(state, at))) : std::nullopt;
}

bool Display::comes_more_often(unsigned pipe, Edge edge, uint64_t least_ns) const {
  const std::optional<EdgeStream> edges = least_ns == 0 ? std::nullopt : stream(pipe, edge);
  const std::optional<uint64_t> period =
      edges.has_value() ? state_.pipes[pipe].raster.when(edges->period) : std::nullopt;
  return period.has_value() && *period < least_ns;
}

std::optional<uint64_t> Display::next_event(uint64_t least_ns) const {
  std::optional<uint64_t> next;
  const auto take = [&](unsigned pipe, Edge edge) {
    const std::optional<uint64_t> time = next_of(pipe, edge);
    if (time.has_value() && (!next.has_value() || *time < *next) && !comes_more_often(pipe, edge, least_ns)) {
      next = time;
    }
  };
  for (unsigned pipe = 0; pipe < pipes(); ++pipe) {
    const uint8_t watched = state_.pipes[pipe].watched;
    take(pipe, Edge::vblank);
    if (bit(watched, static_cast<unsigned>(PipeEdge::vsync))) {
      take(pipe, Edge::vsync);
    }
    if (bit(watched, static_cast<unsigned>(PipeEdge::line_compare))) {
      take(pipe, Edge::window);
      take(pipe, Edge::window_end);
    }
    take(pipe, Edge::hblank);
  }
  return next;
}

void Display::advance_to(uint64_t nanoseconds) {
  check(!advancing_, "advance_to called by a display listener");
  if (nanoseconds <= state_.now_ns) {
    return;
  }
  advancing_ = true;
  start_cursors();
  while (step(nanoseconds)) {
  }
  run_compressor(nanoseconds);
  state_.now_ns = nanoseconds;
  advancing_ = false;
}

void Display::start_cursors() {
  for (unsigned pipe = 0; pipe < pipes(); ++pipe) {
    cursors_[pipe] = {};
    if (state_.pipes[pipe].running) {
      cursors_[pipe].done.fill(position(state_.pipes[pipe]));
    }
  }
}

// Reports or skips the earliest edges of one kind. False: no edge is left.
bool Display::step(uint64_t until) {
  std::optional<uint64_t> earliest;
  unsigned pipe = 0;
  unsigned kind = 0;
  for (unsigned p = 0; p < pipes(); ++p) {
    for (unsigned k = 0; k < kEdges; ++k) {
      const std::optional<EdgeStream> edges = stream(p, static_cast<Edge>(k));
      if (!edges.has_value()) {
        continue;
      }
      Pixels& done = cursors_[p].done[k];
      std::optional<uint64_t> time = time_of(state_.pipes[p], edges->after(done));
      if (time.has_value() && *time < state_.now_ns) {  // nothing watched this kind of edge until now
        done = position(state_.pipes[p]);
        time = time_of(state_.pipes[p], edges->after(done));
      }
      if (time.has_value() && *time <= until && (!earliest.has_value() || *time < *earliest)) {
        earliest = time;
        pipe = p;
        kind = k;
      }
    }
  }
  if (!earliest.has_value()) {
    return false;
  }
  const PipeState& state = state_.pipes[pipe];
  const EdgeStream edges = *stream(pipe, static_cast<Edge>(kind));
  Pixels& done = cursors_[pipe].done[kind];
  unsigned& told = cursors_[pipe].told[kind];
  const Pixels left = edges.count(state.raster.pixels(until - state.start_ns)) - edges.count(done);
  const bool waited = static_cast<Edge>(kind) == Edge::vblank && told < kWaitedEdges && something_waits(pipe);
  if (told > 0 && !waited && left > kLatestEdges) {
    const Pixels skipped = left - kLatestEdges;
    done = edges.after(done) + (skipped - 1) * edges.period;
    state_.skipped_edges += static_cast<uint64_t>(skipped);
    return true;
  }
  ++told;
  done = edges.after(done);
  run_compressor(*earliest);
  state_.now_ns = *earliest;
  tell(pipe, static_cast<Edge>(kind));
  return true;
}

void Display::tell(unsigned pipe, Edge edge) {
  switch (edge) {
    case Edge::vblank:
      vblank(pipe);
      break;
    case Edge::vsync:
      latch(pipe, bits_.vsync);
      listener_.on_vsync(pipe);
      break;
    case Edge::window:
    case Edge::window_end:
      update_window(pipe);
      break;
    case Edge::hblank:
      latch(pipe, bits_.hblank);
      listener_.on_hblank(pipe);
      break;
  }
}

void Display::vblank(unsigned pipe) {
  for (unsigned plane = 0; plane < state_.planes.size(); ++plane) {
    const std::vector<PendingFlip>& waiting = state_.planes[plane].waiting;
    if (!waiting.empty() && waiting.front().pipe == pipe) {
      perform(plane);
    }
  }
  if (rules_.offsets_at_each_vblank) {
    take_offsets(pipe);
  }
  take_cursors(pipe);
  take_source(pipe);
  if (state_.overlay.waiting.has_value() && state_.overlay.waiting->pipe == pipe) {
    perform_overlay();
  }
  uint32_t bits = bits_.vblank;
  if (state_.pipes[pipe].raster.timing.interlaced) {
    bits |= (vblank_count(pipe) & 1) != 0 ? bits_.odd_field : bits_.even_field;
  }
  latch(pipe, bits);
  if (compressor_ != nullptr) {
    compressor_->on_vblank(pipe);
  }
  listener_.on_vblank(pipe);
}

// Queries by other units.

void Display::watch(unsigned pipe, PipeEdge edge, bool on) {
  if (pipe >= pipes()) {
    return;
  }
  const auto mask = static_cast<uint8_t>(1u << static_cast<unsigned>(edge));
  uint8_t& watched = state_.pipes[pipe].watched;
  watched = static_cast<uint8_t>(on ? watched | mask : watched & ~mask);
  // An edge at exactly this time is past.
  cursors_[pipe].done[static_cast<unsigned>(Edge::hblank)] =
      pipe_running(pipe) ? position(state_.pipes[pipe]) : Pixels{0};
}

unsigned Display::line(unsigned pipe) const {
  return pipe_running(pipe) ? state_.pipes[pipe].raster.line(position(state_.pipes[pipe])) : 0;
}

bool Display::in_vblank(unsigned pipe) const {
  return pipe_running(pipe) && state_.pipes[pipe].raster.in_vblank(position(state_.pipes[pipe]));
}

bool Display::in_hblank(unsigned pipe) const {
  return pipe_running(pipe) && state_.pipes[pipe].raster.in_hblank(position(state_.pipes[pipe]));
}

uint64_t Display::vblank_count(unsigned pipe) const {
  if (pipe >= pipes()) {
    return 0;
  }
  const PipeState& state = state_.pipes[pipe];
  return state.vblanks +
         (state.running ? static_cast<uint64_t>(state.raster.vblanks().count(position(state))) : uint64_t{0});
}

uint64_t Display::frame_number(const PipeState& pipe) const {
  return pipe.frames + (pipe.running ? static_cast<uint64_t>(pipe.raster.frames().count(position(pipe))) : uint64_t{0});
}

uint64_t Display::last_vblank_ns(const PipeState& pipe) const {
  if (!pipe.running) {
    return pipe.last_vblank_ns;
  }
  const EdgeStream edges = pipe.raster.vblanks();
  const Pixels count = edges.count(position(pipe));
  return count == 0 ? pipe.last_vblank_ns
                    : time_of(pipe, edges.first + (count - 1) * edges.period).value_or(pipe.last_vblank_ns);
}

std::optional<uint64_t> Display::next_vblank(unsigned pipe, uint64_t at) const {
  return next_of(pipe, Edge::vblank, at);
}

std::optional<uint64_t> Display::next_hblank(unsigned pipe, uint64_t at) const {
  if (!pipe_running(pipe)) {
    return std::nullopt;
  }
  const PipeState& state = state_.pipes[pipe];
  return time_of(state, state.raster.hblanks().after(position(state, at)));
}

bool Display::vblank_wait_enabled(unsigned pipe) const {
  if (pipe >= pipes()) {
    return false;
  }
  const mmio::RegisterSlot* status = registers_.slots().pipes[pipe].status;
  return status == nullptr || (registers_.peek(status) & bits_.vblank_enable) != 0;
}

}  // namespace halogen::display
