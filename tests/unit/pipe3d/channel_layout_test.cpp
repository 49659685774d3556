// Layouts of vectors in registers: the four components of a vertex are adjacent, while a component of eight pixels is
// one register. The render target message converts the second layout to the first.
#include "covers.h"
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

TEST(ChannelLayout, VertexThreadsHoldVectorsAndPixelThreadsChannels) {
  COVERS("NOTES-EU-03");
  SandyDraw world;
  std::vector<std::vector<uint32_t>> all;
  for (uint32_t i = 0; i < 3; ++i) {
    const auto n = static_cast<float>(i + 1);
    const float x = i == 1 ? 120.0f : -40.0f;
    const float y = i == 2 ? 130.0f : -40.0f;
    all.push_back({0, 0, 0, 0, bits(x), bits(y), 0, bits(1), bits(n), bits(10 * n), bits(100 * n), bits(1000 * n),
                   bits(0.5f), bits(0.25f), bits(0.125f), bits(n / 16)});
  }
  world.entries(all);
  world.paint();
  world.surface.triangle_strip_list_provoking_vertex_select = 2;
  // The vertex shader adds slot 3, with its components in reverse order, to slot 2: one instruction for both vertices.
  world.vertex.enable = true;
  world.vertex.dispatch_grf_start_register_for_urb_data = 1;
  world.vertex.vertex_urb_entry_read_length = 2;
  world.kernel(SandyDraw::kVs,
               "add (8|M0) r3.0<1>.xyzw:f r3.0<4>.xyzw:f r4.0<4>.wzyx:f {Align16}\n" + SandyDraw::write_pair(1, 4));
  // Pixel threads send a register per component: the weights from the payload, then y and w of the attribute.
  world.pixel.barycentric_interpolation_mode = 1;
  world.pixel.dispatch_grf_start_register_for_constant_setup_data_0 = 4;
  hw::_3DSTATE_DRAWING_RECTANGLE part;
  part.clipped_drawing_rectangle_x_min = 8;
  part.clipped_drawing_rectangle_y_min = 4;
  part.clipped_drawing_rectangle_x_max = 11;
  part.clipped_drawing_rectangle_y_max = 5;
  world.send(part, 4);
  world.kernel(SandyDraw::kPs, "(W) mov (8|M0) r99.0<1>:ud 0x0:ud\n" + SandyDraw::copy("r99.0<0;1,0>:ud", 0, 6) +
                                   SandyDraw::move_to(1, "r2.0<8;8,1>:ud") + SandyDraw::move_to(2, "r3.0<8;8,1>:ud") +
                                   SandyDraw::move_to(3, "r4.7<0;1,0>:ud") + SandyDraw::move_to(4, "r5.7<0;1,0>:ud") +
                                   "sendc.rc (8|M0) null m1 0x0 0x8019401 {EOT}\n");
  world.draw(hw::PrimitiveTopology::TRILIST, 3);

  for (uint32_t channel = 0; channel < 8; ++channel) {
    const uint32_t origin = world.copied(0, 1, 2 + channel / 4);
    const uint32_t x = (origin & 0xffff) + channel % 2;
    const uint32_t y = (origin >> 16) + channel / 2 % 2;
    // From its first corner the triangle extends 160 pixels to the right and 170 down.
    const float right = (static_cast<float>(x) + 0.5f + 40) / 160;
    const float down = (static_cast<float>(y) + 0.5f + 40) / 170;
    const float u = world.copied_real(0, 2, channel);
    const float v = world.copied_real(0, 3, channel);
    EXPECT_TRUE((std::abs(u - right) < 1e-6f && std::abs(v - down) < 1e-6f)) << u << " " << v << " " << channel;
    EXPECT_EQ(world.pixel_at(x, y, 0), u);
    EXPECT_EQ(world.pixel_at(x, y, 1), v);
    // Values of the last corner: 30 + 0.125, 3000 + 0.5.
    EXPECT_EQ(world.pixel_at(x, y, 2), 30.125f);
    EXPECT_EQ(world.pixel_at(x, y, 3), 3000.5f);
  }
}

}  // namespace
}  // namespace halogen::pipe3d
