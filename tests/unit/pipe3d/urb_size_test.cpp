// Sizes of URB entries. Gen12 has two commands for each stage: 3DSTATE_URB_VS and its siblings, and
// 3DSTATE_URB_ALLOC_VS and its siblings, with an address and a count for slice 0 and one for the other slices. Both
// give the size in units of 64 bytes, minus one: Mesa's genxml (gen12), and Mesa 25, which sends only the second form.
#include "draw_world.h"
#include "spec/command_table.h"

namespace halogen::pipe3d {
namespace {

using Sizes = std::array<uint32_t, 4>;  // slots of 16 bytes: vertex, hull, domain, geometry

Sizes sizes(DrawWorld& world) {
  const PipelineState state = world.state();
  return {state.vertex_shader.entry_slots, state.tessellation.patch_slots, state.tessellation.domain_slots,
          state.geometry.entry_slots};
}

template <class Command>
void send_size(DrawWorld& world, size_t dwords, uint16_t units) {
  Command command;
  command.urb_entry_allocation_size = units;
  world.send(command, dwords);
}
void send_whole(DrawWorld& world, uint16_t units) {
  send_size<hw::_3DSTATE_URB_VS>(world, 2, units);
  send_size<hw::_3DSTATE_URB_HS>(world, 2, units + 1);
  send_size<hw::_3DSTATE_URB_DS>(world, 2, units + 2);
  send_size<hw::_3DSTATE_URB_GS>(world, 2, units + 3);
}
void send_by_slice(DrawWorld& world, uint16_t units) {
  send_size<hw::_3DSTATE_URB_ALLOC_VS>(world, 3, units);
  send_size<hw::_3DSTATE_URB_ALLOC_HS>(world, 3, units + 1);
  send_size<hw::_3DSTATE_URB_ALLOC_DS>(world, 3, units + 2);
  send_size<hw::_3DSTATE_URB_ALLOC_GS>(world, 3, units + 3);
}

class UrbSizes : public testing::TestWithParam<const char*> {};

TEST_P(UrbSizes, TheLastOfTwoCommandsSetsTheSize) {
  DrawWorld world(GetParam());
  send_whole(world, 0);
  EXPECT_EQ(sizes(world), (Sizes{4, 8, 12, 16}));
  send_by_slice(world, 4);
  EXPECT_EQ(sizes(world), (Sizes{20, 24, 28, 32}));
  send_whole(world, 9);
  EXPECT_EQ(sizes(world), (Sizes{40, 44, 48, 52}));
}

// A context image holds the commands of Settings; it is parsed in their order.
TEST_P(UrbSizes, AContextImageKeepsTheLastCommandOnly) {
  DrawWorld world(GetParam());
  send_by_slice(world, 4);
  send_whole(world, 9);
  EXPECT_TRUE(world.settings.has(spec::CommandId::_3DSTATE_URB_GS));
  EXPECT_FALSE(world.settings.has(spec::CommandId::_3DSTATE_URB_ALLOC_GS));
  send_by_slice(world, 4);
  EXPECT_FALSE(world.settings.has(spec::CommandId::_3DSTATE_URB_GS));
  EXPECT_TRUE(world.settings.has(spec::CommandId::_3DSTATE_URB_ALLOC_GS));
}

INSTANTIATE_TEST_SUITE_P(Chips, UrbSizes, testing::Values("tgl", "dg1"), [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::pipe3d
