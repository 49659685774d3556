// Blocks of 2x2 pixels as performance counters count them. The expected counts come from the triangle: each sample of
// each pixel is compared with the three edges, with the depth that the test stored for it, and with the rule by which
// the kernel kills pixels.
#include "pipe3d/pixel/block_counts.h"

#include <fmt/format.h>

#include <random>

#include "base/worker_pool.h"
#include "eu/isa/assembler.h"
#include "pipe3d/pixel/pixel_work.h"
#include "raster_scene.h"
#include "unit/message/message_bench.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kSize = 64;                             // of the drawing rectangle
constexpr uint32_t kTargetWidth = 61, kTargetHeight = 54;  // blocks at the edges are partly outside
constexpr uint32_t kTarget = 0, kSecondTarget = 0x4'0000, kDepth = 0x8'0000, kCode = 0x18'0000;
constexpr uint32_t kUnorm8 = 0xc7, kFloat = 0xd8;

struct Corner {
  double x = 0, y = 0;
};

struct Setting {
  uint8_t samples_log2 = 0;
  unsigned width = 8;
  uint32_t format = kUnorm8;
  bool kills = false;
  bool tests = false;
  bool late = false;
  bool per_sample = false;
  bool blends = false;
  bool two_targets = false;
  uint8_t write_mask = 0xf;
};

class Blocks : public message::MessageBench {
 protected:
  // Returns the depth that the buffer holds.
  static float stored(uint32_t x, uint32_t y, uint32_t sample) {
    const uint32_t mixed = (x / 2 * 73856093u ^ y / 2 * 19349663u ^ sample * 83492791u) >> 4;
    return mixed % 3 == 0 || (x * 7 + y * 3 + sample) % 5 == 0 ? 0.25f : 0.75f;
  }
  static bool passes(uint32_t x, uint32_t y, uint32_t sample) { return 0.5f < stored(x, y, sample); }
  static bool killed(uint32_t x, uint32_t y) { return (x & 6) == 2 || (x & y & 1) != 0; }

  void bind_target(uint8_t index, uint32_t at, const Setting& setting) {
    bind(index, {1u << 29 | setting.format << 18 | 1u << 16 | 1u << 14, kSize / 4,
                 (kTargetWidth - 1) | (kTargetHeight - 1) << 16, kSize * 4 - 1, uint32_t{setting.samples_log2} << 3, 0,
                 0, 0, static_cast<uint32_t>(kVa + at), static_cast<uint32_t>((kVa + at) >> 32), 0, 0, 0, 0, 0, 0});
  }
  std::string write(unsigned width, uint8_t index, bool last, bool kills) const {
    const uint32_t descriptor = (width == 8 ? 0x0803'0400u : 0x1003'0000u) | (last ? 1u << 12 : 0) | index;
    return fmt::format("{}send.rc ({}|M0) null r110 {} 0x0 {:#x}{}\n", kills ? "(~f0.0) " : "", width,
                       GetParam() == "tgl" ? "null" : "", descriptor, last ? " {EOT}" : "");
  }
  void load(const Setting& setting) {
    const unsigned n = setting.width;
    std::string text;
    if (setting.kills) {  // x and y of each channel; f0.0: killed
      text += fmt::format(
          "(W) add ({0}|M0) r20.0<1>:uw r1.4<2;4,0>:uw 0x10101010:v\n"
          "(W) add ({0}|M0) r21.0<1>:uw r1.5<2;4,0>:uw 0x11001100:v\n"
          "(W) and ({0}|M0) r22.0<1>:uw r20.0<8;8,1>:uw 0x6:uw\n"
          "(W) cmp ({0}|M0) (eq)f0.0 null<1>:uw r22.0<8;8,1>:uw 0x2:uw\n"
          "(W) and ({0}|M0) r23.0<1>:uw r20.0<8;8,1>:uw r21.0<8;8,1>:uw\n"
          "(W) and ({0}|M0) r23.0<1>:uw r23.0<8;8,1>:uw 0x1:uw\n"
          "(W&~f0.0) cmp ({0}|M0) (ne)f0.0 null<1>:uw r23.0<8;8,1>:uw 0x0:uw\n",
          n);
    }
    for (unsigned i = 0; i < 4; ++i) {
      text += fmt::format("mov ({}|M0) r{}.0<1>:f 0.5:f\n", n, 110 + i * n / 8);
    }
    if (setting.two_targets) {
      text += write(n, 0, false, setting.kills);
    }
    text += write(n, setting.two_targets ? 1 : 0, true, setting.kills);
    const auto code = eu::assemble(model_.gen, text);
    ASSERT_TRUE(code.ok()) << code.message() << "\n" << text;
    std::memset(memory_.bytes().data() + kCode, 0, 0x1000);
    std::memcpy(memory_.bytes().data() + kCode, code.value().data(), code.value().size());
  }
  PipelineState state_of(const Setting& setting) {
    PipelineState state = window_state(kSize, kSize);
    state.wanted.work = true;
    state.raster.cull = hw::CullMode::NONE;
    set_samples(state.raster, setting.samples_log2);
    state.bases = environment_.bases;
    state.bases.instruction = kVa + kCode;
    PixelShader& pixel = state.pixel;
    pixel.dispatch = true;
    pixel.shader.enabled = true;
    pixel.shader.binding_table = environment_.binding_table;
    (setting.width == 8 ? pixel.simd8 : pixel.simd16) = {.enabled = true, .start = 0, .first_grf = 10};
    pixel.kills = setting.kills;
    pixel.per_sample = setting.per_sample;
    pixel.early = setting.late ? EarlyDepth::late : EarlyDepth::early;
    for (size_t i = 0; i < 2; ++i) {
      BlendTarget& blend = state.output.blend.targets[i];
      blend.write_mask = setting.write_mask;
      blend.blend = setting.blends;
      blend.source_color = blend.source_alpha = blend.dest_color = blend.dest_alpha = hw::BlendFactor::ONE;
    }
    if (setting.tests) {
      state.output.depth_stencil.depth_test = true;
      state.output.depth_stencil.depth_function = hw::CompareFunction::LESS;
      PlaneBuffer& depth = state.output.buffers.depth;
      depth.present = true;
      depth.tiled = false;
      depth.address = kVa + kDepth;
      depth.pitch_B = 2 * kSize * 4;
      depth.width = depth.height = kSize;
      state.output.buffers.format = hw::DepthFormat::D32_FLOAT;
    }
    return state;
  }
  // Samples of a depth buffer are interleaved: with four samples, a block of 2x2 pixels takes 4x4 places.
  void store_depth(uint8_t samples_log2) {
    for (uint32_t y = 0; y < kSize; ++y) {
      for (uint32_t x = 0; x < kSize; ++x) {
        for (uint32_t s = 0; s < 1u << samples_log2; ++s) {
          const uint32_t column = samples_log2 == 0 ? x : (x & ~1u) << 1 | (s & 1) << 1 | (x & 1);
          const uint32_t row = samples_log2 == 0 ? y : (y & ~1u) << 1 | (s & 2) | (y & 1);
          real(kDepth + row * 2 * kSize * 4 + column * 4) = stored(x, y, s);
        }
      }
    }
  }

  static double cross(const Corner& p, const Corner& q, double x, double y) {
    return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
  }
  // Corners are such that no sample lies on an edge.
  static bool covers(const std::array<Corner, 3>& v, double x, double y) {
    const double side = cross(v[0], v[1], v[2].x, v[2].y) > 0 ? 1 : -1;
    return cross(v[0], v[1], x, y) * side > 0 && cross(v[1], v[2], x, y) * side > 0 &&
           cross(v[2], v[0], x, y) * side > 0;
  }
  static BlockCounts expected(const Setting& setting, const Raster& raster, const std::array<Corner, 3>& v) {
    BlockCounts counts;
    const uint64_t targets = setting.two_targets ? 2 : 1;
    for (uint32_t y = 0; y < kSize; y += 2) {
      for (uint32_t x = 0; x < kSize; x += 2) {
        for (uint32_t s = 0; s < 1u << setting.samples_log2; ++s) {
          bool covered = false, lit = false, sent = false, passed = false, written = false;
          for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t px = x + i % 2, py = y + i / 2;
            if (!covers(v, px + raster.positions[s][0] / 16.0, py + raster.positions[s][1] / 16.0)) continue;
            covered = true;
            const bool pass = !setting.tests || passes(px, py, s);
            if (!setting.late && !pass) continue;
            lit = true;
            if (setting.kills && killed(px, py)) continue;
            sent = true;
            if (!pass) continue;
            passed = true;
            written |= px < kTargetWidth && py < kTargetHeight && setting.write_mask != 0;
          }
          counts.rasterised += covered;
          counts.failed_early += covered && !lit;
          counts.killed += lit && !sent;
          counts.failed_late += sent && !passed;
          counts.written += written ? targets : 0;
          counts.blended += written && setting.blends ? targets : 0;
        }
      }
    }
    return counts;
  }
  BlockCounts drawn(const PipelineState& state, const std::array<Corner, 3>& v) {
    PrimitiveList list;
    list.begin(2);
    list.target() = on_screen(state, triangle(vertex_at(v[0].x, v[0].y, 0.5), vertex_at(v[1].x, v[1].y, 0.5),
                                              vertex_at(v[2].x, v[2].y, 0.5)));
    eu::KernelLibrary kernels(generation_.id());
    PixelWork work(kernels);
    work.begin(generation_, state, 2, memory_.space());
    uint64_t next = 0;
    EXPECT_TRUE(work.draw(list, next, ~uint64_t{0}));
    EXPECT_EQ(work.end(), ThreadEnd::done);
    return work.counts().blocks;
  }
  static std::array<Corner, 3> random_corners(std::mt19937& random) {
    std::array<Corner, 3> v;
    for (Corner& corner : v) {
      // Odd multiples of 1/256 in one direction and a prime spread in the other keep edges off the samples.
      const auto some = [&] { return (static_cast<double>(random() % (96 * 128)) * 2 + 1) / 256 - 16; };
      corner = {some(), some()};
    }
    return v;
  }
  static bool has_sample_on_edge(const Raster& raster, uint32_t samples, const std::array<Corner, 3>& v) {
    for (uint32_t y = 0; y < kSize; ++y) {
      for (uint32_t x = 0; x < kSize; ++x) {
        for (uint32_t s = 0; s < samples; ++s) {
          const double px = x + raster.positions[s][0] / 16.0, py = y + raster.positions[s][1] / 16.0;
          if (cross(v[0], v[1], px, py) == 0 || cross(v[1], v[2], px, py) == 0 || cross(v[2], v[0], px, py) == 0) {
            return true;
          }
        }
      }
    }
    return false;
  }
  void check(const Setting& setting, uint32_t seed, int rounds = 6) {
    SCOPED_TRACE(fmt::format("samples {} width {} format {:#x} kills {} tests {} late {} per sample {}",
                             1 << setting.samples_log2, setting.width, setting.format, setting.kills, setting.tests,
                             setting.late, setting.per_sample));
    bind_target(0, kTarget, setting);
    bind_target(1, kSecondTarget, setting);
    load(setting);
    store_depth(setting.samples_log2);
    const PipelineState state = state_of(setting);
    std::mt19937 random(seed);
    BlockCounts sum;
    for (int round = 0; round < rounds; ++round) {
      const std::array<Corner, 3> v = random_corners(random);
      if (has_sample_on_edge(state.raster, 1u << setting.samples_log2, v)) continue;
      const BlockCounts want = expected(setting, state.raster, v);
      const BlockCounts got = drawn(state, v);
      EXPECT_EQ(got.rasterised, want.rasterised) << round;
      EXPECT_EQ(got.failed_early, want.failed_early) << round;
      EXPECT_EQ(got.killed, want.killed) << round;
      EXPECT_EQ(got.failed_late, want.failed_late) << round;
      EXPECT_EQ(got.written, want.written) << round;
      EXPECT_EQ(got.blended, want.blended) << round;
      sum.add(got);
    }
    EXPECT_NE(sum.rasterised, 0u);
    EXPECT_EQ(sum.failed_early != 0, setting.tests && !setting.late);
    EXPECT_EQ(sum.killed != 0, setting.kills);
    EXPECT_EQ(sum.failed_late != 0, setting.tests && setting.late);
  }
};

TEST_P(Blocks, CountsAreThoseOfTheTriangle) {
  uint32_t seed = 1;
  for (const uint8_t samples_log2 : {uint8_t{0}, uint8_t{2}}) {
    for (const unsigned width : {8u, 16u}) {
      for (const bool kills : {false, true}) {
        for (const unsigned depth : {0u, 1u, 2u}) {
          for (const uint32_t format : {kUnorm8, kFloat}) {
            check({.samples_log2 = samples_log2,
                   .width = width,
                   .format = format,
                   .kills = kills,
                   .tests = depth != 0,
                   .late = depth == 2},
                  seed++, 4);
          }
        }
      }
    }
  }
}

TEST_P(Blocks, ThreadsForEachSampleGiveTheSameCounts) {
  for (const bool late : {false, true}) {
    check({.samples_log2 = 2, .kills = true, .tests = true, .late = late, .per_sample = true}, 101);
  }
}

TEST_P(Blocks, EachTargetThatChangesCounts) {
  for (const uint32_t format : {kUnorm8, kFloat}) {
    for (const bool blends : {false, true}) {
      check({.format = format, .kills = true, .blends = blends, .two_targets = true}, 201);
    }
    check({.format = format, .blends = true, .write_mask = 0}, 202);
    check({.format = format, .blends = true, .write_mask = 5}, 203);
  }
}

TEST_P(Blocks, NothingIsCountedUnlessItIsWanted) {
  const Setting setting{.kills = true};
  bind_target(0, kTarget, setting);
  load(setting);
  PipelineState state = state_of(setting);
  state.wanted = {};
  EXPECT_TRUE(drawn(state, {{{1, 2}, {60, 3}, {20, 50}}}) == BlockCounts{});
}

INSTANTIATE_TEST_SUITE_P(Chips, Blocks, testing::Values("skl", "tgl"), [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::pipe3d
