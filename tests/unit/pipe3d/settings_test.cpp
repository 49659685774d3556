// State commands that change a part of their state, and their round trip through a context image.
#include "pipe3d/state/settings.h"

#include <gtest/gtest.h>

#include "gen/generation.h"
#include "hw/3d_constants.h"
#include "hw/3d_depth.h"
#include "hw/3d_pointers.h"
#include "hw/3d_raster.h"
#include "hw/3d_so.h"
#include "hw/3d_vertex.h"
#include "spec/command_table.h"
#include "spec/device_model.h"

namespace halogen::pipe3d {
namespace {

class SettingsOf {
 public:
  explicit SettingsOf(const char* device) : generation_(*spec::find_device(device)) {}

  spec::GenId gen() const { return generation_.id(); }
  template <class T>
  void send(const T& command, size_t dwords) {
    std::vector<uint32_t> words(dwords);
    ASSERT_TRUE(command.pack(gen(), words));
    words[0] = (words[0] & ~0xffu) | static_cast<uint32_t>(dwords - 2);
    send_words(T::kDesc, words);
  }
  void send_words(const spec::CommandDesc& desc, const std::vector<uint32_t>& words) {
    ASSERT_TRUE(settings.change(generation_, desc, words)) << desc.name;
  }
  const Generation& generation() const { return generation_; }

  Settings settings;

 private:
  Generation generation_;
};

// Gen12 drivers send this command twice per draw, the second time only for the stencil reference.
TEST(Settings, DepthStencilKeepsWhatACommandDoesNotChange) {
  SettingsOf of("tgl");
  hw::_3DSTATE_WM_DEPTH_STENCIL all;
  all.depth_test_enable = true;
  all.depth_buffer_write_enable = true;
  all.depth_test_function = hw::CompareFunction::LESS;
  all.stencil_test_enable = true;
  all.stencil_test_mask = 0x55;
  all.stencil_write_mask = 0xaa;
  all.stencil_reference_value_modify_disable = true;
  all.stencil_reference_value = 9;
  of.send(all, 4);
  hw::_3DSTATE_WM_DEPTH_STENCIL reference;
  reference.stencil_test_mask_modify_disable = true;
  reference.stencil_write_mask_modify_disable = true;
  reference.stencil_state_modify_disable = true;
  reference.depth_state_modify_disable = true;
  reference.stencil_reference_value = 7;
  of.send(reference, 4);
  const auto kept = of.settings.get<hw::_3DSTATE_WM_DEPTH_STENCIL>(of.gen());
  EXPECT_TRUE(kept.depth_test_enable);
  EXPECT_TRUE(kept.depth_buffer_write_enable);
  EXPECT_EQ(kept.depth_test_function, hw::CompareFunction::LESS);
  EXPECT_TRUE(kept.stencil_test_enable);
  EXPECT_EQ(kept.stencil_test_mask, 0x55);
  EXPECT_EQ(kept.stencil_write_mask, 0xaa);
  EXPECT_EQ(kept.stencil_reference_value, 7) << "the first command disabled the update of its reference";
}

TEST(Settings, PointersOfGen6ChangeOneByOne) {
  SettingsOf of("snb");
  hw::_3DSTATE_CC_STATE_POINTERS blend;
  blend.blend_state_pointer_valid = true;
  blend.blend_state_pointer = 0x1000;
  blend.depth_stencil_state_pointer = 0x40;
  of.send(blend, 4);
  hw::_3DSTATE_CC_STATE_POINTERS depth;
  depth.depth_stencil_state_pointer_valid = true;
  depth.depth_stencil_state_pointer = 0x2000;
  of.send(depth, 4);
  const auto kept = of.settings.get<hw::_3DSTATE_CC_STATE_POINTERS>(of.gen());
  EXPECT_EQ(kept.blend_state_pointer, 0x1000u);
  EXPECT_EQ(kept.depth_stencil_state_pointer, 0x2000u);
  EXPECT_FALSE(kept.color_calc_state_pointer_valid);
}

std::vector<uint32_t> buffers(spec::GenId gen, const std::vector<hw::VERTEX_BUFFER_STATE>& states) {
  std::vector<uint32_t> words(1 + states.size() * 4);
  EXPECT_TRUE(hw::_3DSTATE_VERTEX_BUFFERS{}.pack(gen, words));
  words[0] = (words[0] & ~0xffu) | static_cast<uint32_t>(words.size() - 2);
  for (size_t i = 0; i < states.size(); ++i) {
    EXPECT_TRUE(hw::_3DSTATE_VERTEX_BUFFERS::pack_vertex_buffers(gen, words, i, {states[i]}));
  }
  return words;
}

TEST(Settings, VertexBuffersThatACommandDoesNotListAreKept) {
  SettingsOf of("icl");
  hw::VERTEX_BUFFER_STATE zero;
  zero.vertex_buffer_index = 0;
  zero.buffer_pitch = 12;
  hw::VERTEX_BUFFER_STATE five;
  five.vertex_buffer_index = 5;
  five.buffer_pitch = 20;
  of.send_words(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, buffers(of.gen(), {zero, five}));
  zero.buffer_pitch = 16;
  of.send_words(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, buffers(of.gen(), {zero}));
  const auto pitch = [&](uint32_t index) {
    const auto words = of.settings.words(spec::CommandId::_3DSTATE_VERTEX_BUFFERS, index);
    return words.empty() ? -1
                         : hw::_3DSTATE_VERTEX_BUFFERS::unpack_vertex_buffers(of.gen(), words, 0).state.buffer_pitch;
  };
  EXPECT_EQ(pitch(0), 16);
  EXPECT_EQ(pitch(5), 20);
  EXPECT_EQ(pitch(1), -1);
}

TEST(Settings, ConstantsOfAllStagesKeepTheirBuffers) {
  SettingsOf of("dg1");
  // One buffer for the pixel shader: two registers at 0x7ffeffc00000.
  of.send_words(hw::_3DSTATE_CONSTANT_ALL::kDesc, {0x786d1002, 0x0001'0000, 0xffc0'0002, 0x7ffe});
  const auto words = of.settings.words(spec::CommandId::_3DSTATE_CONSTANT_ALL, 4);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[2], 0xffc0'0002u);
  EXPECT_EQ(words[3], 0x7ffeu);
}

TEST(Settings, ConstantsOfAStageAreThoseOfTheLastCommandThatNamedIt) {
  SettingsOf of("dg1");
  hw::_3DSTATE_CONSTANT_ALL all;
  all.vertex_shader_update_enable = true;
  all.pixel_shader_update_enable = true;
  of.send(all, 2);
  constexpr uint32_t kVertex = 0, kGeometry = 3, kPixel = 4;
  using spec::CommandId;
  EXPECT_TRUE(of.settings.has(CommandId::_3DSTATE_CONSTANT_ALL, kVertex));
  EXPECT_TRUE(of.settings.has(CommandId::_3DSTATE_CONSTANT_ALL, kPixel));
  EXPECT_FALSE(of.settings.has(CommandId::_3DSTATE_CONSTANT_ALL, kGeometry));
  of.send(hw::_3DSTATE_CONSTANT_VS{}, 11);
  EXPECT_FALSE(of.settings.has(CommandId::_3DSTATE_CONSTANT_ALL, kVertex));
  EXPECT_TRUE(of.settings.has(CommandId::_3DSTATE_CONSTANT_VS));
  of.send(all, 2);
  EXPECT_FALSE(of.settings.has(CommandId::_3DSTATE_CONSTANT_VS));
}

TEST(Settings, EachNamedStageKeepsItsConstantBuffers) {
  SettingsOf of("dg1");
  hw::_3DSTATE_CONSTANT_ALL all;
  all.vertex_shader_update_enable = true;
  all.geometry_shader_update_enable = true;
  all.pointer_buffer_mask = 0b1000;
  std::vector<uint32_t> words(4);
  ASSERT_TRUE(all.pack(of.gen(), words));
  words[0] = (words[0] & ~0xffu) | 2;
  words[2] = 0xc014'c220 | 2;  // two registers at 0x1c014c220
  words[3] = 1;
  of.send_words(hw::_3DSTATE_CONSTANT_ALL::kDesc, words);
  for (const uint32_t stage : {0u, 3u}) {
    const std::span<const uint32_t> kept = of.settings.words(spec::CommandId::_3DSTATE_CONSTANT_ALL, stage);
    ASSERT_EQ(kept.size(), 4u) << stage;
    EXPECT_EQ(kept[2], words[2]) << stage;
    EXPECT_EQ(kept[3], words[3]) << stage;
    EXPECT_EQ(hw::_3DSTATE_CONSTANT_ALL::unpack(of.gen(), kept).pointer_buffer_mask, 0b1000) << stage;
  }
}

// A context image holds settings as commands. Parsing them restores the settings.
TEST(Settings, SavedCommandsRestoreTheSettings) {
  SettingsOf of("tgl");
  hw::VERTEX_BUFFER_STATE three;
  three.vertex_buffer_index = 3;
  three.buffer_pitch = 8;
  of.send_words(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, buffers(of.gen(), {three}));
  hw::_3DSTATE_CONSTANT_ALL all;
  all.hull_shader_update_enable = all.pixel_shader_update_enable = true;
  of.send(all, 2);
  hw::_3DSTATE_WM_DEPTH_STENCIL depth;
  depth.depth_test_enable = true;
  of.send(depth, 4);
  hw::_3DSTATE_VF_INSTANCING instancing;
  instancing.vertex_element_index = 2;
  instancing.instancing_enable = true;
  of.send(instancing, 3);
  of.send(hw::_3DSTATE_RASTER{.antialiasing_enable = true}, 5);

  const std::vector<uint32_t> commands = of.settings.commands();
  const spec::CommandTable& table = spec::CommandTable::get(of.generation().model().id, spec::EngineClass::render);
  SettingsOf again("tgl");
  for (size_t at = 0; at < commands.size();) {
    const auto [desc, length] = table.frame(commands[at]);
    ASSERT_NE(desc, nullptr);
    ASSERT_LE(at + length, commands.size());
    again.send_words(*desc, {commands.begin() + static_cast<std::ptrdiff_t>(at),
                             commands.begin() + static_cast<std::ptrdiff_t>(at + length)});
    at += length;
  }
  EXPECT_EQ(again.settings, of.settings);
}

// Gen12 has a command per buffer besides the one with an index. The last command for a buffer applies. The offset
// belongs to the register, which a context image restores.
TEST(Settings, StreamBuffersAreIdentifiedByNumber) {
  SettingsOf of("tgl");
  hw::_3DSTATE_SO_BUFFER_INDEX_2 own;
  own.body.so_buffer_enable = true;
  own.body.surface_base_address.value = 0x1'2345'6000;
  own.body.surface_size = 99;
  own.body.stream_offset_write_enable = true;
  own.body.stream_offset = 0x40;
  of.send(own, 8);
  const auto bound = of.settings.get<hw::_3DSTATE_SO_BUFFER>(of.gen(), 2);
  EXPECT_TRUE(bound.so_buffer_enable);
  EXPECT_EQ(bound.so_buffer_index, 2);
  EXPECT_EQ(bound.surface_base_address.value, 0x1'2345'6000u);
  EXPECT_EQ(bound.surface_size, 99u);
  EXPECT_FALSE(bound.stream_offset_write_enable);
  of.settings.set_stream_index(of.gen(), 2, 0x80);
  EXPECT_TRUE(of.settings.get<hw::_3DSTATE_SO_BUFFER>(of.gen(), 2).stream_offset_write_enable);
  EXPECT_EQ(of.settings.get<hw::_3DSTATE_SO_BUFFER>(of.gen(), 2).stream_offset, 0x80u);
  EXPECT_FALSE(of.settings.has(spec::CommandId::_3DSTATE_SO_BUFFER, 0));
  hw::_3DSTATE_SO_BUFFER with_index;
  with_index.so_buffer_index = 2;
  of.send(with_index, 8);
  EXPECT_FALSE(of.settings.get<hw::_3DSTATE_SO_BUFFER>(of.gen(), 2).so_buffer_enable);
}

TEST(Settings, StreamIndicesOfGen6AreUpdatedInTheCommand) {
  SettingsOf of("snb");
  hw::_3DSTATE_GS_SVB_INDEX index;
  index.index_number = 1;
  index.streamed_vertex_buffer_index = 5;
  index.maximum_index = 90;
  of.send(index, 4);
  of.settings.set_stream_index(of.gen(), 1, 11);
  of.settings.set_stream_index(of.gen(), 0, 7);  // not set by a command before
  const auto now = of.settings.get<hw::_3DSTATE_GS_SVB_INDEX>(of.gen(), 1);
  EXPECT_EQ(now.streamed_vertex_buffer_index, 11u);
  EXPECT_EQ(now.maximum_index, 90u);
  EXPECT_FALSE(of.settings.has(spec::CommandId::_3DSTATE_GS_SVB_INDEX, 0));
}

}  // namespace
}  // namespace halogen::pipe3d
