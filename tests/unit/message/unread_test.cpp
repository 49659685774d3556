// Surface and sampler states with fields that the model does not read. Reports name the fields that messages used.
#include <set>

#include "sampler_bench.h"

namespace halogen::message {
namespace {

class UnreadState : public SamplerBench {
 protected:
  // Sends a sample with these states and returns the names of fields in the report.
  std::set<std::string> fields_of(hw::RENDER_SURFACE_STATE surface, hw::SAMPLER_STATE sampler) {
    sampler.lod_pre_clamp_enable = old();  // the modelled behaviour
    if (!old()) {
      sampler.lod_pre_clamp_mode = hw::SAMPLER_STATE::LodPreClampMode::ogl;
    }
    bind_state(1, surface);
    set_state(sampler);
    sample_level(0.5f, 0.5f, 0.0f, 0.0f);
    FidelityReport report;
    functions_.report(report);
    std::set<std::string> names;
    for (const auto& [key, entry] : report.entries()) {
      if (key.first == FidelityKind::field) {
        EXPECT_EQ(entry.fidelity, FidelityClass::approximate);
        EXPECT_FALSE(entry.reason.empty());
        names.insert(key.second);
      }
    }
    return names;
  }
  hw::RENDER_SURFACE_STATE plain() const { return image(hw::SurfaceFormat::R32_FLOAT, 4, 4); }
  hw::SAMPLER_STATE nearest() const { return filter(hw::MapFilter::NEAREST, hw::MipFilter::NONE, Mode::CLAMP); }
};
using Names = std::set<std::string>;

TEST_P(UnreadState, PlainStatesHaveNoUnreadFields) {
  EXPECT_EQ(fields_of(plain(), nearest()), Names{});
}

TEST_P(UnreadState, ASamplersFieldIsNamed) {
  hw::SAMPLER_STATE keyed = nearest();
  keyed.chroma_key_enable = true;
  EXPECT_EQ(fields_of(plain(), keyed), Names{"SAMPLER_STATE.chroma_key_enable"});
}

TEST_P(UnreadState, ASurfacesFieldIsNamed) {
  hw::RENDER_SURFACE_STATE lines = plain();
  lines.vertical_line_stride = true;
  EXPECT_EQ(fields_of(lines, nearest()), Names{"RENDER_SURFACE_STATE.vertical_line_stride"});
  EXPECT_EQ(fields_of(plain(), nearest()), Names{"RENDER_SURFACE_STATE.vertical_line_stride"})
      << "fields of earlier messages stay in the report";
}

INSTANTIATE_TEST_SUITE_P(Chips, UnreadState, ::testing::Values("i965", "g45", "snb", "bdw", "skl", "icl", "dg1"));

}  // namespace
}  // namespace halogen::message
