// Primitive replication of Gen12: each primitive is drawn once for every view. Layout of entries and meaning of the
// command: Mesa's brw_compute_vue_map and emit_3dstate_primitive_replication. The expected picture follows from the
// positions in the entries.
#include <algorithm>
#include <random>

#include "draw_world.h"
#include "pipe3d/geometry/clip_vertex.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kSide = 64, kLayers = 16, kViewports = 4;
constexpr uint32_t kSlot_B = 16;

uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

struct Point {
  uint32_t layer = 0;
  uint32_t viewport = 0;
  std::vector<std::array<uint32_t, 2>> places{};  // pixel in the viewport, for each view
  bool cut = false;                               // by a user clip distance
};

class Views : public DrawWorld, public ::testing::TestWithParam<const char*> {
 protected:
  Views() : DrawWorld(GetParam()) {
    constexpr uint32_t kTable = 0x40, kSurface = 0x400, kViewportState = 0x1000;
    word(kStates + kTable) = kSurface;
    // A linear array of R32_UINT.
    put(kStates + kSurface,
        std::vector<uint32_t>{1u << 29 | 1u << 28 | 0xd7u << 18 | 1u << 16 | 1u << 14, kSide / 4,
                              (kSide - 1) | (kSide - 1) << 16, (kLayers - 1) << 21 | (kSide * 4 - 1),
                              (kLayers - 1) << 7, 0, 0, 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16, kTarget, 0, 0, 0, 0,
                              0, 0, 0});
    // Each viewport is 16 pixels right of the previous one.
    for (uint32_t i = 0; i < kViewports; ++i) {
      const std::array<float, 6> matrix{1, 1, 1, 16 * static_cast<float>(i), 0, 0};
      for (uint32_t c = 0; c < matrix.size(); ++c) real(kStates + kViewportState + i * 64 + c * 4) = matrix[c];
      // Extents: x_min and x_max, y_min and y_max.
      real(kStates + kViewportState + i * 64 + 13 * 4) = real(kStates + kViewportState + i * 64 + 15 * 4) = kSide - 1;
    }
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
    urb.urb_entry_allocation_size = 4;
    urb.number_of_urb_entries = 64;
    send(urb, 2);
    clip_.clip_enable = true;
    clip_.maximum_vp_index = kViewports - 1;
    clip_.minimum_point_width = 0.125;
    clip_.maximum_point_width = 255;
    clip_.force_user_clip_distance_clip_test_enable_bitmask = true;
    clip_.user_clip_distance_clip_test_enable_bitmask = 1u << 2;
    send(clip_, 4);
    hw::_3DSTATE_SF surface;
    surface.viewport_transform_enable = true;
    surface.point_width = 1;
    surface.point_width_source = hw::PointWidthSource::STATE;
    send(surface, 4);
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
    // Writes the layer of the payload (Mesa: bits 26:16 of r1.1) plus 55h.
    kernel(kPs,
           "and (8|M0) r120.0<1>:ud r1.1<0;1,0>:ud 0x7ff0000:ud\n"
           "or (8|M0) r120.0<1>:ud r120.0<8;8,1>:ud 0x55:ud\n"
           "send.rc (8|M0) null r120 null 0x0 0x08031400 {EOT}\n");
  }

  // Sets vertices: header, one position for each view, four distances.
  void set_vertices(const std::vector<Point>& points) {
    const size_t slots = points.front().places.size() + 2;
    std::vector<uint32_t> elements(1 + slots * 2), buffer(5);
    ASSERT_TRUE(hw::_3DSTATE_VERTEX_ELEMENTS{}.pack(gen(), elements));
    for (uint32_t i = 0; i < slots; ++i) {
      constexpr uint32_t kFour32 = 2, kSource = 1;  // R32G32B32A32_UINT
      elements[1 + i * 2] = 1u << 25 | kFour32 << 16 | i * kSlot_B;
      elements[2 + i * 2] = kSource << 28 | kSource << 24 | kSource << 20 | kSource << 16;
    }
    send_words(hw::_3DSTATE_VERTEX_ELEMENTS::kDesc, elements);
    const auto pitch = static_cast<uint32_t>(slots * kSlot_B);
    ASSERT_TRUE(hw::_3DSTATE_VERTEX_BUFFERS{}.pack(gen(), buffer));
    buffer[1] = 1u << 14 | pitch;
    buffer[2] = kVertices;
    buffer[4] = static_cast<uint32_t>(pitch * points.size());
    send_words(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, buffer);
    for (size_t n = 0; n < points.size(); ++n) {
      constexpr float kW = 2;
      std::vector<uint32_t> entry{0, points[n].layer, points[n].viewport, 0};
      for (const auto& [x, y] : points[n].places) {
        for (const float value :
             {(static_cast<float>(x) + 0.5f) * kW, (static_cast<float>(y) + 0.5f) * kW, kW / 2, kW}) {
          entry.push_back(bits(value));
        }
      }
      for (uint32_t i = 0; i < 4; ++i) entry.push_back(bits(i == 2 && points[n].cut ? -1.0f : 1.0f));
      put(kVertices + n * pitch, entry);
    }
  }
  uint32_t& pixel(uint32_t layer, uint32_t x, uint32_t y) {
    return word(kTarget + ((layer * kSide + y) * kSide + x) * 4);
  }
  Outcome draw_points(size_t count) {
    for (uint32_t at = 0; at < kLayers * kSide * kSide; ++at) word(kTarget + at * 4) = 0;
    return draw({.topology = hw::PrimitiveTopology::POINTLIST, .vertices = static_cast<uint32_t>(count)});
  }

  hw::_3DSTATE_CLIP clip_;
};

TEST_P(Views, EachPrimitiveIsDrawnAtItsPositionInEveryViewOfTheMask) {
  std::mt19937 random(20);
  for (const uint32_t views : {2u, 3u, 5u, 16u, 1u}) {
    hw::_3DSTATE_PRIMITIVE_REPLICATION command;
    command.replication_count = static_cast<uint8_t>(views - 1);
    // With one view the mask and the offsets mean nothing.
    command.replica_mask = static_cast<uint16_t>(views == 1 ? 0 : random());
    for (uint32_t view = 0; view < 16; ++view) {
      command.rtai_offsets[view].offset = static_cast<uint8_t>(random() % 13);
      command.viewport_offsets[view].offset = static_cast<uint8_t>(random() % 4);
    }
    send(command, 6);
    std::vector<Point> points(40);
    for (Point& point : points) {
      point.layer = static_cast<uint32_t>(random() % 3);
      point.viewport = static_cast<uint32_t>(random() % 3);
      point.cut = random() % 4 == 0;
      for (uint32_t view = 0; view < views; ++view) {
        point.places.push_back({static_cast<uint32_t>(random() % 16), static_cast<uint32_t>(random() % kSide)});
      }
    }
    set_vertices(points);
    const Outcome outcome = draw_points(points.size());
    std::vector<uint32_t> wanted(size_t{kLayers} * kSide * kSide);
    uint64_t drawn = 0;
    for (const Point& point : points) {
      for (uint32_t view = 0; view < views; ++view) {
        if (point.cut || (views > 1 && (command.replica_mask >> view & 1) == 0)) continue;
        const uint32_t layer = point.layer + (views > 1 ? command.rtai_offsets[view].offset : 0);
        const uint32_t number = point.viewport + (views > 1 ? command.viewport_offsets[view].offset : 0);
        const uint32_t x = point.places[view][0] + 16 * (number < kViewports ? number : 0);
        wanted[(size_t{layer} * kSide + point.places[view][1]) * kSide + x] = layer << 16 | 0x55;
        ++drawn;
      }
    }
    EXPECT_EQ(outcome.counts.clip_out, drawn) << views;
    size_t wrong = 0;
    for (uint32_t at = 0; at < wanted.size(); ++at) wrong += word(kTarget + at * 4) != wanted[at] ? 1u : 0u;
    EXPECT_EQ(wrong, 0u) << views << " views, mask " << command.replica_mask;
  }
}

TEST_P(Views, ForcedLayerZeroHoldsForEveryView) {
  hw::_3DSTATE_PRIMITIVE_REPLICATION command;
  command.replication_count = 1;
  command.replica_mask = 3;
  command.rtai_offsets[1].offset = 5;
  send(command, 6);
  clip_.force_zero_rta_index_enable = true;
  send(clip_, 4);
  set_vertices({{.layer = 2, .places = {{3, 4}, {7, 8}}}});
  draw_points(1);
  EXPECT_EQ(pixel(0, 3, 4), 0x55u);
  EXPECT_EQ(pixel(0, 7, 8), 0x55u);
}

// A guest can set more views than entries have positions.
TEST_P(Views, ViewsWithoutAPositionInTheEntryAreNotDrawn) {
  hw::_3DSTATE_URB_VS urb;
  urb.urb_entry_allocation_size = 0;  // four slots: a header and three positions
  urb.number_of_urb_entries = 64;
  send(urb, 2);
  hw::_3DSTATE_PRIMITIVE_REPLICATION command;
  command.replication_count = 15;
  command.replica_mask = 0xffff;
  for (uint8_t view = 0; view < 16; ++view) command.rtai_offsets[view].offset = view;
  send(command, 6);
  clip_.user_clip_distance_clip_test_enable_bitmask = 0;
  send(clip_, 4);
  set_vertices({{.places = {{3, 4}, {5, 6}}}});
  const Outcome outcome = draw_points(1);
  EXPECT_EQ(pixel(0, 3, 4), 0x55u);
  EXPECT_EQ(pixel(1, 5, 6), 0x1'0055u);
  EXPECT_LE(outcome.counts.clip_out, 3u);
}

INSTANTIATE_TEST_SUITE_P(Chips, Views, ::testing::Values("tgl", "dg1"));

}  // namespace
}  // namespace halogen::pipe3d
