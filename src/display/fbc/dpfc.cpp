#include "display/fbc/dpfc.h"

#include <algorithm>
#include <utility>

#include "spec/packing.h"

namespace halogen::display::dpfc {

using spec::unpack_register;

Dpfc::Dpfc(CompressionParts parts, State& state)
    : parts_(std::move(parts)),
      state_(state),
      base_(parts_.bank),
      control_(parts_.bank),
      recompression_(parts_.bank),
      fence_offset_(parts_.bank),
      debug_(parts_.bank) {
  for (const char* name :
       {"DPFC_CB_BASE", "DPFC_CONTROL", "DPFC_STATUS", "DPFC_CPU_FENCE_OFFSET", "DPFC_SLB_DATA", "DPFC_EXTRA"}) {
    parts_.bank.attach(name, *this);
  }
}

hw::DPFC_CONTROL Dpfc::control() const {
  return control_.get();
}

unsigned Dpfc::plane() const {
  return control().plane_select == hw::DPFC_CONTROL::PlaneSelect::plane_b ? 1 : 0;
}

void Dpfc::raise(EventKind kind, const mmio::RegisterSlot* slot, std::string_view detail) {
  parts_.events.on_event(
      {kind, slot->desc->name, parts_.path, slot->offset, parts_.bank.peek(*slot), std::string(detail)});
}

bool Dpfc::in_stolen(uint64_t address, uint64_t bytes) const {
  const uint64_t size = memory_ == nullptr ? 0 : memory_->stolen_bytes();
  const uint64_t offset = size == 0 ? 0 : address - memory_->stolen_base().value;
  return offset < size && bytes <= size - offset;
}

// Registers.

uint32_t Dpfc::next_slb_data() {
  const auto data = [this](unsigned line) { return line < state_.lines.size() ? state_.lines[line] : uint16_t{0}; };
  hw::DPFC_SLB_DATA value;
  value.even_line_data = data(state_.slb_line);
  value.odd_line_data = data(state_.slb_line + 1);
  state_.slb_line = (state_.slb_line + 2) % kMaxLines;
  return spec::packed32(value, parts_.model.gen);
}

uint32_t Dpfc::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  switch (slot.desc->id) {
    case spec::RegisterId::DPFC_STATUS:
      return state_.status;
    case spec::RegisterId::DPFC_SLB_DATA:
      return next_slb_data();
    default:
      return stored;
  }
}

uint32_t Dpfc::keep_while_enabled(const mmio::RegisterWrite& write, uint32_t free_bits) {
  hw::DPFC_CONTROL enable;
  enable.enable = true;
  const uint32_t before = write.slot.desc->id == spec::RegisterId::DPFC_CONTROL ? write.old_value : control_.raw32();
  if ((before & spec::packed32(enable, parts_.model.gen)) == 0) {
    return write.next;
  }
  if (((write.next ^ write.old_value) & ~free_bits) != 0) {
    raise(EventKind::undefined_behaviour, &write.slot,
          "write ignored; the field cannot change while compression is enabled");
  }
  return (write.next & free_bits) | (write.old_value & ~free_bits);
}

// Clears fields that the first stepping does not have.
uint32_t Dpfc::without_later_fields(const mmio::RegisterWrite& write, uint32_t next, uint32_t fields) {
  if (!parts_.model.has(spec::Quirk::dpfc_first_stepping)) {
    return next;
  }
  if ((write.value & write.addressed & fields) != 0) {
    raise(EventKind::undefined_behaviour, &write.slot, "bit ignored; it is reserved on this stepping");
  }
  return next & ~fields;
}

void Dpfc::check_watermark(const mmio::RegisterWrite& write) {
  using Watermark = hw::DPFC_CONTROL::WriteBackWatermark;
  const Watermark wanted =
      unpack_register<hw::DPFC_CONTROL>(parts_.model.gen, write.value & write.addressed).write_back_watermark;
  if (wanted != Watermark::lines_4 && wanted != Watermark::lines_8) {
    raise(EventKind::undefined_behaviour, &write.slot, "code of the write-back watermark is reserved");
  }
}

uint32_t Dpfc::on_write(const mmio::RegisterWrite& write) {
  switch (write.slot.desc->id) {
    case spec::RegisterId::DPFC_CB_BASE:
    case spec::RegisterId::DPFC_CPU_FENCE_OFFSET:
      return keep_while_enabled(write, 0);
    case spec::RegisterId::DPFC_CONTROL: {
      hw::DPFC_CONTROL free;
      free.enable = true;
      free.cpu_fence_enable = true;
      free.cpu_fence_number = 15;
      hw::DPFC_CONTROL later;
      later.mmio_sync_flip_nuke_disable = true;
      const uint32_t kept =
          without_later_fields(write, keep_while_enabled(write, spec::packed32(free, parts_.model.gen)),
                               spec::packed32(later, parts_.model.gen));
      check_watermark(write);
      // A pipe that does not run has no vertical blank to wait for.
      if (!unpack_register<hw::DPFC_CONTROL>(parts_.model.gen, kept).enable && state_.on &&
          !parts_.host.source(plane()).on) {
        turn_off();
      }
      return kept;
    }
    case spec::RegisterId::DPFC_SLB_DATA:
      state_.slb_line = 0;
      return 0;
    case spec::RegisterId::DPFC_EXTRA: {
      hw::DPFC_EXTRA later;
      later.ht_modify_tracking = true;
      const uint32_t mask = spec::packed32(later, parts_.model.gen);
      const uint32_t next = without_later_fields(write, write.next, mask);
      state_.host_in_progress |= (write.value & write.addressed & next & mask) != 0;
      return next;
    }
    default:
      return write.next;
  }
}

void Dpfc::set_debug_status(const hw::DPFC_DEBUG_STATUS& bits) {
  debug_.set_raw(debug_.raw32() | spec::packed32(bits, parts_.model.gen));
}

void Dpfc::on_underrun(unsigned pipe) {
  if (state_.on && parts_.host.source(plane()).pipe == pipe) {
    hw::DPFC_DEBUG_STATUS empty;
    empty.pipe_underrun = true;
    set_debug_status(empty);
  }
}

void Dpfc::refresh() {
  if (!control().enable) {
    turn_off();
  }
}

// Modifications.

// Returns the screen lines that show these rows of the surface.
LineSet Dpfc::lines_of_rows(uint64_t first, uint64_t last) const {
  const ScreenLines span = parts_.host.source(plane()).lines_of_rows(first, last);
  LineSet lines;
  for (unsigned line = span.first; line < std::min(span.first + span.count, kMaxLines); ++line) {
    lines.set(line);
  }
  return lines;
}

void Dpfc::modify(const LineSet& lines) {
  state_.modified |= lines;
  state_.failed &= ~lines;
  for (size_t line = 0; line < state_.lines.size(); ++line) {
    if (lines[line]) {
      state_.lines[line] = 0;
    }
  }
}

void Dpfc::nuke() {
  std::ranges::fill(state_.lines, uint16_t{0});
  state_.failed.reset();
  const unsigned lines = std::min(parts_.host.source(plane()).lines, kMaxLines);
  for (unsigned line = 0; line < lines; ++line) {
    state_.modified.set(line);
  }
}

void Dpfc::on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) {
  const auto mode = control();
  if (!state_.on || !mode.cpu_fence_enable || mode.cpu_fence_number != fence) {
    return;
  }
  const uint64_t offset = fence_offset_.get().yfence_disp;
  if (last_line < offset) {
    return;
  }
  const LineSet lines = lines_of_rows(std::max(first_line, offset) - offset, last_line - offset);
  if (!mode.persistent_mode) {
    modify(lines);
  } else if (state_.host_in_progress) {
    state_.host_lines |= lines;
  }
}

void Dpfc::on_target_write(GpuVa base, uint32_t first_line, uint32_t count) {
  if (!state_.on || count == 0) {
    return;
  }
  const LineSet lines = lines_of_rows(first_line, uint64_t{first_line} + count - 1);
  const bool front = base.value == parts_.host.source(plane()).surface;
  if (!control().persistent_mode) {
    if (front) {
      modify(lines);
    }
    return;
  }
  if (front || lines.none()) {
    return;
  }
  const auto found = std::ranges::find(state_.targets, base.value, &BackTarget::base);
  if (found != state_.targets.end()) {
    found->lines |= lines;
  } else if (state_.targets.size() < kMaxTargets) {
    state_.targets.push_back({base.value, lines});
  } else {
    state_.targets_lost = true;
    hw::DPFC_DEBUG_STATUS overflow;
    overflow.rc_modify_cam_overflow = true;
    set_debug_status(overflow);
  }
}

// After a flip, lines written to the new surface are recompressed; the others are kept.
void Dpfc::take_back_buffer(uint64_t base) {
  const auto found = std::ranges::find(state_.targets, base, &BackTarget::base);
  if (found != state_.targets.end()) {
    modify(found->lines | state_.host_lines);
  } else if (state_.targets_lost) {
    nuke();
  } else {
    modify(state_.host_lines);
  }
}

void Dpfc::forget_back_buffers() {
  state_.targets.clear();
  state_.targets_lost = false;
  state_.host_lines.reset();
  state_.host_in_progress = false;
}

void Dpfc::on_flip(unsigned flipped, FlipKind kind) {
  if (flipped != plane()) {
    return;
  }
  if (state_.on && state_.sample) {
    const auto mode = control();
    // A flip at the vertical blank follows the last line.
    scan_to(kind == FlipKind::async ? parts_.host.scanned_lines(state_.sample->source.pipe, parts_.host.time_ns())
                                    : state_.sample->source.lines);
    const bool kept = mode.persistent_mode && ((kind == FlipKind::command_sync && mode.cs_sync_flip_nuke_disable) ||
                                               (kind == FlipKind::register_sync && mode.mmio_sync_flip_nuke_disable));
    if (!mode.persistent_mode && (mode.cs_sync_flip_nuke_disable || mode.mmio_sync_flip_nuke_disable)) {
      refuse(Refusal::nuke_disabled);
    }
    const CompressionSource source = parts_.host.source(flipped);
    CompressionSource moved = state_.sample->source;
    moved.surface = source.surface;
    if (kept && moved == source) {
      take_back_buffer(source.surface);
      state_.sample->source = source;
    } else {
      nuke();
    }
  }
  forget_back_buffers();
}

void Dpfc::on_pan(unsigned panned) {
  if (state_.on && panned == plane()) {
    nuke();
  }
}

}  // namespace halogen::display::dpfc
