// Frames: the latched state that makes up a frame, and the latching of cursors and sizes. Doubled lines of display
// planes are shown once, with an Event.
#include <algorithm>

#include <fmt/format.h>

#include "display/display.h"
#include "hw/display_color.h"
#include "hw/display_pipe.h"
#include "hw/display_plane.h"
#include "hw/display_timing.h"
#include "spec/field_visitor.h"
#include "spec/packing.h"
#include "surface/surface_rules.h"

namespace halogen::display {

namespace {

using picture::Rgba;
using spec::unpack_register;

// The largest picture that any of these chips shows. The registers can hold larger sizes.
constexpr uint64_t kMaxPixels = uint64_t{7680} * 4320;

// Returns the tiling rule that a surface breaks. Linear surfaces have no rule that affects reads.
surface::SurfaceFault tiling_fault(spec::GenId gen, const PlaneLines& lines) {
  if (lines.tiling == 0) {
    return surface::SurfaceFault::none;
  }
  const surface::SurfaceLayout layout = lines.layout();
  if (layout.pattern == nullptr) {
    return surface::SurfaceFault::no_such_pattern;
  }
  return surface::check_client(gen, {.client = MemoryClient::display,
                                     .tiling = layout.pattern->tiling,
                                     .element_bits = lines.pixel_B * 8,
                                     .base = GpuVa(lines.base),
                                     .pitch_B = lines.stride_B});
}

}  // namespace

// Sizes.

void Display::take_source(unsigned pipe) {
  const auto size =
      unpack_register<hw::PIPESRC>(model_.gen, registers_.peek(registers_.slots().pipes[pipe].source_size));
  state_.pipes[pipe].source = {size.horizontal_size + 1u, size.vertical_size + 1u};
}

Extent Display::source_size(unsigned pipe) const {
  return pipe_running(pipe) ? state_.pipes[pipe].source : Extent{};
}

std::optional<PlaneLines> Display::plane_lines(unsigned plane) const {
  const PlaneModel* model = find_plane(plane);
  if (model == nullptr) {
    return std::nullopt;
  }
  const PlaneImage& image = state_.planes[index_of(*model)].active;
  return display::plane_lines(*model, model_.gen, image,
                              source_size(unpack_control(*model, model_.gen, image.control).pipe));
}

// Cursors.

const CursorImage* Display::active_cursor(unsigned index) const {
  return index < state_.cursors.size() ? &state_.cursors[index].active : nullptr;
}

void Display::cursor_write(unsigned cursor, Role role, uint32_t value) {
  const CursorModel& model = cursor_models_[cursor];
  CursorState& state = state_.cursors[cursor];
  const mmio::RegisterBank& bank = mmio_.bank();
  if (role == Role::cursor_control) {
    state.control_written = true;
    state.armed.reset();
    return;
  }
  if (role == Role::cursor_position && state.control_written) {
    state.armed.reset();
    return;
  }
  CursorImage image{bank.peek(*model.control), bank.peek(*model.base), bank.peek(*model.position)};
  (role == Role::cursor_base ? image.base : image.position) = value;
  state.control_written = false;
  state.armed = image;
  const unsigned pipe = cursor_pipe(model, model_.gen, image.control);
  if (!pipe_running(pipe)) {
    take_cursors(pipe);
  }
}

void Display::take_cursors(unsigned pipe) {
  for (unsigned index = 0; index < cursor_models_.size(); ++index) {
    CursorState& state = state_.cursors[index];
    if (state.armed && cursor_pipe(cursor_models_[index], model_.gen, state.armed->control) == pipe) {
      state.active = *state.armed;
      state.armed.reset();
    }
  }
}

// Colours of the pipe.

bool Display::gamma_table_on(unsigned pipe) const {
  const mmio::RegisterSlot* slot = registers_.slots().pipes[pipe].gamma_mode;
  if (slot == nullptr) {
    const uint32_t value = registers_.peek(registers_.slots().pipes[pipe].transcoder.configuration);
    return unpack_register<hw::PIPECONF>(model_.gen, value).gamma_mode == 0;
  }
  const auto mode = unpack_register<hw::GAMMA_MODE>(model_.gen, mmio_.bank().peek(*slot));
  const bool has_enable = spec::find_field(hw::GAMMA_MODE::kDesc, model_.gen, "post_csc_gamma_enable") != nullptr;
  return mode.mode == hw::GAMMA_MODE::Mode::bits_8 && (!has_enable || mode.post_csc_gamma_enable);
}

// A pipe without a palette shows pixel indices as grey levels.
Palette Display::palette(unsigned pipe) const {
  Palette palette;
  const std::span<const mmio::RegisterSlot> slots = registers_.slots().pipes[pipe].palette;
  for (unsigned n = 0; n < palette.size(); ++n) {
    const auto grey = static_cast<uint8_t>(n);
    palette[n] = {grey, grey, grey, 255};
    if (n < slots.size()) {
      const uint32_t value = mmio_.bank().peek(slots[n]);
      palette[n] = {static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value),
                    255};
    }
  }
  return palette;
}

Rgba Display::color_below(unsigned pipe, bool& forced) const {
  const PipeSlots& slots = registers_.slots().pipes[pipe];
  const uint32_t configuration = registers_.peek(slots.transcoder.configuration);
  forced = unpack_register<hw::PIPECONF>(model_.gen, configuration).force_border;
  if (forced && slots.border.exists()) {
    const auto color = slots.border.get();
    return {color.red, color.green, color.blue, 255};
  }
  if (slots.bottom_color != nullptr) {
    const auto color = unpack_register<hw::PIPE_BOTTOM_COLOR>(model_.gen, mmio_.bank().peek(*slots.bottom_color));
    constexpr unsigned kShift = 2;  // ten bits per channel
    return {static_cast<uint8_t>(color.red >> kShift), static_cast<uint8_t>(color.green >> kShift),
            static_cast<uint8_t>(color.blue >> kShift), 255};
  }
  return {};
}

// Frames.

FrameParts Display::frame_parts(unsigned pipe) {
  FrameParts parts;
  bool forced = false;
  parts.size = source_size(pipe);
  if (uint64_t{parts.size.width} * parts.size.height > kMaxPixels) {
    raise(EventKind::unsupported, "PIPESRC", registers_.slots().pipes[pipe].source_size->offset,
          uint64_t{parts.size.width} << 16 | parts.size.height, "picture of more than 7680 x 4320 pixels clipped");
    parts.size.height = static_cast<uint32_t>(kMaxPixels / parts.size.width);
  }
  parts.below = color_below(pipe, forced);
  if (forced) {
    return parts;
  }
  parts.palette = palette(pipe);
  parts.gamma_on = gamma_table_on(pipe);
  std::vector<const PlaneModel*> order;
  for (const PlaneModel& plane : planes_) {
    order.push_back(&plane);
  }
  std::ranges::stable_sort(order, {}, [](const PlaneModel* plane) { return std::pair(plane->place, plane->number); });
  for (const PlaneModel* plane : order) {
    const PlaneLines lines = *plane_lines(plane->number);
    if (!lines.enabled || lines.pipe != pipe) {
      continue;
    }
    const uint32_t control = state_.planes[index_of(*plane)].active.control;
    const auto say = [&](EventKind kind, std::string_view detail) {
      raise(kind, plane->slots.control->desc->name, plane->slots.control->offset, control, detail);
    };
    if (!lines.known_format) {
      say(EventKind::unsupported, "pixel format not implemented; the plane is not shown");
      continue;
    }
    if (lines.turned) {
      say(EventKind::approximation, "rotation by 90 or 270 degrees not implemented; the plane is shown upright");
    }
    if (const surface::SurfaceFault fault = tiling_fault(model_.gen, lines); fault != surface::SurfaceFault::none) {
      say(EventKind::undefined_behaviour, surface::name_of(fault));
    }
    if (plane->kind == PlaneKind::display && unpack_register<hw::DSPCNTR>(model_.gen, control).line_double) {
      say(EventKind::approximation, "line doubling not implemented; lines are shown once");
    }
    if (lines.pixels.keyed) {
      say(EventKind::approximation, "colour key not implemented");
    }
    parts.planes.push_back(lines);
  }
  for (unsigned index = 0; index < cursor_models_.size(); ++index) {
    const CursorModel& model = cursor_models_[index];
    const CursorShape shape = cursor_shape(model, model_.gen, state_.cursors[index].active, mmio_.bank());
    if (shape.pipe != pipe || shape.kind == CursorKind::off) {
      continue;
    }
    if (shape.kind == CursorKind::unknown) {
      raise(EventKind::unsupported, model.control->desc->name, model.control->offset,
            state_.cursors[index].active.control, "cursor mode not implemented; the cursor is not shown");
      continue;
    }
    parts.cursors.push_back(shape);
  }
  return parts;
}

std::optional<picture::Image> Display::take_frame(unsigned pipe, DisplayMemory& memory) {
  if (!pipe_running(pipe)) {
    return std::nullopt;
  }
  Frame frame = compose_frame(frame_parts(pipe), memory, provider_);
  if (frame.starved) {
    latch(pipe, bits_.underrun);
    listener_.on_underrun(pipe);
    if (compressor_ != nullptr) {
      compressor_->on_underrun(pipe);
    }
  }
  return std::move(frame.image);
}

}  // namespace halogen::display
