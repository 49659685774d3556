// Groups of commands of the 3D pipeline that INSTPM disables. G45 PRM vol. 1b 5.3.3, 5.9 (seed 003).
#include "gen4_draw.h"

namespace halogen {
namespace {

constexpr uint32_t kStateGroup = 0x0002, kPrimitiveGroup = 0x0004, kMediaGroup = 0x0008;

class DrawGroups : public ::testing::TestWithParam<std::string> {
 protected:
  DrawGroups() : bench(GetParam()) {
    target.base = bench.pages_for_surface();
    texture.base = bench.pages_for_surface();
    depth.base = bench.pages_for_surface();
    bench.fill_texture(texture, kSeed);
  }
  void disable(uint32_t groups) { bench.set_reg(Gen4Draw::kRcs, kInstpm, 0x000e'0000 | groups); }
  // Draws with a depth buffer. Returns what was drawn: c colour, d depth.
  std::string drawn() {
    bench.clear(target), bench.clear(depth);
    bench.draw(target, texture, &depth);
    std::string what;
    what += bench.is_drawn(target, kSeed) ? "c" : "";
    what += bench.pixel(depth, 63, 15) == 0x3f00'0000u ? "d" : "";
    EXPECT_TRUE(what.find('c') != std::string::npos || bench.pixel(target, 0, 0) == 0);
    return what;
  }

  static constexpr uint32_t kSeed = 0x1357;
  Gen4Draw bench;
  Gen4Draw::Surface target, texture, depth;
};

TEST_P(DrawGroups, DisabledGroupsDoNotReachThePipeline) {
  COVERS("G45-5.3.3-02");
  bench.draw(target, texture);  // without a depth buffer
  EXPECT_TRUE(bench.is_drawn(target, kSeed));
  disable(kPrimitiveGroup);
  EXPECT_EQ(drawn(), "") << "no primitive";
  disable(kStateGroup);
  bench.draw(target, texture);
  EXPECT_TRUE(bench.is_drawn(target, kSeed)) << "the state is complete";
  disable(kMediaGroup);
  EXPECT_EQ(drawn(), "cd") << "another group";
  EXPECT_EQ(bench.host.log.events().size(), 0u);
}

TEST_P(DrawGroups, StateOfADisabledGroupIsNotChanged) {
  COVERS("G45-5.3.3-02");
  bench.draw(target, texture);
  disable(kStateGroup);
  EXPECT_EQ(drawn(), "c") << "the depth buffer stays null";
  disable(0);
  EXPECT_EQ(drawn(), "cd");
}

TEST_P(DrawGroups, ResetEnablesAllGroups) {
  COVERS("G45-5.3.3-02");
  disable(kStateGroup | kPrimitiveGroup | kMediaGroup);
  EXPECT_EQ(drawn(), "");
  bench.device->reset_engine(bench.engine_model(Gen4Draw::kRcs));
  bench.enable_table();  // a register of the engine's block
  bench.start_ring(Gen4Draw::kRcs, 8);
  EXPECT_EQ(drawn(), "cd");
}

// GT2 has 2048 rows of 256 bits. Sizes are in units of four rows, minus one.
TEST(UrbRows, EntriesBeyondTheUrbAreReported) {
  COVERS("NOTES-URB-01");
  FlowBench bench("snb");
  bench.start_ring(Gen4Draw::kRcs);
  const auto reported = [&](uint32_t vertices, uint32_t vertex_rows, uint32_t geometry, uint32_t geometry_rows) {
    bench.host.log.clear();
    const uint32_t vertex_size = vertex_rows / 4 - 1, geometry_size = geometry_rows / 4 - 1;
    bench.run_all(Gen4Draw::kRcs, {0x7805'0001, vertex_size << 16 | vertices, geometry << 8 | geometry_size, kNoop});
    return bench.undefined() != 0;
  };
  EXPECT_FALSE(reported(256, 8, 0, 4));
  EXPECT_TRUE(reported(256, 12, 0, 4)) << "3072 rows";
  EXPECT_FALSE(reported(128, 8, 128, 8));
  EXPECT_TRUE(reported(132, 8, 128, 8)) << "2080 rows";
  EXPECT_TRUE(reported(128, 8, 132, 8));
  EXPECT_FALSE(reported(128, 12, 128, 4));
}

INSTANTIATE_TEST_SUITE_P(Chips, DrawGroups, ::testing::ValuesIn(gen4_chips()), chip_name);

}  // namespace
}  // namespace halogen
