#include "blit/blit_commands.h"

#include <algorithm>
#include <concepts>

#include "base/bits.h"
#include "blit/chroma_key.h"
#include "blit/command_parts.h"
#include "blit/raster_op.h"
#include "hw/blt.h"
#include "hw/blt_source.h"
#include "spec/packed.h"

namespace halogen::blit {
namespace {

using spec::CommandId;

// Returns the lines of a monochrome pattern. The command's two dwords hold lines 0 to 3 and 4 to 7, one byte per line.
std::array<uint8_t, 8> mono_lines(uint32_t low, uint32_t high) {
  std::array<uint8_t, 8> lines{};
  for (unsigned line = 0; line < 8; ++line) {
    lines[line] = static_cast<uint8_t>((line < 4 ? low : high) >> (line % 4 * 8));
  }
  return lines;
}

uint8_t pixel_bytes(hw::BltColorDepth depth) {
  switch (depth) {
    case hw::BltColorDepth::COLOR_8BIT:
      return 1;
    case hw::BltColorDepth::COLOR_565:
    case hw::BltColorDepth::COLOR_1555:
      return 2;
    case hw::BltColorDepth::COLOR_32BIT:
      return 4;
  }
  return 1;
}

const surface::TilePattern* tile_of(bool tiled, bool tile_y) {
  return !tiled ? nullptr : tile_y ? &surface::kTileY : &surface::kTileX;
}

Rect clip_of(const SetupState& setup, spec::GenId gen) {
  const auto first = hw::BR24::unpack(gen, std::span(&setup.clip_first, 1));
  const auto end = hw::BR25::unpack(gen, std::span(&setup.clip_end, 1));
  return {first.clip_x1, first.clip_y1, end.clip_x2, end.clip_y2};
}

template <class Command>
constexpr bool kPatternIsImmediate =
    std::same_as<Command, hw::XY_PAT_BLT_IMMEDIATE> || std::same_as<Command, hw::XY_PAT_CHROMA_BLT_IMMEDIATE> ||
    std::same_as<Command, hw::XY_FULL_IMMEDIATE_PATTERN_BLT> ||
    std::same_as<Command, hw::XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT>;

// Applies the direction rule (G45 PRM vol. 1b 8.9, seed 003): only the bases and the coordinates count, not whether the
// rectangles overlap. Bases are compared as the registers hold them.
void choose_direction(BlitJob& job, GpuVa destination, GpuVa source, uint64_t mask) {
  if ((destination.value & mask) == (source.value & mask)) {
    job.x_backward = job.source_x < job.rect.x1;
    job.y_backward = job.source_y < job.rect.y1;
  }
}

template <class Command>
void add_source(const BlitCommand& in, const Command& fields, const Modes& modes, BlitJob& job) {
  if constexpr (requires { fields.source_base_address; }) {
    job.source = SourceKind::color;
    job.source_surface = surface_at(fields.source_base_address, fields.source_pitch,
                                    tile_of(fields.src_tiling_enable, modes.tile_y_source));
    job.tiled_base_is_odd |= is_odd_base(fields.source_base_address, job.source_surface);
    job.source_x = fields.source_x1;
    job.source_y = fields.source_y1;
    choose_direction(job, fields.destination_base_address, fields.source_base_address, address_mask(in.gen));
  }
  if constexpr (requires { fields.mono_source_start; }) {
    job.source = SourceKind::mono;
    job.mono.start = fields.mono_source_start;
    job.mono.transparent = fields.mono_source_transparency;
    job.mono.colors = {fields.source_background_color, fields.source_foreground_color};
    if constexpr (requires { fields.source_address; }) {
      job.mono.address = fields.source_address.value;
    } else {
      job.mono.is_immediate = true;
      job.mono.immediate = in.dwords.last(Command::count_immediate_data(in.gen, in.dwords));
    }
  }
}

template <class Command>
void add_pattern(const BlitCommand& in, const Command& fields, BlitJob& job) {
  Pattern& pattern = job.pattern;
  if constexpr (requires { fields.solid_pattern_color; }) {
    pattern.kind = PatternKind::solid;
    pattern.solid[0] = fields.solid_pattern_color;
  }
  if constexpr (requires { fields.pattern_horizontal_seed; }) {
    pattern.x_seed = fields.pattern_horizontal_seed;
    pattern.y_seed = fields.pattern_vertical_seed;
  }
  if constexpr (requires { fields.pattern_base_address; }) {
    pattern.kind = PatternKind::color;
    pattern.address = fields.pattern_base_address.value;
  }
  if constexpr (kPatternIsImmediate<Command>) {
    pattern.kind = PatternKind::color;
    pattern.is_immediate = true;
    pattern.immediate = in.dwords.last(Command::count_immediate_data(in.gen, in.dwords));
  }
  if constexpr (requires { fields.pattern_background_color; }) {
    pattern.kind = PatternKind::mono;
    pattern.transparent = fields.mono_pattern_transparency;
    pattern.colors = {fields.pattern_background_color, fields.pattern_foreground_color};
    if constexpr (requires { fields.pattern_data_0; }) {
      pattern.mono = mono_lines(fields.pattern_data_0, fields.pattern_data_1);
    } else {
      pattern.mono = fixed_pattern(fields.fixed_pattern).value_or(std::array<uint8_t, 8>{});
    }
  }
  if constexpr (requires { fields.solid_pattern_select; }) {
    pattern.solid_select = fields.solid_pattern_select;
  }
}

// XY commands that hold everything they need except the clip rectangle.
template <class Command>
BlitJob decode_xy(const BlitCommand& in, const Modes& modes, const BlitState& state) {
  const Command fields = Command::unpack(in.gen, in.dwords);
  BlitJob job;
  job.depth = fields.color_depth;
  job.pixel_B = pixel_bytes(fields.color_depth);
  job.rop = fields.raster_operation;
  job.byte_mask = fields.byte_mask_32bpp;
  job.destination = surface_at(fields.destination_base_address, fields.destination_pitch,
                               tile_of(fields.dest_tiling_enable, modes.tile_y_destination));
  job.tiled_base_is_odd = is_odd_base(fields.destination_base_address, job.destination);
  job.rect = {fields.destination_x1, fields.destination_y1, fields.destination_x2, fields.destination_y2};
  job.clipped = fields.clipping_enable;
  job.clip = clip_of(state.setup, in.gen);
  add_source(in, fields, modes, job);
  add_pattern(in, fields, job);
  if constexpr (requires { fields.transparency_range_mode; }) {
    job.key_mode = fields.transparency_range_mode;
    job.key_low = fields.transparency_color_low;
    job.key_high = fields.transparency_color_high;
  }
  return job;
}

// Linear commands: x is in bytes. If the direction is right to left, each address is that of the last byte of a line.
template <class Command>
BlitJob decode_linear(const BlitCommand& in) {
  const Command fields = Command::unpack(in.gen, in.dwords);
  BlitJob job;
  job.linear_command = true;
  job.depth = fields.color_depth;
  job.pixel_B = pixel_bytes(fields.color_depth);
  job.rop = fields.raster_operation;
  job.byte_mask = fields.byte_mask_32bpp;
  job.rect = {0, 0, fields.destination_width, fields.destination_height};
  job.destination = {fields.destination_address.value, fields.destination_pitch, nullptr};
  if constexpr (requires { fields.source_address; }) {
    job.source = SourceKind::color;
    job.source_surface = {fields.source_address.value, fields.source_pitch, nullptr};
    job.x_backward = fields.x_direction == hw::BltXDirection::RIGHT_TO_LEFT;
    if (job.x_backward && fields.destination_width != 0) {
      job.destination.base -= fields.destination_width - 1u;
      job.source_surface.base -= fields.destination_width - 1u;
    }
  } else {
    job.pattern.kind = PatternKind::solid;
    job.pattern.solid[0] = fields.solid_pattern_color;
  }
  return job;
}

template <class Command>
void load_setup(const BlitCommand& in, BlitState& state) {
  const Command fields = Command::unpack(in.gen, in.dwords);
  hw::BR01 control;
  if constexpr (requires { fields.solid_pattern_select; }) {
    control.solid_pattern_select = fields.solid_pattern_select;
    control.mono_pattern_transparency = fields.mono_pattern_transparency;
  } else {
    control.mono_source_transparency = fields.mono_source_transparency;
  }
  control.clipping_enable = fields.clipping_enable;
  control.byte_mask_32bpp = fields.byte_mask_32bpp;
  control.color_depth = fields.color_depth;
  control.raster_operation = fields.raster_operation;
  control.destination_pitch = fields.destination_pitch;
  SetupState& setup = state.setup;
  setup.control = spec::packed32(control, in.gen);
  setup.background = fields.background_color;
  setup.foreground = fields.foreground_color;
  setup.destination = fields.destination_base_address.value & address_mask(in.gen);
  setup.tiled = fields.dest_tiling_enable;
  if constexpr (requires { fields.pattern_base_address; }) {
    setup.pattern = fields.pattern_base_address.value;
    setup.mono_pattern = false;
  } else {
    setup.pattern_low = fields.pattern_data_0;
    setup.pattern_high = fields.pattern_data_1;
    setup.mono_pattern = true;
  }
}

template <class Command>
void load_clip(const BlitCommand& in, BlitState& state) {
  const Command fields = Command::unpack(in.gen, in.dwords);
  state.setup.clip_first = spec::packed32(hw::BR24{.clip_y1 = fields.clip_y1, .clip_x1 = fields.clip_x1}, in.gen);
  state.setup.clip_end = spec::packed32(hw::BR25{.clip_y2 = fields.clip_y2, .clip_x2 = fields.clip_x2}, in.gen);
}

// PIXEL, SCANLINES and TEXT: everything else comes from the setup. Their own tiling bit is used (G45-8.9-10).
template <class Command>
BlitJob decode_setup_user(const BlitCommand& in, const Modes& modes, const BlitState& state) {
  const Command fields = Command::unpack(in.gen, in.dwords);
  const SetupState& setup = state.setup;
  const auto control = hw::BR01::unpack(in.gen, std::span(&setup.control, 1));
  BlitJob job;
  job.depth = control.color_depth;
  job.pixel_B = pixel_bytes(control.color_depth);
  job.rop = control.raster_operation;
  job.byte_mask = control.byte_mask_32bpp;
  job.destination = surface_at(GpuVa{setup.destination}, control.destination_pitch,
                               tile_of(fields.dest_tiling_enable, modes.tile_y_destination));
  job.tiled_base_is_odd = is_odd_base(GpuVa{setup.destination}, job.destination);
  job.clipped = control.clipping_enable;
  job.clip = clip_of(setup, in.gen);
  job.rect = {fields.destination_x1, fields.destination_y1, fields.destination_x1 + 1, fields.destination_y1 + 1};
  if constexpr (requires { fields.destination_x2; }) {
    job.rect.x2 = fields.destination_x2;
    job.rect.y2 = fields.destination_y2;
  } else {
    job.pattern.kind = PatternKind::solid;
    job.pattern.solid[0] = setup.background;
  }
  if constexpr (requires { fields.pattern_horizontal_seed; }) {
    Pattern& pattern = job.pattern;
    pattern.kind = setup.mono_pattern ? PatternKind::mono : PatternKind::color;
    pattern.x_seed = fields.pattern_horizontal_seed;
    pattern.y_seed = fields.pattern_vertical_seed;
    pattern.address = setup.pattern;
    pattern.mono = mono_lines(setup.pattern_low, setup.pattern_high);
    pattern.colors = {setup.background, setup.foreground};
    pattern.transparent = control.mono_pattern_transparency;
    pattern.solid_select = control.solid_pattern_select;
  }
  if constexpr (requires { fields.packing; }) {
    job.source = SourceKind::mono;
    job.mono.packing = fields.packing == hw::BltTextPacking::BYTE ? Packing::byte : Packing::bit;
    job.mono.transparent = control.mono_source_transparency;
    job.mono.colors = {setup.background, setup.foreground};
    if constexpr (requires { fields.source_address; }) {
      job.mono.address = fields.source_address.value;
    } else {
      job.mono.is_immediate = true;
      job.mono.immediate = in.dwords.last(Command::count_immediate_data(in.gen, in.dwords));
    }
  }
  return job;
}

std::optional<BlitJob> decode_classic(const BlitCommand& in, const Modes& modes, BlitState& state) {
  switch (in.desc.id) {
    case CommandId::COLOR_BLT:
      return decode_linear<hw::COLOR_BLT>(in);
    case CommandId::SRC_COPY_BLT:
      return decode_linear<hw::SRC_COPY_BLT>(in);
    case CommandId::XY_SETUP_BLT:
      load_setup<hw::XY_SETUP_BLT>(in, state);
      load_clip<hw::XY_SETUP_BLT>(in, state);
      return std::nullopt;
    case CommandId::XY_SETUP_MONO_PATTERN_SL_BLT:
      load_setup<hw::XY_SETUP_MONO_PATTERN_SL_BLT>(in, state);
      load_clip<hw::XY_SETUP_MONO_PATTERN_SL_BLT>(in, state);
      return std::nullopt;
    case CommandId::XY_SETUP_CLIP_BLT:
      load_clip<hw::XY_SETUP_CLIP_BLT>(in, state);
      return std::nullopt;
    case CommandId::XY_PIXEL_BLT:
      return decode_setup_user<hw::XY_PIXEL_BLT>(in, modes, state);
    case CommandId::XY_SCANLINES_BLT:
      return decode_setup_user<hw::XY_SCANLINES_BLT>(in, modes, state);
    case CommandId::XY_TEXT_BLT:
      return decode_setup_user<hw::XY_TEXT_BLT>(in, modes, state);
    case CommandId::XY_TEXT_IMMEDIATE_BLT:
      return decode_setup_user<hw::XY_TEXT_IMMEDIATE_BLT>(in, modes, state);
    case CommandId::XY_COLOR_BLT:
      return decode_xy<hw::XY_COLOR_BLT>(in, modes, state);
    case CommandId::XY_PAT_BLT:
      return decode_xy<hw::XY_PAT_BLT>(in, modes, state);
    case CommandId::XY_PAT_CHROMA_BLT:
      return decode_xy<hw::XY_PAT_CHROMA_BLT>(in, modes, state);
    case CommandId::XY_PAT_BLT_IMMEDIATE:
      return decode_xy<hw::XY_PAT_BLT_IMMEDIATE>(in, modes, state);
    case CommandId::XY_PAT_CHROMA_BLT_IMMEDIATE:
      return decode_xy<hw::XY_PAT_CHROMA_BLT_IMMEDIATE>(in, modes, state);
    case CommandId::XY_MONO_PAT_BLT:
      return decode_xy<hw::XY_MONO_PAT_BLT>(in, modes, state);
    case CommandId::XY_MONO_PAT_FIXED_BLT:
      return decode_xy<hw::XY_MONO_PAT_FIXED_BLT>(in, modes, state);
    case CommandId::XY_SRC_COPY_BLT:
      return decode_xy<hw::XY_SRC_COPY_BLT>(in, modes, state);
    case CommandId::XY_SRC_COPY_CHROMA_BLT:
      return decode_xy<hw::XY_SRC_COPY_CHROMA_BLT>(in, modes, state);
    case CommandId::XY_MONO_SRC_COPY_BLT:
      return decode_xy<hw::XY_MONO_SRC_COPY_BLT>(in, modes, state);
    case CommandId::XY_MONO_SRC_COPY_IMMEDIATE_BLT:
      return decode_xy<hw::XY_MONO_SRC_COPY_IMMEDIATE_BLT>(in, modes, state);
    case CommandId::XY_FULL_BLT:
      return decode_xy<hw::XY_FULL_BLT>(in, modes, state);
    case CommandId::XY_FULL_IMMEDIATE_PATTERN_BLT:
      return decode_xy<hw::XY_FULL_IMMEDIATE_PATTERN_BLT>(in, modes, state);
    case CommandId::XY_FULL_MONO_SRC_BLT:
      return decode_xy<hw::XY_FULL_MONO_SRC_BLT>(in, modes, state);
    case CommandId::XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT:
      return decode_xy<hw::XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT>(in, modes, state);
    case CommandId::XY_FULL_MONO_PATTERN_BLT:
      return decode_xy<hw::XY_FULL_MONO_PATTERN_BLT>(in, modes, state);
    case CommandId::XY_FULL_MONO_PATTERN_MONO_SRC_BLT:
      return decode_xy<hw::XY_FULL_MONO_PATTERN_MONO_SRC_BLT>(in, modes, state);
    default:
      return decode_wide(in);
  }
}

}  // namespace

std::optional<std::array<uint8_t, 8>> fixed_pattern(hw::BltFixedPattern number) {
  using enum hw::BltFixedPattern;
  switch (number) {
    case HS_HORIZONTAL:
      return {{0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0x00}};
    case HS_VERTICAL:
      return {{0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08}};
    case HS_FDIAGONAL:
      return {{0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01}};
    case HS_BDIAGONAL:
      return {{0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80}};
    case HS_CROSS:
      return {{0x08, 0x08, 0x08, 0xff, 0x08, 0x08, 0x08, 0x08}};
    case HS_DIAGCROSS:
      return {{0x81, 0x42, 0x24, 0x18, 0x18, 0x24, 0x42, 0x81}};
    case SCREEN_DOOR:
      return {{0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa}};
    case SD_WIDE:
      return {{0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33}};
    case WALKING_BIT:
      return {{0x88, 0x44, 0x22, 0x11, 0x88, 0x44, 0x22, 0x11}};
    case WALKING_ZERO:
      return {{0x77, 0xbb, 0xdd, 0xee, 0x77, 0xbb, 0xdd, 0xee}};
  }
  return std::nullopt;
}

uint64_t address_mask(spec::GenId gen) {
  const spec::Layout* const layout = hw::BR09::kDesc.layout(gen);
  return layout == nullptr ? ~uint64_t{0} : low_mask(layout->fields[0].width);
}

std::optional<BlitJob> decode(const BlitCommand& command, const Modes& modes, BlitState& state) {
  std::optional<BlitJob> job = decode_classic(command, modes, state);
  if (job) {
    const uint64_t mask = address_mask(command.gen);
    job->address_mask = mask;
    job->destination.base &= mask;
    job->source_surface.base &= mask;
    job->mono.address &= mask;
    job->pattern.address &= mask;
  }
  return job;
}

}  // namespace halogen::blit
