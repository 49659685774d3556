// Pixel threads of Gen6: the register of each value for each width. Expected values are computed from the triangle.
#include <set>

#include "covers.h"
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

struct Corner {
  double x, y, z, w;
};
constexpr std::array<Corner, 3> kCorners{{{-40, -40, 0.125, 1}, {120, -30, 0.5, 2}, {-20, 130, 0.875, 4}}};

using Weights = std::array<double, 3>;

// Returns the weights of the corners at a point of the screen.
Weights on_screen(double x, double y) {
  const auto area = [](double ax, double ay, double bx, double by, double cx, double cy) {
    return (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  };
  const auto& [a, b, c] = kCorners;
  const double whole = area(a.x, a.y, b.x, b.y, c.x, c.y);
  return {area(x, y, b.x, b.y, c.x, c.y) / whole, area(a.x, a.y, x, y, c.x, c.y) / whole,
          area(a.x, a.y, b.x, b.y, x, y) / whole};
}
Weights in_perspective(const Weights& screen) {
  Weights found{};
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    found[i] = screen[i] / kCorners[i].w;
    sum += found[i];
  }
  for (double& weight : found) {
    weight /= sum;
  }
  return found;
}

class PixelPayload : public ::testing::Test {
 protected:
  static constexpr uint32_t kFirst = 80;  // first register of constants and set-up data
  static constexpr uint32_t kLayer = 5;

  // Attribute 0 has 1 at one corner in each component; attribute 1 is flat.
  void set_up(uint32_t width) {
    std::vector<std::vector<uint32_t>> all;
    for (uint32_t i = 0; i < 3; ++i) {
      const Corner& at = kCorners[i];
      all.push_back({0, kLayer, 0, 0, bits(static_cast<float>(at.x * at.w)), bits(static_cast<float>(at.y * at.w)),
                     bits(static_cast<float>(at.z * at.w)), bits(static_cast<float>(at.w)), bits(i == 0 ? 1.f : 0),
                     bits(i == 1 ? 1.f : 0), bits(i == 2 ? 1.f : 0), bits(1), 0xabc0 + i, 0xabd0 + i, 0xabe0 + i,
                     0xabf0 + i});
    }
    world_.entries(all);
    for (uint32_t i = 0; i < 8; ++i) {
      world_.word(SandyDraw::kConstants + i * 4) = 0xc000 + i;
    }
    hw::_3DSTATE_CONSTANT_PS constants;
    constants.buffer_0_valid = true;
    constants.constant_body.buffer_0 = GpuVa{SandyDraw::kConstants - SandyDraw::kStates};
    world_.send(constants, 5);
    hw::_3DSTATE_SAMPLER_STATE_POINTERS samplers;
    samplers.ps_sampler_state_change = true;
    samplers.ps_sampler_state_pointer = 0x2540;
    world_.send(samplers, 4);
    // Restricts the draw to as many pixels as the thread has channels.
    hw::_3DSTATE_DRAWING_RECTANGLE part;
    part.clipped_drawing_rectangle_x_min = 8;
    part.clipped_drawing_rectangle_y_min = 4;
    part.clipped_drawing_rectangle_x_max = width == 32 ? 15 : 11;
    part.clipped_drawing_rectangle_y_max = width == 8 ? 5 : 7;
    world_.send(part, 4);
    world_.bind_target(1);
    world_.clip.perspective_divide_disable = false;
    world_.surface.number_of_sf_output_attributes = world_.pixel.number_of_sf_output_attributes = 2;
    world_.surface.constant_interpolation_enable = 2;
    world_.surface.triangle_strip_list_provoking_vertex_select = 2;
    world_.pixel.thread_dispatch_enable = true;
    world_.pixel.dispatch_8_pixel_enable = width == 8;
    world_.pixel.dispatch_16_pixel_enable = width == 16;
    world_.pixel.dispatch_32_pixel_enable = width == 32;
    world_.pixel.kernel_start_pointer_0 = SandyDraw::kPs;
    world_.pixel.dispatch_grf_start_register_for_constant_setup_data_0 = kFirst;
    world_.pixel.scratch_space_base_pointer = 0x12'3400;
    world_.pixel.per_thread_scratch_space = 2;
    world_.kernel(SandyDraw::kPs, "(W) mov (8|M0) r99.0<1>:ud 0x0:ud\n" +
                                      SandyDraw::copy("r99.0<0;1,0>:ud", 0, kFirst + 6) +
                                      SandyDraw::paint_with(kFirst + 1));
  }
  uint32_t dword(uint32_t grf, uint32_t index) { return world_.copied(0, grf, index); }

  struct Pixel {
    uint32_t x, y;
  };
  // Returns the pixel of a channel, from the coordinates of its subspan.
  Pixel pixel_of(uint32_t channel) {
    const uint32_t subspan = channel / 4;
    const uint32_t origin = dword(1 + subspan / 4, 2 + subspan % 4);
    return {(origin & 0xffff) + channel % 2, (origin >> 16) + channel / 2 % 2};
  }
  void check_coordinates(uint32_t width) {
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (uint32_t channel = 0; channel < width; ++channel) {
      const Pixel at = pixel_of(channel);
      EXPECT_TRUE(at.x >= 8 && at.x < (width == 32 ? 16u : 12u) && at.y >= 4 && at.y < (width == 8 ? 6u : 8u));
      seen.insert({at.x, at.y});
    }
    EXPECT_EQ(seen.size(), width) << "each pixel occurs once";
    for (uint32_t half = 0; half < (width + 15) / 16; ++half) {
      EXPECT_EQ(dword(1 + half, 7) & 0xffff, width == 8 ? 0xffu : 0xffffu) << "all pixels are enabled";
    }
  }
  // Checks the barycentric weights of eight channels in two registers: evaluating the planes of attribute 0 with them
  // gives the weight of each corner.
  void check_weights(uint32_t grf, uint32_t first_channel, bool perspective) {
    for (uint32_t i = 0; i < 8; ++i) {
      const Pixel at = pixel_of(first_channel + i);
      const Weights screen = on_screen(at.x + 0.5, at.y + 0.5);
      const Weights expected = perspective ? in_perspective(screen) : screen;
      const double u = world_.copied_real(0, grf, i);
      const double v = world_.copied_real(0, grf + 1, i);
      for (uint32_t c = 0; c < 3; ++c) {
        const uint32_t plane = kFirst + 1 + c / 2;
        const uint32_t at_dword = c % 2 * 4;
        const double value = world_.copied_real(0, plane, at_dword) * u +
                             world_.copied_real(0, plane, at_dword + 1) * v +
                             world_.copied_real(0, plane, at_dword + 3);
        EXPECT_NEAR(value, expected[c], 2e-6) << grf << " " << i << " " << c;
      }
    }
  }
  void check_depth(uint32_t grf, uint32_t first_channel, bool want_w) {
    for (uint32_t i = 0; i < 8; ++i) {
      const Pixel at = pixel_of(first_channel + i);
      const Weights screen = on_screen(at.x + 0.5, at.y + 0.5);
      double depth = 0;
      double rhw = 0;
      for (size_t c = 0; c < 3; ++c) {
        depth += screen[c] * kCorners[c].z;
        rhw += screen[c] / kCorners[c].w;
      }
      EXPECT_NEAR(world_.copied_real(0, grf, i), want_w ? 1 / rhw : depth, 2e-6) << grf << " " << i;
    }
  }
  void check_all(uint32_t width) {
    const hw::_3DSTATE_WM& wm = world_.pixel;
    check_coordinates(width);
    uint32_t grf = width == 32 ? 3 : 2;
    for (uint32_t first = 0; first < width; first += 16) {
      const uint32_t end = std::min(first + 16, width);
      for (uint32_t mode = 0; mode < 6; ++mode) {
        for (uint32_t channel = first; (wm.barycentric_interpolation_mode >> mode & 1) != 0 && channel < end;
             channel += 8, grf += 2) {
          check_weights(grf, channel, mode < 3);
        }
      }
      for (uint32_t channel = first; wm.pixel_shader_uses_source_depth && channel < end; channel += 8) {
        check_depth(grf++, channel, false);
      }
      for (uint32_t channel = first; wm.pixel_shader_uses_source_w && channel < end; channel += 8) {
        check_depth(grf++, channel, true);
      }
      if (wm.position_xy_offset_select != hw::PositionOffsetSelect::NONE) {
        for (uint32_t i = 0; i < (end - first) / 2; ++i) {
          EXPECT_EQ(dword(grf, i), 0x0808'0808u) << "the centre, in sixteenths";
        }
        ++grf;
      }
    }
    EXPECT_EQ(dword(0, 0) & 0x1f, 4u) << "TRILIST";
    EXPECT_EQ(dword(0, 0) >> 16 & 0x7ff, kLayer);
    EXPECT_EQ(dword(0, 0) >> 27 & 0xf, 0u) << "viewport";
    EXPECT_EQ(dword(0, 3), 0x2540u | 2);
    EXPECT_EQ(dword(0, 4), SandyDraw::kTable);
    EXPECT_EQ(dword(0, 5) & ~0x3ffu, 0x12'3400u);
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(dword(kFirst, i), 0xc000 + i) << "constants";
    }
    // Two registers per attribute. The flat attribute has the bits of the last corner.
    for (uint32_t c = 0; c < 4; ++c) {
      EXPECT_EQ(dword(kFirst + 3 + c / 2, c % 2 * 4 + 3), 0xabc2 + 0x10 * c);
      EXPECT_EQ(dword(kFirst + 3 + c / 2, c % 2 * 4), 0u);
    }
  }

  SandyDraw world_;
};

TEST_F(PixelPayload, OnlyRequestedPartsTakeRegisters) {
  for (const uint32_t width : {8u, 16u, 32u}) {
    for (const uint32_t modes : {0x01u, 0x08u, 0x09u, 0x30u, 0x3fu, 0x00u}) {
      for (uint32_t others = 0; others < 8; ++others) {
        SCOPED_TRACE(testing::Message() << width << " " << modes << " " << others);
        world_.pixel.barycentric_interpolation_mode = static_cast<uint8_t>(modes);
        world_.pixel.pixel_shader_uses_source_depth = (others & 1) != 0;
        world_.pixel.pixel_shader_uses_source_w = (others & 2) != 0;
        world_.pixel.position_xy_offset_select =
            (others & 4) != 0 ? hw::PositionOffsetSelect::CENTROID : hw::PositionOffsetSelect::NONE;
        set_up(width);
        world_.draw(Topology::TRILIST, 3);
        check_all(width);
      }
    }
  }
}

// If everything is requested, 32 pixels have it in the registers that the requirement notes list.
TEST_F(PixelPayload, LargestPayloadUsesTheDocumentedRegisters) {
  world_.pixel.barycentric_interpolation_mode = 0x3f;
  world_.pixel.pixel_shader_uses_source_depth = true;
  world_.pixel.pixel_shader_uses_source_w = true;
  world_.pixel.position_xy_offset_select = hw::PositionOffsetSelect::CENTROID;
  set_up(32);
  world_.draw(Topology::TRILIST, 3);
  check_coordinates(32);
  for (const uint32_t second : {0u, 1u}) {
    const uint32_t channel = second * 16;
    for (uint32_t mode = 0; mode < 6; ++mode) {
      const uint32_t grf = (second == 0 ? 3 : 32) + mode * 4;
      check_weights(grf, channel, mode < 3);
      check_weights(grf + 2, channel + 8, mode < 3);
    }
    check_depth(second == 0 ? 27 : 56, channel, false);
    check_depth(second == 0 ? 28 : 57, channel + 8, false);
    check_depth(second == 0 ? 29 : 58, channel, true);
    check_depth(second == 0 ? 30 : 59, channel + 8, true);
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(dword(second == 0 ? 31 : 60, i), 0x0808'0808u);
    }
  }
}

// The corners are clockwise with y downwards.
TEST_F(PixelPayload, HeaderHoldsFacingLayerAndViewport) {
  for (const auto winding : {hw::FrontWinding::CLOCKWISE, hw::FrontWinding::COUNTER_CLOCKWISE}) {
    world_.surface.front_winding = winding;
    set_up(8);
    world_.draw(Topology::TRILIST, 3);
    EXPECT_EQ(dword(0, 0) >> 15 & 1, winding == hw::FrontWinding::CLOCKWISE ? 0u : 1u);
  }
}

}  // namespace
}  // namespace halogen::pipe3d
