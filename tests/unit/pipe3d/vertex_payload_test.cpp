// The entries that vertex fetch writes, and the payload that vertex threads of Gen6 get from them, register by
// register.
#include <set>

#include "covers.h"
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

using Control = hw::VertexComponentControl;

class VertexPayload : public ::testing::Test {
 protected:
  // Dword i of the entry of vertex n is 0x1000 * n + i, except that dword 0 of slot `number_slot` is the number of its
  // pair.
  void number_entries(uint32_t vertices, uint32_t slots, uint32_t number_slot) {
    std::vector<std::vector<uint32_t>> all(vertices);
    for (uint32_t n = 0; n < vertices; ++n) {
      for (uint32_t i = 0; i < slots * 4; ++i) {
        all[n].push_back(value(n, i));
      }
      all[n][number_slot * 4] = n / 2;
    }
    world_.entries(all);
  }
  static uint32_t value(uint32_t vertex, uint32_t dword) { return 0x10'0000 + 0x1000 * vertex + dword; }

  SandyDraw world_;
};

TEST_F(VertexPayload, AnElementIsFourDwordsOfTheEntry) {
  COVERS("NOTES-VUE-02");
  constexpr uint32_t kTwoFloats = 0x85, kBytes = 0xc7, kOneUint = 0xd7;
  constexpr uint32_t kSecond = SandyDraw::kVertices + 0x1000;
  world_.buffer(0, SandyDraw::kVertices, 24, 48);
  world_.buffer(3, kSecond, 4, 8);
  world_.elements({{.format = kOneUint,
                    .offset = 0,
                    .control = {Control::STORE_SRC, Control::STORE_0, Control::STORE_1_FP, Control::STORE_1_INT}},
                   {.format = kTwoFloats,
                    .offset = 8,
                    .control = {Control::STORE_SRC, Control::STORE_SRC, Control::STORE_0, Control::STORE_1_FP}},
                   {.format = kBytes, .offset = 0, .control = SandyDraw::kSource, .buffer = 3},
                   {.format = kTwoFloats,
                    .offset = 12,
                    .control = {Control::STORE_1_INT, Control::STORE_SRC, Control::STORE_SRC, Control::STORE_0}}});
  for (uint32_t n = 0; n < 2; ++n) {
    const uint32_t at = SandyDraw::kVertices + n * 24;
    world_.word(at) = 0;  // number of the thread
    world_.real(at + 8) = 1.5f + static_cast<float>(n);
    world_.real(at + 12) = -2.25f;
    world_.real(at + 16) = 100.0f * static_cast<float>(n + 1);
  }
  world_.word(kSecond) = 0xff00'33ff;
  world_.word(kSecond + 4) = 0x00ff'0033;
  world_.vertex.enable = true;
  world_.vertex.dispatch_grf_start_register_for_urb_data = 1;
  world_.vertex.vertex_urb_entry_read_length = 2;
  world_.kernel(SandyDraw::kVs, SandyDraw::copy("r1.0<0;1,0>:ud", 0, 6) + SandyDraw::write_pair(1, 2));
  world_.draw(hw::PrimitiveTopology::POINTLIST, 2);

  const uint32_t one = std::bit_cast<uint32_t>(1.0f);
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  const uint32_t fifth = bits(51.0f / 255.0f);
  const std::array<std::array<uint32_t, 8>, 4> expected{{
      {0, 0, one, 1, 0, 0, one, 1},
      {bits(1.5f), bits(-2.25f), 0, one, bits(2.5f), bits(-2.25f), 0, one},
      {one, fifth, 0, one, fifth, 0, one, 0},
      {1, bits(100), 0, 0, 1, bits(200), 0, 0},
  }};
  for (uint32_t element = 0; element < 4; ++element) {
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(world_.copied(0, 1 + element, i), expected[element][i]) << element << " " << i;
    }
  }
}

// Two buffers of constants, an offset of one pair of slots, a length of two pairs: r0, unused registers up to r5, three
// registers of constants, four registers with slots 2 to 5.
TEST_F(VertexPayload, AThreadGetsAPairOfVertices) {
  COVERS("NOTES-VUE-03");
  COVERS("NOTES-VUE-09");
  COVERS("NOTES-URB-07");
  constexpr uint32_t kVertices = 5, kFirst = 5, kConstantGrfs = 3, kSlots = 4;
  number_entries(kVertices, 8, 2);
  for (uint32_t i = 0; i < 3 * 8; ++i) {
    world_.word(SandyDraw::kConstants + (i < 8 ? 0x100 + i * 4 : 0x400 + (i - 8) * 4)) = 0xc000 + i;
  }
  hw::_3DSTATE_CONSTANT_VS constants;
  constants.buffer_0_valid = constants.buffer_2_valid = true;
  constants.constant_body.buffer_0 = GpuVa{SandyDraw::kConstants - SandyDraw::kStates + 0x100};
  constants.constant_body.read_length_0 = 0;  // length minus one
  constants.constant_body.buffer_2 = GpuVa{SandyDraw::kConstants - SandyDraw::kStates + 0x400};
  constants.constant_body.read_length_2 = 1;
  world_.send(constants, 5);
  hw::_3DSTATE_SAMPLER_STATE_POINTERS samplers;
  samplers.vs_sampler_state_change = true;
  samplers.vs_sampler_state_pointer = 0x2540;
  world_.send(samplers, 4);
  world_.vertex.enable = true;
  world_.vertex.dispatch_grf_start_register_for_urb_data = kFirst;
  world_.vertex.vertex_urb_entry_read_offset = 1;
  world_.vertex.vertex_urb_entry_read_length = 2;
  world_.vertex.scratch_space_base_pointer = 0x12'3400;
  world_.vertex.per_thread_scratch_space = 3;
  constexpr uint32_t kData = kFirst + kConstantGrfs;
  world_.kernel(SandyDraw::kVs, SandyDraw::copy("r8.0<0;1,0>:ud", 0, 14) + SandyDraw::write_pair(kData, 2));
  world_.draw(hw::PrimitiveTopology::POINTLIST, kVertices);

  std::set<uint32_t> handles;
  for (uint32_t thread = 0; thread < 3; ++thread) {
    const bool odd = thread == 2;
    handles.insert(world_.copied(thread, 0, 0));
    if (!odd) {
      handles.insert(world_.copied(thread, 0, 1));
    }
    EXPECT_EQ(world_.copied(thread, 0, 3), 0x2540u | 3) << "sampler pointer and scratch size";
    EXPECT_EQ(world_.copied(thread, 0, 4), SandyDraw::kTable) << "binding table, from the surface base";
    EXPECT_EQ(world_.copied(thread, 0, 5) & ~0x3ffu, 0x12'3400u) << "scratch space";
    for (uint32_t i = 0; i < kConstantGrfs * 8; ++i) {
      EXPECT_EQ(world_.copied(thread, kFirst + i / 8, i % 8), 0xc000 + i);
    }
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      for (uint32_t i = 0; i < (odd ? 4u : 8u); ++i) {
        const uint32_t dword = (2 + slot) * 4 + i % 4;
        const uint32_t expected = dword == 8 ? thread : value(thread * 2 + i / 4, dword);
        EXPECT_EQ(world_.copied(thread, kData + slot, i), expected) << thread << " " << slot << " " << i;
      }
    }
    // Only twice the length is copied: the next registers do not hold the entry.
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_NE(world_.copied(thread, kData + kSlots, i) & 0xfff0'0000, 0x10'0000u);
    }
  }
  EXPECT_EQ(handles.size(), kVertices) << "every vertex has its own handle";
}

// n elements need (n + 1) / 2 pairs.
TEST_F(VertexPayload, LengthsCountPairsOfSlots) {
  for (uint32_t elements = 1; elements <= 8; ++elements) {
    number_entries(2, elements, 0);
    world_.vertex.enable = true;
    world_.vertex.dispatch_grf_start_register_for_urb_data = 1;
    world_.vertex.vertex_urb_entry_read_length = static_cast<uint8_t>((elements + 1) / 2);
    world_.kernel(SandyDraw::kVs, SandyDraw::copy("r1.0<0;1,0>:ud", 0, 12) + SandyDraw::write_pair(1, 2));
    world_.draw(hw::PrimitiveTopology::POINTLIST, 2);
    for (uint32_t slot = 0; slot < elements; ++slot) {
      EXPECT_EQ(world_.copied(0, 1 + slot, 3), value(0, slot * 4 + 3));
      EXPECT_EQ(world_.copied(0, 1 + slot, 7), value(1, slot * 4 + 3));
    }
  }
}

}  // namespace
}  // namespace halogen::pipe3d
