// Output entries of geometry threads, vertex order in strips, and stream output. Layouts are written by hand from the
// manuals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "pipe3d/geometry/geometry_stage.h"
#include "pipe3d/geometry/stream_output.h"
#include "pixel_world.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;
using ::testing::ElementsAre;

struct Made {
  std::vector<uint32_t> names;  // first dwords of the vertices
  uint8_t stream = 0;
  bool operator==(const Made&) const = default;
};

// Makes an entry whose vertices have two slots. The first dword of each vertex is its number, from 100 on.
std::vector<Slot> entry_of(const Geometry& geometry, std::span<const uint32_t> header, uint32_t vertices,
                           uint32_t written) {
  std::vector<uint32_t> words;
  if (!geometry.static_count) {
    words.assign(8, 0);
    words[0] = written;
  }
  words.insert(words.end(), header.begin(), header.end());
  for (uint32_t i = 0; i < vertices; ++i) {
    const std::vector<uint32_t> one{100 + i, 0, 0, 0, 0, 0, 0, 0};
    words.insert(words.end(), one.begin(), one.end());
  }
  std::vector<Slot> slots(words.size() / 4);
  for (size_t i = 0; i < words.size(); ++i) {
    slots[i / 4][i % 4] = words[i];
  }
  return slots;
}

std::vector<Made> made_of(const Geometry& geometry, std::span<const Slot> entry) {
  EntryStore vertices;
  std::vector<Made> all;
  assemble_entry(geometry, {.line = 1, .triangle = 2, .fan = 2}, entry, vertices,
                 [&](const Assembled& made, uint8_t stream) {
                   Made one{.names = {}, .stream = stream};
                   for (size_t i = 0; i < made.count; ++i) {
                     one.names.push_back(std::as_const(vertices).entry(made.vertex[i])[0][0]);
                   }
                   all.push_back(one);
                 });
  return all;
}

Geometry strip(uint32_t header_B) {
  Geometry geometry;
  geometry.topology = Topology::TRISTRIP;
  geometry.header_B = header_B;
  geometry.vertex_B = 32;
  return geometry;
}

TEST(GeometryEntry, CutBitEndsTheStripAfterItsVertex) {
  const std::vector<uint32_t> header{1u << 3, 0, 0, 0, 0, 0, 0, 0};
  const Geometry geometry = strip(32);
  EXPECT_THAT(made_of(geometry, entry_of(geometry, header, 8, 7)),
              ElementsAre(Made{{100, 101, 102}}, Made{{102, 101, 103}}, Made{{104, 105, 106}}));
}

TEST(GeometryEntry, StaticVertexCountsNeedNoHeader) {
  Geometry geometry = strip(0);
  geometry.static_count = true;
  geometry.count = 4;
  EXPECT_THAT(made_of(geometry, entry_of(geometry, {}, 8, 0)),
              ElementsAre(Made{{100, 101, 102}}, Made{{102, 101, 103}}));
}

TEST(GeometryEntry, TwoBitsSelectTheStreamOfAVertex) {
  Geometry geometry = strip(32);
  geometry.topology = Topology::POINTLIST;
  geometry.stream_ids = true;
  const std::vector<uint32_t> header{0b11'10'01'00'11, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_THAT(made_of(geometry, entry_of(geometry, header, 5, 5)),
              ElementsAre(Made{{100}, 3}, Made{{101}, 0}, Made{{102}, 1}, Made{{103}, 2}, Made{{104}, 3}));
}

TEST(GeometryEntry, VerticesPastTheEndOfTheEntryAreIgnored) {
  const Geometry geometry = strip(0);
  EXPECT_EQ(made_of(geometry, entry_of(geometry, {}, 5, 0xffff'ffff)).size(), 3u);
  const std::vector<Slot> tiny(2);
  EXPECT_TRUE(made_of(strip(480), tiny).empty());
}

std::vector<uint32_t> told(Assembled made, StripOrder order) {
  put_in_order(made, order);
  return {made.vertex.begin(), made.vertex.begin() + made.count};
}

// Triangle 1 of a strip 0 1 2 3 consists of the vertices 1 2 3 in the order of the buffer.
TEST(StripOrder, OddTrianglesFollowTheStripOrder) {
  Assembler assembler(Topology::TRISTRIP, {.line = 1, .triangle = 2, .fan = 2});
  std::vector<Assembled> all;
  for (uint32_t i = 0; i < 4; ++i) {
    assembler.add(i, [&](const Assembled& made) { all.push_back(made); });
  }
  ASSERT_EQ(all.size(), 2u);
  for (const StripOrder order : {StripOrder::trailing, StripOrder::leading, StripOrder::as_they_came}) {
    EXPECT_THAT(told(all[0], order), ElementsAre(0, 1, 2));
  }
  EXPECT_THAT(told(all[1], StripOrder::trailing), ElementsAre(2, 1, 3));  // the last vertices are 2, 3
  EXPECT_THAT(told(all[1], StripOrder::leading), ElementsAre(1, 3, 2));   // the first vertices are 0, 1
  EXPECT_THAT(told(all[1], StripOrder::as_they_came), ElementsAre(1, 2, 3));
}

TEST(StripOrder, AdjacencyIsDiscarded) {
  Assembled made;
  made.topology = Topology::TRILIST_ADJ;
  made.vertex = {10, 11, 12, 13, 14, 15};
  made.count = 6;
  discard_adjacency(made);
  EXPECT_THAT(told(made, StripOrder::trailing), ElementsAre(10, 12, 14));
  made.topology = Topology::LINESTRIP_ADJ;
  made.vertex = {10, 11, 12, 13};
  made.count = 4;
  discard_adjacency(made);
  EXPECT_THAT(told(made, StripOrder::trailing), ElementsAre(11, 12));
}

class Streams : public testing::Test {
 protected:
  static constexpr uint64_t kFirst = PixelWorld::kVa;
  static constexpr uint64_t kSecond = PixelWorld::kVa + 0x4000;
  static constexpr uint64_t kNote = PixelWorld::kVa + 0x8000;
  static constexpr uint32_t kOld = 0xdddd'dddd;

  Streams() {
    std::memset(world_.at(PixelWorld::kVa), 0xdd, 0x10000);
    state_.enabled = true;
    state_.buffers[0] = {.enabled = true, .address = kFirst, .bytes = 100, .pitch = 24, .offset_address = kNote};
    state_.buffers[1] = {.enabled = true, .address = kSecond, .bytes = 400, .pitch = 8, .offset_address = 0};
    // Stream 0: y and w of slot 3, a hole of one component, x of slot 2. The other buffer: z and w of slot 2.
    state_.entries[0] = {{.buffer = 0, .hole = false, .slot = 1, .mask = 0xa},
                         {.buffer = 0, .hole = true, .slot = 0, .mask = 0x1},
                         {.buffer = 0, .hole = false, .slot = 0, .mask = 0x1},
                         {.buffer = 1, .hole = false, .slot = 0, .mask = 0xc}};
    state_.read_offset[0] = 1;  // two slots
    state_.used_buffers[0] = 0x3;
    state_.entries[2] = {{.buffer = 1, .hole = false, .slot = 0, .mask = 0x1}};
    state_.used_buffers[2] = 0x2;
    for (uint32_t v = 0; v < 3; ++v) {
      for (uint32_t slot = 0; slot < 4; ++slot) {
        for (uint32_t c = 0; c < 4; ++c) {
          entries_[v][slot][c] = v * 256 + slot * 16 + c;
        }
      }
      vertices_[v] = entries_[v];
    }
  }
  uint32_t word(uint64_t address) { return world_.value<uint32_t>(address); }

  PixelWorld world_;
  StreamOutput state_;
  std::array<std::array<Slot, 4>, 3> entries_{};
  std::array<std::span<const Slot>, 3> vertices_;
  StreamWriter writer_;
};

TEST_F(Streams, ComponentsAreAdjacentAndHolesKeepTheirMemory) {
  writer_.begin(state_, world_.space(), {4, 8, 0, 0});
  ASSERT_TRUE(writer_.write(0, std::span(vertices_).first(2)));
  for (uint64_t v = 0; v < 2; ++v) {
    const uint64_t first = kFirst + 4 + v * 24;
    EXPECT_EQ(word(first), v * 256 + 0x31);
    EXPECT_EQ(word(first + 4), v * 256 + 0x33);
    EXPECT_EQ(word(first + 8), kOld);
    EXPECT_EQ(word(first + 12), v * 256 + 0x20);
    EXPECT_EQ(word(first + 16), kOld);
    EXPECT_EQ(word(kSecond + 8 + v * 8), v * 256 + 0x22);
    EXPECT_EQ(word(kSecond + 12 + v * 8), v * 256 + 0x23);
  }
  EXPECT_EQ(word(kFirst), kOld);
  EXPECT_THAT(writer_.offsets(), ElementsAre(4 + 48, 8 + 16, 0, 0));
  EXPECT_EQ(writer_.counts().written[0], 1u);
  EXPECT_EQ(writer_.counts().needed[0], 1u);
}

TEST_F(Streams, PrimitiveThatDoesNotFitIsOmittedAsAWhole) {
  writer_.begin(state_, world_.space(), {0, 0, 0, 0});
  ASSERT_TRUE(writer_.write(0, vertices_));  // 72 of 100 bytes
  ASSERT_TRUE(writer_.write(0, vertices_));  // would need 144
  EXPECT_EQ(word(kFirst + 72), kOld);
  EXPECT_EQ(word(kSecond + 24), kOld);  // nor in the buffer that has space
  EXPECT_THAT(writer_.offsets(), ElementsAre(72, 24, 0, 0));
  ASSERT_TRUE(writer_.write(0, std::span(vertices_).first(1)));  // a smaller one still fits
  EXPECT_THAT(writer_.offsets(), ElementsAre(96, 32, 0, 0));
  EXPECT_EQ(writer_.counts().written[0], 2u);
  EXPECT_EQ(writer_.counts().needed[0], 3u);
}

TEST_F(Streams, EachStreamHasItsOwnCountsAndBuffers) {
  writer_.begin(state_, world_.space(), {0, 0, 0, 0});
  ASSERT_TRUE(writer_.write(2, std::span(vertices_).first(1)));
  ASSERT_TRUE(writer_.write(1, std::span(vertices_).first(1)));  // has no buffers
  EXPECT_EQ(word(kSecond), 0u);                                  // x of slot 0 of vertex 0
  EXPECT_EQ(word(kFirst), kOld);
  EXPECT_THAT(writer_.offsets(), ElementsAre(0, 8, 0, 0));
  EXPECT_THAT(writer_.counts().written, ElementsAre(0, 1, 1, 0));
}

TEST_F(Streams, OffsetsAreStoredIfTheBufferRequestsIt) {
  writer_.begin(state_, world_.space(), {0, 0, 0, 0});
  ASSERT_TRUE(writer_.write(0, vertices_));
  ASSERT_TRUE(writer_.note_offsets());
  EXPECT_EQ(word(kNote), 72u);
  EXPECT_EQ(word(kNote + 4), kOld);
}

TEST_F(Streams, UnmappedStreamBuffersFault) {
  state_.buffers[0].address = PixelWorld::kVa + PixelWorld::kMapped;
  writer_.begin(state_, world_.space(), {0, 0, 0, 0});
  EXPECT_FALSE(writer_.write(0, vertices_));
}

TEST_F(Streams, OffsetsPastTheBufferWriteNothing) {
  writer_.begin(state_, world_.space(), {0xffff'fff0, 0xffff'fff0, 0, 0});
  ASSERT_TRUE(writer_.write(0, vertices_));
  EXPECT_EQ(writer_.counts().written[0], 0u);
}

}  // namespace
}  // namespace halogen::pipe3d
