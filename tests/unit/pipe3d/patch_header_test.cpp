// The places of tessellation factors in a patch header. Expected places are those that Mesa's compiled shaders write:
// version 22 for the first layout, version 26 (3DSTATE_TE with the layouts 2 and 3) for the reversed ones.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "pipe3d/geometry/hull_stage.h"

namespace halogen::pipe3d {
namespace {

// Returns the factors of a header whose dword i holds the float 10 + i.
TessellationFactors factors_of(TessellationDomain domain, PatchLayout layout) {
  Tessellation state;
  state.domain = domain;
  state.layout = layout;
  std::vector<Slot> header(2);
  for (uint32_t dword = 0; dword < 8; ++dword) {
    header[dword / 4][dword % 4] = std::bit_cast<uint32_t>(10.0f + static_cast<float>(dword));
  }
  return HullStage::factors(state, header);
}

TEST(PatchHeader, LegacyLayoutHasFactorsFromTheLastDwordDown) {
  const TessellationFactors quad = factors_of(TessellationDomain::quad, PatchLayout::legacy);
  EXPECT_EQ(quad.outer, (std::array<float, 4>{17, 16, 15, 14}));
  EXPECT_EQ(quad.inner, (std::array<float, 2>{13, 12}));
  const TessellationFactors triangle = factors_of(TessellationDomain::triangle, PatchLayout::legacy);
  EXPECT_EQ(triangle.outer, (std::array<float, 4>{17, 16, 15, 0}));
  EXPECT_EQ(triangle.inner[0], 14);
  const TessellationFactors line = factors_of(TessellationDomain::line, PatchLayout::legacy);
  EXPECT_EQ(line.outer[0], 16);
  EXPECT_EQ(line.outer[1], 17);
}

TEST(PatchHeader, ReversedLayoutHasFactorsFromTheFirstDwordUp) {
  const TessellationFactors quad = factors_of(TessellationDomain::quad, PatchLayout::reversed);
  EXPECT_EQ(quad.outer, (std::array<float, 4>{10, 11, 12, 13}));
  EXPECT_EQ(quad.inner, (std::array<float, 2>{14, 15}));
  const TessellationFactors triangle = factors_of(TessellationDomain::triangle, PatchLayout::reversed);
  EXPECT_EQ(triangle.outer, (std::array<float, 4>{10, 11, 12, 0}));
  EXPECT_EQ(triangle.inner[0], 13);
  const TessellationFactors line = factors_of(TessellationDomain::line, PatchLayout::reversed);
  EXPECT_EQ(line.outer[0], 11);
  EXPECT_EQ(line.outer[1], 10);
}

TEST(PatchHeader, SeparateLayoutHasTheInnerFactorOfATriangleWhereAQuadHasIt) {
  const TessellationFactors triangle = factors_of(TessellationDomain::triangle, PatchLayout::reversed_inside_separate);
  EXPECT_EQ(triangle.outer, (std::array<float, 4>{10, 11, 12, 0}));
  EXPECT_EQ(triangle.inner[0], 14);
  const TessellationFactors quad = factors_of(TessellationDomain::quad, PatchLayout::reversed_inside_separate);
  EXPECT_EQ(quad.outer, (std::array<float, 4>{10, 11, 12, 13}));
  EXPECT_EQ(quad.inner, (std::array<float, 2>{14, 15}));
}

TEST(PatchHeader, HeaderThatIsTooShortDiscardsThePatch) {
  const std::vector<Slot> one(1, Slot{0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000});
  for (const PatchLayout layout : {PatchLayout::legacy, PatchLayout::reversed}) {
    Tessellation state;
    state.layout = layout;
    EXPECT_FALSE(HullStage::factors(state, one).outer[0] > 0);
  }
}

}  // namespace
}  // namespace halogen::pipe3d
