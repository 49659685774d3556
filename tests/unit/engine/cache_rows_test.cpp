// The caches of the first chips, as far as software can observe them: G45 PRM vol. 1b 1.7, 5.3.8, 5.3.10, 5.3.11, 8.6
// (seed 003). After a flush earlier work is in memory; after an invalidation later work uses what memory holds. Every
// test runs with one host thread and with several.
#include <bit>
#include <string>
#include <tuple>

#include "gen4_draw.h"

namespace halogen {
namespace {

using Surface = Gen4Draw::Surface;
using Walk = Gen4Draw::Walk;
using Dwords = FlowBench::Dwords;

constexpr uint32_t kWidth = 256, kHeight = 40;
constexpr uint32_t kInvalidateState = 2, kKeepRenderCache = 4, kReservedBit = 1;  // of MI_FLUSH
constexpr uint32_t kSyncFlush = 0x0020'0020;

// The ways to flush and invalidate.
enum class Way : uint8_t { flush, pipe_control, sync_flush, other_engine, context };
constexpr Way kAllWays[] = {Way::flush, Way::pipe_control, Way::sync_flush, Way::other_engine, Way::context};
constexpr std::string_view kWayNames[] = {"MI_FLUSH", "PIPE_CONTROL", "sync flush", "engine change", "MI_SET_CONTEXT"};

class CacheRows : public ::testing::TestWithParam<std::tuple<std::string, unsigned>> {
 protected:
  struct Bench : Gen4Draw {
    Bench() : Gen4Draw(std::get<0>(GetParam()), {.threads = std::get<1>(GetParam())}) {
      target.base = pages_for_surface();
      texture.base = pages_for_surface();
      spare = allocate(1);
      context = allocate(8);
    }
    // Emits what makes earlier work visible. A sync flush is requested by a register instead.
    void emit_flush(Way way) {
      const auto at = static_cast<uint32_t>(spare);
      switch (way) {
        case Way::flush:
          return emit(kRcs, {kFlush | kInvalidateState, kNoop});
        case Way::pipe_control:  // flushes the write cache and invalidates instructions and state
          return emit(kRcs, {0x7a00'0002 | 1u << 12 | 1u << 11 | 1u << 14, at | 4, 0, 0});
        case Way::sync_flush:
          return;
        case Way::other_engine:
          return emit(kRcs, {0x5430'0004, 0x03f0'1000, 0, 1u << 16 | 16, at, 1});
        case Way::context:
          return emit(kRcs, {kSetContext, static_cast<uint32_t>(context) | 0x101, kNoop, kNoop});
      }
    }
    void flush(Way way) {
      emit_flush(way);
      submit(kRcs);
      if (way == Way::sync_flush) {
        set_reg(kRcs, kInstpm, kSyncFlush);
      }
      EXPECT_TRUE(device->settle());
    }
    Surface target{.width = kWidth, .height = kHeight};
    Surface texture{.width = kWidth, .height = kHeight};
    uint64_t spare = 0, context = 0;
  };
};

// Draws, then makes the result visible in each way. When the store after it is seen, or the sync flush is done, colour
// and depth of every pixel are in memory.
TEST_P(CacheRows, PixelsAreInMemoryWhenTheStoreAfterAFlushIsSeen) {
  COVERS("G45-1.7-03");
  COVERS("G45-5.3.10-01");
  for (const Way way : kAllWays) {
    SCOPED_TRACE(kWayNames[static_cast<size_t>(way)]);
    Bench bench;
    const Surface depth{.base = bench.pages_for_surface(), .walk = Walk::y, .width = kWidth, .height = kHeight};
    const uint64_t mark = bench.allocate(1), blt = bench.allocate(1024);
    bench.fill_texture(bench.texture, 7);
    bench.emit_draw(bench.target, bench.texture, &depth, kWidth, kHeight, 0.25f);
    if (way != Way::other_engine) {  // the render cache holds BLTs too
      bench.emit(Gen4Draw::kRcs, {0x5430'0004, 0x03f0'1000, 0, 512u << 16 | 1024, static_cast<uint32_t>(blt), 0x55});
    }
    bench.emit_flush(way);
    if (way != Way::sync_flush) {
      bench.emit(Gen4Draw::kRcs, bench.store(mark, 1));
    }
    bench.submit(Gen4Draw::kRcs);
    const auto done = [&] {
      return way == Way::sync_flush ? (bench.reg(Gen4Draw::kRcs, kInstpm) & 0x20) == 0 &&
                                          bench.reg(Gen4Draw::kRcs, EngineBench::kHead) != 0
                                    : bench.peek(mark) != 0;
    };
    if (way == Way::sync_flush) {
      EXPECT_TRUE(bench.device->settle());
      bench.set_reg(Gen4Draw::kRcs, kInstpm, kSyncFlush);
    }
    for (unsigned step = 0; !done(); ++step) {
      ASSERT_LT(step, 100'000u);
      bench.device->advance(500);
    }
    EXPECT_TRUE(bench.is_drawn(bench.target, 7, kWidth, kHeight));
    for (uint32_t y = 0; y < kHeight; ++y) {
      ASSERT_EQ(bench.pixel(depth, kWidth - 1, y), std::bit_cast<uint32_t>(0.25f)) << y;
    }
    for (uint32_t line = 0; line < (way == Way::other_engine ? 0 : 512); ++line) {
      ASSERT_EQ(bench.peek(blt + uint64_t{line} * 4096 + 4092), 0x55u) << line;
    }
    EXPECT_TRUE(bench.device->settle());
  }
}

// MI_FLUSH without a flush of the render cache still drains the pipeline: its counters stand for the whole draw.
TEST_P(CacheRows, PipelineIsDrainedWithAndWithoutAFlushOfTheRenderCache) {
  COVERS("G45-5.3.8-03");
  constexpr uint32_t kDepthCount = 0x2350;
  for (const uint32_t bits : {0u, kKeepRenderCache}) {
    Bench bench;
    const Surface depth{.base = bench.pages_for_surface(), .walk = Walk::y, .width = kWidth, .height = kHeight};
    const uint64_t data = bench.allocate(1);
    bench.count_pixels();
    bench.emit_draw(bench.target, bench.texture, &depth, kWidth, kHeight);
    bench.emit(Gen4Draw::kRcs, {kFlush | bits, kNoop});
    bench.emit(Gen4Draw::kRcs, {0x1240'0001, kDepthCount, static_cast<uint32_t>(data), kNoop});
    bench.submit(Gen4Draw::kRcs);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data), kWidth * kHeight);
  }
}

// A flip that was submitted before a flush may still be pending after it; drawing may not.
TEST_P(CacheRows, FlushRetiresDrawingAndDoesNotWaitForFlips) {
  COVERS("G45-5.3.11-02");
  Bench bench;
  const uint64_t mark = bench.allocate(1);
  const auto pair = [](uint32_t total, uint32_t active) { return (total - 1) << 16 | (active - 1); };
  for (const auto& [offset, value] : {std::pair<uint32_t, uint32_t>{0x60000, pair(800, 640)},
                                      {0x60004, pair(800, 640)},
                                      {0x60008, pair(752, 656)},
                                      {0x6000c, pair(525, 480)},
                                      {0x60010, pair(525, 480)},
                                      {0x60014, pair(492, 490)},
                                      {0x6001c, 639u << 16 | 479},
                                      {0x70008, 0x8000'0000}}) {
    bench.write(offset, value);
  }
  bench.write(0x70180, 0x8000'0000 | 6u << 26);
  bench.write(0x70188, 4096);
  bench.write(0x7019c, static_cast<uint32_t>(bench.spare));
  bench.device->advance(20'000'000);
  bench.fill_texture(bench.texture, 3);
  bench.emit(Gen4Draw::kRcs, {0x0a00'0001, 4096, static_cast<uint32_t>(bench.texture.base), kNoop});
  bench.emit_draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
  bench.emit(Gen4Draw::kRcs, FlowBench::join({{kFlush, kNoop}, bench.store(mark, 1)}));
  bench.submit(Gen4Draw::kRcs);
  const uint64_t vblank = bench.device->display().next_vblank(0).value();
  for (unsigned step = 0; bench.peek(mark) == 0; ++step) {
    ASSERT_LT(step, 10'000u);
    bench.device->advance(500);
  }
  EXPECT_LT(bench.device->clock().nanoseconds, vblank) << "the flip is still pending";
  EXPECT_TRUE(bench.is_drawn(bench.target, 3, kWidth, kHeight));
}

// The texture cache is invalidated by each way that the manual names, with and without bit 0 of MI_FLUSH, which is
// reserved.
TEST_P(CacheRows, ChangedTexelsAreSampledAfterAnInvalidation) {
  COVERS("G45-1.7-02");
  COVERS("G45-1.7-07");
  COVERS("G45-5.3.10-02");
  for (const unsigned way : {0u, 1u, 2u, 3u}) {
    SCOPED_TRACE(way);
    Bench bench;
    uint32_t seed = 11;
    for (const Walk walk : Gen4Draw::kWalks) {
      bench.texture.walk = walk;
      bench.fill_texture(bench.texture, seed);
      bench.draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
      EXPECT_TRUE(bench.is_drawn(bench.target, seed, kWidth, kHeight));
      bench.fill_texture(bench.texture, ++seed);  // by the processor, without a notification
      if (way == 3) {
        bench.emit(Gen4Draw::kRcs, {kFlush | kReservedBit, kNoop});
      } else {
        bench.flush(std::array{Way::flush, Way::pipe_control, Way::sync_flush}[way]);
      }
      bench.draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
      EXPECT_TRUE(bench.is_drawn(bench.target, seed, kWidth, kHeight));
      ++seed;
    }
  }
}

// Software does not touch the texture here: a BLT and a draw write it, and the next draw samples it after a flush. The
// same for patterns and monochrome sources of BLTs, which the texture cache holds.
TEST_P(CacheRows, WhatABltOrADrawWroteIsSampledAfterAFlush) {
  COVERS("G45-8.6-01");
  Bench bench;
  const Surface middle{.base = bench.pages_for_surface(), .walk = Walk::x, .width = kWidth, .height = kHeight};
  bench.texture.walk = Walk::linear;
  const auto at = [](uint64_t address) { return static_cast<uint32_t>(address); };
  const Dwords flush{kFlush | kInvalidateState, kNoop};
  const auto fill = [&](uint32_t colour) {  // the whole texture
    return Dwords{0x5430'0004, 0x03f0'0000 | bench.texture.pitch_B, 0, kHeight << 16 | kWidth, at(bench.texture.base),
                  colour};
  };
  bench.draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
  for (const uint32_t colour : {0x1122'3344u, 0x5566'7788u}) {
    bench.emit(Gen4Draw::kRcs, FlowBench::join({fill(colour), flush}));
    bench.emit_draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
    bench.submit(Gen4Draw::kRcs);
    EXPECT_TRUE(bench.device->settle());
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        ASSERT_EQ(bench.pixel(bench.target, x, y), colour) << x << ", " << y;
      }
    }
  }
  // A draw writes what the next draw samples.
  for (const uint32_t seed : {21u, 22u}) {
    bench.fill_texture(bench.texture, seed);
    bench.emit(Gen4Draw::kRcs, flush);
    bench.draw(middle, bench.texture, nullptr, kWidth, kHeight);
    bench.emit(Gen4Draw::kRcs, flush);
    bench.draw(bench.target, middle, nullptr, kWidth, kHeight);
    EXPECT_TRUE(bench.is_drawn(bench.target, seed, kWidth, kHeight));
  }
  // A fill of 8x8 pixels is the colour pattern of the next BLT (XY_PAT_BLT, PATCOPY, 32 bits per pixel).
  const uint64_t pattern = bench.allocate(1), result = bench.allocate(1);
  for (const uint32_t colour : {0x0a0b'0c0du, 0x0102'0304u}) {
    bench.emit(Gen4Draw::kRcs,
               FlowBench::join({{0x5430'0004, 0x03f0'0000 | 256, 0, 1u << 16 | 64, at(pattern), colour},
                                flush,
                                {0x5470'0004, 0x03f0'0000 | 256, 0, 4u << 16 | 16, at(result), at(pattern)}}));
    bench.submit(Gen4Draw::kRcs);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(result), colour);
    EXPECT_EQ(bench.peek(result + 3 * 256 + 60), colour);
  }
}

// Instructions, surface states and binding tables change in place; no pointer changes.
TEST_P(CacheRows, ChangedStateAndInstructionsAreUsedAfterAnInvalidation) {
  COVERS("G45-1.7-04");
  COVERS("G45-5.3.10-03");
  for (const Way way : {Way::flush, Way::pipe_control, Way::sync_flush}) {
    SCOPED_TRACE(kWayNames[static_cast<size_t>(way)]);
    Bench bench;
    Surface other = bench.texture;
    other.base = bench.pages_for_surface();
    bench.fill_texture(bench.texture, 31);
    bench.fill_texture(other, 32);
    bench.draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
    EXPECT_TRUE(bench.is_drawn(bench.target, 31, kWidth, kHeight));
    const auto again = [&] {
      bench.flush(way);
      bench.emit_vertices(bench.vertices, kWidth, kHeight);
      bench.submit(Gen4Draw::kRcs);
      EXPECT_TRUE(bench.device->settle());
    };
    bench.poke(bench.texture_state(), bench.state_of(other));
    again();
    EXPECT_TRUE(bench.is_drawn(bench.target, 32, kWidth, kHeight)) << "surface state";
    const uint64_t state = bench.states + 0x400;
    bench.poke(state, bench.state_of(bench.texture));
    bench.poke(bench.binding_table() + 4, static_cast<uint32_t>(state));
    again();
    EXPECT_TRUE(bench.is_drawn(bench.target, 31, kWidth, kHeight)) << "binding table";
    bench.make_pixels_white();
    again();
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        ASSERT_EQ(bench.pixel(bench.target, x, y), 0xffff'ffffu) << "instructions";
      }
    }
  }
}

// Vertices change in place. Between two primitives results that are kept by index are dropped without any flush.
TEST_P(CacheRows, ChangedVerticesAreUsed) {
  COVERS("G45-5.3.10-04");
  for (const Way way : {Way::flush, Way::pipe_control, Way::sync_flush, Way::context}) {
    SCOPED_TRACE(kWayNames[static_cast<size_t>(way)]);
    Bench bench;
    bench.fill_texture(bench.texture, 41);
    bench.draw(bench.target, bench.texture, nullptr, 8, 8);
    EXPECT_TRUE(bench.is_drawn(bench.target, 41, 8, 8));
    bench.flush(way);
    bench.draw(bench.target, bench.texture, nullptr, 120, 24);
    EXPECT_TRUE(bench.is_drawn(bench.target, 41, 120, 24));
    const uint64_t others = bench.allocate(1);
    bench.emit_draw(bench.target, bench.texture, nullptr, 16, 16);
    bench.emit_vertices(others, 200, 32);
    bench.submit(Gen4Draw::kRcs);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_TRUE(bench.is_drawn(bench.target, 41, 200, 32)) << "the same indices of another buffer";
  }
}

// State that is not pipelined changes right behind a draw: the draw keeps the old state, the next one has the new.
TEST_P(CacheRows, NonPipelinedStateDoesNotReachTheEarlierDraw) {
  COVERS("G45-5.3.8-02");
  Bench bench;
  const Surface depth{.base = bench.pages_for_surface(), .walk = Walk::y, .width = kWidth, .height = kHeight};
  const Surface later{.base = bench.pages_for_surface(), .walk = Walk::y, .width = kWidth, .height = kHeight};
  const uint64_t others = bench.allocate(1), mark = bench.allocate(1);
  bench.fill_texture(bench.texture, 51);
  bench.emit_draw(bench.target, bench.texture, &depth, kWidth, kHeight, 0.25f);
  bench.emit(Gen4Draw::kRcs, {0x7900'0002, 0, 9u << 16 | 15, 0});  // a drawing rectangle of 16 by 10 pixels
  bench.emit(Gen4Draw::kRcs, bench.depth_buffer_of(later));
  bench.emit_vertices(others, kWidth, kHeight, 0.75f);
  // A switch of contexts flushes: its result is there when the store behind it is seen.
  bench.emit_flush(Way::context);
  bench.emit(Gen4Draw::kRcs, bench.store(mark, 1));
  bench.submit(Gen4Draw::kRcs);
  for (unsigned step = 0; bench.peek(mark) == 0; ++step) {
    ASSERT_LT(step, 10'000u);
    bench.device->advance(500);
  }
  EXPECT_TRUE(bench.is_drawn(bench.target, 51, kWidth, kHeight));
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      ASSERT_EQ(bench.pixel(depth, x, y), std::bit_cast<uint32_t>(0.25f)) << x << ", " << y;
      ASSERT_EQ(bench.pixel(later, x, y), x < 16 && y < 10 ? std::bit_cast<uint32_t>(0.75f) : 0) << x << ", " << y;
    }
  }
  EXPECT_TRUE(bench.device->settle());
}

// Entries of the global table change under the sampler and the render target. Planes: EveryScreen; overlay:
// DisplayOverlay.
TEST_P(CacheRows, ChangedEntriesAreUsed) {
  COVERS("G45-5.3.10-05");
  for (const Way way : {Way::flush, Way::other_engine, Way::context}) {
    SCOPED_TRACE(kWayNames[static_cast<size_t>(way)]);
    Bench bench;
    const Surface hidden{.base = bench.pages_for_surface(), .width = kWidth, .height = kHeight};
    const Surface moved{.base = bench.pages_for_surface(), .width = kWidth, .height = kHeight};
    bench.fill_texture(bench.texture, 61);
    bench.fill_texture(hidden, 62);
    bench.draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
    EXPECT_TRUE(bench.is_drawn(bench.target, 61, kWidth, kHeight));
    for (uint64_t page = 0; page < 32; ++page) {
      const uint64_t offset = page * EngineBench::kPage;
      bench.map((bench.texture.base + offset) / EngineBench::kPage, EngineBench::host_address(hidden.base + offset));
      bench.map((bench.target.base + offset) / EngineBench::kPage, EngineBench::host_address(moved.base + offset));
    }
    bench.flush(way);
    bench.draw(bench.target, bench.texture, nullptr, kWidth, kHeight);
    EXPECT_TRUE(bench.is_drawn(moved, 62, kWidth, kHeight)) << "sampler and render target";
    EXPECT_TRUE(bench.is_drawn(bench.target, 61, kWidth, kHeight)) << "the old pages";
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, CacheRows,
                         ::testing::Combine(::testing::ValuesIn(gen4_chips()), ::testing::Values(1u, 3u)),
                         [](const auto& chip) {
                           return std::get<0>(chip.param) + "_" + std::to_string(std::get<1>(chip.param));
                         });

}  // namespace
}  // namespace halogen
