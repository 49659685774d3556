// Alpha to coverage beside a sample mask of the shader: the mask has the coverage of alpha already, so hardware adds
// none (SKL PRM vol. 7, "Alpha Coverage": disabled if the shader outputs oMask, whatever the state says).
#include "draw_world.h"
#include "hw/blend.h"

namespace halogen::pipe3d {
namespace {

class AlphaCoverage : public DrawWorld, public ::testing::TestWithParam<const char*> {
 protected:
  AlphaCoverage() : DrawWorld(GetParam()) {}
  Blend blend_of(bool enable, bool dither, bool mask) {
    constexpr uint32_t kBlend = 0x800;
    std::vector<uint32_t> words(1);
    hw::BLEND_STATE state;
    state.alpha_to_coverage_enable = enable;
    state.alpha_to_coverage_dither_enable = dither;
    EXPECT_TRUE(state.pack(gen(), words));
    put(kStates + kBlend, words);
    hw::_3DSTATE_BLEND_STATE_POINTERS pointer;
    pointer.blend_state_pointer = kBlend;
    pointer.blend_state_pointer_valid = true;
    send(pointer, 2);
    hw::_3DSTATE_PS_EXTRA extra;
    extra.pixel_shader_valid = true;
    extra.omask_present_to_render_target = mask;
    send(extra, 2);
    return DrawWorld::state().output.blend;
  }
};

TEST_P(AlphaCoverage, SampleMaskOfTheShaderReplacesIt) {
  EXPECT_TRUE(blend_of(true, false, false).alpha_to_coverage);
  EXPECT_FALSE(blend_of(true, false, true).alpha_to_coverage);
  EXPECT_FALSE(blend_of(false, false, false).alpha_to_coverage);
}

TEST_P(AlphaCoverage, DitheringIsAStateOfItsOwn) {
  EXPECT_TRUE(blend_of(true, true, false).dithers_coverage);
  EXPECT_FALSE(blend_of(true, false, false).dithers_coverage);
}

INSTANTIATE_TEST_SUITE_P(Chips, AlphaCoverage, ::testing::Values("bdw", "skl", "icl", "tgl"),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace halogen::pipe3d
