// Geometry threads of Gen6: their payload, and the use of the entries that they write.
#include "covers.h"
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

constexpr uint32_t kEnd = 1, kStart = 2;
constexpr uint32_t topology_bits(Topology topology) {
  return static_cast<uint32_t>(topology) << 2;
}
uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

class GeometryPayload : public ::testing::Test {
 protected:
  static constexpr uint32_t kNext = SandyDraw::kComplete | SandyDraw::kUsed | SandyDraw::kAllocate;
  static constexpr uint32_t kLast = SandyDraw::kComplete | SandyDraw::kUsed;

  // Vertices of four slots: header, position in pixels, a colour, and a last slot of 0x5000 + 16 * vertex + component.
  struct Place {
    float x, y;
    float colour = 0;
    uint32_t layer = 0;
  };
  void place(const std::vector<Place>& places) {
    std::vector<std::vector<uint32_t>> all;
    for (uint32_t i = 0; i < places.size(); ++i) {
      const Place& at = places[i];
      all.push_back({0, at.layer, 0, bits(1.0f), bits(at.x), bits(at.y), 0, bits(1.0f), bits(at.colour), bits(2),
                     bits(3), bits(4), 0x5000 + 16 * i, 0x5001 + 16 * i, 0x5002 + 16 * i, 0x5003 + 16 * i});
    }
    world_.entries(all);
  }
  // Vertices start at r2 and have two registers each.
  void use_kernel(const std::string& text) {
    world_.geometry.enable = true;
    world_.geometry.rendering_enabled = true;
    world_.geometry.kernel_start_pointer = SandyDraw::kGs;
    world_.geometry.dispatch_grf_start_register_for_urb_data = kFirst;
    world_.geometry.vertex_urb_entry_read_length = 2;
    world_.kernel(SandyDraw::kGs, text);
  }
  static constexpr uint32_t kFirst = 2;
  static std::string emit(uint32_t vertex, uint32_t flags, uint32_t control, bool end = false) {
    return SandyDraw::write_entry(kFirst + vertex * 2, 2, 0, flags, control, end);
  }

  SandyDraw world_;
};

TEST_F(GeometryPayload, PayloadHoldsHeaderIndicesConstantsAndVerticesInOrder) {
  COVERS("NOTES-VUE-05");
  place({{8, 8, 1}, {24, 8, 2}, {8, 24, 3}, {40, 8, 4}, {56, 8, 5}, {40, 24, 6}});
  for (uint32_t i = 0; i < 8; ++i) {
    world_.word(SandyDraw::kConstants + i * 4) = 0xc000 + i;
  }
  hw::_3DSTATE_CONSTANT_GS constants;
  constants.buffer_0_valid = true;
  constants.constant_body.buffer_0 = GpuVa{SandyDraw::kConstants - SandyDraw::kStates};
  world_.send(constants, 5);
  for (uint8_t i = 0; i < 4; ++i) {
    hw::_3DSTATE_GS_SVB_INDEX index;
    index.index_number = i;
    index.maximum_index = 100u + i;
    world_.send(index, 4);
    world_.stream_indices[i] = 7u + i;
  }
  // Binding table entry 2: a stream output buffer, four dwords per vertex.
  constexpr uint32_t kStream = 0xc'0000;
  world_.bind(2, {4u << 29 | SandyDraw::kFour32 << 18, kStream, 127u << 6, 15u << 3, 0, 0});
  world_.paint();
  world_.geometry.svbi_payload_enable = true;
  constexpr uint32_t kStarts = 4, kVertices = kStarts + 1;
  std::string text = SandyDraw::copy("r0.1<0;1,0>:ud", 0, kVertices + 6);
  // Writes the last slot of the second vertex to the stream through the data port, at the number of the thread.
  const std::string last_slot = "r" + std::to_string(kVertices + 3) + ".4<4;4,1>:ud";
  text += "(W) mov (8|M0) m1.0<1>:ud 0x0:ud\n(W) mov (4|M0) m1.0<1>:ud " + last_slot +
          "\n(W) mov (1|M0) m1.5<1>:ud r0.1<0;1,0>:ud\n(W) send.rc (8|M0) null m1 0x0 " +
          SandyDraw::hex(1u << 25 | 1u << 19 | 13u << 13 | 2) + "\n";
  // Writes the vertices as a primitive again, one by one, each with a request for a new entry.
  text += SandyDraw::ask_for_entry();
  for (uint32_t v = 0; v < 3; ++v) {
    const uint32_t flags = topology_bits(Topology::TRILIST) | (v == 0 ? kStart : v == 2 ? kEnd : 0);
    text += SandyDraw::write_entry(kVertices + v * 2, 2, 0, flags, v == 2 ? kLast : kNext, v == 2);
  }
  use_kernel(text);
  world_.geometry.dispatch_grf_start_register_for_urb_data = kStarts;
  const Outcome outcome = world_.draw(Topology::TRILIST, 6);

  for (uint32_t thread = 0; thread < 2; ++thread) {
    EXPECT_EQ(world_.copied(thread, 0, 1), thread) << "number of the primitive";
    EXPECT_EQ(world_.copied(thread, 0, 2) & 0x1f, 4u) << "TRILIST";
    EXPECT_EQ(world_.copied(thread, 0, 4), SandyDraw::kTable);
    for (uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(world_.copied(thread, 1, i), 7 + i);
      EXPECT_EQ(world_.copied(thread, 1, 4 + i), 100 + i);
    }
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(world_.copied(thread, kStarts, i), 0xc000 + i);
    }
    for (uint32_t v = 0; v < 3; ++v) {
      for (uint32_t dword = 0; dword < 16; ++dword) {
        const uint32_t expected = world_.word(SandyDraw::kVertices + ((thread * 3 + v) * 16 + dword) * 4);
        EXPECT_EQ(world_.copied(thread, kVertices + v * 2 + dword / 8, dword % 8), expected) << v << " " << dword;
      }
    }
    for (uint32_t c = 0; c < 4; ++c) {
      EXPECT_EQ(world_.word(kStream + thread * 16 + c * 4), 0x5000 + 16 * (thread * 3 + 1) + c) << "streamed";
    }
  }
  EXPECT_EQ(outcome.counts.clip_in, 2u);
  EXPECT_EQ(world_.pixel_at(10, 10), 1.0f);
  EXPECT_EQ(world_.pixel_at(42, 10), 4.0f);
  EXPECT_EQ(world_.pixel_at(30, 10), 0.0f);

  // A polygon of three vertices is one triangle, which is its first and its last: both edge flags are set.
  world_.draw(Topology::POLYGON, 3);
  EXPECT_EQ(world_.copied(0, 0, 2) & 0x300, 0x300u);
  EXPECT_EQ(world_.copied(0, 0, 2) & 0x1f, 14u) << "POLYGON";
}

// Draws two lines, then the same vertices as one strip. Only the headers of the writes differ.
TEST_F(GeometryPayload, TypeStartAndEndOfPrimitivesComeWithTheWrites) {
  COVERS("NOTES-VUE-01");
  COVERS("NOTES-URB-04");
  const std::vector<Place> corners{{2, 2.5f, 1}, {10, 2.5f, 2}, {10.5f, 20, 3}, {10.5f, 30, 4}};
  place(corners);
  world_.paint();
  constexpr uint32_t kLines = topology_bits(Topology::LINESTRIP), kPoints = topology_bits(Topology::POINTLIST);
  const auto drawn = [&](const std::vector<uint32_t>& flags) {
    for (uint32_t y = 0; y < 64; ++y) {
      for (uint32_t x = 0; x < 64; ++x) {
        world_.pixel_at(x, y) = 0;
      }
    }
    std::string text = SandyDraw::ask_for_entry();
    for (uint32_t v = 0; v < 4; ++v) {
      text += emit(v, flags[v], v == 3 ? kLast : kNext, v == 3);
    }
    use_kernel(text);
    return world_.draw(Topology::LINELIST_ADJ, 4).counts.clip_in;
  };
  const auto lit = [&](uint32_t x, uint32_t y) { return world_.pixel_at(x, y) != 0; };

  EXPECT_EQ(drawn({kLines | kStart, kLines | kEnd, kLines | kStart, kLines | kEnd}), 2u);
  EXPECT_TRUE(lit(5, 2));
  EXPECT_FALSE(lit(10, 10)) << "nothing between the strips";
  EXPECT_TRUE(lit(10, 25));
  EXPECT_EQ(drawn({kLines | kStart, kLines, kLines, kLines | kEnd}), 3u);
  EXPECT_TRUE(lit(5, 2));
  EXPECT_TRUE(lit(10, 10));
  EXPECT_TRUE(lit(10, 25));
  EXPECT_EQ(drawn({kPoints | kStart | kEnd, kPoints | kStart | kEnd, kPoints | kStart, kPoints | kEnd}), 4u);
  EXPECT_FALSE(lit(5, 2));
  EXPECT_TRUE(lit(2, 2) || lit(1, 2)) << "the first point";
  EXPECT_FALSE(lit(10, 25));
  EXPECT_EQ(drawn({kLines | kStart, kLines, topology_bits(Topology::TRILIST) | kStart, 0}), 1u)
      << "a start ends the previous primitive; two vertices are not a triangle";
}

TEST_F(GeometryPayload, AnEntryIsPassedOnWhenItIsComplete) {
  COVERS("NOTES-URB-11");
  place({{4, 4, 1}, {20, 4, 2}, {4, 20, 3}});
  world_.paint();
  constexpr uint32_t kPoint = topology_bits(Topology::POINTLIST) | kStart | kEnd;
  // The first vertex is written in two parts: header and position, then the other two slots. The third vertex is never
  // complete.
  const std::string text = SandyDraw::ask_for_entry() + SandyDraw::write_entry(kFirst, 1, 0, kPoint, SandyDraw::kUsed) +
                           SandyDraw::write_entry(kFirst + 1, 1, 1, kPoint, kNext) + emit(1, kPoint, kNext) +
                           emit(2, kPoint, SandyDraw::kUsed, true);
  use_kernel(text);
  EXPECT_EQ(world_.draw(Topology::TRILIST, 3).counts.clip_in, 2u);
  const auto around = [&](uint32_t x, uint32_t y) {
    return world_.pixel_at(x, y) + world_.pixel_at(x - 1, y) + world_.pixel_at(x, y - 1) +
           world_.pixel_at(x - 1, y - 1);
  };
  EXPECT_EQ(around(4, 4), 1.0f);
  EXPECT_EQ(around(20, 4), 2.0f);
  EXPECT_EQ(around(4, 20), 0.0f);
}

// Without the used flag the entry is freed.
TEST_F(GeometryPayload, AnUnusedEntryIsNotAVertex) {
  place({{4, 4, 1}, {20, 4, 2}, {4, 20, 3}});
  constexpr uint32_t kPoint = topology_bits(Topology::POINTLIST) | kStart | kEnd;
  use_kernel(SandyDraw::ask_for_entry() + emit(0, kPoint, SandyDraw::kComplete | SandyDraw::kAllocate) +
             emit(1, kPoint, kLast, true));
  EXPECT_EQ(world_.draw(Topology::TRILIST, 3).counts.clip_in, 1u);
}

}  // namespace
}  // namespace halogen::pipe3d
