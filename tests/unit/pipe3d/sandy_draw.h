// Draws of Gen6: the commands of a context, and parts of kernels.
#pragma once

#include "draw_world.h"

namespace halogen::pipe3d {

class SandyDraw : public DrawWorld {
 public:
  using Control = hw::VertexComponentControl;
  using Controls = std::array<Control, 4>;
  static constexpr Controls kSource{Control::STORE_SRC, Control::STORE_SRC, Control::STORE_SRC, Control::STORE_SRC};
  static constexpr uint32_t kTable = 0x40;  // binding tables and surface states, from their base

  SandyDraw() : DrawWorld("snb") {
    // Index 0: a buffer of 16-byte elements.
    const uint32_t last = 0x1'0000 - 1;
    bind(0, {4u << 29, kCopies, (last & 0x7f) << 6 | (last >> 7 & 0x1fff) << 19, (last >> 20) << 21 | 15u << 3, 0, 0});
    hw::_3DSTATE_BINDING_TABLE_POINTERS tables;
    tables.vs_binding_table_change = tables.gs_binding_table_change = tables.ps_binding_table_change = true;
    tables.vs_binding_table_pointer = tables.gs_binding_table_pointer = tables.ps_binding_table_pointer = kTable;
    send(tables, 4);
    urb(0, 0);
    hw::_3DSTATE_DRAWING_RECTANGLE whole;
    whole.clipped_drawing_rectangle_x_max = whole.clipped_drawing_rectangle_y_max = 63;
    send(whole, 4);
    // Positions are in pixels: nothing is clipped, divided or transformed.
    clip.perspective_divide_disable = true;
    clip.minimum_point_width = 0.125;
    clip.maximum_point_width = 255;
    surface.cull_mode = hw::CullMode::NONE;
    surface.point_width = 1;
    surface.vertex_urb_entry_read_offset = 1;
    surface.vertex_urb_entry_read_length = 1;
    pixel.maximum_number_of_threads = 39;
  }

  void bind(uint32_t index, const std::vector<uint32_t>& state) {
    const uint32_t at = 0x400 + index * 32;
    word(kStates + kTable + index * 4) = at;
    put(kStates + at, state);
  }
  // Index 1: `layers` layers of 64 x 64 pixels of four floats. A row has 1 KB. Layers are 64 + 32 + 11 * 2 rows apart.
  static constexpr uint32_t kTargetPitch = 1024;
  static constexpr uint32_t kLayerRows = 64 + 32 + 22;
  void bind_target(uint32_t layers) {
    bind(1,
         {1u << 29, kTarget, 63u << 19 | 63u << 6, (layers - 1) << 21 | (kTargetPitch - 1) << 3, (layers - 1) << 8, 0});
  }
  float& pixel_at(uint32_t x, uint32_t y, uint32_t component = 0, uint32_t layer = 0) {
    return real(kTarget + (layer * kLayerRows + y) * kTargetPitch + x * 16 + component * 4);
  }

  struct Element {
    uint32_t format;
    uint32_t offset;
    Controls control = kSource;
    uint8_t buffer = 0;
  };
  void elements(const std::vector<Element>& all) {
    std::vector<uint32_t> words(1 + all.size() * 2);
    ASSERT_TRUE(hw::_3DSTATE_VERTEX_ELEMENTS{}.pack(gen(), words));
    for (size_t i = 0; i < all.size(); ++i) {
      uint32_t controls = 0;
      for (size_t c = 0; c < 4; ++c) {
        controls |= static_cast<uint32_t>(all[i].control[c]) << (28 - 4 * c);
      }
      words[1 + i * 2] = uint32_t{all[i].buffer} << 26 | 1u << 25 | all[i].format << 16 | all[i].offset;
      words[2 + i * 2] = controls;
    }
    send_words(hw::_3DSTATE_VERTEX_ELEMENTS::kDesc, words);
  }
  void buffer(uint32_t index, uint32_t address, uint32_t pitch, uint32_t bytes) {
    std::vector<uint32_t> words(5);
    ASSERT_TRUE(hw::_3DSTATE_VERTEX_BUFFERS{}.pack(gen(), words));
    words[1] = index << 26 | pitch;
    words[2] = address;
    words[3] = address + bytes - 1;
    send_words(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, words);
  }
  // Sets vertices of whole slots, as they are in entries, from vertex buffer 0.
  void entries(const std::vector<std::vector<uint32_t>>& vertices) {
    const auto bytes = static_cast<uint32_t>(vertices.front().size() * 4);
    std::vector<Element> all;
    for (uint32_t at = 0; at < bytes; at += 16) {
      all.push_back({.format = kFour32, .offset = at});
    }
    elements(all);
    buffer(0, kVertices, bytes, static_cast<uint32_t>(bytes * vertices.size()));
    for (size_t i = 0; i < vertices.size(); ++i) {
      put(kVertices + i * bytes, vertices[i]);
    }
  }
  static constexpr uint32_t kFour32 = 2;  // R32G32B32A32_UINT: bits as they are

  void urb(uint8_t vs_size, uint8_t gs_size) {
    hw::_3DSTATE_URB command;
    command.vs_number_of_urb_entries = command.gs_number_of_urb_entries = 24;
    command.vs_urb_entry_allocation_size = vs_size;
    command.gs_urb_entry_allocation_size = gs_size;
    send(command, 3);
  }
  void send_state() {
    send(vertex, 6);
    send(geometry, 7);
    send(clip, 4);
    send(surface, 20);
    send(pixel, 9);
  }
  Outcome draw(hw::PrimitiveTopology topology, uint32_t vertices) {
    send_state();
    return DrawWorld::draw({.topology = topology, .vertices = vertices});
  }

  // Copies registers to the copy of the thread whose number is in `number`. Overwrites r100 and r101.
  static std::string copy(const std::string& number, uint32_t first, uint32_t count) {
    std::string text = "(W) shl (1|M0) r100.0<1>:ud " + number + " 0x8:ud\n";
    for (uint32_t grf = first; grf < first + count; ++grf) {
      text += "(W) mov (8|M0) m1.0<1>:ud 0x0:ud\n(W) add (1|M0) m1.2<1>:ud r100.0<0;1,0>:ud " +
              std::to_string(grf * 2) + ":ud\n(W) mov (8|M0) m2.0<1>:ud r" + std::to_string(grf) +
              ".0<8;8,1>:ud\n(W) send.rc (8|M0) null m1 0x0 0x04090200\n";
    }
    return text;
  }
  // Writes slots of both vertices from registers, as at the end of a vertex thread.
  static std::string write_pair(uint32_t first, uint32_t slots) {
    const uint32_t sent = slots + slots % 2;
    std::string text = "(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n";
    for (uint32_t i = 0; i < sent; ++i) {
      text += move_to(2 + i, "r" + std::to_string(first + i) + ".0<8;8,1>:ud");
    }
    return text + "(W) send.urb (8|M0) null m1 0x0 " + hex((1 + sent) << 25 | 0x8'c400) + " {EOT}\n";
  }
  // Geometry threads: requests the first entry. Its handle is returned in r102.
  static std::string ask_for_entry() {
    return "(W) mov (8|M0) m1.0<1>:ud 0x0:ud\n(W) send.urb (8|M0) r102 m1 0x0 0x2182001\n";
  }
  static constexpr uint32_t kComplete = 1u << 15, kUsed = 1u << 14, kAllocate = 1u << 13;
  // Writes registers `first` to `first + count - 1` to the entry of r102, from row `row` on. If another entry is
  // requested, its handle is returned in r102. Flags of the vertex: 1 end of a primitive, 2 start; the topology is
  // above them.
  static std::string write_entry(uint32_t first, uint32_t count, uint32_t row, uint32_t flags, uint32_t control,
                                 bool end = false) {
    std::string text = "(W) mov (8|M0) m1.0<1>:ud 0x0:ud\n(W) mov (1|M0) m1.0<1>:ud r102.0<0;1,0>:ud\n";
    text += "(W) mov (1|M0) m1.2<1>:ud " + hex(flags) + ":ud\n";
    for (uint32_t i = 0; i < count; ++i) {
      text += move_to(2 + i, "r" + std::to_string(first + i) + ".0<8;8,1>:ud");
    }
    const bool answered = (control & kAllocate) != 0;
    const uint32_t descriptor = (1 + count) << 25 | (answered ? 1u << 20 : 0) | 1u << 19 | control | row << 4;
    return text + "(W) send.urb (8|M0) " + (answered ? "r102" : "null") + " m1 0x0 " + hex(descriptor) +
           (end ? " {EOT}\n" : "\n");
  }
  static std::string end_of_geometry() { return ask_for_entry() + write_entry(0, 0, 0, 0, kComplete, true); }

  // Sets a pixel shader that writes attribute 0 of the provoking vertex to the target.
  void paint() {
    bind_target(1);
    surface.number_of_sf_output_attributes = pixel.number_of_sf_output_attributes = 1;
    surface.constant_interpolation_enable = 1;
    pixel.thread_dispatch_enable = pixel.dispatch_8_pixel_enable = true;
    pixel.kernel_start_pointer_0 = kPs;
    pixel.dispatch_grf_start_register_for_constant_setup_data_0 = 2;
    kernel(kPs, paint_with(2));
  }
  // Attribute 0 is in register `grf` and the next one.
  static std::string paint_with(uint32_t grf) {
    std::string text;
    for (uint32_t c = 0; c < 4; ++c) {
      text += move_to(1 + c, "r" + std::to_string(grf + c / 2) + "." + std::to_string(c % 2 * 4 + 3) + "<0;1,0>:ud");
    }
    return text + "sendc.rc (8|M0) null m1 0x0 0x8019401 {EOT}\n";
  }

  static std::string move_to(uint32_t message_register, const std::string& from) {
    return "(W) mov (8|M0) m" + std::to_string(message_register) + ".0<1>:ud " + from + "\n";
  }
  static std::string hex(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%x", value);
    return text;
  }

  hw::_3DSTATE_VS vertex;
  hw::_3DSTATE_GS geometry;
  hw::_3DSTATE_CLIP clip;
  hw::_3DSTATE_SF surface;
  hw::_3DSTATE_WM pixel;
};

}  // namespace halogen::pipe3d
