#include "pipe3d/pixel/pixel_thread.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bits.h"
#include "hw/pixel_payload.h"
#include "pipe3d/raster/pixel_points.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {
namespace {

constexpr unsigned kHalf = 16;  // channels that one coordinate register describes
constexpr unsigned kModes = 6;

float clamped(float depth, const Viewport& viewport) {
  return std::clamp(depth, viewport.depth_min, std::max(viewport.depth_min, viewport.depth_max));
}

// Sets facing, layer and viewport, which r0 and r1 both hold.
template <class Payload>
void describe(const ScreenPrimitive& primitive, Payload& payload) {
  payload.back_facing = !primitive.front;
  payload.layer = static_cast<uint16_t>(primitive.layer);
  payload.viewport = static_cast<uint8_t>(primitive.viewport % kMaxViewports);
}

class Filler {
 public:
  Filler(const PipelineState& state, spec::GenId gen, const PixelGroup& group, eu::Thread& thread)
      : state_(state), gen_(gen), group_(group), thread_(thread) {}

  void fill();
  void fill_with_start();
  size_t end() const { return grf_; }

 private:
  void header();
  void subspans(unsigned half);
  [[gnu::always_inline]] hw::PIXEL_SUBSPANS squares(unsigned half) const;
  void barycentrics(unsigned half);
  void weights_of_squares(unsigned channel, bool perspective);
  template <class Value>
  void per_channel(unsigned half, Value&& value);
  void position_offsets(unsigned half);
  unsigned channels(unsigned half) const { return std::min(group_.width - half * kHalf, kHalf); }

  const PipelineState& state_;
  spec::GenId gen_;
  const PixelGroup& group_;
  eu::Thread& thread_;
  size_t grf_ = hw::PIXEL_SUBSPANS::kGrf;
};

void Filler::header() {
  hw::PIXEL_PRIMITIVE header;
  // Kernels read the low word as a signed number whose sign is the facing, so it must not be zero.
  header.topology = std::max(group_.primitive->topology, hw::PrimitiveTopology::POINTLIST);
  describe(*group_.primitive, header);
  message::put_payload(thread_, gen_, header);
}

inline hw::PIXEL_SUBSPANS Filler::squares(unsigned half) const {
  hw::PIXEL_SUBSPANS payload;
  const unsigned count = channels(half) / 4;
  for (unsigned s = 0; s < payload.squares.size(); ++s) {  // a constant bound keeps the payload in host registers
    if (s < count) {
      const Lane& lane = group_.lanes[half * kHalf + s * 4];
      payload.squares[s] = {.x = static_cast<uint16_t>(lane.x), .y = static_cast<uint16_t>(lane.y)};
      payload.samples[s].index = lane.sample;
    }
  }
  payload.mask = static_cast<uint16_t>(group_.live() >> (half * kHalf));
  return payload;
}

void Filler::subspans(unsigned half) {
  hw::PIXEL_SUBSPANS payload = squares(half);
  describe(*group_.primitive, payload);
  message::put_payload(thread_, gen_, payload, grf_);
  ++grf_;
}

// Writes the weights of eight channels (two squares), at one point per pixel.
void Filler::weights_of_squares(unsigned channel, bool perspective) {
  const size_t at = grf_ * eu::kGrfBytes;
  if (at + 2 * eu::kGrfBytes > thread_.grf.size()) {
    return;
  }
  for (unsigned i = 0; i < 2; ++i) {
    const Lane& lane = group_.lanes[channel + i * 4];
    const Rasteriser::SquareWeights weights =
        group_.raster->weights(square_at(state_.raster, lane.x, lane.y), perspective);
    std::byte* const to = thread_.grf.data() + at + i * sizeof(weights.first);
    std::memcpy(to, weights.first.data(), sizeof(weights.first));
    std::memcpy(to + eu::kGrfBytes, weights.second.data(), sizeof(weights.second));
  }
}

void Filler::barycentrics(unsigned half) {
  const bool one_place = state_.raster.samples_log2 == 0;
  for (unsigned mode = 0; mode < kModes; ++mode) {
    if (!bit(state_.pixel.barycentrics, mode)) {
      continue;
    }
    const bool perspective = mode < 3;
    const auto location = static_cast<Place>(mode % 3);
    const bool squares = group_.primitive->shape != Shape::point && (one_place || location == Place::pixel);
    for (unsigned first = 0; first < channels(half); first += 8) {
      if (squares) {
        weights_of_squares(half * kHalf + first, perspective);
        grf_ += 2;
        continue;
      }
      for (unsigned i = 0; i < 8; ++i) {
        const Lane& lane = group_.lanes[half * kHalf + first + i];
        const PixelPoint at = point_of(state_, lane, location);
        const Rasteriser::Weights weights = weights_at(group_, at, perspective);
        put_float(thread_, grf_, i, weights.first);
        put_float(thread_, grf_ + 1, i, weights.second);
      }
      grf_ += 2;
    }
  }
}

template <class Value>
void Filler::per_channel(unsigned half, Value&& value) {
  for (unsigned i = 0; i < channels(half); ++i) {
    put_dword(thread_, grf_ + i / 8, i % 8, value(group_.lanes[half * kHalf + i]));
  }
  grf_ += (channels(half) + 7) / 8;
}

// Writes a pair of bytes per channel: x and y in sixteenths.
void Filler::position_offsets(unsigned half) {
  for (unsigned i = 0; i < channels(half); ++i) {
    const Lane& lane = group_.lanes[half * kHalf + i];
    const PixelPoint at = point_of(state_, lane, state_.pixel.offsets_of_samples ? Place::sample : Place::centroid);
    const auto x = static_cast<uint8_t>((at.x - static_cast<float>(lane.x)) * 16);
    const auto y = static_cast<uint8_t>((at.y - static_cast<float>(lane.y)) * 16);
    const size_t byte = grf_ * eu::kGrfBytes + i * 2u;
    if (byte + 1 < thread_.grf.size()) {
      thread_.grf[byte] = std::byte{x};
      thread_.grf[byte + 1] = std::byte{y};
    }
  }
  ++grf_;
}

// Gen4: coordinates are relative to the first vertex, and the kernel computes the weights itself.
void Filler::fill_with_start() {
  const ScreenVertex& start = group_.primitive->vertex[0];
  // For points, the payload holds the upper left corner.
  const float back = group_.primitive->shape == Shape::point ? group_.primitive->width / 2 : 0.0f;
  hw::PIXEL_SUBSPANS payload = squares(0);
  payload.start_x = start.x - back;
  payload.start_y = start.y - back;
  payload.front_facing = group_.primitive->front;
  payload.smooth = group_.raster->smooth();
  message::put_payload(thread_, gen_, hw::PIXEL_PRIMITIVE{.mask = payload.mask});
  message::put_payload(thread_, gen_, payload);
  grf_ = hw::PIXEL_SUBSPANS::kGrf + 1;
  if (state_.pixel.source_depth) {
    const Viewport& viewport = state_.viewports[0];
    per_channel(0, [&](const Lane& lane) {
      const PixelPoint at = point_of(state_, lane, Place::pixel);
      return std::bit_cast<uint32_t>(clamped(group_.raster->depth(at.x, at.y), viewport));
    });
  }
}

void Filler::fill() {
  const unsigned halves = group_.width > kHalf ? 2 : 1;
  const PixelShader& pixel = state_.pixel;
  header();
  for (unsigned half = 0; half < halves; ++half) {
    subspans(half);
  }
  const Place place = pixel.per_sample ? Place::sample : Place::pixel;
  const Rasteriser& raster = *group_.raster;
  for (unsigned half = 0; half < halves; ++half) {
    barycentrics(half);
    if (pixel.source_depth) {
      per_channel(half, [&](const Lane& lane) {
        const PixelPoint at = point_of(state_, lane, place);
        const Viewport& viewport = state_.viewports[group_.primitive->viewport % kMaxViewports];
        return std::bit_cast<uint32_t>(clamped(raster.depth(at.x, at.y), viewport));
      });
    }
    if (pixel.source_w) {
      per_channel(half, [&](const Lane& lane) {
        const PixelPoint at = point_of(state_, lane, place);
        return std::bit_cast<uint32_t>(raster.w(at.x, at.y));
      });
    }
    if (pixel.position_offsets) {
      position_offsets(half);
    }
    if (pixel.input_coverage) {
      per_channel(half, [&](const Lane& lane) {
        return pixel.inner_coverage && !raster.covers(lane.x, lane.y) ? 0u : lane.coverage;
      });
    }
  }
}

}  // namespace

void PixelGroup::find_covered() {
  covered = 0;
  for (unsigned i = 0; i < width; ++i) {
    covered |= lanes[i].coverage != 0 ? 1u << i : 0;
  }
}

uint32_t PixelGroup::helped() const {
  uint32_t mask = live();
  mask |= (mask >> 1 & 0x5555'5555) | (mask << 1 & 0xaaaa'aaaa);
  mask |= (mask >> 2 & 0x3333'3333) | (mask << 2 & 0xcccc'cccc);
  return mask;
}

std::array<float, kMaxSamples> sample_depths(const PipelineState& state, const ScreenPrimitive& primitive,
                                             const Rasteriser& raster, int32_t x, int32_t y, uint32_t samples) {
  std::array<float, kMaxSamples> depths{};
  const Viewport& viewport = state.viewports[primitive.viewport % kMaxViewports];
  const Lane lane{.x = x, .y = y};
  const bool many = state.raster.samples_log2 != 0;
  for (uint32_t rest = samples; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    if (i >= kMaxSamples) {
      break;
    }
    const PixelPoint at = many ? sample_point(state.raster, lane, i) : point_of(state, lane, Place::pixel);
    depths[i] = clamped(raster.depth(at.x, at.y), viewport);
  }
  return depths;
}

std::array<float, 4> square_depths(const PipelineState& state, const ScreenPrimitive& primitive,
                                   const Rasteriser& raster, int32_t x, int32_t y) {
  const Viewport& viewport = state.viewports[primitive.viewport % kMaxViewports];
  std::array<float, 4> depths = raster.depths(square_at(state.raster, x, y));
  for (float& depth : depths) {
    depth = clamped(depth, viewport);
  }
  return depths;
}

FilledRegisters fill_pixel_payload(const PipelineState& state, spec::GenId gen, const PixelGroup& group,
                                   std::span<const uint32_t> attributes, size_t data_grf, eu::Thread& thread) {
  Filler filler(state, gen, group, thread);
  switch (state.pixel_payload) {
    case PayloadForm::start_vertex:
      filler.fill_with_start();
      break;
    case PayloadForm::barycentrics:
      filler.fill();
      break;
  }
  const size_t at = data_grf * eu::kGrfBytes;
  const size_t bytes = at < thread.grf.size() ? std::min(attributes.size_bytes(), thread.grf.size() - at) : 0;
  if (bytes != 0) {
    std::memcpy(thread.grf.data() + at, attributes.data(), bytes);
  }
  return {.payload_end = filler.end(),
          .end = std::max(filler.end(), data_grf + (bytes + eu::kGrfBytes - 1) / eu::kGrfBytes)};
}

}  // namespace halogen::pipe3d
