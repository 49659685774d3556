// A pipeline with a square viewport, and coverage maps.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "pipe3d/geometry/triangle.h"

namespace halogen::pipe3d {

// Counts how often each sample was covered, by pixel and sample.
class CoverageMap {
 public:
  CoverageMap(int32_t width, int32_t height)
      : width_(width), height_(height), counts_(static_cast<size_t>(width * height) * kMaxSamples) {}
  void add(const Subspan& span) {
    EXPECT_EQ(span.x % 2, 0);
    EXPECT_EQ(span.y % 2, 0);
    bool any = false;
    for (int32_t lane = 0; lane < 4; ++lane) {
      const int32_t x = span.x + lane % 2;
      const int32_t y = span.y + lane / 2;
      const uint16_t mask = span.coverage[static_cast<size_t>(lane)];
      any = any || mask != 0;
      for (unsigned s = 0; s < kMaxSamples; ++s) {
        if ((mask >> s & 1) == 0) {
          continue;
        }
        ASSERT_TRUE(x >= 0 && y >= 0 && x < width_ && y < height_) << x << " " << y;
        ++at(x, y, s);
      }
    }
    EXPECT_TRUE(any) << "a subspan without coverage";
  }
  int& at(int32_t x, int32_t y, unsigned sample = 0) {
    return counts_[static_cast<size_t>(y * width_ + x) * kMaxSamples + sample];
  }
  int32_t width() const { return width_; }
  int32_t height() const { return height_; }
  int sum() const {
    int all = 0;
    for (const int count : counts_) {
      all += count;
    }
    return all;
  }

 private:
  int32_t width_;
  int32_t height_;
  std::vector<int> counts_;
};

inline constexpr std::array<std::array<uint8_t, 2>, 4> kFour{{{6, 2}, {14, 6}, {2, 10}, {10, 14}}};
inline constexpr std::array<std::array<uint8_t, 2>, 8> kEight{
    {{9, 5}, {7, 11}, {13, 9}, {5, 3}, {3, 13}, {1, 7}, {11, 15}, {15, 1}}};
inline constexpr std::array<std::array<uint8_t, 2>, 16> kSixteen{{{9, 9},
                                                                  {7, 5},
                                                                  {5, 10},
                                                                  {12, 7},
                                                                  {3, 6},
                                                                  {10, 13},
                                                                  {13, 11},
                                                                  {11, 3},
                                                                  {6, 14},
                                                                  {8, 1},
                                                                  {4, 2},
                                                                  {2, 12},
                                                                  {0, 8},
                                                                  {15, 4},
                                                                  {14, 15},
                                                                  {1, 0}}};

// Returns state that passes window coordinates unchanged: no clipping, no division, no viewport.
inline PipelineState window_state(int32_t width, int32_t height) {
  PipelineState state;
  state.clip.divide = false;
  state.raster.drawing = {.x_min = 0, .y_min = 0, .x_max = width - 1, .y_max = height - 1};
  state.raster.positions[0] = {8, 8};
  return state;
}

inline void set_samples(Raster& raster, uint8_t log2) {
  raster.samples_log2 = log2;
  raster.multisample = true;
  for (size_t i = 0; i < size_t{1} << log2; ++i) {
    raster.positions[i] = log2 == 4   ? kSixteen[i]
                          : log2 == 3 ? kEight[i]
                          : log2 == 2 ? kFour[i]
                          : log2 == 1 ? std::array<uint8_t, 2>{static_cast<uint8_t>(i == 0 ? 12 : 4),
                                                               static_cast<uint8_t>(i == 0 ? 12 : 4)}
                                      : std::array<uint8_t, 2>{8, 8};
  }
}

inline ClipVertex vertex_at(double x, double y, double z = 0, double w = 1) {
  ClipVertex vertex;
  vertex.position = {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z), static_cast<float>(w)};
  return vertex;
}

inline std::vector<ScreenPrimitive> on_screen(const PipelineState& state, const Primitive& primitive,
                                              uint32_t& line_steps) {
  Clipper clipper(state, 0);
  std::vector<ClippedPart> pieces;
  clipper.clip(primitive, pieces);
  std::vector<ScreenPrimitive> out;
  for (const ClippedPart& piece : pieces) {
    set_up(state, piece, out, line_steps);
  }
  return out;
}
inline std::vector<ScreenPrimitive> on_screen(const PipelineState& state, const Primitive& primitive) {
  uint32_t line_steps = 0;
  return on_screen(state, primitive, line_steps);
}

inline Primitive triangle(const ClipVertex& a, const ClipVertex& b, const ClipVertex& c) {
  Primitive made;
  made.vertex = {a, b, c};
  return made;
}

inline void draw(const PipelineState& state, const Primitive& primitive, CoverageMap& map, uint32_t& line_steps) {
  for (const ScreenPrimitive& each : on_screen(state, primitive, line_steps)) {
    Rasteriser(state, each)
        .walk({.x_min = 0, .y_min = 0, .x_max = map.width() - 1, .y_max = map.height() - 1},
              [&](const Subspan& span) { map.add(span); });
  }
}
inline void draw(const PipelineState& state, const Primitive& primitive, CoverageMap& map) {
  uint32_t line_steps = 0;
  draw(state, primitive, map, line_steps);
}

}  // namespace halogen::pipe3d
