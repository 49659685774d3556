// Block-compressed formats: block sizes, and one texel of a block as four float channels. BC1 to BC7, ETC1, ETC2, EAC,
// FXT1 and ASTC of low dynamic range. Not supported: ASTC of high dynamic range, which has no row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hw/enums.h"
#include "surface/texel_format.h"

namespace halogen::surface {

enum class BlockCode : uint8_t {
  bc1,
  bc1_opaque,  // no transparent black
  bc2,
  bc3,
  bc4,
  bc5,
  bc6h,
  bc7,
  etc2,               // includes ETC1, which has no overflowing differences
  etc2_punchthrough,  // one bit of alpha
  etc2_alpha,
  eac_r,
  eac_rg,
  astc,
  fxt1
};

struct BlockFormat {
  hw::SurfaceFormat format;
  uint8_t width;  // texels
  uint8_t height;
  uint8_t bytes;
  BlockCode code;
  bool is_signed = false;
  bool srgb = false;
};

// Null: not a block format, or not supported.
const BlockFormat* block_format(hw::SurfaceFormat format);

// Returns the range of a channel (red, green, blue, alpha). ChannelKind::none: the format has no such channel.
ChannelKind channel_kind(const BlockFormat& format, unsigned channel);

// Returns texel x, y of the block at `bytes`, which must be complete.
Texel unpack_block_texel(const BlockFormat& format, const std::byte* bytes, unsigned x, unsigned y);

}  // namespace halogen::surface
