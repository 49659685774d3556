#include "blit/blit_registers.h"

#include <span>

#include "base/bits.h"
#include "blit/chroma_key.h"
#include "blit/command_parts.h"
#include "blit/raster_op.h"
#include "hw/blt.h"
#include "hw/header_bits.h"
#include "spec/packed.h"

namespace halogen::blit {
namespace {

uint32_t yx(int32_t y, int32_t x) {
  return static_cast<uint32_t>(y) << 16 | (static_cast<uint32_t>(x) & 0xffff);
}

uint32_t pack_lines(const std::array<uint8_t, 8>& lines, unsigned first) {
  uint32_t value = 0;
  for (unsigned line = 0; line < 4; ++line) {
    value |= uint32_t{lines[first + line]} << (8 * line);
  }
  return value;
}

// Returns the pitch as the registers hold it: that of a tiled surface is in dwords, as in commands.
int16_t pitch_field(const Surface& surface) {
  return static_cast<int16_t>(surface.tile == nullptr ? surface.pitch_B : surface.pitch_B / 4);
}

uint32_t control_register(const BlitCommand& command, const BlitJob* job, const BlitState& state) {
  hw::BR00 control;
  control.instruction_target = static_cast<uint8_t>(hw::BlitHeader::kOpcode.of(command.dwords[0]));
  control.setup_monochrome_pattern = state.setup.mono_pattern;
  if (job != nullptr) {
    control.clip_instruction = job->clipped;
    control.byte_mask_32bpp = job->byte_mask;
    control.mono_source_start = job->mono.start;
    control.packing = job->mono.packing == Packing::byte ? hw::BltTextPacking::BYTE : hw::BltTextPacking::BIT;
    control.src_tiling_enable = job->source_surface.tile != nullptr;
    control.pattern_horizontal_seed = job->pattern.x_seed;
    control.dest_tiling_enable = job->destination.tile != nullptr;
    control.transparency_range_mode = job->key_mode;
    control.pattern_vertical_seed = job->pattern.y_seed;
    control.destination_read_modify_write = rop_uses_destination(job->rop) || keys_destination(job->key_mode);
    control.color_source = job->source == SourceKind::color;
    control.monochrome_source = job->source == SourceKind::mono;
    control.color_pattern = job->pattern.kind == PatternKind::color;
    control.monochrome_pattern = job->pattern.kind == PatternKind::mono;
  } else {  // a setup: the fields of its dword 0, which lie where the register has them
    const hw::BR00 sent = hw::BR00::unpack(command.gen, command.dwords.first(1));
    control.byte_mask_32bpp = sent.byte_mask_32bpp;
    control.dest_tiling_enable = sent.dest_tiling_enable;
  }
  return spec::packed32(control, command.gen);
}

uint32_t operation_register(const BlitCommand& command, const BlitJob& job) {
  hw::BR13 control;
  control.solid_pattern_select = job.pattern.solid_select;
  control.clipping_enable = job.clipped;
  control.mono_source_transparency = job.mono.transparent;
  control.mono_pattern_transparency = job.pattern.transparent;
  control.byte_mask_32bpp = job.byte_mask;
  control.color_depth = job.depth;
  control.raster_operation = job.rop;
  control.destination_pitch = pitch_field(job.destination);
  return spec::packed32(control, command.gen);
}

void record_pattern(const BlitCommand& command, const Pattern& pattern, BlitState& state) {
  switch (pattern.kind) {
    case PatternKind::none:
      break;
    case PatternKind::solid:
      state.br[16] = pattern.solid[0];
      break;
    case PatternKind::color:
      state.br[15] = pattern.is_immediate ? state.br[15] : pattern.address & address_mask(command.gen);
      break;
    case PatternKind::mono:
      state.br[16] = pattern.colors.background;
      state.br[17] = pattern.colors.foreground;
      state.br[20] = pack_lines(pattern.mono, 0);
      state.br[21] = pack_lines(pattern.mono, 4);
      break;
  }
}

void record_source(const BlitCommand& command, const BlitJob& job, BlitState& state) {
  if (job.source == SourceKind::color) {
    state.br[11] = static_cast<uint16_t>(pitch_field(job.source_surface));
    state.br[12] = job.source_surface.base & address_mask(command.gen);
    state.br[26] = yx(job.source_y, job.source_x);
  } else if (job.source == SourceKind::mono) {
    state.br[18] = job.mono.colors.background;
    state.br[19] = job.mono.colors.foreground;
    if (!job.mono.is_immediate) {
      state.br[12] = job.mono.address & address_mask(command.gen);
    }
  }
  if (job.key_mode != hw::BltTransparencyMode::NONE) {
    state.br[18] = job.key_low;
    state.br[19] = job.key_high;
  }
}

}  // namespace

void set_busy(BlitState& state, bool busy) {
  constexpr uint64_t kBusy = uint64_t{1} << 31;
  state.br[0] = busy ? state.br[0] | kBusy : state.br[0] & ~kBusy;
}

void Recorder::record(const BlitCommand& command, const BlitJob* job, BlitState& state) {
  if (job == nullptr) {
    state.br[0] = control_register(command, nullptr, state);
    return;
  }
  const Key key{command.dwords[0], command.dwords[1], state.setup.control, state.setup.mono_pattern,
                job->destination.tile == &surface::kTileY};
  if (key != last_) {
    last_ = key;
    br00_ = control_register(command, job, state);
    br13_ = operation_register(command, *job);
  }
  state.br[0] = br00_;
  state.br[13] = br13_;
  state.br[9] = job->destination.base & job->address_mask;
  if (job->linear_command) {
    hw::BR14 size;
    size.destination_height = static_cast<uint16_t>(job->rect.y2 & static_cast<int32_t>(low_mask(13)));
    size.destination_byte_width = static_cast<uint16_t>(job->rect.x2 & static_cast<int32_t>(low_mask(13)));
    state.br[14] = spec::packed32(size, command.gen);
  } else {
    state.br[22] = yx(job->rect.y1, job->rect.x1);
    state.br[23] = yx(job->rect.y2, job->rect.x2);
  }
  record_pattern(command, job->pattern, state);
  record_source(command, *job, state);
}

}  // namespace halogen::blit
