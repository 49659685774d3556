// The distance between layers of multisampled surfaces on Gen6, where state does not contain it (Sandy Bridge PRM vol.
// 4 part 1, surface arrays).
#include <gtest/gtest.h>

#include "message/surface.h"
#include "spec/device_model.h"

namespace halogen::message {
namespace {

constexpr uint32_t kAlign = 4;

uint64_t distance(uint32_t height) {
  hw::RENDER_SURFACE_STATE state;
  state.surface_type = hw::SurfaceType::SURFTYPE_2D;
  state.surface_format = hw::SurfaceFormat::R8G8B8A8_UNORM;
  state.width = 7;
  state.height = static_cast<uint16_t>(height - 1);
  state.depth = 1;
  state.surface_pitch = 127;
  state.number_of_multisamples = hw::SampleCount::MULTISAMPLECOUNT_4;
  state.surface_vertical_alignment = static_cast<decltype(state.surface_vertical_alignment)>(1);  // 4 rows
  const Surface surface = decode_surface(Generation(*spec::find_device("snb")), state);
  return (texel_address(surface, 0, 0, 1, 0, 0) - surface.base) / 128;
}

uint32_t with_samples(uint32_t height) {  // interleaved: two rows of samples per row, for pairs of rows
  return (height + 1) / 2 * 4;
}
uint32_t aligned(uint32_t rows) {
  return (rows + kAlign - 1) / kAlign * kAlign;
}

// The equation of the manual, with its erratum: four additional rows for heights of 5, 9, 13...
TEST(SampleLayers, DistanceFollowsTheManual) {
  for (uint32_t height = 2; height < 300; ++height) {
    const uint32_t equation = aligned(with_samples(height)) + aligned(with_samples(height / 2)) + 11 * kAlign;
    EXPECT_EQ(distance(height), equation + (height % 4 == 1 ? 4 : 0)) << height;
  }
}

// Drivers describe targets with an even height and textures with the real one. Both must have the same layout.
TEST(SampleLayers, TargetsWithAnEvenHeightHaveTheLayersOfTextures) {
  for (uint32_t height = 1; height < 300; height += 2) {
    EXPECT_EQ(distance(height), distance(height + 1)) << height;
  }
}

}  // namespace
}  // namespace halogen::message
