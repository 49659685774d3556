#include "surface/texel_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/bits.h"
#include "hw/surface.h"
#include "spec/descriptors.h"

namespace halogen::surface {
namespace {

constexpr size_t kFormats = 1024;
constexpr unsigned kHalfMantissa = 10;
constexpr unsigned kSmallExponent = 5;  // of every float below 32 bits

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) {
    return false;
  }
  text.remove_prefix(word.size());
  return true;
}

ChannelKind take_kind(std::string_view& text) {
  struct Row {
    std::string_view word;
    ChannelKind kind;
  };
  constexpr Row kRows[] = {
      {"_UNORM_SRGB", ChannelKind::srgb}, {"_UNORM", ChannelKind::unorm},     {"_SNORM", ChannelKind::snorm},
      {"_UINT", ChannelKind::uint},       {"_SINT", ChannelKind::sint},       {"_FLOAT", ChannelKind::floating},
      {"_USCALED", ChannelKind::uscaled}, {"_SSCALED", ChannelKind::sscaled}, {"_TYPELESS", ChannelKind::none}};
  for (const Row& row : kRows) {
    if (take(text, row.word)) {
      return row.kind;
    }
  }
  return ChannelKind::none;
}

// A name lists channels from the lowest bit up; each group of channels is followed by its type:
// R10G10B10_SNORM_A2_UNORM. L means red, green and blue alike, I all four, X padding.
TexelFormat parse(std::string_view text) {
  TexelFormat format;
  unsigned at = 0;
  std::vector<unsigned> group;  // channels whose type is still to come
  while (!text.empty()) {
    const char letter = text.front();
    constexpr std::string_view kLetters = "RGBALIX";
    if (kLetters.find(letter) == std::string_view::npos || text.size() < 2 || text[1] < '0' || text[1] > '9') {
      return {};
    }
    text.remove_prefix(1);
    unsigned bits = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      bits = bits * 10 + static_cast<unsigned>(text.front() - '0');
      text.remove_prefix(1);
    }
    const auto put = [&](unsigned channel) {
      format.channel[channel] = {static_cast<uint8_t>(at), static_cast<uint8_t>(bits), ChannelKind::none};
      group.push_back(channel);
    };
    constexpr std::string_view kColors = "RGBA";
    if (const size_t color = kColors.find(letter); color != std::string_view::npos) {
      put(static_cast<unsigned>(color));
    } else if (letter != 'X') {
      for (unsigned channel = 0; channel < (letter == 'I' ? 4u : 3u); ++channel) {
        put(channel);
      }
    }
    at += bits;
    if (!text.empty() && text.front() == '_') {
      const std::string_view before = text;
      const ChannelKind kind = take_kind(text);
      if (text == before) {
        return {};
      }
      for (const unsigned channel : group) {
        const bool linear_alpha = kind == ChannelKind::srgb && channel == 3;
        format.channel[channel].kind = linear_alpha ? ChannelKind::unorm : kind;
        format.integer |= kind == ChannelKind::uint || kind == ChannelKind::sint;
      }
      group.clear();
      take(text, "_");
    }
  }
  for (TexelChannel& channel : format.channel) {
    if (channel.kind == ChannelKind::none) {
      channel = {};
    }
    if (channel.bits > 32) {
      return {};
    }
  }
  const bool whole = group.empty() && at % 8 == 0 && at <= 128;
  format.bits = whole ? static_cast<uint16_t>(at) : uint16_t{0};
  return format;
}

std::vector<TexelFormat> build() {
  std::vector<TexelFormat> table(kFormats);
  for (const spec::Layout& layout : hw::RENDER_SURFACE_STATE::kDesc.layouts) {
    for (const spec::FieldDesc& field : layout.fields) {
      if (field.name != "surface_format" || field.enumeration == nullptr) {
        continue;
      }
      for (const spec::EnumValue& value : field.enumeration->values) {
        if (value.value < kFormats) {
          table[value.value] = parse(value.name);
        }
      }
    }
  }
  TexelFormat shared{.bits = 32, .channel = {}, .integer = false, .shared_exponent = true};
  for (unsigned i = 0; i < 3; ++i) {
    shared.channel[i] = {static_cast<uint8_t>(9 * i), 9, ChannelKind::floating};
  }
  table[static_cast<size_t>(hw::SurfaceFormat::R9G9B9E5_SHAREDEXP)] = shared;
  TexelFormat raw{.bits = 32, .channel = {}, .integer = true};
  raw.channel[0] = {0, 32, ChannelKind::uint};
  table[static_cast<size_t>(hw::SurfaceFormat::RAW)] = raw;
  return table;
}

float small_to_float(uint32_t value, unsigned mantissa) {
  const uint32_t exponent = (value >> mantissa) & 31;
  const uint32_t fraction = value & static_cast<uint32_t>(low_mask(mantissa));
  if (exponent == 0) {
    return std::ldexp(static_cast<float>(fraction), -14 - static_cast<int>(mantissa));
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(wide << 23 | fraction << (23 - mantissa));
}

// Converts the magnitude of a value to a small float, rounded to nearest even. The caller adds the sign. `saturate`:
// overflow gives the largest finite value instead of infinity.
uint32_t float_to_small(float value, unsigned mantissa, bool saturate) {
  const uint32_t infinity = 31u << mantissa;
  if (std::isnan(value)) {
    return infinity | 1u << (mantissa - 1);
  }
  if (std::isinf(value)) {
    return infinity;
  }
  const int exponent = std::max(value == 0.0f ? -14 : std::ilogb(value), -14);
  const double scaled = std::ldexp(static_cast<double>(value), static_cast<int>(mantissa) - exponent);
  const auto steps = static_cast<uint32_t>(std::nearbyint(scaled));
  // A mantissa that rounds up to two carries into the exponent.
  const uint32_t base = static_cast<uint32_t>(exponent + 14) << mantissa;
  const uint32_t result = base + steps;
  return result < infinity ? result : saturate ? infinity - 1 : infinity;
}

float srgb_to_linear(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}
float linear_to_srgb(float value) {
  return value <= 0.0031308f ? value * 12.92f : 1.055f * std::pow(value, 1.0f / 2.4f) - 0.055f;
}

uint32_t as_bits(double value) {
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

uint32_t unpack_channel(const TexelChannel& channel, uint32_t raw) {
  const auto top = static_cast<double>(low_mask(channel.bits));
  const auto half = static_cast<double>(low_mask(channel.bits - 1u));
  const int64_t is = sign_extend(raw, channel.bits);
  switch (channel.kind) {
    case ChannelKind::unorm:
      return as_bits(raw / top);
    case ChannelKind::srgb:
      return std::bit_cast<uint32_t>(srgb_to_linear(static_cast<float>(raw / top)));
    case ChannelKind::snorm:
      return as_bits(std::max(-1.0, static_cast<double>(is) / half));
    case ChannelKind::uscaled:
      return as_bits(raw);
    case ChannelKind::sscaled:
      return as_bits(static_cast<double>(is));
    case ChannelKind::sint:
      return static_cast<uint32_t>(is);
    case ChannelKind::floating:
      if (channel.bits == 32) {
        return raw;
      }
      return std::bit_cast<uint32_t>(channel.bits == 16 ? half_to_float(static_cast<uint16_t>(raw))
                                                        : small_to_float(raw, channel.bits - kSmallExponent));
    case ChannelKind::uint:
    case ChannelKind::raw:
    case ChannelKind::none:
      break;
  }
  return raw;
}

uint32_t normalise(double value, double low, double scale) {
  const double in_range = std::isnan(value) ? 0.0 : std::clamp(value, low, 1.0);
  return static_cast<uint32_t>(static_cast<int64_t>(std::nearbyint(in_range * scale)));
}

uint32_t pack_channel(const TexelChannel& channel, uint32_t value) {
  const auto as_float = std::bit_cast<float>(value);
  const auto top = static_cast<double>(low_mask(channel.bits));
  const auto half = static_cast<double>(low_mask(channel.bits - 1u));
  switch (channel.kind) {
    case ChannelKind::unorm:
      return normalise(as_float, 0.0, top);
    case ChannelKind::srgb:
      return normalise(linear_to_srgb(as_float > 0.0f ? std::min(as_float, 1.0f) : 0.0f), 0.0, top);
    case ChannelKind::snorm:
      return normalise(as_float, -1.0, half);
    case ChannelKind::uscaled:
      return static_cast<uint32_t>(as_float > 0.0f ? std::min<double>(as_float, top) : 0.0);
    case ChannelKind::sscaled:
      return static_cast<uint32_t>(
          static_cast<int64_t>(std::isnan(as_float) ? 0.0 : std::clamp<double>(as_float, -half - 1, half)));
    case ChannelKind::uint:
      return static_cast<uint32_t>(std::min<uint64_t>(value, low_mask(channel.bits)));
    case ChannelKind::sint: {
      const auto most = static_cast<int64_t>(low_mask(channel.bits - 1u));
      return static_cast<uint32_t>(std::clamp<int64_t>(static_cast<int32_t>(value), -most - 1, most));
    }
    case ChannelKind::floating:
      if (channel.bits == 32) {
        return value;
      }
      if (channel.bits == 16) {
        return float_to_half(as_float);
      }
      return as_float < 0.0f ? 0 : float_to_small(as_float, channel.bits - kSmallExponent, false);
    case ChannelKind::raw:
    case ChannelKind::none:
      break;
  }
  return value;
}

constexpr unsigned kSharedBits = 9;
constexpr int kSharedBias = 15;

Texel unpack_shared(uint32_t raw) {
  const int exponent = static_cast<int>(raw >> 27) - kSharedBias - static_cast<int>(kSharedBits);
  Texel texel{0, 0, 0, kFloatOne};
  for (unsigned i = 0; i < 3; ++i) {
    texel[i] = as_bits(std::ldexp(static_cast<double>((raw >> (kSharedBits * i)) & 0x1ff), exponent));
  }
  return texel;
}

uint32_t pack_shared(const Texel& texel) {
  constexpr double kMax = 65408.0;  // 511/512 * 2^16
  std::array<double, 3> value{};
  double largest = 0;
  for (unsigned i = 0; i < 3; ++i) {
    const auto as_float = std::bit_cast<float>(texel[i]);
    value[i] = as_float > 0.0f ? std::min<double>(as_float, kMax) : 0.0;
    largest = std::max(largest, value[i]);
  }
  int exponent = std::max(-kSharedBias - 1, largest == 0 ? -kSharedBias - 1 : std::ilogb(largest)) + 1 + kSharedBias;
  const auto steps = [&](double v) {
    return static_cast<uint32_t>(
        std::floor(std::ldexp(v, static_cast<int>(kSharedBits) + kSharedBias - exponent) + 0.5));
  };
  if (steps(largest) == 1u << kSharedBits) {
    ++exponent;
  }
  return steps(value[0]) | steps(value[1]) << 9 | steps(value[2]) << 18 | static_cast<uint32_t>(exponent) << 27;
}

}  // namespace

float half_to_float(uint16_t half) {
  const float magnitude = small_to_float(half & 0x7fff, kHalfMantissa);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const uint32_t magnitude = float_to_small(std::fabs(value), kHalfMantissa, false);
  return static_cast<uint16_t>(magnitude | (std::signbit(value) ? 0x8000u : 0u));
}

const TexelFormat& texel_format(hw::SurfaceFormat format) {
  static const std::vector<TexelFormat> table = build();
  return table[static_cast<size_t>(format) % kFormats];
}

Texel unpack_texel(const TexelFormat& format, const std::byte* bytes) {
  std::array<uint32_t, 5> words{};  // one extra, because a channel may be read as 64 bits
  std::memcpy(words.data(), bytes, std::min<size_t>(format.bytes(), 16));
  if (format.shared_exponent) {
    return unpack_shared(words[0]);
  }
  Texel texel{0, 0, 0, format.integer ? 1u : kFloatOne};
  for (unsigned i = 0; i < 4; ++i) {
    const TexelChannel& channel = format.channel[i];
    if (channel.bits != 0) {
      texel[i] = unpack_channel(channel, static_cast<uint32_t>(get_bits(words, channel.first_bit, channel.bits)));
    }
  }
  return texel;
}

void pack_texel(const TexelFormat& format, const Texel& texel, std::byte* bytes) {
  std::array<uint32_t, 4> words{};
  if (format.shared_exponent) {
    words[0] = pack_shared(texel);
  } else {
    for (unsigned i = 0; i < 4; ++i) {
      const TexelChannel& channel = format.channel[i];
      if (channel.bits != 0) {
        put_bits(words, channel.first_bit, channel.bits, pack_channel(channel, texel[i]));
      }
    }
  }
  std::memcpy(bytes, words.data(), std::min<size_t>(format.bytes(), 16));
}

}  // namespace halogen::surface
