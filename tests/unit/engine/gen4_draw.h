// Gen4Draw: a rectangle drawn by the 3D pipeline of the first chips, through the ring and the global table. Each pixel
// of the render target gets the texel at the same position; the depth buffer gets the depth of the rectangle.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "eu/isa/assembler.h"
#include "flow_bench.h"
#include "hw/blend.h"
#include "hw/unit_states.h"

namespace halogen {

struct Gen4Draw : FlowBench {
  enum class Walk : uint8_t { linear, x, y };
  static constexpr Walk kWalks[] = {Walk::linear, Walk::x, Walk::y};
  static constexpr std::string_view kRcs = "rcs0";
  static constexpr uint32_t kFormat = 0x0c7;      // R8G8B8A8_UNORM
  static constexpr uint32_t kWideFormat = 0x000;  // R32G32B32A32_FLOAT

  struct Surface {
    uint64_t base = 0;
    uint32_t pitch_B = 2048;
    Walk walk = Walk::linear;
    uint32_t width = 256;
    uint32_t height = 40;
    uint32_t format = kFormat;
    uint32_t pixel_B = 4;
  };

  explicit Gen4Draw(std::string_view name, device::DeviceOptions options = {}) : FlowBench(name, std::move(options)) {
    states = allocate(2);
    kernels = allocate(1);
    vertices = allocate(1);
    start_ring(kRcs, 8);
    put_kernels();
    put_units();
    host.log.clear();
  }

  // Returns the place of a byte of a surface: G45 PRM vol. 1b 4.5.2 (seed 003).
  static uint64_t offset_of(const Surface& surface, uint64_t x_B, uint64_t y) {
    switch (surface.walk) {
      case Walk::linear:
        break;
      case Walk::x:
        return (y / 8 * (surface.pitch_B / 512) + x_B / 512) * 4096 + y % 8 * 512 + x_B % 512;
      case Walk::y:
        return (y / 32 * (surface.pitch_B / 128) + x_B / 128) * 4096 + x_B % 128 / 16 * 512 + y % 32 * 16 + x_B % 16;
    }
    return y * surface.pitch_B + x_B;
  }
  uint32_t pixel(const Surface& surface, uint32_t x, uint32_t y) {
    return peek(surface.base + offset_of(surface, uint64_t{x} * surface.pixel_B, y));
  }
  void fill_texture(const Surface& surface, uint32_t seed) {
    for (uint32_t y = 0; y < surface.height; ++y) {
      for (uint32_t x = 0; x < surface.width; ++x) {
        poke(surface.base + offset_of(surface, uint64_t{x} * 4, y), texel(seed, x, y));
      }
    }
  }
  static uint32_t texel(uint32_t seed, uint32_t x, uint32_t y) { return seed + y * 0x0100'0000 + x * 0x1'0007; }

  // Pages for a surface, from a multiple of 1 MB on, as fences need them.
  uint64_t pages_for_surface(size_t pages = 64) {
    uint64_t first = allocate(1);
    while (first % 0x10'0000 != 0) {
      first = allocate(1);
    }
    allocate(pages - 1);
    return first;
  }

  std::vector<uint32_t> state_of(const Surface& surface) {
    std::vector<uint32_t> words(model.gen == spec::GenId::gen4 ? 5 : 6);
    words[0] = 1u << 29 | surface.format << 18;
    words[1] = static_cast<uint32_t>(surface.base);
    words[2] = (surface.height - 1) << 19 | (surface.width - 1) << 6;
    words[3] =
        (surface.pitch_B - 1) << 3 | (surface.walk != Walk::linear ? 2u : 0) | (surface.walk == Walk::y ? 1u : 0);
    return words;
  }

  // Emits a draw of the first columns and lines of the target.
  void emit_draw(const Surface& target, const Surface& texture, const Surface* depth = nullptr, uint32_t width = 64,
                 uint32_t height = 16, float z = 0.5f) {
    poke(states + kTargetState, state_of(target));
    poke(states + kTextureState, state_of(texture));
    poke(states + kTable, {at(states + kTargetState), at(states + kTextureState)});
    const auto right = static_cast<float>(width), bottom = static_cast<float>(height);
    const float corners[] = {right, bottom, z, 0, bottom, z, 0, 0, z};
    for (size_t i = 0; i < std::size(corners); ++i) {
      poke(vertices + 4 * i, std::bit_cast<uint32_t>(corners[i]));
    }
    hw::COLOR_CALC_STATE color{};
    color.cc_viewport_state_pointer = states + kDepthRange;
    color.depth_test_enable = depth != nullptr;
    color.depth_buffer_write_enable = depth != nullptr;
    color.depth_test_function = hw::CompareFunction::ALWAYS;
    put_state(kColorCalc, color, 8);
    const uint32_t last = at(states);
    emit(kRcs, {model.gen == spec::GenId::gen4 ? 0x6104'0000u : 0x6904'0000u});
    emit(kRcs, {0x6101'0004, 1, 1, 1, 1, 1});
    emit(kRcs, {0x7800'0005, last + kVertexUnit, 0, 0, last + kSetupUnit, last + kPixelUnit, last + kColorCalc});
    emit(kRcs, {0x7801'0004, 0, 0, 0, 0, last + kTable});
    emit(kRcs, {0x7900'0002, 0, 0x1fff'1fff, 0});
    emit(kRcs, depth_buffer(depth));
    emit(kRcs, {0x7808'0003, 12, at(vertices), model.gen == spec::GenId::gen4 ? 16u : at(vertices) + 0xfff, 0});
    constexpr uint32_t kStoreSource = 1, kStore0 = 2, kStore1 = 3;
    constexpr uint32_t kPosition = kStoreSource << 28 | kStoreSource << 24 | kStoreSource << 20 | kStore1 << 16;
    constexpr uint32_t kZeros = kStore0 << 28 | kStore0 << 24 | kStore0 << 20 | kStore0 << 16;
    constexpr uint32_t kElement = 1u << 26 | 0x40u << 16;  // R32G32B32_FLOAT
    emit(kRcs, {0x7809'0005, kElement, kZeros | 0, kElement, kPosition | 4, kElement, kPosition | 8});
    emit(kRcs, {0x7b00'0004 | 15u << 10, 3, 0, 1, 0, 0});  // a list of rectangles
  }
  void draw(const Surface& target, const Surface& texture, const Surface* depth = nullptr, uint32_t width = 64,
            uint32_t height = 16, float z = 0.5f) {
    emit_draw(target, texture, depth, width, height, z);
    submit(kRcs);
    EXPECT_TRUE(device->settle());
  }
  // Returns whether the target holds the texels of the drawn pixels and zero elsewhere.
  ::testing::AssertionResult is_drawn(const Surface& target, uint32_t seed, uint32_t width = 64, uint32_t height = 16) {
    for (uint32_t y = 0; y < target.height; ++y) {
      for (uint32_t x = 0; x < target.width; ++x) {
        const uint32_t expected = x < width && y < height ? texel(seed, x, y) : 0;
        if (pixel(target, x, y) != expected) {
          return ::testing::AssertionFailure() << x << ", " << y << ": " << pixel(target, x, y);
        }
      }
    }
    return ::testing::AssertionSuccess();
  }
  // Replaces the code of the pixel shader: it writes 1.0 to every channel of its pixels.
  void make_pixels_white() {
    std::string text = "(W) mov (8|M0) m2.0<1>:ud r1.0<8;8,1>:ud\n";
    for (unsigned reg = 3; reg < 11; ++reg) {
      text += "(W) mov (8|M0) m" + std::to_string(reg) + ".0<1>:f 1.0:f\n";
    }
    put_kernel(kPixelKernel, text + "send.dpwr (16|M0) null:ud m1 r0.0<8;8,1>:ud 0x0 0x14084800 {EOT}\n");
  }
  // Emits the drawing command alone, with vertices at another place.
  void emit_vertices(uint64_t place, uint32_t width, uint32_t height, float z = 0.5f) {
    const auto right = static_cast<float>(width), bottom = static_cast<float>(height);
    const float corners[] = {right, bottom, z, 0, bottom, z, 0, 0, z};
    for (size_t i = 0; i < std::size(corners); ++i) {
      poke(place + 4 * i, std::bit_cast<uint32_t>(corners[i]));
    }
    emit(kRcs, {0x7808'0003, 12, at(place), model.gen == spec::GenId::gen4 ? 16u : at(place) + 0xfff, 0});
    emit(kRcs, {0x7b00'0004 | 15u << 10, 3, 0, 1, 0, 0});
  }
  // Enables the statistics of the windower.
  void count_pixels() { poke(states + kPixelUnit + 16, peek(states + kPixelUnit + 16) | 1); }
  std::vector<uint32_t> depth_buffer_of(const Surface& depth) { return depth_buffer(&depth); }
  uint64_t texture_state() const { return states + kTextureState; }
  uint64_t binding_table() const { return states + kTable; }
  void clear(const Surface& surface) {
    for (uint64_t i = 0; i < uint64_t{surface.pitch_B} * 64; i += 4) {
      poke(surface.base + i, 0);
    }
  }

  uint64_t states = 0, kernels = 0, vertices = 0;

 private:
  static constexpr uint32_t kVertexUnit = 0x000, kSetupUnit = 0x040, kPixelUnit = 0x080, kColorCalc = 0x0c0,
                            kDepthRange = 0x100, kTable = 0x140, kTargetState = 0x180, kTextureState = 0x1c0;
  static constexpr uint32_t kSetupKernel = 0, kPixelKernel = 0x400;

  static uint32_t at(uint64_t address) { return static_cast<uint32_t>(address); }
  template <class T>
  void put_state(uint32_t offset, const T& state, size_t dwords) {
    std::vector<uint32_t> words(dwords);
    ASSERT_TRUE(state.pack(model.gen, words));
    poke(states + offset, words);
  }
  std::vector<uint32_t> depth_buffer(const Surface* depth) {
    std::vector<uint32_t> words(model.gen == spec::GenId::gen4 ? 5 : 6);
    words[0] = 0x7905'0000 | static_cast<uint32_t>(words.size() - 2);
    words[1] = 7u << 29;  // null
    if (depth != nullptr) {
      const uint32_t format = depth->pixel_B == 2 ? 5 : 1;  // D16_UNORM, D32_FLOAT
      words[1] = 1u << 29 | format << 18 | (depth->walk != Walk::linear ? 1u << 27 : 0) |
                 (depth->walk == Walk::y ? 1u << 26 : 0) | (depth->pitch_B - 1);  // 2D
      words[2] = at(depth->base);
      words[3] = (depth->height - 1) << 19 | (depth->width - 1) << 6;
    }
    return words;
  }
  void put_kernel(uint32_t offset, const std::string& text) {
    const auto code = eu::assemble(model.gen, text);
    ASSERT_TRUE(code.ok()) << code.message();
    std::vector<uint32_t> words(code.value().size() / 4);
    std::memcpy(words.data(), code.value().data(), words.size() * 4);
    poke(kernels + offset, words);
  }
  void put_kernels() {
    put_kernel(kSetupKernel, "(W) send.ts (8|M0) null:ud m4 r0.0<8;8,1>:ud 0x0 0x02000010 {EOT}\n");
    const std::string load = model.gen == spec::GenId::gen4 ? "0x1288c001" : "0x12883001";
    put_kernel(kPixelKernel, R"(
      (W) add (16|M0) r10.0<1>:uw r1.4<2;4,0>:uw 0x10101010:v
      (W) add (16|M0) r11.0<1>:uw r1.5<2;4,0>:uw 0x11001100:v
      (W) mov (8|M0) m2.0<1>:d r10.0<8;8,1>:uw
      (W) mov (8|M0) m3.0<1>:d r10.8<8;8,1>:uw
      (W) mov (8|M0) m4.0<1>:d r11.0<8;8,1>:uw
      (W) mov (8|M0) m5.0<1>:d r11.8<8;8,1>:uw
      (W) mov (8|M0) m6.0<1>:d 0:d
      (W) mov (8|M0) m7.0<1>:d 0:d
      (W) mov (8|M0) m8.0<1>:d 0:d
      (W) mov (8|M0) m9.0<1>:d 0:d
      send.smpl (16|M0) r20.0<1>:ud m1 r0.0<8;8,1>:ud 0x0 )" +
                                 load + R"(
      (W) mov (8|M0) m2.0<1>:ud r1.0<8;8,1>:ud
      (W) mov (8|M0) m3.0<1>:ud r20.0<8;8,1>:ud
      (W) mov (8|M0) m4.0<1>:ud r22.0<8;8,1>:ud
      (W) mov (8|M0) m5.0<1>:ud r24.0<8;8,1>:ud
      (W) mov (8|M0) m6.0<1>:ud r26.0<8;8,1>:ud
      (W) mov (8|M0) m7.0<1>:ud r21.0<8;8,1>:ud
      (W) mov (8|M0) m8.0<1>:ud r23.0<8;8,1>:ud
      (W) mov (8|M0) m9.0<1>:ud r25.0<8;8,1>:ud
      (W) mov (8|M0) m10.0<1>:ud r27.0<8;8,1>:ud
      send.dpwr (16|M0) null:ud m1 r0.0<8;8,1>:ud 0x0 0x14084800 {EOT}
)");
  }
  void put_units() {
    hw::VS_STATE vertex{};
    vertex.urb_entry_allocation_size = 1;
    vertex.number_of_urb_entries = 16;
    put_state(kVertexUnit, vertex, 7);
    hw::SF_STATE setup{};
    setup.kernel_start_pointer = kernels + kSetupKernel;
    setup.grf_register_count = 7;
    setup.dispatch_grf_start_register_for_urb_data = 3;
    setup.vertex_urb_entry_read_length = 1;
    setup.number_of_urb_entries = 8;
    setup.cull_mode = hw::CullMode::NONE;
    setup.destination_origin_horizontal_bias = 0.5;
    setup.destination_origin_vertical_bias = 0.5;
    put_state(kSetupUnit, setup, 8);
    hw::WM_STATE pixel{};
    pixel.kernel_start_pointer_0 = kernels + kPixelKernel;
    pixel.grf_register_count_0 = 7;
    pixel.dispatch_grf_start_register_for_constant_setup_data_0 = 3;
    pixel.setup_urb_entry_read_length = 1;
    pixel.dispatch_16_pixel_enable = true;
    pixel.thread_dispatch_enable = true;
    put_state(kPixelUnit, pixel, 8);
    poke(states + kDepthRange, {0, std::bit_cast<uint32_t>(1.0f)});
  }
};

}  // namespace halogen
