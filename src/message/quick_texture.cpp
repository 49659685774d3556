#include "message/quick_texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace halogen::message {
namespace {

using surface::ChannelKind;
using surface::Texel;

constexpr double kFar = 1099511627776.0;  // as in texture.cpp
constexpr double kSteps = 256.0;
constexpr unsigned kStepBits = 8;
constexpr int64_t kStepMask = 255;

// Returns the largest integer that is not above the value, and 0 for NaN.
int64_t whole(double value) {
  if (!(value >= -kFar)) {
    return value != value ? 0 : -static_cast<int64_t>(kFar);
  }
  const double limited = value < kFar ? value : kFar;
  const auto cut = static_cast<int64_t>(limited);
  return cut - (static_cast<double>(cut) > limited ? 1 : 0);
}

// Returns the value of each byte for a channel, by the rules of the format.
std::array<double, 256> values_of(ChannelKind kind) {
  surface::TexelFormat format;
  format.bits = 8;
  format.channel[0] = {.first_bit = 0, .bits = 8, .kind = kind};
  std::array<double, 256> values{};
  for (size_t i = 0; i < values.size(); ++i) {
    const std::array<std::byte, 16> bytes{static_cast<std::byte>(i)};
    values[i] = static_cast<double>(std::bit_cast<float>(surface::unpack_texel(format, bytes.data())[0]));
  }
  return values;
}

#ifdef __x86_64__
// Returns whether four bytes can be converted at once: the host has AVX2, and a float division gives the exact value of
// each byte.
bool has_byte_vectors(const std::array<double, 256>& normalised) {
  if (__builtin_cpu_supports("avx2") == 0) {
    return false;
  }
  for (size_t i = 0; i < normalised.size(); ++i) {
    if (normalised[i] != static_cast<double>(static_cast<float>(i) / 255.0f)) {
      return false;
    }
  }
  return true;
}
#else
bool has_byte_vectors(const std::array<double, 256>&) {
  return false;
}
#endif

const std::array<double, 256>* table_of(ChannelKind kind) {
  static const std::array<double, 256> normalised = values_of(ChannelKind::unorm);
  static const std::array<double, 256> srgb = values_of(ChannelKind::srgb);
  switch (kind) {
    case ChannelKind::unorm:
      return &normalised;
    case ChannelKind::srgb:
      return &srgb;
    default:
      return nullptr;
  }
}

bool has_no_border(hw::TextureCoordinateMode mode) {
  return mode != hw::TextureCoordinateMode::CLAMP_BORDER && mode != hw::TextureCoordinateMode::HALF_BORDER;
}

bool is_plain(hw::MapFilter filter) {
  return filter == hw::MapFilter::NEAREST || filter == hw::MapFilter::LINEAR;
}

}  // namespace

bool QuickTexture::begin(const Surface& surface, const Sampler& sampler) {
  const surface::SurfaceLayout& layout = surface.layout;
  if (surface.states.form != surface::StateForm::none && surface.clear_blocks == nullptr) {
    return false;  // states are read texel by texel
  }
  if (surface.kind != Surface::Kind::image || surface.type != hw::SurfaceType::SURFTYPE_2D || surface.depth != 1 ||
      surface.samples != 1 || surface.block != nullptr || surface.integer() || surface.format->shared_exponent ||
      surface.levels == 0 || surface.levels > kMaxLevels || layout.swizzle != surface::SwizzleMode::none) {
    return false;
  }
  if (sampler.disabled || sampler.unnormalized || sampler.reduction != Sampler::Reduction::mean ||
      !is_plain(sampler.min_filter) || !is_plain(sampler.mag_filter) || !has_no_border(sampler.wrap[0]) ||
      !has_no_border(sampler.wrap[1])) {
    return false;
  }
  if (layout.pattern == nullptr) {
    tiles_ = Tiles::none;
    pitch_ = layout.pitch_B;
  } else if (layout.pattern->tiling == Tiling::x || layout.pattern->tiling == Tiling::y) {
    tiles_ = layout.pattern->tiling == Tiling::x ? Tiles::x : Tiles::y;
    pitch_ = layout.tiles_per_row();
  } else {
    return false;
  }
  bytes_ = surface.format->bytes();
  if (bytes_ != 1 && bytes_ != 2 && bytes_ != 4) {
    return false;
  }
  for (size_t i = 0; i < 4; ++i) {
    const surface::TexelChannel& channel = surface.format->channel[i];
    const bool there = channel.bits != 0;
    values_[i] = table_of(there ? channel.kind : ChannelKind::unorm);
    if (there && (channel.bits != 8 || values_[i] == nullptr)) {
      return false;
    }
    shift_[i] = there ? channel.first_bit : uint8_t{0};
    mask_[i] = there ? 0xff : 0;
  }
  sampler_ = sampler;
  static const bool byte_vectors = has_byte_vectors(*table_of(ChannelKind::unorm));
  of_bytes_ = byte_vectors && bytes_ == 4 &&
              std::ranges::all_of(values_, [](const Values* each) { return each == table_of(ChannelKind::unorm); });
  for (size_t i = 0; i < 4; ++i) {
    const auto select = static_cast<unsigned>(surface.select[i]);
    const size_t channel = select & 3;
    if (surface.select[i] == hw::ShaderChannelSelect::ONE) {
      from_[i] = kOne;
    } else if (select < static_cast<unsigned>(hw::ShaderChannelSelect::RED)) {
      from_[i] = kZero;
    } else if (mask_[channel] == 0) {
      from_[i] = channel == 3 ? kOne : kZero;
    } else {
      from_[i] = static_cast<uint8_t>(channel);
    }
  }
  base_ = surface.base;
  clear_blocks_ = surface.clear_blocks;
  clear_ = surface.sampled_clear;
  resource_min_lod_ = surface.resource_min_lod;
  levels_count_ = surface.levels;
  for (uint32_t i = 0; i < levels_count_; ++i) {
    const uint32_t number = surface.first_level + i;
    const ImagePlace at = image_place(surface, 0, number);
    Level& level = levels_[i];
    level.first_x_B = at.x * bytes_;
    level.first_row = at.y + at.z * layout.layer_rows;
    const std::array<uint32_t, 2> sizes{surface.level_width(number), surface.level_height(number)};
    for (size_t axis = 0; axis < 2; ++axis) {
      const bool masks = sampler.wrap[axis] == hw::TextureCoordinateMode::WRAP && std::has_single_bit(sizes[axis]);
      level.axis[axis] = {sizes[axis], sampler.wrap[axis], masks ? sizes[axis] - 1 : 0};
    }
  }
  choice_ = {};
  plan_squares();
  return true;
}

// Selects levels and filters for a level of detail, as Texture::sample does.
void QuickTexture::choose(double given) {
  const double biased = given != given ? 0.0 : given + sampler_.bias;
  const double limited = std::clamp(biased, sampler_.min_lod, std::max(sampler_.min_lod, sampler_.max_lod));
  const double lod = std::max(limited, resource_min_lod_);
  const bool magnifies = lod <= 0.0;
  choice_.lod = given;
  choice_.known = given == given;
  choice_.linear = (magnifies ? sampler_.mag_filter : sampler_.min_filter) != hw::MapFilter::NEAREST;
  const auto& rounds = magnifies ? sampler_.rounds_mag : sampler_.rounds_min;
  choice_.rounds = {rounds[0], rounds[1]};
  const int64_t last = int64_t{levels_count_} - 1;
  const int64_t steps = std::max<int64_t>(whole(lod * kSteps + 0.5), 0);
  choice_.near = 0;
  choice_.both = false;
  if (sampler_.mip_filter == hw::MipFilter::NEAREST) {
    choice_.near = static_cast<uint32_t>(std::min((steps + static_cast<int64_t>(kSteps) / 2) >> kStepBits, last));
  } else if (sampler_.mip_filter == hw::MipFilter::LINEAR) {
    choice_.near = static_cast<uint32_t>(std::min(steps >> kStepBits, last));
    choice_.part = static_cast<double>(steps & kStepMask) / kSteps;
    choice_.both = (steps & kStepMask) != 0 && choice_.near != levels_count_ - 1;
  }
}

inline uint64_t QuickTexture::column_of(const Level& level, uint32_t x) const {
  const uint64_t x_B = level.first_x_B + uint64_t{x} * bytes_;
  switch (tiles_) {
    case Tiles::x:
      return surface::tile_x_offset(x_B, 0, pitch_);
    case Tiles::y:
      return surface::tile_y_offset(x_B, 0, pitch_);
    case Tiles::none:
      break;
  }
  return x_B;
}

inline uint64_t QuickTexture::row_of(const Level& level, uint32_t y) const {
  const uint64_t row = level.first_row + y;
  switch (tiles_) {
    case Tiles::x:
      return surface::tile_x_offset(0, row, pitch_);
    case Tiles::y:
      return surface::tile_y_offset(0, row, pitch_);
    case Tiles::none:
      break;
  }
  return row * pitch_;
}

inline uint32_t QuickTexture::load(const std::byte* texel) const {
  uint32_t word = 0;
  if (bytes_ == 4) {
    std::memcpy(&word, texel, 4);
  } else {
    std::memcpy(&word, texel, bytes_ == 2 ? 2 : 1);
  }
  return word;
}

inline void QuickTexture::add(const std::byte* texel, double share, Color& sum) const {
  const uint32_t word = load(texel);
  for (size_t i = 0; i < 4; ++i) {
    sum[i] += share * (*values_[i])[word >> shift_[i] & mask_[i]];
  }
}

namespace {

uint32_t wrapped(uint32_t mask, hw::TextureCoordinateMode mode, uint32_t size, int64_t index) {
  if (mask != 0) {
    return static_cast<uint32_t>(index) & mask;
  }
  return static_cast<uint64_t>(index) < size && mode != hw::TextureCoordinateMode::MIRROR_101
             ? static_cast<uint32_t>(index)
             : *wrap(mode, index, size);
}

}  // namespace

inline QuickTexture::Corners QuickTexture::corners(const Level& level, float u, float v,
                                                   const TexelOffset& offset) const {
  Corners out;
  const std::array<float, 2> at{u, v};
  for (size_t i = 0; i < 2; ++i) {
    const Axis& axis = level.axis[i];
    const double where = static_cast<double>(at[i]) * axis.size;
    const int64_t fixed = whole((where - 0.5) * kSteps + (choice_.rounds[i] ? 0.5 : 0.0));
    const int64_t index = (fixed >> kStepBits) + offset[i];
    out.weight[i] = static_cast<double>(fixed & kStepMask) * (1.0 / kSteps);
    const uint32_t near = wrapped(axis.wrap_mask, axis.wrap, axis.size, index);
    const uint32_t far = wrapped(axis.wrap_mask, axis.wrap, axis.size, index + 1);
    out.offsets[i] = i == 0 ? std::array{column_of(level, near), column_of(level, far)}
                            : std::array{row_of(level, near), row_of(level, far)};
  }
  return out;
}

bool QuickTexture::linear(memory::AddressSpace& space, const Level& level, float u, float v, const TexelOffset& offset,
                          Color& out) const {
  const Corners at = corners(level, u, v, offset);
  const double left = 1.0 - at.weight[0];
  const double above = 1.0 - at.weight[1];
  const std::array<double, 4> shares{left * above, at.weight[0] * above, left * at.weight[1],
                                     at.weight[0] * at.weight[1]};
  const std::array<uint64_t, 4> address{
      base_ + at.offsets[0][0] + at.offsets[1][0], base_ + at.offsets[0][1] + at.offsets[1][0],
      base_ + at.offsets[0][0] + at.offsets[1][1], base_ + at.offsets[0][1] + at.offsets[1][1]};
  Color sum{};
  uint64_t page = ~uint64_t{0};
  const std::byte* frame = nullptr;
  for (size_t corner = 0; corner < 4; ++corner) {
    if (shares[corner] == 0.0) {
      continue;
    }
    if (is_clear(address[corner])) {
      add(clear_.data(), shares[corner], sum);
      continue;
    }
    const uint64_t in_page = address[corner] % memory::kFrameBytes;
    if (address[corner] / memory::kFrameBytes != page) {
      frame = space.page_at(wrapped_address(address[corner]), {});
      page = address[corner] / memory::kFrameBytes;
    }
    if (frame == nullptr || in_page + bytes_ > memory::kFrameBytes) [[unlikely]] {
      return false;
    }
    add(frame + in_page, shares[corner], sum);
  }
  out = sum;
  return true;
}

bool QuickTexture::nearest(memory::AddressSpace& space, const Level& level, float u, float v, const TexelOffset& offset,
                           Color& out) const {
  std::array<uint32_t, 2> index;
  const std::array<float, 2> at{u, v};
  for (size_t i = 0; i < 2; ++i) {
    const Axis& axis = level.axis[i];
    const double where = static_cast<double>(at[i]) * axis.size;
    index[i] = wrapped(axis.wrap_mask, axis.wrap, axis.size, (whole(where * kSteps) >> kStepBits) + offset[i]);
  }
  const uint64_t address = base_ + column_of(level, index[0]) + row_of(level, index[1]);
  out = {};
  if (is_clear(address)) {
    add(clear_.data(), 1.0, out);
    return true;
  }
  const std::byte* const frame = space.page_at(wrapped_address(address), {});
  if (frame == nullptr || address % memory::kFrameBytes + bytes_ > memory::kFrameBytes) [[unlikely]] {
    return false;
  }
  add(frame + address % memory::kFrameBytes, 1.0, out);
  return true;
}

std::optional<Texel> QuickTexture::sample(memory::AddressSpace& space, float u, float v, double lod,
                                          const TexelOffset& offset) {
  if (!choice_.known || lod != choice_.lod) {
    choose(lod);
  }
  Color color;
  if (!filtered(space, levels_[choice_.near], u, v, offset, color)) {
    return std::nullopt;
  }
  if (choice_.both) {
    Color far;
    if (!filtered(space, levels_[choice_.near + 1], u, v, offset, far)) {
      return std::nullopt;
    }
    for (size_t i = 0; i < 4; ++i) {
      color[i] += (far[i] - color[i]) * choice_.part;
    }
  }
  const std::array<float, 6> values{static_cast<float>(color[0]),
                                    static_cast<float>(color[1]),
                                    static_cast<float>(color[2]),
                                    static_cast<float>(color[3]),
                                    0.0f,
                                    1.0f};
  Texel out{};
  for (size_t i = 0; i < 4; ++i) {
    out[i] = std::bit_cast<uint32_t>(values[from_[i]]);
  }
  return out;
}

QuickTexture* QuickTextures::find(const Surface& surface, const Sampler& sampler, uint64_t age) {
  for (Entry& entry : entries_) {
    if (entry.surface == &surface && entry.sampler == &sampler && entry.age == age) {
      return entry.fits ? &entry.texture : nullptr;
    }
  }
  Entry& entry = entries_[next_++ % entries_.size()];
  entry.surface = &surface;
  entry.sampler = &sampler;
  entry.age = age;
  entry.fits = entry.texture.begin(surface, sampler);
  return entry.fits ? &entry.texture : nullptr;
}

}  // namespace halogen::message
