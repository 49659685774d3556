// Clients of graphics memory and what tiles their surfaces, on the first chips. G45 PRM vol. 1b 4.2, 4.5.4, 4.5.5
// (seed 003).
#include <map>

#include "gen4_draw.h"

namespace halogen {
namespace {

using Walk = Gen4Draw::Walk;
using Surface = Gen4Draw::Surface;

constexpr uint32_t kFirstFence = 0x3000;

class SurfaceClients : public ::testing::TestWithParam<std::string> {
 protected:
  SurfaceClients() : bench(GetParam()) {
    target.base = bench.pages_for_surface();
    texture.base = bench.pages_for_surface();
    depth.base = bench.pages_for_surface();
  }
  std::string events() const {
    std::string all;
    for (const Event& event : bench.host.log.events()) {
      all += event.to_string() + "\n";
    }
    return all;
  }

  Gen4Draw bench;
  Surface target, texture, depth;
};

TEST_P(SurfaceClients, TheSamplerReadsAllTilingsAndRenderTargetsTakeAllPairs) {
  COVERS("G45-4.5.5-02");
  uint32_t seed = 0x0101'0101;
  const auto depth_at = [&](uint32_t x, uint32_t y) {
    return std::bit_cast<float>(bench.peek(depth.base + Gen4Draw::offset_of(depth, uint64_t{x} * 4, y)));
  };
  for (const Walk texture_walk : Gen4Draw::kWalks) {
    for (const Walk target_walk : Gen4Draw::kWalks) {
      for (const Walk depth_walk : Gen4Draw::kWalks) {
        seed += 3;
        texture.walk = texture_walk, target.walk = target_walk, depth.walk = depth_walk;
        bench.fill_texture(texture, seed);
        bench.clear(target), bench.clear(depth);
        bench.draw(target, texture, &depth, 70, 37, 0.25f);
        EXPECT_TRUE(bench.is_drawn(target, seed, 70, 37));
        for (uint32_t y = 0; y < depth.height; ++y) {
          for (uint32_t x = 0; x < depth.width; ++x) {
            ASSERT_EQ(depth_at(x, y), x < 70 && y < 37 ? 0.25f : 0.0f) << x << ", " << y;
          }
        }
      }
    }
  }
  EXPECT_EQ(events(), "");
}

TEST_P(SurfaceClients, DepthOfAnotherSizeThanColourTakesAllPairs) {
  COVERS("G45-4.5.5-02");
  texture.walk = Walk::x;
  bench.fill_texture(texture, 0x77);
  depth.pixel_B = 2;  // D16_UNORM
  depth.pitch_B = 1024;
  for (const Walk target_walk : Gen4Draw::kWalks) {
    for (const Walk depth_walk : Gen4Draw::kWalks) {
      target.walk = target_walk, depth.walk = depth_walk;
      bench.clear(target), bench.clear(depth);
      bench.draw(target, texture, &depth, 70, 37, 0.25f);
      EXPECT_TRUE(bench.is_drawn(target, 0x77, 70, 37));
      for (uint32_t y = 0; y < depth.height; ++y) {
        for (uint32_t x = 0; x < depth.width; x += 2) {
          const uint32_t expected = x < 70 && y < 37 ? 0x4000'4000 : 0;  // a quarter of 65535, rounded
          ASSERT_EQ(bench.peek(depth.base + Gen4Draw::offset_of(depth, uint64_t{x} * 2, y)), expected)
              << x << ", " << y;
        }
      }
    }
  }
  EXPECT_EQ(events(), "");
}

// The same draw without a fence, and under a fence that tiles all three surfaces otherwise or not at all.
TEST_P(SurfaceClients, FencesDoNotTileSurfacesOfThe3dPipeline) {
  COVERS("G45-4.5.4-01");
  for (const Walk walk : Gen4Draw::kWalks) {
    for (const bool y_fence : {false, true}) {
      target.walk = texture.walk = depth.walk = walk;
      bench.fill_texture(texture, 0x99);
      bench.clear(target), bench.clear(depth);
      const uint64_t pages = (depth.base - target.base) / EngineBench::kPage + 64;
      bench.set_fence(0, target.base, target.base / EngineBench::kPage + pages - 1, target.pitch_B, y_fence);
      bench.draw(target, texture, &depth, 70, 37);
      EXPECT_TRUE(bench.is_drawn(target, 0x99, 70, 37));
      EXPECT_EQ(bench.peek(depth.base + Gen4Draw::offset_of(depth, 69 * 4, 36)), 0x3f00'0000u);
      // The processor sees the fence's tiles.
      Surface seen = target;
      seen.walk = y_fence ? Walk::y : Walk::x;
      EXPECT_EQ(bench.aperture(target.base + 9 * target.pitch_B + 33 * 4), bench.pixel(seen, 33, 9));
      bench.write(kFirstFence, 0);
    }
  }
}

TEST_P(SurfaceClients, ProcessorAccessesAllTilings) {
  COVERS("G45-4.5.5-01");
  for (const Walk walk : Gen4Draw::kWalks) {
    bench.write(kFirstFence, 0);
    if (walk != Walk::linear) {
      bench.set_fence(0, target.base, target.base / EngineBench::kPage + 63, target.pitch_B, walk == Walk::y);
    }
    target.walk = walk;
    for (uint32_t y = 0; y < 40; y += 3) {
      for (uint32_t x = 0; x < 256; x += 5) {
        const uint64_t linear = target.base + uint64_t{y} * target.pitch_B + uint64_t{x} * 4;
        const uint32_t value = Gen4Draw::texel(static_cast<uint32_t>(walk), x, y);
        bench.put_aperture(linear, value);
        ASSERT_EQ(bench.pixel(target, x, y), value) << x << ", " << y;
        ASSERT_EQ(bench.aperture(linear), value) << x << ", " << y;
      }
    }
  }
  EXPECT_EQ(events(), "");
}

// Every page that a client uses is moved to another page of memory, so only the global table leads to it.
TEST_P(SurfaceClients, EveryClientOfADrawUsesTheGlobalTable) {
  COVERS("G45-4.2-01");
  target.walk = Walk::x, texture.walk = Walk::y, depth.walk = Walk::linear;
  bench.fill_texture(texture, 0x4321);
  const uint64_t stored = bench.allocate(1);
  bench.emit_draw(target, texture, &depth);
  bench.emit(Gen4Draw::kRcs, bench.store(stored, 0x5707'ed00));
  bench.emit(Gen4Draw::kRcs,
             {0x5430'0004, 0x03f0'0000 | 64, 0, 1u << 16 | 1, static_cast<uint32_t>(stored) + 64, 0xb17u});
  std::map<uint64_t, uint64_t> moved;  // graphics page to the physical address of its new page
  const auto move = [&](uint64_t first, size_t pages) {
    for (uint64_t page = first; page < first + pages * EngineBench::kPage; page += EngineBench::kPage) {
      const uint64_t fresh = EngineBench::host_address(bench.allocate(1));
      for (uint64_t at = 0; at < EngineBench::kPage; at += 4) {
        bench.host.put<uint32_t>(fresh + at, bench.peek(page + at));
        bench.poke(page + at, 0xdead'dead);
      }
      bench.map(page / EngineBench::kPage, fresh);
      moved[page] = fresh;
    }
  };
  move(bench.ring_start(Gen4Draw::kRcs), 8);  // command stream
  move(bench.states, 2);                      // state cache, and the render cache's surface states
  move(bench.kernels, 1);                     // instruction cache
  move(bench.vertices, 1);                    // vertex stream
  move(texture.base, 20);                     // sampler
  move(target.base, 20);                      // render cache: colour
  move(depth.base, 20);                       // render cache: depth
  move(stored, 1);                            // snooped write, and BLT
  bench.submit(Gen4Draw::kRcs);
  EXPECT_TRUE(bench.device->settle());
  const auto at = [&](uint64_t address) {
    return bench.host.value_at<uint32_t>(moved.at(address & ~uint64_t{0xfff}) + (address & 0xfff));
  };
  for (uint32_t y = 0; y < 16; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      ASSERT_EQ(at(target.base + Gen4Draw::offset_of(target, x * 4, y)), Gen4Draw::texel(0x4321, x, y));
      ASSERT_EQ(at(depth.base + Gen4Draw::offset_of(depth, x * 4, y)), 0x3f00'0000u);
    }
  }
  EXPECT_EQ(at(stored), 0x5707'ed00u);
  EXPECT_EQ(at(stored + 64), 0xb17u);
  for (const auto& [page, fresh] : moved) {
    EXPECT_EQ(bench.peek(page + 64), 0xdead'deadu) << "the old page";
  }
  // The processor, in both directions.
  EXPECT_EQ(bench.aperture(stored), 0x5707'ed00u);
  bench.put_aperture(stored, 0x1234'5678);
  EXPECT_EQ(at(stored), 0x1234'5678u);
  EXPECT_EQ(events(), "");
}

class SurfaceRulesOfDraws : public SurfaceClients {
 protected:
  // Draws, and returns the details of the Events about surfaces.
  std::vector<std::string> broken(const Surface* with_depth = nullptr) {
    bench.host.log.clear();
    bench.draw(target, texture, with_depth, 16, 8);
    std::vector<std::string> found;
    for (const Event& event : bench.host.log.events()) {
      EXPECT_EQ(event.kind, EventKind::undefined_behaviour) << event.to_string();
      EXPECT_EQ(event.item, "SURFACE_STATE") << event.to_string();
      found.push_back(event.detail);
    }
    return found;
  }
  using Rules = std::vector<std::string>;
};

TEST_P(SurfaceRulesOfDraws, TiledBasesPitchesAndWidthsAreChecked) {
  COVERS("G45-4.5.4-07");
  COVERS("G45-4.5.1-02");
  EXPECT_EQ(broken(), Rules{});
  for (const Walk walk : {Walk::x, Walk::y}) {
    const Surface good{.base = target.base, .walk = walk};
    for (Surface* const place : {&target, &texture, &depth}) {
      const std::string name = place == &target    ? "colour buffer: "
                               : place == &texture ? "sampler: "
                                                   : "depth buffer: ";
      const uint64_t base = place->base;
      *place = good, place->base = base;
      EXPECT_EQ(broken(&depth), Rules{});
      place->base += 0x800;
      EXPECT_EQ(broken(&depth), Rules{name + "the base address is not aligned to a tile"});
      *place = good, place->base = base;
      place->pitch_B += 64;
      EXPECT_EQ(broken(&depth), Rules{name + "the pitch is not a whole number of tiles"});
      *place = good, place->base = base;
      place->width = 513;
      EXPECT_EQ(broken(&depth), Rules{name + "the surface is wider than its pitch"});
      *place = good, place->base = base;
    }
  }
  target.walk = Walk::linear;
  target.base += 0x840;
  target.pitch_B += 64;
  EXPECT_EQ(broken(), Rules{}) << "linear surfaces start anywhere, with any pitch";
}

TEST_P(SurfaceRulesOfDraws, WideElementsAreNotRenderedToYTiles) {
  COVERS("G45-4.5.5-03");
  target.format = Gen4Draw::kWideFormat, target.pixel_B = 16;
  target.width = 128;
  for (const Walk walk : {Walk::linear, Walk::x}) {
    target.walk = walk;
    EXPECT_EQ(broken(), Rules{});
  }
  target.walk = Walk::y;
  EXPECT_EQ(broken(), Rules{"colour buffer: elements of this size need another tiling"});
  std::swap(target, texture);
  EXPECT_EQ(broken(), Rules{}) << "a texture of such elements";
}

TEST_P(SurfaceRulesOfDraws, SurfacesOfFencedRegionsMustMatchTheFence) {
  COVERS("G45-4.5.4-08");
  COVERS("G45-4.5.4-09");
  target.walk = Walk::x;
  const uint64_t start = target.base, last_page = start / EngineBench::kPage + 63;
  const auto fence = [&](uint32_t pitch_B, bool y) { bench.set_fence(0, start, last_page, pitch_B, y); };
  const uint32_t tile_row = target.pitch_B * 8;
  fence(2048, false);
  EXPECT_EQ(broken(), Rules{});
  target.base = start + 2 * tile_row;
  EXPECT_EQ(broken(), Rules{}) << "the third row of tiles";
  target.base = start + tile_row + 4096;
  EXPECT_EQ(broken(), Rules{"colour buffer: the base address does not start a row of the fence's tiles"});
  target.width = 400;  // 1600 bytes from the second tile on
  EXPECT_EQ(broken(), Rules{"colour buffer: the surface crosses an edge of the fence region"});
  target.base = start - 4096;
  EXPECT_EQ(broken(), Rules{"colour buffer: the surface crosses an edge of the fence region"});
  target.base = start;
  EXPECT_EQ(broken(), Rules{});
  fence(4096, false);
  EXPECT_EQ(broken(), Rules{"colour buffer: the pitch differs from the fence's"});
  fence(2048, true);
  EXPECT_EQ(broken(), Rules{"colour buffer: the tile walk differs from the fence's"});
  fence(2048, false);
  target.walk = Walk::linear;
  EXPECT_EQ(broken(), Rules{}) << "the engine's own use of the region";
}

INSTANTIATE_TEST_SUITE_P(Chips, SurfaceRulesOfDraws, ::testing::ValuesIn(gen4_chips()), chip_name);
INSTANTIATE_TEST_SUITE_P(Chips, SurfaceClients, ::testing::ValuesIn(gen4_chips()), chip_name);

}  // namespace
}  // namespace halogen
