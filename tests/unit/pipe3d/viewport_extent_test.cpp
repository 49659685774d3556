// Viewport extents from Gen8 on: pixels outside of them are not drawn, whatever the clipper tests. Drivers turn the XY
// test off for points and lines, because a point whose centre is outside must not vanish, and rely on the extents
// (Mesa, iris_state.c: "viewport extents clipping takes care of pruning stray geometry").
#include "draw_world.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kSide = 64, kColor = 0x55;
// Inclusive, as the state has them.
constexpr uint32_t kLeft = 20, kRight = 41, kTop = 12, kBottom = 37;

class ViewportExtent : public DrawWorld, public ::testing::TestWithParam<const char*> {
 protected:
  ViewportExtent() : DrawWorld(GetParam()) {
    constexpr uint32_t kTable = 0x40, kSurface = 0x400, kViewportState = 0x1000;
    word(kStates + kTable) = kSurface;
    // A linear surface of R32_UINT.
    put(kStates + kSurface,
        std::vector<uint32_t>{1u << 29 | 0xd7u << 18 | 1u << 16 | 1u << 14, 0, (kSide - 1) | (kSide - 1) << 16,
                              kSide * 4 - 1, 0, 0, 0, 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16, kTarget, 0, 0, 0, 0, 0,
                              0, 0});
    // One to one, with a guard band that is far outside.
    const std::array<float, 16> view{1, 1, 1, 0, 0, 0, 0, 0, -9000, 9000, -9000, 9000, kLeft, kRight, kTop, kBottom};
    for (uint32_t c = 0; c < view.size(); ++c) real(kStates + kViewportState + c * 4) = view[c];
    hw::_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP viewports;
    viewports.sf_clip_viewport_pointer = kViewportState;
    send(viewports, 2);
    hw::_3DSTATE_BINDING_TABLE_POINTERS_PS table;
    table.binding_table_pointer = kTable;
    send(table, 2);
    hw::_3DSTATE_DRAWING_RECTANGLE whole;
    whole.clipped_drawing_rectangle_x_max = whole.clipped_drawing_rectangle_y_max = kSide - 1;
    send(whole, 4);
    hw::_3DSTATE_SAMPLE_MASK samples;
    samples.sample_mask = 1;
    send(samples, 2);
    hw::_3DSTATE_URB_VS urb;
    urb.urb_entry_allocation_size = 1;
    urb.number_of_urb_entries = 64;
    send(urb, 2);
    hw::_3DSTATE_RASTER raster;
    raster.cull_mode = hw::CullMode::NONE;
    send(raster, 5);
    hw::_3DSTATE_PS pixel;
    pixel.kernel_start_pointer_0 = kPs;
    pixel.dispatch_8_pixel_enable = true;
    pixel.dispatch_grf_start_register_for_constant_setup_data_0 = 4;
    send(pixel, 12);
    hw::_3DSTATE_PS_EXTRA extra;
    extra.pixel_shader_valid = true;
    send(extra, 2);
    hw::_3DSTATE_PS_BLEND blend;
    blend.has_writeable_rt = true;
    send(blend, 2);
    const std::string write = gen() == spec::GenId::gen12 ? "send.rc (8|M0) null r120 null 0x0 0x08031400 {EOT}\n"
                                                          : "send.rc (8|M0) null r120 0x0 0x08031400 {EOT}\n";
    kernel(kPs, "mov (8|M0) r120.0<1>:ud 0x55:ud\n" + write);
    std::vector<uint32_t> elements(5), buffer(5);
    EXPECT_TRUE(hw::_3DSTATE_VERTEX_ELEMENTS{}.pack(gen(), elements));
    elements[1] = 1u << 25 | 0x40u << 16;  // R32G32B32_FLOAT, for the header: zeros
    elements[2] = 2u << 28 | 2u << 24 | 2u << 20 | 2u << 16;
    elements[3] = 1u << 25 | 0x40u << 16;
    elements[4] = 1u << 28 | 1u << 24 | 1u << 20 | 3u << 16;
    send_words(hw::_3DSTATE_VERTEX_ELEMENTS::kDesc, elements);
    EXPECT_TRUE(hw::_3DSTATE_VERTEX_BUFFERS{}.pack(gen(), buffer));
    buffer[1] = 1u << 14 | 12;
    buffer[2] = kVertices;
    buffer[4] = 12 * 4;
    send_words(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, buffer);
  }

  void set_clip(bool xy_test, bool transform = true) {
    hw::_3DSTATE_CLIP clip;
    clip.clip_enable = true;
    clip.viewport_xy_clip_test_enable = xy_test;
    clip.guardband_clip_test_enable = true;
    clip.minimum_point_width = 0.125;
    clip.maximum_point_width = 255;
    send(clip, 4);
    hw::_3DSTATE_SF surface;
    surface.viewport_transform_enable = transform;
    surface.point_width = 16;
    surface.point_width_source = hw::PointWidthSource::STATE;
    surface.line_width = 6;
    if (gen() == spec::GenId::gen8) surface.chv_line_width = 6;  // Broadwell reads the other field
    send(surface, 4);
  }
  // Draws; returns the box of pixels that were written.
  Rectangle drawn(hw::PrimitiveTopology topology, std::initializer_list<std::array<float, 2>> vertices) {
    for (uint32_t at = 0; at < kSide * kSide; ++at) word(kTarget + at * 4) = 0;
    uint32_t number = 0;
    for (const auto& [x, y] : vertices) {
      real(kVertices + number * 12) = x;
      real(kVertices + number * 12 + 4) = y;
      real(kVertices + number * 12 + 8) = 0.5f;
      ++number;
    }
    draw({.topology = topology, .vertices = number});
    Rectangle box{.x_min = kSide, .y_min = kSide, .x_max = -1, .y_max = -1};
    for (int32_t y = 0; y < static_cast<int32_t>(kSide); ++y) {
      for (int32_t x = 0; x < static_cast<int32_t>(kSide); ++x) {
        if (word(kTarget + (static_cast<uint32_t>(y) * kSide + static_cast<uint32_t>(x)) * 4) != kColor) continue;
        box = {.x_min = std::min(box.x_min, x),
               .y_min = std::min(box.y_min, y),
               .x_max = std::max(box.x_max, x),
               .y_max = std::max(box.y_max, y)};
      }
    }
    return box;
  }
  static std::array<int32_t, 4> edges(const Rectangle& box) { return {box.x_min, box.y_min, box.x_max, box.y_max}; }
};

TEST_P(ViewportExtent, LimitsPointsWithAndWithoutTheXyTest) {
  for (const bool xy_test : {false, true}) {
    set_clip(xy_test);
    // 16 pixels wide, around the lower right corner of the viewport.
    EXPECT_EQ(edges(drawn(hw::PrimitiveTopology::POINTLIST, {{40, 36}})),
              (std::array<int32_t, 4>{32, 28, kRight, kBottom}));
    // The centre is outside; the viewport still shows the part that is inside.
    EXPECT_EQ(edges(drawn(hw::PrimitiveTopology::POINTLIST, {{16, 10}})),
              (std::array<int32_t, 4>{kLeft, kTop, 23, 17}));
  }
}

TEST_P(ViewportExtent, LimitsLinesWithoutTheXyTest) {
  set_clip(false);
  const Rectangle box = drawn(hw::PrimitiveTopology::LINELIST, {{2, 24}, {60, 24}});
  EXPECT_EQ(box.x_min, static_cast<int32_t>(kLeft));
  EXPECT_EQ(box.x_max, static_cast<int32_t>(kRight));
  EXPECT_EQ(box.y_max - box.y_min + 1, 6);
}

TEST_P(ViewportExtent, DoesNotLimitPositionsThatAreAlreadyOnTheScreen) {
  set_clip(false, false);
  EXPECT_EQ(edges(drawn(hw::PrimitiveTopology::POINTLIST, {{40, 36}})), (std::array<int32_t, 4>{32, 28, 47, 43}));
}

INSTANTIATE_TEST_SUITE_P(Chips, ViewportExtent, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace halogen::pipe3d
