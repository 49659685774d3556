// The payload of pixel shader threads: subspans of one primitive to registers. PixelGroup keeps what each channel
// draws, for the messages that the thread sends.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "eu/exec/thread.h"
#include "pipe3d/raster/rasteriser.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

inline constexpr size_t kMaxLanes = 32;

struct Lane {
  int32_t x = 0;
  int32_t y = 0;
  uint32_t coverage = 0;  // samples that this channel draws; none: it only helps its neighbours
  uint8_t sample = 0;     // of a thread that runs once a sample
  bool tested = false;    // depth and stencil
  bool weighed = false;   // alpha
};

struct PixelGroup {
  const ScreenPrimitive* primitive = nullptr;
  const Rasteriser* raster = nullptr;
  unsigned width = 8;
  std::array<Lane, kMaxLanes> lanes{};

  uint32_t covered = 0;  // channels with coverage

  void find_covered();
  uint32_t live() const { return covered; }
  uint32_t helped() const;  // and all others of their subspans
};

// Depth of each sample of a pixel, clamped to the viewport's range.
std::array<float, kMaxSamples> sample_depths(const PipelineState& state, const ScreenPrimitive& primitive,
                                             const Rasteriser& raster, int32_t x, int32_t y, uint32_t samples);

// Returns the depths of the four pixels of a square, one sample each.
std::array<float, 4> square_depths(const PipelineState& state, const ScreenPrimitive& primitive,
                                   const Rasteriser& raster, int32_t x, int32_t y);

struct FilledRegisters {
  size_t payload_end = 0;  // behind the registers that depend on the pixels
  size_t end = 0;          // behind all
};

// Fills the registers of the payload but r0.3 to r0.5, and writes the attributes behind the constants, at `data_grf`.
FilledRegisters fill_pixel_payload(const PipelineState& state, spec::GenId gen, const PixelGroup& group,
                                   std::span<const uint32_t> attributes, size_t data_grf, eu::Thread& thread);

}  // namespace halogen::pipe3d
