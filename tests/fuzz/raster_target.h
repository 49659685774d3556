// Clipping, set-up, coverage, depth and colours with random state and primitives. Memory has its exact size, so the
// sanitizers see any access outside. Also checked: coverage lies inside the bounds and the sample mask, no subspan is
// emitted twice, and the windows of a primitive add up to the whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fuzz/input.h"
#include "pipe3d/geometry/triangle.h"
#include "pipe3d/output/pixel_output.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz {

class RasterWorld final : private Input {
 public:
  void run(std::span<const uint8_t> data) {
    start(data);
    make_state();
    pipe3d::TargetWriter writer;
    writer.begin(target_, state_.output.blend.targets[0], state_.output.blend, memory_.space());
    pipe3d::DepthStencilUnit depth;
    depth.begin(state_.output, memory_.space(), state_.raster.samples_log2);
    pipe3d::Clipper clipper(state_, kSlots);
    uint32_t steps = 0;
    for (unsigned i = 0; i < kPrimitives && !empty(); ++i) {
      std::vector<pipe3d::ClippedPart> pieces;
      clipper.clip(primitive(), pieces);
      for (const pipe3d::ClippedPart& piece : pieces) {
        std::vector<pipe3d::ScreenPrimitive> screen;
        pipe3d::set_up(state_, piece, screen, steps);
        for (const pipe3d::ScreenPrimitive& each : screen) {
          draw(each, writer, depth);
        }
      }
    }
    if (take<uint8_t>() % 4 == 0) {
      depth.clear(state_.output.operation, pipe3d::draw_bounds(state_, 0), take<uint8_t>() % 3, 0);
      if (writer.takes_fills()) {
        writer.fill_plain({.x_min = -5, .y_min = 3, .x_max = 70, .y_max = 1 << 30}, 0, {1, 2, 3, 4});
      }
    }
  }

 private:
  static constexpr uint64_t kPage = test::MappedMemory::kPage;
  static constexpr uint64_t kPages = 64;
  static constexpr uint32_t kSlots = 3;
  static constexpr unsigned kPrimitives = 16;
  static constexpr int32_t kSide = 96;

  // Returns a float, mostly in a useful range, sometimes random bits.
  float number(float scale) {
    const auto kind = take<uint8_t>();
    return kind == 0xff ? take<float>()
                        : (static_cast<float>(take<int16_t>()) / 16384.0f) * scale * (kind == 0xfe ? 1e8f : 1.0f);
  }
  template <class Code>
  Code code(unsigned count) {
    return static_cast<Code>(take<uint8_t>() % count);
  }
  static void expect(bool right, const char* what) {
    if (!right) {
      std::fprintf(stderr, "%s\n", what);
      std::abort();
    }
  }

  void make_state() {
    state_ = {};
    pipe3d::Clip& clip = state_.clip;
    clip.enabled = flag();
    clip.xy_test = flag();
    clip.z_near_test = flag();
    clip.z_far_test = flag();
    clip.guard_band = flag();
    clip.zero_to_one = flag();
    clip.divide = flag();
    clip.clip_distances = static_cast<uint8_t>(take<uint8_t>() & take<uint8_t>() & 0x11);
    clip.cull_distances = static_cast<uint8_t>(take<uint8_t>() & take<uint8_t>() & 0x22);
    clip.most_viewport = take<uint8_t>();
    pipe3d::Raster& raster = state_.raster;
    raster.viewport_transform = flag();
    raster.cull = code<hw::CullMode>(4);
    raster.front_counter_clockwise = flag();
    raster.front_fill = code<hw::FillMode>(3);
    raster.back_fill = code<hw::FillMode>(3);
    raster.offset_solid = raster.offset_line = raster.offset_point = flag();
    raster.offset_constant = number(4);
    raster.offset_scale = number(4);
    raster.offset_clamp = number(1);
    raster.scissor = flag();
    raster.antialias = take<uint8_t>() % 8 == 0;
    raster.multisample = flag();
    raster.line_width = flag() ? 0.0f : number(16);
    raster.last_pixel = flag();
    raster.point_width = number(64);
    raster.point_width_of_vertex = flag();
    raster.point_rule_right = flag();
    raster.sub_pixel_bits = flag() ? 8 : 4;
    raster.origin_bias = flag() ? 0.5f : 0.0f;
    raster.samples_log2 = take<uint8_t>() % 5;
    raster.corner_sample = flag();
    for (auto& position : raster.positions) {
      position = {static_cast<uint8_t>(take<uint8_t>() & 15), static_cast<uint8_t>(take<uint8_t>() & 15)};
    }
    raster.sample_mask = flag() ? 0xffff : take<uint16_t>();
    raster.drawing = {.x_min = take<int8_t>(), .y_min = take<int8_t>(), .x_max = kSide - 1, .y_max = kSide - 1};
    raster.origin = {take<int8_t>(), take<int8_t>()};
    raster.line_stipple = flag();
    raster.polygon_stipple = flag();
    raster.stipple_pattern.fill(take<uint32_t>());
    raster.line_pattern = take<uint16_t>();
    raster.line_repeat = take<uint8_t>();
    for (pipe3d::Viewport& view : state_.viewports) {
      view.scale = {number(64), number(64), number(1)};
      view.move = {number(64), number(64), number(1)};
      view.guard_x_max = view.guard_y_max = 8;
      view.guard_x_min = view.guard_y_min = -8;
      view.scissor = {.x_min = take<int8_t>(), .y_min = take<int8_t>(), .x_max = take<int8_t>(), .y_max = 90};
      view.has_extent = flag();
      view.extent = {.x_min = 0, .y_min = 0, .x_max = take<int8_t>(), .y_max = 80};
      if (left() < 64) {
        break;
      }
    }
    make_output();
  }

  void make_output() {
    memory_.set_action(flag() ? memory::FaultAction::stop : memory::FaultAction::skip);
    pipe3d::DepthStencil& tests = state_.output.depth_stencil;
    tests.depth_test = flag();
    tests.depth_write = flag();
    tests.depth_function = code<hw::CompareFunction>(8);
    tests.stencil_test = flag();
    tests.stencil_write = flag();
    tests.two_sided = flag();
    tests.front.pass = code<hw::StencilOperation>(8);
    tests.front.write_mask = tests.front.test_mask = take<uint8_t>();
    tests.bounds_test = flag();
    constexpr std::array kFormats{hw::DepthFormat::D16_UNORM, hw::DepthFormat::D24_UNORM_S8_UINT,
                                  hw::DepthFormat::D24_UNORM_X8_UINT, hw::DepthFormat::D32_FLOAT,
                                  hw::DepthFormat::D32_FLOAT_S8X24_UINT};
    pipe3d::DepthBuffers& buffers = state_.output.buffers;
    buffers.format = kFormats[take<uint8_t>() % kFormats.size()];
    buffers.packed_stencil = flag();
    buffers.depth = plane();
    buffers.stencil = plane();
    state_.output.operation = {.clear_depth = flag(),
                               .clear_stencil = flag(),
                               .raw_value = flag(),
                               .full_surface = flag(),
                               .rectangle = {.x_min = 1, .y_min = 2, .x_max = 40, .y_max = 50}};
    pipe3d::BlendTarget& blend = state_.output.blend.targets[0];
    blend.blend = flag();
    blend.source_color = code<hw::BlendFactor>(32);
    blend.dest_color = code<hw::BlendFactor>(32);
    blend.source_alpha = code<hw::BlendFactor>(32);
    blend.dest_alpha = code<hw::BlendFactor>(32);
    blend.color = code<hw::BlendFunction>(8);
    blend.alpha = code<hw::BlendFunction>(8);
    blend.logic = take<uint8_t>() % 4 == 0;
    blend.logic_op = code<hw::LogicOp>(16);
    blend.write_mask = static_cast<uint8_t>(flag() ? 15 : take<uint8_t>());
    blend.clamp_before = flag();
    blend.clamp_after = flag();
    blend.range = code<hw::ColorClampRange>(3);
    target_ = {};
    target_.kind = flag() ? message::Surface::Kind::image : static_cast<message::Surface::Kind>(take<uint8_t>() % 3);
    target_.type = flag() ? hw::SurfaceType::SURFTYPE_2D : hw::SurfaceType::SURFTYPE_3D;
    target_.format_id = static_cast<hw::SurfaceFormat>(take<uint16_t>() % 512);
    target_.format = &surface::texel_format(target_.format_id);
    target_.base = flag() ? take<uint16_t>() : take<uint64_t>();
    target_.elements = take<uint16_t>();
    target_.width = take<uint8_t>();
    target_.height = take<uint8_t>();
    target_.depth = take<uint8_t>();
    target_.render_level = take<uint8_t>() & 15;
    target_.render_layers = take<uint8_t>();
    target_.samples = 1u << (take<uint8_t>() % 8);
    target_.samples_beside = flag();
    target_.rows_of_levels = flag();
    target_.layout = {.pattern = tiles(), .pitch_B = take<uint16_t>(), .layer_rows = take<uint8_t>()};
  }
  const surface::TilePattern* tiles() {
    const std::span<const surface::TilePattern* const> all = surface::tile_patterns();
    const size_t index = take<uint8_t>() % (all.size() + 2);
    return index < all.size() ? all[index] : index == all.size() ? &surface::kTileY : nullptr;
  }
  pipe3d::PlaneBuffer plane() {
    pipe3d::PlaneBuffer made;
    made.present = flag();
    made.address = flag() ? take<uint16_t>() : take<uint64_t>();
    made.pitch_B = take<uint16_t>();
    made.tiled = flag();
    made.x_tiles = flag();
    made.width = take<uint8_t>();
    made.height = take<uint8_t>();
    made.level = take<uint8_t>() & 15;
    made.layers = take<uint8_t>() & 3;
    made.layer_rows = take<uint8_t>();
    made.offset = {take<int8_t>(), take<int8_t>()};
    made.write = flag();
    return made;
  }

  pipe3d::Primitive primitive() {
    pipe3d::Primitive made;
    made.shape = static_cast<pipe3d::Shape>(take<uint8_t>() % 4);
    made.provoking = take<uint8_t>();
    made.topology = static_cast<hw::PrimitiveTopology>(take<uint8_t>() & 31);
    made.edge = {flag(), flag(), flag()};
    for (size_t i = 0; i < 3; ++i) {
      pipe3d::ClipVertex& vertex = made.vertex[i];
      vertex.position = {number(2), number(2), number(2), number(2)};
      if (!state_.raster.viewport_transform) {
        vertex.position[0] *= 40;
        vertex.position[1] *= 40;
      }
      for (float& distance : vertex.distance) {
        distance = number(1);
      }
      for (pipe3d::Slot& slot : entries_[i]) {
        slot.fill(take<uint32_t>());
      }
      vertex.slots = entries_[i].data();
      vertex.layer = take<uint8_t>();
      vertex.viewport = take<uint8_t>();
      vertex.point_width = number(64);
    }
    return made;
  }

  void draw(const pipe3d::ScreenPrimitive& made, pipe3d::TargetWriter& writer, pipe3d::DepthStencilUnit& depth) {
    const pipe3d::Rasteriser raster(state_, made);
    const unsigned samples = 1u << state_.raster.samples_log2;
    const uint32_t allowed = state_.raster.sample_mask & ((1u << samples) - 1);
    std::map<std::pair<int32_t, int32_t>, std::array<uint16_t, 4>> seen;
    raster.walk({.x_min = -4096, .y_min = -4096, .x_max = 4096, .y_max = 4096}, [&](const pipe3d::Subspan& span) {
      expect(seen.emplace(std::pair(span.x, span.y), span.coverage).second, "a subspan came twice");
      for (int32_t lane = 0; lane < 4; ++lane) {
        const uint32_t mask = span.coverage[static_cast<size_t>(lane)];
        if (mask == 0) continue;
        const int32_t x = span.x + lane % 2;
        const int32_t y = span.y + lane / 2;
        const pipe3d::Rectangle& bounds = made.bounds;
        expect(x >= bounds.x_min && x <= bounds.x_max && y >= bounds.y_min && y <= bounds.y_max,
               "coverage outside the bounds");
        expect((mask & ~allowed) == 0, "a sample is covered that the mask leaves out");
        std::array<float, pipe3d::kMaxSamples> z{};
        z.fill(raster.depth(static_cast<float>(x), static_cast<float>(y)));
        const uint32_t passed = depth.test({x, y, made.layer}, mask, z, made.front, nullptr, true);
        expect((passed & ~mask) == 0, "a sample passes that was not there");
        const auto weights = raster.perspective(static_cast<float>(x), static_cast<float>(y));
        pipe3d::Colour colour{};
        std::memcpy(colour.data(), &weights, sizeof weights);
        writer.write({x, y, made.layer}, passed, colour, colour);
      }
    });
    // The same primitive in two windows.
    const int32_t cut = take<uint8_t>() % kSide;
    for (const auto& [from, to] : {std::pair(-4096, cut - 1), std::pair(cut, 4096)}) {
      raster.walk({.x_min = from, .y_min = -4096, .x_max = to, .y_max = 4096}, [&](const pipe3d::Subspan& span) {
        auto found = seen.find({span.x, span.y});
        expect(found != seen.end(), "a window shows what the whole does not");
        for (size_t lane = 0; lane < 4; ++lane) {
          expect((span.coverage[lane] & ~found->second[lane]) == 0, "a window shows what the whole does not");
          found->second[lane] = static_cast<uint16_t>(found->second[lane] & ~span.coverage[lane]);
        }
      });
    }
    for (const auto& [place, rest] : seen) {
      expect(std::ranges::all_of(rest, [](uint16_t mask) { return mask == 0; }), "windows do not cover the primitive");
    }
  }

  test::MappedMemory memory_{kPages * kPage};
  pipe3d::PipelineState state_;
  message::Surface target_;
  std::array<std::array<pipe3d::Slot, kSlots>, 3> entries_{};
};

inline void raster(std::span<const uint8_t> data) {
  RasterWorld world;
  world.run(data);
}

}  // namespace halogen::fuzz
