#include "message/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "message/block_states.h"
#include "message/clear_blocks.h"
#include "surface/compare.h"
#include "surface/texel_format.h"

namespace halogen::message {
namespace {

using surface::Texel;

constexpr size_t kRoom = 64;              // buffer for a texel: one cache line
constexpr double kFar = 1099511627776.0;  // 2^40: limit of coordinates
constexpr double kSteps = 256.0;          // steps of a coordinate, a level or a weight
constexpr unsigned kStepBits = 8;
constexpr int64_t kStepMask = 255;
constexpr unsigned kMaxTaps = 16;

double real(uint32_t bits) {
  return static_cast<double>(std::bit_cast<float>(bits));
}
uint32_t bits_of(double value) {
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

int64_t whole(double value) {
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::floor(std::clamp(value, -kFar, kFar)));
}

double log2_of(double value) {
  return value > 0.0 ? std::log2(value) : -kSteps;
}

// How a face maps a direction: the major axis, the axes of u and v, and their signs.
struct Face {
  unsigned major;
  double sign;
  unsigned u;
  double u_sign;
  unsigned v;
  double v_sign;
};
constexpr std::array<Face, 6> kFaces{{{0, 1, 2, -1, 1, -1},
                                      {0, -1, 2, 1, 1, -1},
                                      {1, 1, 0, 1, 2, 1},
                                      {1, -1, 0, 1, 2, -1},
                                      {2, 1, 0, 1, 1, -1},
                                      {2, -1, 0, -1, 1, -1}}};

unsigned face_of(const std::array<double, 3>& direction) {
  unsigned major = 0;
  for (unsigned axis = 1; axis < 3; ++axis) {
    if (std::fabs(direction[axis]) > std::fabs(direction[major])) {
      major = axis;
    }
  }
  return 2 * major + (direction[major] < 0.0 ? 1 : 0);
}

CubeSpot on_face(unsigned face, const std::array<double, 3>& direction) {
  const Face& is = kFaces[face];
  const double length = std::fabs(direction[is.major]);
  const double scale = length > 0.0 ? 0.5 / length : 0.0;
  return {face, direction[is.u] * is.u_sign * scale + 0.5, direction[is.v] * is.v_sign * scale + 0.5};
}

}  // namespace

CubeSpot cube_spot(double x, double y, double z) {
  const std::array direction{x, y, z};
  return on_face(face_of(direction), direction);
}

unsigned Texture::axes() const {
  switch (surface_.type) {
    case hw::SurfaceType::SURFTYPE_1D:
      return 1;
    case hw::SurfaceType::SURFTYPE_3D:
      return 3;
    default:
      return 2;
  }
}

unsigned Texture::layer_axis() const {
  if (surface_.cube()) {
    return surface_.array ? 3 : 4;  // 3: the fourth coordinate; 4: none
  }
  if (!surface_.array || surface_.volume()) {
    return 4;
  }
  return surface_.type == hw::SurfaceType::SURFTYPE_1D ? 1 : 2;
}

uint32_t Texture::extent(unsigned axis, uint32_t level) const {
  return axis == 0   ? surface_.level_width(level)
         : axis == 1 ? surface_.level_height(level)
                     : surface_.level_depth(level);
}

Texel Texture::swizzled(const Texel& texel) const {
  const uint32_t one = surface_.integer() ? 1 : surface::kFloatOne;
  Texel out{};
  for (unsigned i = 0; i < 4; ++i) {
    const auto select = surface_.select[i];
    if (select == hw::ShaderChannelSelect::ONE) {
      out[i] = one;
    } else if (static_cast<unsigned>(select) >= static_cast<unsigned>(hw::ShaderChannelSelect::RED)) {
      out[i] = texel[static_cast<unsigned>(select) & 3];
    }
  }
  return out;
}

Texel Texture::fetch(uint32_t x, uint32_t y, uint32_t layer, uint32_t level, uint32_t sample) {
  std::array<std::byte, kRoom> bytes{};
  const uint64_t address = texel_address(surface_, x, y, layer, level, sample);
  if (surface_.clear_blocks != nullptr) {
    if (surface_.clear_blocks->at(address - surface_.base)) {
      return clear_texel();
    }
  } else if (surface_.states.form != surface::StateForm::none) {
    BlockStates states(surface_.states, space_);
    if (states.read(block_of(surface_, x, y, layer, level), address) == surface::BlockState::clear) {
      return clear_texel();
    }
    failed_ = failed_ || states.failed();
  }
  if (!ok(space_.read(wrapped_address(address), std::span(bytes).first(surface_.element_bytes())))) {
    failed_ = true;
  }
  if (surface_.block != nullptr) {
    return surface::unpack_block_texel(*surface_.block, bytes.data(), x % surface_.element_width,
                                       y % surface_.element_height);
  }
  return surface::unpack_texel(*surface_.format, bytes.data());
}

// Returns the value of a texel in a clear block.
Texel Texture::clear_texel() const {
  return surface::unpack_texel(*surface_.format, surface_.sampled_clear.data());
}

// Returns a texel for filters. In a multisampled surface it is the mean of its samples.
Texel Texture::resolved(uint32_t x, uint32_t y, uint32_t layer, uint32_t level) {
  Texel out = fetch(x, y, layer, level, 0);
  if (surface_.samples == 1 || surface_.integer()) {
    return out;
  }
  std::array<double, 4> sum{};
  for (uint32_t sample = 0; sample < surface_.samples; ++sample) {
    const Texel one = fetch(x, y, layer, level, sample);
    for (unsigned i = 0; i < 4; ++i) {
      sum[i] += real(one[i]);
    }
  }
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = bits_of(sum[i] / surface_.samples);
  }
  return out;
}

// Converts a point to image coordinates: finds the face of a cube and the layer.
Texture::Spot Texture::spot_of(const TexturePoint& at) const {
  Spot spot;
  for (unsigned axis = 0; axis < 3; ++axis) {
    spot.at[axis] = static_cast<double>(at[axis]);
  }
  int64_t layer = 0;
  if (const unsigned axis = layer_axis(); axis < 4) {
    const double given = static_cast<double>(at[axis]);
    const int64_t count = surface_.cube() ? std::max(1u, surface_.depth / 6) : surface_.depth;
    layer = std::clamp<int64_t>(
        std::isnan(given) ? 0 : static_cast<int64_t>(std::nearbyint(std::clamp(given, -kFar, kFar))), 0, count - 1);
  }
  if (surface_.cube()) {
    const CubeSpot face = cube_spot(spot.at[0], spot.at[1], spot.at[2]);
    spot.at = {face.u, face.v, 0.0};
    layer = layer * 6 + face.face;
  }
  spot.layer = static_cast<uint32_t>(layer);
  return spot;
}

// Returns a texel of a cube whose filters cross edges.
Texel Texture::face_texel(const Index& index, uint32_t layer, uint32_t level) {
  const int64_t size = extent(0, level);
  const auto inside = [&](int64_t at) { return at >= 0 && at < size; };
  if (inside(index[0]) && inside(index[1])) {
    return fetch(static_cast<uint32_t>(index[0]), static_cast<uint32_t>(index[1]), layer, level, 0);
  }
  if (!inside(index[0]) && !inside(index[1])) {
    return corner_texel(index, layer, level);
  }
  // Seen as a direction, the centre of the texel points to the adjacent face.
  const Face& face = kFaces[layer % 6];
  const auto side = [&](int64_t at) { return (2.0 * static_cast<double>(at) + 1.0) / static_cast<double>(size) - 1.0; };
  std::array<double, 3> direction{};
  direction[face.major] = face.sign;
  direction[face.u] = side(index[0]) * face.u_sign;
  direction[face.v] = side(index[1]) * face.v_sign;
  const CubeSpot there = on_face(face_of(direction), direction);
  const auto texel = [&](double at) {
    return static_cast<uint32_t>(std::clamp<int64_t>(whole(at * static_cast<double>(size)), 0, size - 1));
  };
  return fetch(texel(there.u), texel(there.v), layer - layer % 6 + there.face, level, 0);
}

// Returns the mean of the three faces that meet at a corner, where a fourth texel would be.
Texel Texture::corner_texel(const Index& index, uint32_t layer, uint32_t level) {
  const int64_t last = int64_t{extent(0, level)} - 1;
  const int64_t x = std::clamp<int64_t>(index[0], 0, last);
  const int64_t y = std::clamp<int64_t>(index[1], 0, last);
  const std::array three{face_texel({x, y, 0}, layer, level), face_texel({index[0], y, 0}, layer, level),
                         face_texel({x, index[1], 0}, layer, level)};
  if (surface_.integer()) {
    return three[0];
  }
  Texel out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = bits_of((real(three[0][i]) + real(three[1][i]) + real(three[2][i])) / 3.0);
  }
  return out;
}

Texel Texture::texel_at(const Index& index, uint32_t layer, uint32_t level) {
  if (surface_.cube() && sampler_->seamless) {
    // A filter reaches one texel past an edge. An offset may reach further, and is clamped to that texel.
    const int64_t size = extent(0, level);
    return face_texel({std::clamp<int64_t>(index[0], -1, size), std::clamp<int64_t>(index[1], -1, size), 0}, layer,
                      level);
  }
  std::array<uint32_t, 3> at{};
  for (unsigned axis = 0; axis < axes(); ++axis) {
    const std::optional<uint32_t> wrapped = wrap(sampler_->wrap[axis], index[axis], extent(axis, level));
    if (!wrapped) {
      return border_of(*sampler_, surface_);
    }
    at[axis] = *wrapped;
  }
  return resolved(at[0], at[1], surface_.volume() ? at[2] : layer, level);
}

// Returns a coordinate in steps of 1/256 texel. For linear filters it is relative to the centre of the first texel.
int64_t Texture::fixed(double coordinate, unsigned axis, uint32_t level, bool is_linear, bool rounds,
                       int32_t offset) const {
  const double size = extent(axis, level);
  double at = sampler_->unnormalized ? coordinate : coordinate * size;
  if (sampler_->wrap[axis] == hw::TextureCoordinateMode::HALF_BORDER) {
    at = (std::isnan(at) ? 0.0 : std::clamp(at + offset, 0.0, size)) - offset;  // the offset is added before the clamp
  }
  return whole((at - (is_linear ? 0.5 : 0.0)) * kSteps + (rounds ? 0.5 : 0.0));
}

Texel Texture::nearest(const Spot& spot, uint32_t level, const TexelOffset& offset) {
  Index index{};
  for (unsigned axis = 0; axis < axes(); ++axis) {
    index[axis] = (fixed(spot.at[axis], axis, level, false, false, offset[axis]) >> kStepBits) + offset[axis];
    if (sampler_->wrap[axis] == hw::TextureCoordinateMode::HALF_BORDER) {
      index[axis] = std::clamp<int64_t>(index[axis], 0, int64_t{extent(axis, level)} - 1);
    }
  }
  return texel_at(index, spot.layer, level);
}

Texture::Color Texture::color_of(const Texel& texel, std::optional<float> reference) const {
  Color out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = real(texel[i]);
  }
  if (reference) {
    const bool limited = surface_.block == nullptr && surface_.format->channel[0].kind == surface::ChannelKind::unorm;
    const double wanted = static_cast<double>(*reference);
    const double against = limited && !std::isnan(wanted) ? std::clamp(wanted, 0.0, 1.0) : wanted;
    out = {surface::compare_values(sampler_->compare, out[0], against) ? 0.0 : 1.0, 0.0, 0.0, 1.0};
  }
  return out;
}

Texture::Color Texture::linear(const Spot& spot, uint32_t level, const TexelOffset& offset,
                               std::optional<float> reference, const std::array<bool, 3>& rounds) {
  Index index{};
  std::array<double, 3> weight{};
  for (unsigned axis = 0; axis < axes(); ++axis) {
    const int64_t at = fixed(spot.at[axis], axis, level, true, rounds[axis], offset[axis]);
    index[axis] = (at >> kStepBits) + offset[axis];
    weight[axis] = static_cast<double>(at & kStepMask) / kSteps;
  }
  const auto reduction = sampler_->reduction;
  Color sum{};
  bool first = true;
  for (unsigned corner = 0; corner < 1u << axes(); ++corner) {
    double share = 1.0;
    Index at = index;
    for (unsigned axis = 0; axis < axes(); ++axis) {
      const bool far = (corner >> axis & 1) != 0;
      share *= far ? weight[axis] : 1.0 - weight[axis];
      at[axis] += far ? 1 : 0;
    }
    if (share == 0.0) {
      continue;
    }
    const Color color = color_of(texel_at(at, spot.layer, level), reference);
    for (unsigned i = 0; i < 4; ++i) {
      switch (reduction) {
        case Sampler::Reduction::mean:
          sum[i] += share * color[i];
          break;
        case Sampler::Reduction::minimum:
          sum[i] = first ? color[i] : std::min(sum[i], color[i]);
          break;
        case Sampler::Reduction::maximum:
          sum[i] = first ? color[i] : std::max(sum[i], color[i]);
          break;
      }
    }
    first = false;
  }
  return sum;
}

Texture::Color Texture::filtered(const Spot& spot, uint32_t level, const TexelOffset& offset,
                                 std::optional<float> reference, bool is_linear, const std::array<bool, 3>& rounds) {
  return is_linear ? linear(spot, level, offset, reference, rounds) : color_of(nearest(spot, level, offset), reference);
}

PixelSize Texture::size_of_pixel(const TexturePoint& dx, const TexturePoint& dy) const {
  double along_x = 0.0;
  double along_y = 0.0;
  for (unsigned axis = 0; axis < axes(); ++axis) {
    const double size = sampler_ != nullptr && sampler_->unnormalized ? 1.0 : extent(axis, surface_.first_level);
    const double x = static_cast<double>(dx[axis]) * size;
    const double y = static_cast<double>(dy[axis]) * size;
    along_x += x * x;
    along_y += y * y;
  }
  PixelSize size;
  size.lod = 0.5 * log2_of(std::max(along_x, along_y));
  size.narrow_lod = 0.5 * log2_of(std::min(along_x, along_y));
  const TexturePoint& side = along_x >= along_y ? dx : dy;
  size.long_side = {static_cast<double>(side[0]), static_cast<double>(side[1]), static_cast<double>(side[2])};
  return size;
}

PixelSize Texture::size_of_quad(const std::array<TexturePoint, 4>& pixels, unsigned pixel) const {
  std::array<TexturePoint, 3> at{pixels[0], pixels[1], pixels[2]};
  if (surface_.cube()) {
    // Uses the face of the requested pixel for all four, because neighbours may be past an edge.
    const auto direction = [](const TexturePoint& point) {
      return std::array{static_cast<double>(point[0]), static_cast<double>(point[1]), static_cast<double>(point[2])};
    };
    const unsigned face = face_of(direction(pixels[pixel]));
    for (TexturePoint& point : at) {
      const CubeSpot spot = on_face(face, direction(point));
      point = {static_cast<float>(spot.u), static_cast<float>(spot.v), 0.0f, 0.0f};
    }
  }
  TexturePoint dx{};
  TexturePoint dy{};
  for (unsigned i = 0; i < 3; ++i) {
    dx[i] = at[1][i] - at[0][i];
    dy[i] = at[2][i] - at[0][i];
  }
  return size_of_pixel(dx, dy);
}

double Texture::limited_lod(double lod) const {
  const double biased = std::isnan(lod) ? 0.0 : lod + sampler_->bias;
  const double limited = std::clamp(biased, sampler_->min_lod, std::max(sampler_->min_lod, sampler_->max_lod));
  return std::max(limited, surface_.resource_min_lod);
}

Texel Texture::levels_of(const PixelSize& size) const {
  const double last = surface_.levels - 1.0;
  const double limited = std::clamp(limited_lod(size.lod), 0.0, last);
  const double shown = sampler_->mip_filter == hw::MipFilter::NONE      ? 0.0
                       : sampler_->mip_filter == hw::MipFilter::NEAREST ? std::floor(limited + 0.5)
                                                                        : limited;
  return {bits_of(shown), bits_of(size.lod + sampler_->bias), 0, 0};
}

Texel Texture::sample(const TexturePoint& at, const PixelSize& size, const TexelOffset& offset,
                      std::optional<float> reference) {
  if (surface_.kind != Surface::Kind::image || sampler_->disabled) {
    return {};
  }
  const bool by_ratio =
      (sampler_->min_filter == hw::MapFilter::ANISOTROPIC || sampler_->mag_filter == hw::MapFilter::ANISOTROPIC) &&
      size.lod > size.narrow_lod;
  const double most = std::log2(static_cast<double>(std::min(sampler_->anisotropy, kMaxTaps)));
  const double ratio = by_ratio ? std::min(size.lod - size.narrow_lod, most) : 0.0;  // log2
  const double lod = limited_lod(size.lod - ratio);
  const bool magnifies = lod <= 0.0;
  const hw::MapFilter filter = magnifies ? sampler_->mag_filter : sampler_->min_filter;
  const bool is_linear = filter != hw::MapFilter::NEAREST && !surface_.integer();
  const auto& rounds = magnifies ? sampler_->rounds_mag : sampler_->rounds_min;
  const uint32_t last = surface_.first_level + surface_.levels - 1;
  const int64_t steps = std::max<int64_t>(whole(lod * kSteps + 0.5), 0);
  const auto level = [&](int64_t number) {
    return static_cast<uint32_t>(std::min<int64_t>(surface_.first_level + number, last));
  };
  uint32_t near = surface_.first_level;
  double part = 0.0;
  if (sampler_->mip_filter == hw::MipFilter::NEAREST) {
    near = level((steps + static_cast<int64_t>(kSteps) / 2) >> kStepBits);
  } else if (sampler_->mip_filter == hw::MipFilter::LINEAR) {
    near = level(steps >> kStepBits);
    part = static_cast<double>(steps & kStepMask) / kSteps;
  }
  Spot spot = spot_of(at);
  if (surface_.integer() && !reference) {
    return swizzled(nearest(spot, near, offset));
  }
  const auto at_levels = [&](const Spot& where) {
    Color color = filtered(where, near, offset, reference, is_linear, rounds);
    if (part != 0.0 && near != last) {
      const Color far = filtered(where, near + 1, offset, reference, is_linear, rounds);
      for (unsigned i = 0; i < 4; ++i) {
        color[i] += (far[i] - color[i]) * part;
      }
    }
    return color;
  };
  Color sum{};
  if (filter == hw::MapFilter::ANISOTROPIC && by_ratio && !surface_.cube()) {
    const auto taps = static_cast<unsigned>(std::clamp(std::ceil(std::exp2(ratio)), 1.0, double{kMaxTaps}));
    const std::array<double, 3> middle = spot.at;
    for (unsigned tap = 0; tap < taps; ++tap) {
      const double along = (tap + 0.5) / taps - 0.5;
      for (unsigned axis = 0; axis < axes(); ++axis) {
        spot.at[axis] = middle[axis] + size.long_side[axis] * along;
      }
      const Color color = at_levels(spot);
      for (unsigned i = 0; i < 4; ++i) {
        sum[i] += color[i] / taps;
      }
    }
  } else {
    sum = at_levels(spot);
  }
  return swizzled({bits_of(sum[0]), bits_of(sum[1]), bits_of(sum[2]), bits_of(sum[3])});
}

Texel Texture::gather(const TexturePoint& at, const TexelOffset& offset, unsigned channel,
                      std::optional<float> reference) {
  if (surface_.kind != Surface::Kind::image || sampler_->disabled) {
    return {};
  }
  const Spot spot = spot_of(at);
  const uint32_t level = surface_.first_level;
  Index index{};
  for (unsigned axis = 0; axis < std::min(axes(), 2u); ++axis) {
    index[axis] =
        (fixed(spot.at[axis], axis, level, true, sampler_->rounds_mag[axis], offset[axis]) >> kStepBits) + offset[axis];
  }
  // Counterclockwise from the lower left.
  constexpr std::array<std::array<int64_t, 2>, 4> kCorners{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  Texel out{};
  for (unsigned i = 0; i < 4; ++i) {
    const Texel texel = texel_at({index[0] + kCorners[i][0], index[1] + kCorners[i][1], 0}, spot.layer, level);
    out[i] = reference ? bits_of(color_of(texel, reference)[0]) : swizzled(texel)[channel];
  }
  return out;
}

Texel Texture::load(const std::array<uint32_t, 3>& at, uint32_t level, uint32_t sample, const TexelOffset& offset) {
  if (surface_.kind == Surface::Kind::none) {
    return {};
  }
  if (surface_.kind == Surface::Kind::buffer) {
    const uint64_t first = uint64_t{at[0]} * surface_.element_B;
    if (at[0] >= surface_.elements || first >= surface_.bytes) {
      return {};
    }
    std::array<std::byte, kRoom> bytes{};
    const uint64_t there = std::min<uint64_t>(surface_.format->bytes(), surface_.bytes - first);
    if (!ok(space_.read(wrapped_address(surface_.base + first), std::span(bytes).first(there)))) {
      failed_ = true;
    }
    return swizzled(surface::unpack_texel(*surface_.format, bytes.data()));
  }
  if (level >= surface_.levels || sample >= surface_.samples) {
    return {};
  }
  const uint32_t shown = surface_.first_level + level;
  Index where{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    where[axis] = int64_t{static_cast<int32_t>(at[axis])} + (axis < axes() ? offset[axis] : 0);
  }
  for (unsigned axis = 0; axis < axes(); ++axis) {
    if (where[axis] < 0 || where[axis] >= int64_t{extent(axis, shown)}) {
      return {};
    }
  }
  const bool faces = surface_.cube();  // loads count faces as layers
  const unsigned layers = faces ? 2 : layer_axis();
  const int64_t layer = layers < 3 ? where[layers] : 0;
  if (!surface_.volume() && (layer < 0 || layer >= int64_t{surface_.depth})) {
    return {};
  }
  const auto y = axes() > 1 ? static_cast<uint32_t>(where[1]) : 0;
  const auto z = static_cast<uint32_t>(surface_.volume() ? where[2] : layer);
  return swizzled(fetch(static_cast<uint32_t>(where[0]), y, z, shown, sample));
}

Texel Texture::extent_of(uint32_t level) const {
  if (surface_.kind == Surface::Kind::buffer) {
    return {static_cast<uint32_t>(surface_.elements), 0, 0, 0};
  }
  if (surface_.kind == Surface::Kind::none || level >= surface_.levels) {
    return {0, 0, 0, surface_.kind == Surface::Kind::none ? 0 : surface_.levels};
  }
  const uint32_t shown = surface_.first_level + level;
  const uint32_t layers = surface_.array ? surface_.depth : 0;
  const uint32_t height = surface_.level_height(shown);
  switch (surface_.type) {
    case hw::SurfaceType::SURFTYPE_1D:
      return {surface_.level_width(shown), layers, 0, surface_.levels};
    case hw::SurfaceType::SURFTYPE_3D:
      return {surface_.level_width(shown), height, surface_.level_depth(shown), surface_.levels};
    case hw::SurfaceType::SURFTYPE_CUBE:
      return {surface_.level_width(shown), height, layers / 6, surface_.levels};
    default:
      return {surface_.level_width(shown), height, layers, surface_.levels};
  }
}

}  // namespace halogen::message
