// The payload of pixel shader threads: writes subspans of one primitive to registers. PixelGroup holds the pixel of
// each channel, for the messages that the thread sends.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "eu/thread.h"
#include "pipe3d/raster/rasteriser.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

inline constexpr size_t kMaxLanes = 32;

struct Lane {
  int32_t x = 0;
  int32_t y = 0;
  uint32_t coverage = 0;  // samples that this channel draws; zero: a helper channel
  uint8_t sample = 0;     // of a thread that runs once per sample
  bool tested = false;    // depth and stencil are tested
  bool weighed = false;   // alpha test and alpha-to-coverage are applied
};

struct PixelGroup {
  const ScreenPrimitive* primitive = nullptr;
  const Rasteriser* raster = nullptr;
  unsigned width = 8;
  std::array<Lane, kMaxLanes> lanes{};

  uint32_t covered = 0;  // channels with coverage

  void find_covered();
  uint32_t live() const { return covered; }
  uint32_t helped() const;  // and all other channels of their subspans
};

// Returns the depth of each sample of a pixel, clamped to the viewport's range.
std::array<float, kMaxSamples> sample_depths(const PipelineState& state, const ScreenPrimitive& primitive,
                                             const Rasteriser& raster, int32_t x, int32_t y, uint32_t samples);

// Returns the depths of the four pixels of a square, one sample each.
std::array<float, 4> square_depths(const PipelineState& state, const ScreenPrimitive& primitive,
                                   const Rasteriser& raster, int32_t x, int32_t y);

struct FilledRegisters {
  size_t payload_end = 0;  // first register after those that depend on the pixels
  size_t end = 0;          // first register after all
};

// Writes the registers of the payload, except r0.3 to r0.5. Writes the attributes too: after the constants, at
// `data_grf`.
FilledRegisters fill_pixel_payload(const PipelineState& state, spec::GenId gen, const PixelGroup& group,
                                   std::span<const uint32_t> attributes, size_t data_grf, eu::Thread& thread);

}  // namespace halogen::pipe3d
