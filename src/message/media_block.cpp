// Media blocks: a rectangle of bytes of an image, at the position in the header. Reads past an edge repeat the edge
// pixel, writes past it are dropped. Not modelled: fields of interlaced surfaces.
#include <algorithm>
#include <array>
#include <bit>

#include "message/call.h"

namespace halogen::message {

using eu::SendOutcome;

SendOutcome media_block(Call& call, Direction direction) {
  const Surface* const surface = call.context.surfaces.find(*call.context.generation, call.context.environment,
                                                            call.control.surface, call.message.extended);
  if (surface == nullptr) {
    return SendOutcome::fault;
  }
  if (surface->kind != Surface::Kind::image || !surface->format->known()) {
    call.response.clear();
    return surface->kind == Surface::Kind::none
               ? SendOutcome::done
               : call.unsupported("media block of a surface that is not an image not implemented");
  }
  if (call.control.vertical_stride_override) {
    return call.unsupported("single-field access to interlaced surfaces not implemented");
  }
  const auto header = call.header<hw::MEDIA_BLOCK_HEADER>();
  const uint32_t width = header.width + 1u;
  const uint32_t height = header.height + 1u;
  const uint32_t row_B = std::max(4u, std::bit_ceil(width));  // distance of rows in the registers
  const int64_t pixel_B = surface->format->bytes();
  // For these messages the width of the surface state is in dwords, whatever the format.
  const int64_t end_x = int64_t{surface->width} * static_cast<int64_t>(sizeof(uint32_t));
  const int64_t end_y = surface->height;
  memory::AddressSpace& space = *call.context.environment.space;
  const std::span<const std::byte> data = call.payload.from(1);
  for (uint32_t row = 0; row < height; ++row) {
    const int64_t at_y = int64_t{header.y} + row;
    const bool row_inside = at_y >= 0 && at_y < end_y;
    const auto shown_y = static_cast<uint32_t>(std::clamp<int64_t>(at_y, 0, end_y - 1));
    for (uint32_t column = 0; column < width; ++column) {
      const int64_t at_x = int64_t{header.x} + column;
      const size_t at = size_t{row} * row_B + column;
      const bool inside = row_inside && at_x >= 0 && at_x < end_x;
      if (direction == Direction::write && (!inside || at >= data.size())) {
        continue;
      }
      const int64_t in_pixel = (at_x % pixel_B + pixel_B) % pixel_B;
      const int64_t shown_x = at_x < 0 ? in_pixel : at_x >= end_x ? end_x - pixel_B + in_pixel : at_x;
      const auto pixel = static_cast<uint32_t>(shown_x / pixel_B);
      const uint64_t address = texel_address(*surface, pixel, shown_y, 0, 0) + static_cast<uint64_t>(shown_x % pixel_B);
      call.touch(address, 1);
      if (direction == Direction::write) {
        if (!ok(space.write(wrapped_address(address), data.subspan(at, 1)))) {
          return SendOutcome::fault;
        }
        continue;
      }
      std::array<std::byte, 1> byte{};
      if (!ok(space.read(wrapped_address(address), byte))) {
        return SendOutcome::fault;
      }
      call.response.put_bytes(at, byte);
    }
  }
  return SendOutcome::done;
}

}  // namespace halogen::message
