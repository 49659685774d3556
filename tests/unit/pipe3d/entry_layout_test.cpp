// Entries of Gen6 between the stages: which units write and read them, their size, and the meaning of each dword for
// the units after the shaders.
#include "covers.h"
#include "sandy_draw.h"
#include "spec/command_table.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

class EntryLayout : public ::testing::Test {
 protected:
  // Sets a vertex shader that copies its slots.
  void pass_on(uint32_t slots) {
    world_.vertex.enable = true;
    world_.vertex.dispatch_grf_start_register_for_urb_data = 1;
    world_.vertex.vertex_urb_entry_read_length = static_cast<uint8_t>((slots + 1) / 2);
    std::string text;
    // A message has at most fourteen registers of data.
    uint32_t first = 0;
    for (; slots - first > 14; first += 14) {
      text += "(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n";
      for (uint32_t i = 0; i < 14; ++i) {
        text += SandyDraw::move_to(2 + i, "r" + std::to_string(1 + first + i) + ".0<8;8,1>:ud");
      }
      text += "(W) send.urb (8|M0) null m1 0x0 " +
              SandyDraw::hex(15u << 25 | 1u << 19 | SandyDraw::kUsed | 1u << 10 | (first / 2) << 4) + "\n";
    }
    const uint32_t rest = slots - first + (slots - first) % 2;
    text += "(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n";
    for (uint32_t i = 0; i < rest; ++i) {
      text += SandyDraw::move_to(2 + i, "r" + std::to_string(1 + first + i) + ".0<8;8,1>:ud");
    }
    text += "(W) send.urb (8|M0) null m1 0x0 " + SandyDraw::hex((1 + rest) << 25 | 0x8'c400 | (first / 2) << 4) +
            " {EOT}\n";
    world_.kernel(SandyDraw::kVs, text);
  }
  // Sets a geometry shader that only copies the payload of the first vertex, from r2 on.
  void look(uint32_t rows) {
    world_.geometry.enable = true;
    world_.geometry.rendering_enabled = true;
    world_.geometry.kernel_start_pointer = SandyDraw::kGs;
    world_.geometry.dispatch_grf_start_register_for_urb_data = 2;
    world_.geometry.vertex_urb_entry_read_length = static_cast<uint8_t>(rows);
    world_.kernel(SandyDraw::kGs, SandyDraw::copy("r0.1<0;1,0>:ud", 0, 2 + rows) + SandyDraw::end_of_geometry());
  }
  uint32_t seen(uint32_t thread, uint32_t dword) { return world_.copied(thread, 2 + dword / 8, dword % 8); }
  std::vector<std::vector<uint32_t>> numbered(uint32_t vertices, uint32_t slots) {
    std::vector<std::vector<uint32_t>> all(vertices);
    for (uint32_t n = 0; n < vertices; ++n) {
      for (uint32_t i = 0; i < slots * 4; ++i) {
        all[n].push_back(0x100'0000 + n * 0x1000 + i);
      }
    }
    return all;
  }

  SandyDraw world_;
};

TEST_F(EntryLayout, VertexFetchAndThreadsWriteEntries) {
  COVERS("NOTES-URB-02");
  world_.entries(numbered(3, 4));
  look(2);
  world_.draw(Topology::POINTLIST, 3);
  for (uint32_t n = 0; n < 3; ++n) {
    for (uint32_t i = 0; i < 16; ++i) {
      EXPECT_EQ(seen(n, i), 0x100'0000 + n * 0x1000 + i) << "as vertex fetch wrote it";
    }
  }
  // A thread writes slots 0 and 1 in exchanged order.
  world_.vertex.enable = true;
  world_.vertex.dispatch_grf_start_register_for_urb_data = 1;
  world_.vertex.vertex_urb_entry_read_length = 1;
  world_.kernel(SandyDraw::kVs, "(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n" + SandyDraw::move_to(2, "r2.0<8;8,1>:ud") +
                                    SandyDraw::move_to(3, "r1.0<8;8,1>:ud") +
                                    "(W) send.urb (8|M0) null m1 0x0 0x608c400 {EOT}\n");
  world_.draw(Topology::POINTLIST, 3);
  for (uint32_t n = 0; n < 3; ++n) {
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(seen(n, i), 0x100'0000 + n * 0x1000 + (i + 4) % 8) << "as the thread wrote it";
    }
  }
  // Gen4 has a third writer, the command CONSTANT_BUFFER.
  constexpr uint32_t kConstantBuffer = 0x6002'0000;
  const auto knows = [](const char* device) {
    return spec::CommandTable::get(spec::find_device(device)->id, spec::EngineClass::render).find(kConstantBuffer) !=
           nullptr;
  };
  EXPECT_TRUE(knows("g45"));
  EXPECT_FALSE(knows("snb"));
}

// A vertex thread writes its input plus a number, so that the value occurs only in the entry.
TEST_F(EntryLayout, OnlyThePipelineReadsEntries) {
  COVERS("NOTES-URB-03");
  constexpr uint32_t kAdded = 0x1234'0000, kGiven = 0x21;
  std::vector<std::vector<uint32_t>> all;
  for (const auto& [x, y] : {std::pair{-40.0f, -40.0f}, std::pair{120.0f, -30.0f}, std::pair{-20.0f, 130.0f}}) {
    all.push_back({0, 0, 0, 0, bits(x), bits(y), bits(0.25f), bits(1), kGiven, kGiven + 1, kGiven + 2, kGiven + 3});
  }
  world_.entries(all);
  world_.vertex.enable = true;
  world_.vertex.dispatch_grf_start_register_for_urb_data = 1;
  world_.vertex.vertex_urb_entry_read_length = 2;
  world_.kernel(SandyDraw::kVs,
                "(W) add (8|M0) r3.0<1>:ud r3.0<8;8,1>:ud 0x12340000:ud\n" + SandyDraw::write_pair(1, 4));
  // In pixel threads, r2 holds the depth from set-up, followed by the flat attribute.
  const auto draw = [&] { return world_.draw(Topology::TRILIST, 3).counts; };
  world_.paint();
  world_.pixel.pixel_shader_uses_source_depth = true;
  world_.pixel.dispatch_grf_start_register_for_constant_setup_data_0 = 4;
  hw::_3DSTATE_DRAWING_RECTANGLE part;
  part.clipped_drawing_rectangle_x_min = part.clipped_drawing_rectangle_y_min = 8;
  part.clipped_drawing_rectangle_x_max = 11;
  part.clipped_drawing_rectangle_y_max = 9;
  world_.send(part, 4);
  world_.bind(1, {7u << 29, 0, 0, 0, 0, 0});  // a null surface: the colour is dropped
  world_.kernel(SandyDraw::kPs, SandyDraw::paint_with(4));
  EXPECT_EQ(draw().clip_out, 1u) << "the clip unit reads positions";
  EXPECT_EQ(world_.count(kGiven + kAdded + 1), 0u) << "entries are not in memory that the host can read";
  world_.kernel(SandyDraw::kPs, "(W) mov (8|M0) r99.0<1>:ud 0x0:ud\n" + SandyDraw::copy("r99.0<0;1,0>:ud", 0, 6) +
                                    SandyDraw::paint_with(4));
  draw();
  EXPECT_EQ(world_.copied_real(0, 2, 0), 0.25f) << "the windower reads depth";
  EXPECT_EQ(world_.copied(0, 4, 3), kGiven + kAdded) << "the set-up unit reads attributes";
  EXPECT_EQ(world_.copied(0, 4, 7), kGiven + kAdded + 1);
  look(2);
  draw();
  EXPECT_EQ(seen(0, 8), kGiven + kAdded) << "the dispatcher reads the vertices of a geometry thread";
  // Threads have no message that reads an entry: only two of the sixteen operations exist.
  world_.events_expected = true;
  constexpr uint32_t kReadLike = 1u << 25 | 1u << 20 | 1u << 19;
  for (uint32_t operation = 2; operation < 16; ++operation) {
    world_.kernel(SandyDraw::kGs,
                  "(W) mov (8|M0) r5.0<1>:ud 0x0:ud\n(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n"
                  "(W) send.urb (8|M0) r5 m1 0x0 " +
                      SandyDraw::hex(kReadLike | operation) + "\n" + SandyDraw::copy("r0.1<0;1,0>:ud", 0, 6) +
                      SandyDraw::end_of_geometry());
    draw();
    EXPECT_EQ(world_.copied(0, 5, 0), 0u) << operation;
  }
  EXPECT_EQ(world_.log.count(EventKind::unsupported), 1u) << "one Event";
}

// n slots need (n + 7) / 8 units of 1024 bits. More vertices than entries only have to wait.
TEST_F(EntryLayout, SizesCountEightSlots) {
  COVERS("NOTES-URB-08");
  for (const uint32_t slots : {2u, 7u, 8u, 9u, 16u, 17u, 24u, 25u, 32u}) {
    const uint32_t units = (slots + 7) / 8;
    world_.urb(static_cast<uint8_t>(units - 1), 0);
    world_.entries(numbered(60, slots));
    pass_on(slots);
    look((slots + 1) / 2);
    world_.draw(Topology::POINTLIST, 60);
    for (uint32_t n = 0; n < 60; ++n) {
      for (uint32_t i = 0; i < slots * 4; ++i) {
        EXPECT_EQ(seen(n, i), 0x100'0000 + n * 0x1000 + i) << slots << " " << n;
      }
    }
  }
}

// Points with several layers, viewports, widths and positions, some of which a clip distance removes.
TEST_F(EntryLayout, DwordsOfTheVertexHeaderHaveTheirMeaning) {
  COVERS("NOTES-VUE-04");
  COVERS("NOTES-VUE-07");
  struct Point {
    uint32_t layer, viewport, width;
    float x, y;
    int cut = -1;  // index of the negative distance
    float colour = 0;
  };
  const std::vector<Point> points{
      {.layer = 0, .viewport = 0, .width = 1, .x = 4.5f, .y = 6.5f, .colour = 11},
      {.layer = 2, .viewport = 0, .width = 5, .x = 20.5f, .y = 30.5f, .colour = 12},
      {.layer = 1, .viewport = 1, .width = 3, .x = 4.5f, .y = 6.5f, .colour = 13},
      {.layer = 0, .viewport = 0, .width = 3, .x = 40.5f, .y = 8.5f, .cut = 0, .colour = 14},
      {.layer = 0, .viewport = 0, .width = 3, .x = 50.5f, .y = 8.5f, .cut = 7, .colour = 15},
      {.layer = 0, .viewport = 0, .width = 3, .x = 58.5f, .y = 8.5f, .cut = 3, .colour = 16}};
  // Positions are pixels / 32 - 1; w is 2.
  constexpr float kW = 2;
  for (const bool distances : {false, true}) {
    std::vector<std::vector<uint32_t>> all;
    for (const Point& point : points) {
      std::vector<uint32_t> entry{0,
                                  point.layer,
                                  point.viewport,
                                  bits(static_cast<float>(point.width)),
                                  bits((point.x / 32 - 1) * kW),
                                  bits((point.y / 32 - 1) * kW),
                                  bits(0.25f * kW),
                                  bits(kW)};
      for (int i = 0; distances && i < 8; ++i) {
        entry.push_back(bits(i == point.cut ? -0.5f : 0.5f));
      }
      const std::vector<uint32_t> attribute{bits(point.colour), bits(2), bits(3), bits(4), 0, 0, 0, 0};
      entry.insert(entry.end(), attribute.begin(), attribute.end());
      all.push_back(entry);
    }
    world_.entries(all);
    world_.urb(0, 0);
    pass_on(distances ? 6 : 4);
    world_.paint();
    world_.bind_target(3);
    // Two viewports: the second is 8 pixels to the right and 16 down.
    constexpr uint32_t kViewports = 0x800, kClips = 0x900, kRanges = 0xa00;
    const std::vector<uint32_t> first{bits(32), bits(32), bits(1), bits(32), bits(32), 0, 0, 0};
    const std::vector<uint32_t> second{bits(32), bits(32), bits(1), bits(40), bits(48), 0, 0, 0};
    world_.put(SandyDraw::kStates + kViewports, first);
    world_.put(SandyDraw::kStates + kViewports + 32, second);
    for (uint32_t i = 0; i < 2; ++i) {
      world_.put(SandyDraw::kStates + kClips + i * 16, std::vector<uint32_t>{bits(-8), bits(8), bits(-8), bits(8)});
      world_.put(SandyDraw::kStates + kRanges + i * 8, std::vector<uint32_t>{0, bits(1)});
    }
    hw::_3DSTATE_VIEWPORT_STATE_POINTERS pointers;
    pointers.clip_viewport_state_change = pointers.sf_viewport_state_change = pointers.cc_viewport_state_change = true;
    pointers.sf_viewport_pointer = kViewports;
    pointers.clip_viewport_pointer = kClips;
    pointers.cc_viewport_pointer = kRanges;
    world_.send(pointers, 4);
    world_.clip.perspective_divide_disable = false;
    world_.clip.clip_enable = true;
    world_.clip.maximum_vp_index = 1;
    world_.clip.user_clip_distance_clip_test_enable_bitmask = distances ? 0x81 : 0;  // distances 0 and 7 only
    world_.surface.viewport_transform_enable = true;
    world_.surface.point_width_source = hw::PointWidthSource::VERTEX;
    world_.surface.vertex_urb_entry_read_offset = distances ? 2 : 1;
    std::memset(&world_.word(SandyDraw::kTarget), 0, 0x6'0000 - 0x2'0000);
    world_.draw(Topology::POINTLIST, static_cast<uint32_t>(points.size()));

    std::array<std::array<std::array<float, 64>, 64>, 3> expected{};
    for (const Point& point : points) {
      if (distances && (point.cut == 0 || point.cut == 7)) {
        continue;
      }
      const int shift_x = point.viewport == 1 ? 8 : 0;
      const int shift_y = point.viewport == 1 ? 16 : 0;
      const int half = static_cast<int>(point.width) / 2;
      for (int y = -half; y <= half; ++y) {
        for (int x = -half; x <= half; ++x) {
          expected[point.layer][static_cast<size_t>(static_cast<int>(point.y) + shift_y + y)]
                  [static_cast<size_t>(static_cast<int>(point.x) + shift_x + x)] = point.colour;
        }
      }
    }
    for (uint32_t layer = 0; layer < 3; ++layer) {
      for (uint32_t y = 0; y < 64; ++y) {
        for (uint32_t x = 0; x < 64; ++x) {
          ASSERT_EQ(world_.pixel_at(x, y, 0, layer), expected[layer][y][x])
              << distances << " " << layer << " " << x << " " << y;
        }
      }
    }
    EXPECT_EQ(world_.pixel_at(4, 6, 1), 2.0f);
    EXPECT_EQ(world_.pixel_at(4, 6, 2), 3.0f);
    EXPECT_EQ(world_.pixel_at(4, 6, 3), 4.0f);
  }
  // 3DSTATE_URB limits the size: of nine slots that a thread writes, eight are stored.
  world_.entries(numbered(2, 9));
  pass_on(9);
  look(5);
  world_.draw(Topology::POINTLIST, 2);
  EXPECT_EQ(seen(0, 31), 0x100'0000u + 31);
  EXPECT_EQ(seen(0, 32), 0u);
}

}  // namespace
}  // namespace halogen::pipe3d
