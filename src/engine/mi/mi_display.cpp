// Commands that deal with the display: waits for its events, scan line windows, flips.
#include <algorithm>
#include <utility>

#include "base/bits.h"
#include "display/display.h"
#include "engine/engine.h"
#include "engine/mi/wait_conditions.h"
#include "engine/submit/submission.h"
#include "hw/mi_display.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::CommandId;

constexpr unsigned kConditionCodes = 5;

// Whether a condition holds. `until` is the time when it may change; empty: it changes with an event.
struct Holds {
  bool holds = false;
  std::optional<uint64_t> until{};
};

Holds condition_code(Engine& engine, unsigned select) {
  if (select > kConditionCodes) {
    engine.raise(EventKind::undefined_behaviour, "MI_WAIT_FOR_EVENT", 0, select, "condition code out of range");
    return {};
  }
  const uint32_t codes = engine.registers().get<hw::EXCC>().condition_codes;
  return {select != 0 && (codes >> (select - 1) & 1) != 0, std::nullopt};
}

Holds compression(const display::Display& display) {
  const std::optional<uint64_t> until =
      display.compressor() != nullptr ? display.compressor()->busy_until() : std::nullopt;
  return {until.has_value(), until};
}

// Returns the time of the next blank. Empty: the pipe has no blanks as it is programmed.
std::optional<uint64_t> moment(Engine& engine, const WaitCondition& condition) {
  const display::Display& display = engine.services().display();
  return condition.kind == WaitConditionKind::vertical_blank ? display.next_vblank(condition.number, engine.now())
                                                             : display.next_hblank(condition.number, engine.now());
}

bool is_moment(WaitConditionKind kind) {
  return kind == WaitConditionKind::vertical_blank || kind == WaitConditionKind::horizontal_blank;
}

Holds condition_holds(Engine& engine, const WaitCondition& condition, unsigned value) {
  const display::Display& display = engine.services().display();
  switch (condition.kind) {
    case WaitConditionKind::scan_line:
      return {display.in_window(condition.number, engine.now()),
              display.window_changes_at(condition.number, engine.now())};
    case WaitConditionKind::flip_pending:
      return {display.flip_pending(condition.number), display.next_event()};
    case WaitConditionKind::overlay_flip:
      return {display.overlay_flip_pending(), display.next_event()};
    case WaitConditionKind::condition_code:
      return condition_code(engine, value);
    case WaitConditionKind::compression:
      return compression(display);
    case WaitConditionKind::vertical_blank:
    case WaitConditionKind::horizontal_blank:
      return {};
  }
  return {};
}

// Returns the wait in the form of a context status report.
UnmetWait unmet_wait(const WaitCondition& condition) {
  UnmetWait wait{
      .kind = WaitKind::event, .reason = LeaveReason::sync_flip, .detail = static_cast<uint8_t>(condition.number)};
  switch (condition.kind) {
    case WaitConditionKind::vertical_blank:
    case WaitConditionKind::horizontal_blank:
      wait.reason = LeaveReason::vblank;
      break;
    case WaitConditionKind::scan_line:
      wait.reason = LeaveReason::scan_line;
      break;
    case WaitConditionKind::flip_pending:
    case WaitConditionKind::overlay_flip:
    case WaitConditionKind::compression:
    case WaitConditionKind::condition_code:
      break;
  }
  return wait;
}

Next wait_or_switch(Engine& engine, const Command& command, const WaitCondition& condition,
                    std::optional<uint64_t> until) {
  if (engine.submission().switches_on_wait(unmet_wait(condition))) {
    return Next::hold();
  }
  const Next next = engine.wait(WaitKind::event, command.dwords[0], until);
  if (next.action == Next::Action::advance) {  // cancelled by software
    engine.state().event.reset();
  }
  return next;
}

// Waits for the start of a blank. The time is fixed when the command is first parsed.
Next wait_for_moment(Engine& engine, const Command& command, const WaitCondition& condition) {
  std::optional<EventWait>& event = engine.state().event;
  if (event && event->command == command.place.address) {
    if (engine.now() >= event->at) {
      event.reset();
      return Next::advance();
    }
    return wait_or_switch(engine, command, condition, event->at);
  }
  if (condition.kind == WaitConditionKind::vertical_blank &&
      !engine.services().display().vblank_wait_enabled(condition.number)) {
    engine.raise(EventKind::undefined_behaviour, command.desc.manual_name, command.place.address.value,
                 command.dwords[0], "vertical blank of the pipe not enabled in its status register");
  }
  const std::optional<uint64_t> at = moment(engine, condition);
  if (at) {
    event = EventWait{command.place.address, *at};
  }
  return wait_or_switch(engine, command, condition, at);
}

Next wait_on(Engine& engine, const Command& command, const WaitCondition& condition, unsigned value) {
  if (is_moment(condition.kind)) {
    return wait_for_moment(engine, command, condition);
  }
  const Holds state = condition_holds(engine, condition, value);
  return state.holds ? wait_or_switch(engine, command, condition, state.until) : Next::advance();
}

Next wait_for_event(Engine& engine, const Command& command) {
  std::optional<WaitCondition> chosen;
  unsigned value = 0;
  unsigned count = 0;
  for (const spec::FieldDesc& field : command.desc.layout(engine.gen())->fields) {
    const auto bits = static_cast<unsigned>(get_bits(command.dwords, field.first_bit, field.width));
    const std::optional<WaitCondition> condition = wait_condition_of(field.name);
    if (bits != 0 && condition) {
      ++count;
      if (!chosen) {
        chosen = condition;
        value = bits;
      }
    }
  }
  if (count > 1) {
    engine.raise(EventKind::undefined_behaviour, command.desc.manual_name, command.place.address.value,
                 command.dwords[0], "several events selected; only the lowest bit is used");
  }
  return chosen ? wait_on(engine, command, *chosen, value) : Next::advance();
}

// Handles the newer form: one field holds the number of the plane or pipe, counted from 1.
Next wait_for_event_2(Engine& engine, const Command& command) {
  const auto wait = command.as<hw::MI_WAIT_FOR_EVENT_2>(engine.gen());
  if (const unsigned plane = wait.display_plane_flip_pending_wait_enable) {
    return wait_on(engine, command, {WaitConditionKind::flip_pending, plane <= 3 ? plane - 1 : plane}, plane);
  }
  if (const unsigned pipe = wait.display_pipe_vertical_blank_wait_enable) {
    return wait_on(engine, command, {WaitConditionKind::vertical_blank, pipe - 1}, pipe);
  }
  if (const unsigned pipe = wait.display_pipe_scan_line_wait_enable) {
    return wait_on(engine, command, {WaitConditionKind::scan_line, pipe - 1}, pipe);
  }
  return Next::advance();
}

bool is_scan_lines(const Engine& engine, uint32_t header) {
  const auto matches = [&](CommandId id) {
    return spec::desc(id).match_of_gen[static_cast<size_t>(engine.gen())].matches(header);
  };
  return matches(CommandId::MI_LOAD_SCAN_LINES_INCL) || matches(CommandId::MI_LOAD_SCAN_LINES_EXCL);
}

// Reports an odd number of consecutive commands in a ring: G45 PRM vol. 1b 1.9 (seed 003) requires pairs.
void count_scan_lines(Engine& engine, const Command& command) {
  if (engine.in_batch() || !engine.generation().has(spec::Feature::scan_lines_in_pairs)) {
    return;
  }
  const StreamLevel& level = engine.stream().level();
  GpuVa next = command.place.address + command.dwords.size_bytes();
  if (next >= level.wrap_at) {
    next = level.wrap_to + (next - level.wrap_at);
  }
  bool& odd = engine.state().lone_scan_lines;
  odd = !odd;
  const bool more =
      next != level.end &&
      is_scan_lines(engine,
                    engine.data_space(memory::TableKind::global, memory::Stream::ring).load_value<uint32_t>(next));
  if (!more && std::exchange(odd, false)) {
    engine.raise(EventKind::undefined_behaviour, command.desc.manual_name, command.place.address.value,
                 command.dwords[0], "odd number of consecutive commands in the ring");
  }
}

template <class Lines>
Next load_scan_lines(Engine& engine, const Command& command) {
  count_scan_lines(engine, command);
  const auto lines = command.as<Lines>(engine.gen());
  const auto select = static_cast<unsigned>(lines.display_pipe_select);
  const std::optional<unsigned> pipe = display::Display::pipe_of_select(select);
  if (!pipe) {
    engine.raise(EventKind::undefined_behaviour, command.desc.manual_name, command.place.address.value, select,
                 "display pipe select out of range");
    return Next::advance();
  }
  engine.services().display().load_scan_lines(*pipe, lines.start_scan_line_number, lines.end_scan_line_number,
                                              Lines::kId == CommandId::MI_LOAD_SCAN_LINES_INCL);
  return Next::advance();
}

const spec::FieldDesc* field_named(const Engine& engine, const Command& command, std::string_view name) {
  const std::span<const spec::FieldDesc> fields = command.desc.layout(engine.gen())->fields;
  const auto found = std::ranges::find(fields, name, &spec::FieldDesc::name);
  return found == fields.end() ? nullptr : &*found;
}

Next display_flip(Engine& engine, const Command& command) {
  const auto flip = command.as<hw::MI_DISPLAY_FLIP>(engine.gen());
  // The unit of the field is that of its lowest bit, so at its bit position the value counts bytes.
  const spec::FieldDesc* const pitch = field_named(engine, command, "display_buffer_pitch");
  const bool has_fitter = field_named(engine, command, "panel_fitter_enable") != nullptr;
  display::FlipRequest request;
  request.plane = static_cast<unsigned>(flip.display_plane_select);
  request.async = flip.asynchronous_flip || flip.flip_type == hw::MI_DISPLAY_FLIP::FlipType::async_flip;
  request.queued = flip.flip_queue_select == hw::MI_DISPLAY_FLIP::FlipQueueSelect::enqueue_flip;
  request.base = static_cast<uint32_t>(flip.display_buffer_base_address.value);
  request.pitch = uint32_t{flip.display_buffer_pitch} << pitch->first_bit % 32;
  request.tiled = static_cast<uint8_t>(flip.tile_parameter);
  if (has_fitter && command.dwords.size() > 3) {
    request.fitter = display::PanelFitter{
        .enabled = flip.panel_fitter_enable,
        .three_by_three = flip.panel_fitter_select == hw::MI_DISPLAY_FLIP::PanelFitterSelect::select_3x3,
        .horizontal_size = static_cast<uint16_t>(flip.pipe_horizontal_source_image_size),
        .vertical_size = static_cast<uint16_t>(flip.pipe_vertical_source_image_size)};
  }
  engine.services().display().flip(request);
  return Next::advance();
}

Next overlay_flip(Engine& engine, const Command& command) {
  const auto flip = command.as<hw::MI_OVERLAY_FLIP>(engine.gen());
  display::Display& display = engine.services().display();
  if (static_cast<display::OverlayMode>(flip.mode_flags) != display::OverlayMode::flip_continue) {
    engine.back_end().flush();  // of the render cache, which the overlay of desktop parts shares
  }
  display.overlay_flip({.mode = static_cast<display::OverlayMode>(flip.mode_flags),
                        .address = GgttOffset{flip.register_and_coefficient_update_address.value},
                        .coefficients = flip.overlay_filter_coefficient_register_update,
                        .pipe = display.overlay_pipe()});
  return Next::advance();
}

}  // namespace

void add_display_handlers(HandlerTable& table) {
  for (const CommandId id : {CommandId::MI_WAIT_FOR_EVENT, CommandId::MI_WAIT_FOR_EVENT_965G,
                             CommandId::MI_WAIT_FOR_EVENT_BLT, CommandId::MI_WAIT_FOR_EVENT_VCE}) {
    table.add(id, wait_for_event, {{spec::RegisterId::EXCC, "condition_code_wait_select"}});
  }
  table.add(CommandId::MI_WAIT_FOR_EVENT_2, wait_for_event_2);
  table.add(CommandId::MI_LOAD_SCAN_LINES_INCL, load_scan_lines<hw::MI_LOAD_SCAN_LINES_INCL>);
  table.add(CommandId::MI_LOAD_SCAN_LINES_EXCL, load_scan_lines<hw::MI_LOAD_SCAN_LINES_EXCL>);
  table.add(CommandId::MI_DISPLAY_FLIP, display_flip);
  table.add(CommandId::MI_OVERLAY_FLIP, overlay_flip);
}

}  // namespace halogen::engine
