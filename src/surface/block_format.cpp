#include "surface/block_format.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "surface/block_codes.h"

namespace halogen::surface {
namespace {

using F = hw::SurfaceFormat;

constexpr BlockFormat kFormats[] = {
    {F::BC1_UNORM, 4, 4, 8, BlockCode::bc1},
    {F::BC1_UNORM_SRGB, 4, 4, 8, BlockCode::bc1, false, true},
    {F::DXT1_RGB, 4, 4, 8, BlockCode::bc1_opaque},
    {F::DXT1_RGB_SRGB, 4, 4, 8, BlockCode::bc1_opaque, false, true},
    {F::BC2_UNORM, 4, 4, 16, BlockCode::bc2},
    {F::BC2_UNORM_SRGB, 4, 4, 16, BlockCode::bc2, false, true},
    {F::BC3_UNORM, 4, 4, 16, BlockCode::bc3},
    {F::BC3_UNORM_SRGB, 4, 4, 16, BlockCode::bc3, false, true},
    {F::BC4_UNORM, 4, 4, 8, BlockCode::bc4},
    {F::BC4_SNORM, 4, 4, 8, BlockCode::bc4, true},
    {F::BC5_UNORM, 4, 4, 16, BlockCode::bc5},
    {F::BC5_SNORM, 4, 4, 16, BlockCode::bc5, true},
    {F::BC6H_SF16, 4, 4, 16, BlockCode::bc6h, true},
    {F::BC6H_UF16, 4, 4, 16, BlockCode::bc6h},
    {F::BC7_UNORM, 4, 4, 16, BlockCode::bc7},
    {F::BC7_UNORM_SRGB, 4, 4, 16, BlockCode::bc7, false, true},
    {F::ETC1_RGB8, 4, 4, 8, BlockCode::etc2},
    {F::ETC2_RGB8, 4, 4, 8, BlockCode::etc2},
    {F::ETC2_SRGB8, 4, 4, 8, BlockCode::etc2, false, true},
    {F::ETC2_RGB8_PTA, 4, 4, 8, BlockCode::etc2_punchthrough},
    {F::ETC2_SRGB8_PTA, 4, 4, 8, BlockCode::etc2_punchthrough, false, true},
    {F::ETC2_EAC_RGBA8, 4, 4, 16, BlockCode::etc2_alpha},
    {F::ETC2_EAC_SRGB8_A8, 4, 4, 16, BlockCode::etc2_alpha, false, true},
    {F::EAC_R11, 4, 4, 8, BlockCode::eac_r},
    {F::EAC_SIGNED_R11, 4, 4, 8, BlockCode::eac_r, true},
    {F::EAC_RG11, 4, 4, 16, BlockCode::eac_rg},
    {F::FXT1, 8, 4, 16, BlockCode::fxt1},
    {F::EAC_SIGNED_RG11, 4, 4, 16, BlockCode::eac_rg, true},
    {F::ASTC_LDR_2D_4X4_FLT16, 4, 4, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_4X4_U8SRGB, 4, 4, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_5X4_FLT16, 5, 4, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_5X4_U8SRGB, 5, 4, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_5X5_FLT16, 5, 5, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_5X5_U8SRGB, 5, 5, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_6X5_FLT16, 6, 5, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_6X5_U8SRGB, 6, 5, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_6X6_FLT16, 6, 6, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_6X6_U8SRGB, 6, 6, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_8X5_FLT16, 8, 5, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_8X5_U8SRGB, 8, 5, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_8X6_FLT16, 8, 6, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_8X6_U8SRGB, 8, 6, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_8X8_FLT16, 8, 8, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_8X8_U8SRGB, 8, 8, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_10X5_FLT16, 10, 5, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_10X5_U8SRGB, 10, 5, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_10X6_FLT16, 10, 6, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_10X6_U8SRGB, 10, 6, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_10X8_FLT16, 10, 8, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_10X8_U8SRGB, 10, 8, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_10X10_FLT16, 10, 10, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_10X10_U8SRGB, 10, 10, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_12X10_FLT16, 12, 10, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_12X10_U8SRGB, 12, 10, 16, BlockCode::astc, false, true},
    {F::ASTC_LDR_2D_12X12_FLT16, 12, 12, 16, BlockCode::astc},
    {F::ASTC_LDR_2D_12X12_U8SRGB, 12, 12, 16, BlockCode::astc, false, true},
};

constexpr size_t kMaxFormats = 1024;

constexpr std::array<uint8_t, kMaxFormats> index_of_formats() {
  std::array<uint8_t, kMaxFormats> index{};
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    index[static_cast<size_t>(kFormats[i].format)] = static_cast<uint8_t>(i + 1);
  }
  return index;
}
constexpr std::array<uint8_t, kMaxFormats> kIndex = index_of_formats();

uint64_t load(const std::byte* bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

uint32_t as_bits(double value) {
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

uint32_t color(const BlockFormat& format, double value) {
  if (!format.srgb) {
    return as_bits(value);
  }
  return as_bits(value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
}

Texel texel_of(const BlockFormat& format, const BlockColor& made) {
  return {color(format, made.red), color(format, made.green), color(format, made.blue), as_bits(made.alpha)};
}

}  // namespace

const BlockFormat* block_format(hw::SurfaceFormat format) {
  const auto number = static_cast<size_t>(format);
  if (number >= kMaxFormats || kIndex[number] == 0) {
    return nullptr;
  }
  return &kFormats[kIndex[number] - 1u];
}

ChannelKind channel_kind(const BlockFormat& format, unsigned channel) {
  constexpr unsigned kAlpha = 3;
  unsigned channels = 4;
  switch (format.code) {
    case BlockCode::bc4:
    case BlockCode::eac_r:
      channels = 1;
      break;
    case BlockCode::bc5:
    case BlockCode::eac_rg:
      channels = 2;
      break;
    case BlockCode::bc1_opaque:
    case BlockCode::etc2:
    case BlockCode::bc6h:
      channels = 3;
      break;
    case BlockCode::bc1:
    case BlockCode::bc2:
    case BlockCode::bc3:
    case BlockCode::bc7:
    case BlockCode::etc2_punchthrough:
    case BlockCode::etc2_alpha:
    case BlockCode::astc:
    case BlockCode::fxt1:
      break;
  }
  if (channel >= channels) {
    return ChannelKind::none;
  }
  if (format.code == BlockCode::bc6h || (format.code == BlockCode::astc && !format.srgb)) {
    return ChannelKind::floating;
  }
  if (format.srgb && channel != kAlpha) {
    return ChannelKind::srgb;
  }
  return format.is_signed ? ChannelKind::snorm : ChannelKind::unorm;
}

Texel unpack_block_texel(const BlockFormat& format, const std::byte* bytes, unsigned x, unsigned y) {
  const uint64_t low = load(bytes);
  const uint64_t high = format.bytes == 16 ? load(bytes + 8) : 0;
  BlockColor made;
  switch (format.code) {
    case BlockCode::bc1:
      made = bc1_color(low, x, y, Bc1Alpha::punchthrough);
      break;
    case BlockCode::bc1_opaque:
      made = bc1_color(low, x, y, Bc1Alpha::opaque);
      break;
    case BlockCode::bc2:
      made = bc1_color(high, x, y, Bc1Alpha::four_colors);
      made.alpha = static_cast<double>(low >> (4 * (4 * y + x)) & 15) / 15.0;
      break;
    case BlockCode::bc3:
      made = bc1_color(high, x, y, Bc1Alpha::four_colors);
      made.alpha = bc4_value(low, x, y, false);
      break;
    case BlockCode::bc4:
      made.red = bc4_value(low, x, y, format.is_signed);
      break;
    case BlockCode::bc5:
      made.red = bc4_value(low, x, y, format.is_signed);
      made.green = bc4_value(high, x, y, format.is_signed);
      break;
    case BlockCode::bc6h:
      made = bc6h_color(low, high, x, y, format.is_signed);
      break;
    case BlockCode::bc7:
      made = bc7_color(low, high, x, y);
      break;
    case BlockCode::etc2:
      made = etc2_color(low, x, y, false);
      break;
    case BlockCode::etc2_punchthrough:
      made = etc2_color(low, x, y, true);
      break;
    case BlockCode::etc2_alpha:
      made = etc2_color(high, x, y, false);
      made.alpha = eac_byte(low, x, y);
      break;
    case BlockCode::eac_r:
      made.red = eac_eleven(low, x, y, format.is_signed);
      break;
    case BlockCode::eac_rg:
      made.red = eac_eleven(low, x, y, format.is_signed);
      made.green = eac_eleven(high, x, y, format.is_signed);
      break;
    case BlockCode::astc:
      made = astc_color(low, high, x, y, {format.width, format.height, format.srgb});
      break;
    case BlockCode::fxt1:
      made = fxt1_color(low, high, x, y);
      break;
  }
  return texel_of(format, made);
}

}  // namespace halogen::surface
