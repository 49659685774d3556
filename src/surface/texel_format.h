// Texel formats: one row per format, derived from the format's name, and conversion from bytes to four channels and
// back. Channels have 32 bits: a float for normalised, scaled and float formats, an integer for integer formats. Not
// described here: compressed blocks, packed video formats and palettes; their rows have `bits` zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hw/enums.h"

namespace halogen::surface {

enum class ChannelKind : uint8_t { none, unorm, snorm, uint, sint, floating, uscaled, sscaled, srgb, raw };

struct TexelChannel {
  uint8_t first_bit = 0;
  uint8_t bits = 0;  // 0: the format lacks the channel
  ChannelKind kind = ChannelKind::none;
};

struct TexelFormat {
  uint16_t bits = 0;                      // of a texel; 0: not described here
  std::array<TexelChannel, 4> channel{};  // red, green, blue, alpha
  bool integer = false;
  bool shared_exponent = false;  // R9G9B9E5

  uint32_t bytes() const { return bits / 8u; }
  bool known() const { return bits != 0; }
};

const TexelFormat& texel_format(hw::SurfaceFormat format);

using Texel = std::array<uint32_t, 4>;
inline constexpr uint32_t kFloatOne = 0x3f80'0000;  // 1.0 in a channel of a format that is not an integer format

// Missing channels read as zero, missing alpha as one.
Texel unpack_texel(const TexelFormat& format, const std::byte* bytes);
// Converts to the format's range as graphics APIs do: rounds to nearest and saturates; NaN becomes zero in a normalised
// channel. Padding bits are written as zero.
void pack_texel(const TexelFormat& format, const Texel& texel, std::byte* bytes);

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);  // rounds to nearest even

}  // namespace halogen::surface
