// State that draws and dispatches share.
#include "engine/backend/render_state.h"

#include <gtest/gtest.h>

#include <string>

#include "gen/generation.h"
#include "spec/command_table.h"
#include "spec/device_model.h"

namespace halogen::engine {
namespace {

class RenderStateTest : public testing::TestWithParam<std::string> {};

TEST_P(RenderStateTest, AppendedCommandsRestoreTheState) {
  const spec::DeviceModel& model = *spec::find_device(GetParam());
  RenderState state;
  state.pipeline = 2;
  state.pipeline_masked = GetParam() != "bdw" && GetParam() != "chv";  // mask bits came with Gen9
  state.has_bases = true;
  state.bases = {0x1000, 0x8001'0000'0000, 0x3000, 0x4000, 0x5000, 0, 0};
  std::vector<uint32_t> words;
  state.append_commands(model.gen, words);
  RenderState back;
  const auto& table = spec::CommandTable::get(model.id, spec::EngineClass::render);
  for (size_t at = 0; at < words.size();) {
    const auto [desc, length] = table.frame(words[at]);
    ASSERT_NE(desc, nullptr);
    EXPECT_TRUE(back.change(model.gen, desc->id, std::span(words).subspan(at, length))) << desc->name;
    at += length;
  }
  EXPECT_TRUE(back == state);
}

INSTANTIATE_TEST_SUITE_P(Chips, RenderStateTest, testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return chip.param; });

TEST(PipelineSelect, FromGen9OnOnlyBitsWithTheirMaskBitSetTakeEffect) {
  const auto select = [](spec::GenId gen, uint32_t bits, RenderState& state) {
    const uint32_t word = 0x6904'0000 | bits;
    EXPECT_TRUE(state.change(gen, spec::CommandId::PIPELINE_SELECT, std::span(&word, 1)));
    return state.pipeline;
  };
  RenderState state;
  EXPECT_EQ(select(spec::GenId::gen9, 0x302, state), 2);
  EXPECT_EQ(select(spec::GenId::gen9, 0x001, state), 2) << "no mask, no change";
  EXPECT_EQ(select(spec::GenId::gen9, 0x101, state), 3);
  EXPECT_EQ(select(spec::GenId::gen9, 0x200, state), 1);
  EXPECT_EQ(select(spec::GenId::gen12, 0x1312, state), 2);
  EXPECT_EQ(select(spec::GenId::gen8, 0, state), 0);
}

TEST(RenderState, CommandsOfOnePipelineAreNotAccepted) {
  RenderState state;
  const uint32_t word = 0x7004'0000;
  EXPECT_FALSE(state.change(spec::GenId::gen9, spec::CommandId::MEDIA_STATE_FLUSH, std::span(&word, 1)));
  EXPECT_TRUE(state == RenderState{});
}

}  // namespace
}  // namespace halogen::engine
