#include "display/fbc/fbc.h"

#include <algorithm>
#include <utility>

#include "spec/packing.h"

namespace halogen::display::fbc {

using spec::unpack_register;

Fbc::Fbc(CompressionParts parts, State& state) : parts_(std::move(parts)), state_(state), registers_(parts_.bank) {
  for (const char* name : {"FBC_CFB_BASE", "FBC_LL_BASE", "FBC_CONTROL", "FBC_COMMAND", "FBC_STATUS", "FBC_CONTROL2",
                           "FBC_FENCE_OFF", "FBC_MOD_NUM", "FBC_TAG"}) {
    parts_.bank.attach(name, *this);
  }
}

hw::FBC_CONTROL Fbc::control() const {
  return registers_.control.get();
}

hw::FBC_CONTROL2 Fbc::control2() const {
  return registers_.control2.get();
}

unsigned Fbc::plane() const {
  return control2().display_plane_select == hw::FBC_CONTROL2::DisplayPlaneSelect::plane_b ? 1 : 0;
}

void Fbc::raise(EventKind kind, const mmio::RegisterSlot* slot, std::string_view detail) {
  parts_.events.on_event(
      {kind, slot->desc->name, parts_.path, slot->offset, parts_.bank.peek(*slot), std::string(detail)});
}

bool Fbc::in_stolen(uint64_t address, uint64_t bytes) const {
  const uint64_t size = memory_ == nullptr ? 0 : memory_->stolen_bytes();
  const uint64_t offset = size == 0 ? 0 : address - memory_->stolen_base().value;
  return offset < size && bytes <= size - offset;
}

// Registers.

uint32_t Fbc::status() const {
  hw::FBC_STATUS value;
  value.compressing = state_.compressing;
  value.compressed = state_.compressed;
  value.any_modified = state_.any_modified;
  value.current_line = state_.current_line;
  return spec::packed32(value, parts_.model.gen);
}

uint32_t Fbc::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  switch (slot.desc->id) {
    case spec::RegisterId::FBC_STATUS:
      return status();
    case spec::RegisterId::FBC_TAG:
      return state_.tags.words[slot.index];
    default:
      return stored;
  }
}

uint32_t Fbc::on_write(const mmio::RegisterWrite& write) {
  switch (write.slot.desc->id) {
    case spec::RegisterId::FBC_CONTROL:
      control_written(write.old_value);
      break;
    case spec::RegisterId::FBC_COMMAND:
      state_.requested |=
          unpack_register<hw::FBC_COMMAND>(parts_.model.gen, write.value & write.addressed).compression_request;
      break;
    case spec::RegisterId::FBC_STATUS: {
      // Combines writable bits with the value that the register shows.
      const uint32_t bits = write.addressed & write.slot.policy.rw;
      const auto value = unpack_register<hw::FBC_STATUS>(parts_.model.gen, (status() & ~bits) | (write.value & bits));
      state_.compressed = value.compressed;
      state_.any_modified = value.any_modified;
      break;
    }
    case spec::RegisterId::FBC_TAG: {
      uint32_t& word = state_.tags.words[write.slot.index];
      word = (word & ~write.addressed) | (write.value & write.addressed);
      break;
    }
    default:
      if (state_.on && write.next != write.old_value) {
        raise(EventKind::undefined_behaviour, &write.slot, "register written while compression is enabled");
      }
      break;
  }
  return write.next;
}

void Fbc::control_written(uint32_t old_value) {
  const auto before = unpack_register<hw::FBC_CONTROL>(parts_.model.gen, old_value);
  const auto now = control();
  auto same = before;
  same.enable = now.enable;
  if (state_.on && same != now) {
    raise(EventKind::undefined_behaviour, registers_.control.slot(), "register written while compression is enabled");
  }
  if (now.enable && !before.enable) {
    if (state_.compressing) {
      raise(EventKind::undefined_behaviour, registers_.control.slot(),
            "compression enabled before the last pass ended");
    }
    turn_on();
  } else if (!now.enable && state_.on && !state_.compressing) {
    turn_off();
  }
}

void Fbc::turn_on() {
  state_.on = true;
  state_.compressing = false;
  state_.compressed = false;
  state_.requested = false;
  state_.interval_left = control().interval;
  state_.told = Refusal::none;
  state_.mode.reset();
  state_.vblanks = parts_.host.vblanks(parts_.host.source(plane()).pipe);
  modify_all();
}

void Fbc::turn_off() {
  state_.on = false;
  state_.compressed = false;
  state_.requested = false;
}

// A partial register reset may have enabled or disabled the compressor.
void Fbc::refresh() {
  if (!enabled()) {
    state_.compressing = false;
    turn_off();
  } else if (!state_.on) {
    turn_on();
  }
}

// CPU sleep.

std::optional<uint64_t> Fbc::busy_until() const {
  using Mode = hw::FBC_CONTROL2::CxMode;
  const Mode mode = control2().cx_mode;
  const bool counts_as_idle = state_.processor_idle && (mode == Mode::immediate || mode == Mode::debug);
  return state_.compressing && !counts_as_idle ? std::optional(state_.pair_done_ns) : std::nullopt;
}

bool Fbc::blocked() const {
  return state_.processor_idle && control2().cx_mode == hw::FBC_CONTROL2::CxMode::immediate;
}

// A paused pass resumes with the remaining time of its pair.
void Fbc::set_processor_idle(bool idle) {
  if (idle == state_.processor_idle) {
    return;
  }
  const uint64_t now = parts_.host.time_ns();
  if (idle) {
    state_.processor_idle = true;
    state_.blocked_ns = state_.compressing && state_.pair_done_ns > now ? state_.pair_done_ns - now : 0;
  } else {
    if (state_.compressing && blocked()) {
      state_.pair_done_ns = now + state_.blocked_ns;
    }
    state_.processor_idle = false;
  }
}

// Modifications.

void Fbc::modify_all() {
  state_.tags.modify_all();
  state_.any_modified = true;
}

// `rows` are rows of the surface.
void Fbc::modify_rows(uint64_t first, uint64_t last) {
  const CompressionSource source = parts_.host.source(plane());
  const ScreenLines lines = source.lines_of_rows(first, last);
  if (lines.count == 0) {
    return;
  }
  const unsigned end = std::min(kTags - 1, tag_of(lines.first + lines.count - 1, source.odd_start()));
  for (unsigned tag = tag_of(lines.first, source.odd_start()); tag <= end; ++tag) {
    state_.tags.set(tag, Tag::modified);
  }
  state_.any_modified = true;
  if (state_.compressing && control().stop_on_modification) {
    abort_pass();
  }
}

void Fbc::on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) {
  const uint64_t offset = registers_.fence_offset.raw();
  if (state_.on && control2().cpu_fence_enable && control().fence_number == fence && last_line >= offset) {
    modify_rows(std::max(first_line, offset) - offset, last_line - offset);
  }
}

void Fbc::on_target_write(GpuVa base, uint32_t first_line, uint32_t lines) {
  if (state_.on && lines != 0 && base.value == parts_.host.source(plane()).surface) {
    modify_rows(first_line, uint64_t{first_line} + lines - 1);
  }
}

void Fbc::on_flip(unsigned flipped, FlipKind kind) {
  if (!state_.on || flipped != plane()) {
    return;
  }
  if (kind == FlipKind::async) {
    raise(EventKind::undefined_behaviour, registers_.control.slot(), "asynchronous flip while compression is enabled");
  }
  state_.compressed = false;
  modify_all();
}

void Fbc::on_pan(unsigned panned) {
  if (state_.on && panned == plane()) {
    state_.compressed = false;
    modify_all();
  }
}

}  // namespace halogen::display::fbc
