// What a texel of a surface holds: one row a format, made from the format's own name, and the way from bytes to four
// channels and back. Channels are 32 bits: a float for normalised, scaled and float formats, an integer for integer
// formats. Left out: compressed blocks, packed video formats and palettes, whose rows say so (`bits` is zero).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hw/enums.h"

namespace halogen::surface {

enum class ChannelKind : uint8_t { none, unorm, snorm, uint, sint, floating, uscaled, sscaled, srgb, raw };

struct TexelChannel {
  uint8_t first_bit = 0;
  uint8_t bits = 0;  // zero: the format does not have it
  ChannelKind kind = ChannelKind::none;
};

struct TexelFormat {
  uint16_t bits = 0;                      // of a texel; zero: not described here
  std::array<TexelChannel, 4> channel{};  // red, green, blue, alpha
  bool integer = false;
  bool shared_exponent = false;  // R9G9B9E5

  uint32_t bytes() const { return bits / 8u; }
  bool known() const { return bits != 0; }
};

const TexelFormat& texel_format(hw::SurfaceFormat format);

using Texel = std::array<uint32_t, 4>;

// Channels that the format lacks read as zero, alpha as one.
Texel unpack_texel(const TexelFormat& format, const std::byte* bytes);
// Values are brought into range as conversions of graphics interfaces do: rounded to nearest, saturated, no number is
// zero in a normalised channel. Bits of no channel are written as zero.
void pack_texel(const TexelFormat& format, const Texel& texel, std::byte* bytes);

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);  // rounds to nearest even

}  // namespace halogen::surface
