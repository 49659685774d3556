// The points of a pixel at which the values of a channel are taken, and the barycentrics there. All generations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/bits.h"
#include "pipe3d/pixel/pixel_thread.h"
#include "pipe3d/raster/rasteriser.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

inline constexpr float kSixteenth = 1.0f / 16;

struct PixelPoint {
  float x = 0;
  float y = 0;
};

enum class Place : uint8_t { pixel, centroid, sample };

inline PixelPoint pixel_point(const Raster& raster, const Lane& lane) {
  const float centre = raster.corner_sample ? 0.0f : 0.5f;
  return {static_cast<float>(lane.x) + centre, static_cast<float>(lane.y) + centre};
}

// Returns the four pixels of the square at (x, y).
inline Rasteriser::Square square_at(const Raster& raster, int32_t x, int32_t y) {
  const float centre = raster.corner_sample ? 0.0f : 0.5f;
  return {.x = {static_cast<float>(x) + centre, static_cast<float>(x + 1) + centre},
          .y = {static_cast<float>(y) + centre, static_cast<float>(y + 1) + centre}};
}

inline PixelPoint sample_point(const Raster& raster, const Lane& lane, unsigned sample) {
  return {static_cast<float>(lane.x) + static_cast<float>(raster.positions[sample % kMaxSamples][0]) * kSixteenth,
          static_cast<float>(lane.y) + static_cast<float>(raster.positions[sample % kMaxSamples][1]) * kSixteenth};
}

// Returns the point of a channel. `sample`: for Place::sample. The centroid is a covered sample, or the pixel's own
// point if all samples are covered.
inline PixelPoint point_of(const Raster& raster, const Lane& lane, Place place, unsigned sample) {
  const unsigned samples = 1u << raster.samples_log2;
  if (samples == 1 || place == Place::pixel) {
    return pixel_point(raster, lane);
  }
  if (place == Place::sample) {
    return sample_point(raster, lane, sample);
  }
  const auto all = static_cast<uint32_t>(low_mask(samples));
  if ((lane.coverage & all) == all || lane.coverage == 0) {
    return pixel_point(raster, lane);
  }
  return sample_point(raster, lane, static_cast<unsigned>(std::countr_zero(lane.coverage)));
}

inline PixelPoint point_of(const PipelineState& state, const Lane& lane, Place place) {
  return point_of(state.raster, lane, place, lane.sample);
}

// Returns barycentrics, or for a point its sprite coordinates.
inline Rasteriser::Weights weights_at(const PixelGroup& group, const PixelPoint& at, bool perspective) {
  if (group.primitive->shape == Shape::point) {
    const std::array<float, 2> sprite = group.raster->sprite(at.x, at.y, false);
    return {sprite[0], sprite[1]};
  }
  return perspective ? group.raster->perspective(at.x, at.y) : group.raster->linear(at.x, at.y);
}

}  // namespace halogen::pipe3d
