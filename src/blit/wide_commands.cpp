// The copies and fills of later chips: XY_FAST_COPY_BLT (Gen9), XY_BLOCK_COPY_BLT and XY_FAST_COLOR_BLT (Gen12). Pixels
// of up to 16 bytes, any tiling, no raster operation, no clip rectangle. Memory object control indices select cache
// control, which has no visible effect. Sources: igt-gpu-tools, compute-runtime (spec/commands/blt_gen9.toml).
#include "blit/blit_commands.h"
#include "blit/command_parts.h"
#include "blit/raster_op.h"
#include "hw/blt_gen9.h"

namespace halogen::blit {
namespace {

using spec::CommandId;

uint8_t pixel_bytes(hw::FastCopyColorDepth depth) {
  switch (depth) {
    case hw::FastCopyColorDepth::COLOR_8BIT:
      return 1;
    case hw::FastCopyColorDepth::COLOR_16BIT:
      return 2;
    case hw::FastCopyColorDepth::COLOR_32BIT:
      return 4;
    case hw::FastCopyColorDepth::COLOR_64BIT:
      return 8;
    case hw::FastCopyColorDepth::COLOR_128BIT:
      return 16;
  }
  return 0;
}

uint8_t pixel_bytes(hw::BlockCopyColorDepth depth) {
  switch (depth) {
    case hw::BlockCopyColorDepth::COLOR_8BIT:
      return 1;
    case hw::BlockCopyColorDepth::COLOR_16BIT:
      return 2;
    case hw::BlockCopyColorDepth::COLOR_32BIT:
      return 4;
    case hw::BlockCopyColorDepth::COLOR_64BIT:
      return 8;
    case hw::BlockCopyColorDepth::COLOR_96BIT:
      return 12;
    case hw::BlockCopyColorDepth::COLOR_128BIT:
      return 16;
  }
  return 0;
}

const surface::TilePattern* tile_of(hw::FastCopyTiling method, hw::FastCopyTileType type, unsigned pixel_B) {
  const auto pattern = [&](Tiling tiling) {
    return surface::find_pattern({.tiling = tiling, .element_bits = pixel_B * 8});
  };
  switch (method) {
    case hw::FastCopyTiling::LINEAR:
      return nullptr;
    case hw::FastCopyTiling::TILE_X:
      return &surface::kTileX;
    case hw::FastCopyTiling::Y_FAMILY:
      return type == hw::FastCopyTileType::TILE_YF ? pattern(Tiling::yf) : &surface::kTileY;
    case hw::FastCopyTiling::TILE_64KB:
      return pattern(Tiling::ys);
  }
  return nullptr;
}

BlitJob make_job(uint8_t pixel_B) {
  BlitJob job;
  job.is_wide_command = true;
  job.pixel_B = pixel_B;
  return job;
}

BlitJob fast_copy(const BlitCommand& in) {
  const auto fields = hw::XY_FAST_COPY_BLT::unpack(in.gen, in.dwords);
  BlitJob job = make_job(pixel_bytes(fields.color_depth));
  job.rop = kRopSource;
  job.rect = {fields.destination_x1, fields.destination_y1, fields.destination_x2, fields.destination_y2};
  job.destination = surface_at(fields.destination_base_address, fields.destination_pitch,
                               tile_of(fields.dest_tiling_method, fields.dest_tile_type, job.pixel_B));
  job.source = SourceKind::color;
  job.source_surface = surface_at(fields.source_base_address, fields.source_pitch,
                                  tile_of(fields.src_tiling_method, fields.src_tile_type, job.pixel_B));
  job.source_x = fields.source_x1;
  job.source_y = fields.source_y1;
  job.tiled_base_is_odd = is_odd_base(fields.destination_base_address, job.destination) ||
                          is_odd_base(fields.source_base_address, job.source_surface);
  return job;
}

bool is_reserved(hw::BlockCopyTiling tiling) {
  return tiling != hw::BlockCopyTiling::LINEAR && tiling != hw::BlockCopyTiling::TILE_Y;
}

// Reserved tile modes count as tile Y, and break a rule.
const surface::TilePattern* tile_of(hw::BlockCopyTiling tiling) {
  return tiling == hw::BlockCopyTiling::LINEAR ? nullptr : &surface::kTileY;
}

// Offsets position the rectangle within the surface.
Rect moved(Rect rect, uint32_t x, uint32_t y) {
  const auto dx = static_cast<int32_t>(x);
  const auto dy = static_cast<int32_t>(y);
  return {rect.x1 + dx, rect.y1 + dy, rect.x2 + dx, rect.y2 + dy};
}

// Returns a job with the destination that XY_BLOCK_COPY_BLT and XY_FAST_COLOR_BLT describe alike.
template <class Fields>
BlitJob make_block_job(const Fields& fields) {
  BlitJob job = make_job(pixel_bytes(fields.color_depth));
  job.rect = moved({fields.destination_x1, fields.destination_y1, fields.destination_x2, fields.destination_y2},
                   fields.destination_x_offset, fields.destination_y_offset);
  job.destination = surface_at(fields.destination_base_address, int64_t{fields.destination_pitch} + 1,
                               tile_of(fields.destination_tiling));
  job.reserved_tiling = is_reserved(fields.destination_tiling);
  job.tiled_base_is_odd = is_odd_base(fields.destination_base_address, job.destination);
  return job;
}

BlitJob block_copy(const BlitCommand& in) {
  const auto fields = hw::XY_BLOCK_COPY_BLT::unpack(in.gen, in.dwords);
  BlitJob job = make_block_job(fields);
  job.rop = kRopSource;
  job.source = SourceKind::color;
  job.source_surface =
      surface_at(fields.source_base_address, int64_t{fields.source_pitch} + 1, tile_of(fields.source_tiling));
  job.source_x = fields.source_x1 + static_cast<int32_t>(fields.source_x_offset);
  job.source_y = fields.source_y1 + static_cast<int32_t>(fields.source_y_offset);
  job.reserved_tiling |= is_reserved(fields.source_tiling);
  job.tiled_base_is_odd |= is_odd_base(fields.source_base_address, job.source_surface);
  return job;
}

BlitJob fast_color(const BlitCommand& in) {
  const auto fields = hw::XY_FAST_COLOR_BLT::unpack(in.gen, in.dwords);
  BlitJob job = make_block_job(fields);
  job.rop = kRopPattern;
  job.pattern.kind = PatternKind::solid;
  job.pattern.solid = {fields.fill_color_0, fields.fill_color_1, fields.fill_color_2, fields.fill_color_3};
  return job;
}

}  // namespace

std::optional<BlitJob> decode_wide(const BlitCommand& command) {
  switch (command.desc.id) {
    case CommandId::XY_FAST_COPY_BLT:
      return fast_copy(command);
    case CommandId::XY_BLOCK_COPY_BLT:
      return block_copy(command);
    case CommandId::XY_FAST_COLOR_BLT:
      return fast_color(command);
    default:
      return std::nullopt;
  }
}

}  // namespace halogen::blit
