// Fences: the manual's algorithm and check values, and the registers of each device with values that a driver writes.
#include "surface/fence.h"

#include <gtest/gtest.h>

#include <vector>

#include "covers.h"
#include "unit/surface/random.h"

namespace halogen::surface {
namespace {

using spec::DeviceId;

Fence region(Tiling walk, uint32_t pitch_tiles, uint64_t start, uint64_t bytes) {
  Fence fence;
  fence.start = GgttOffset(start);
  fence.last = GgttOffset(start + bytes - 1);
  fence.pitch_B = pitch_tiles * (walk == Tiling::y ? 128 : 512);
  fence.walk = walk;
  fence.valid = true;
  return fence;
}

// The formula of G45 PRM vol. 1b 4.5.3 (seed 003) for fences, with the correction of the ledger: the tile column is
// multiplied by its width.
uint64_t manual_translate(uint64_t address, uint64_t base, bool walk_y, uint64_t pitch) {
  const uint64_t tile_h = walk_y ? 32 : 8;
  const uint64_t tile_w = walk_y ? 128 : 512;
  const uint64_t linear = address - base;
  const uint64_t in_tile_w = linear / tile_w;
  const uint64_t y = in_tile_w / pitch;
  const uint64_t x = in_tile_w % pitch * tile_w + linear % tile_w;
  const uint64_t tile = pitch * 4096 * (y / tile_h) + 4096 * (x / tile_w);
  const uint64_t xo = x % tile_w;
  const uint64_t yo = y % tile_h;
  return base + tile + (walk_y ? xo / 16 * 512 + yo * 16 + xo % 16 : yo * 512 + xo);
}

// Returns the register as Linux writes it: last page, start, pitch in units of 128 bytes minus one, walk, valid.
uint64_t driver_value(bool pitch_in_high_dword, uint64_t start, uint64_t bytes, uint64_t stride_B, bool walk_y) {
  uint64_t value = (start + bytes - 4096) << 32 | start;
  value |= (stride_B / 128 - 1) << (pitch_in_high_dword ? 32 : 2);
  return value | (walk_y ? 2 : 0) | 1;
}

TEST(Fence, TranslatesTheCheckValues) {
  COVERS("G45-4.5.3-03");
  for (const uint64_t start : {0ull, 0x100000ull, 0x7654000ull}) {
    const Fence x = region(Tiling::x, 4, start, 0x10000);
    EXPECT_EQ(x.point_of(GgttOffset(start + 0x1234)), (SurfacePoint{564, 2}));
    EXPECT_EQ(x.translate(GgttOffset(start + 0x1234)).value, start + 0x1434);
    const Fence y = region(Tiling::y, 4, start, 0x10000);
    EXPECT_EQ(y.point_of(GgttOffset(start + 0x1234)), (SurfacePoint{52, 9}));
    EXPECT_EQ(y.translate(GgttOffset(start + 0x1234)).value, start + 0x694);
  }
  for (const bool walk_y : {false, true}) {
    for (const uint32_t pitch : {1u, 2u, 3u, 7u, 256u}) {
      const Fence fence = region(walk_y ? Tiling::y : Tiling::x, pitch, 0x40000, 0x400000);
      for (uint64_t at = 0x40000; at < 0x440000; at += 37) {
        ASSERT_EQ(fence.translate(GgttOffset(at)).value, manual_translate(at, 0x40000, walk_y, pitch));
      }
    }
  }
}

TEST(Fence, WholeTileRowsAreABijection) {
  for (const Tiling walk : {Tiling::x, Tiling::y}) {
    for (const uint32_t pitch : {1u, 3u, 4u}) {
      const uint64_t bytes = 4096ull * pitch * 3;
      const Fence fence = region(walk, pitch, 0x20000, bytes);
      std::vector<bool> seen(bytes);
      for (uint64_t i = 0; i < bytes; ++i) {
        const uint64_t to = fence.translate(GgttOffset(0x20000 + i)).value - 0x20000;
        ASSERT_LT(to, bytes);
        ASSERT_FALSE(seen[to]);
        seen[to] = true;
      }
    }
  }
}

TEST(Fence, RunsAreContiguous) {
  Random random;
  SCOPED_TRACE(random.message());
  for (int i = 0; i < 20000; ++i) {
    const Fence fence = region(random.chance(2) ? Tiling::y : Tiling::x, random.in(1, 9), 0x30000, 0x9000);
    const GgttOffset at(0x30000 + random.in(0, 0x8fff));
    const uint64_t run = fence.run_at(at);
    ASSERT_GE(run, 1u);
    ASSERT_TRUE(fence.contains(at + (run - 1)));
    ASSERT_EQ(fence.translate(at + (run - 1)).value, fence.translate(at).value + run - 1);
  }
}

TEST(Fence, ContainsExactlyItsRegion) {
  Fence fence = region(Tiling::x, 2, 0x10000, 0x1000);  // one page is the smallest
  EXPECT_FALSE(fence.contains(GgttOffset(0xffff)));
  EXPECT_TRUE(fence.contains(GgttOffset(0x10000)));
  EXPECT_TRUE(fence.contains(GgttOffset(0x10fff)));
  EXPECT_FALSE(fence.contains(GgttOffset(0x11000)));
  fence.valid = false;
  EXPECT_FALSE(fence.contains(GgttOffset(0x10000)));
}

TEST(FenceSet, DeviceDeterminesTheNumberOfFences) {
  const auto count = [](DeviceId id) { return FenceSet(spec::model(id)).count(); };
  for (const DeviceId id :
       {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45, DeviceId::snb, DeviceId::chv}) {
    EXPECT_EQ(count(id), 16u);
  }
  for (const DeviceId id : {DeviceId::bdw, DeviceId::skl, DeviceId::icl, DeviceId::tgl}) {
    EXPECT_EQ(count(id), 32u);
  }
  EXPECT_EQ(count(DeviceId::dg1), 0u);
}

TEST(FenceSet, DecodesRegistersThatDriversWrite) {
  COVERS("G45-4.5.4-05");
  for (const spec::DeviceModel& model : spec::device_models()) {
    SCOPED_TRACE(model.name);
    FenceSet fences(model);
    const bool high = model.gen > spec::GenId::gen4_5;
    for (unsigned i = 0; i < fences.count(); ++i) {
      const uint64_t start = 0x100000ull * (i + 1);
      const bool walk_y = i % 2 != 0;
      const uint64_t stride_B = 512 * (i + 1);
      fences.write(i, driver_value(high, start, 0x20000, stride_B, walk_y));
      const Fence& fence = fences.fence(i);
      EXPECT_TRUE(fence.valid);
      EXPECT_EQ(fence.start.value, start);
      EXPECT_EQ(fence.last.value, start + 0x1ffff);
      EXPECT_EQ(fence.pitch_B, stride_B);
      EXPECT_EQ(fence.walk, walk_y ? Tiling::y : Tiling::x);
      EXPECT_EQ(fence.fault(model.gen), FenceFault::none);
    }
    for (unsigned i = 0; i < fences.count(); ++i) {
      const GgttOffset inside(0x100000ull * (i + 1) + 0x1ffff);
      ASSERT_EQ(fences.find(inside), &fences.fence(i));
      EXPECT_EQ(fences.find(inside + 1), nullptr);
      fences.write(i, driver_value(high, 0x100000ull * (i + 1), 0x20000, 512, false) & ~uint64_t{1});
      EXPECT_EQ(fences.find(inside), nullptr) << "the valid bit is clear";
    }
    fences.write(fences.count(), ~uint64_t{0});  // beyond the last register
    EXPECT_EQ(fences.find(GgttOffset(0xfffff000)), nullptr);
  }
}

// Regions from one page to all addresses; pitches from one tile to 128 KB, the maximum of the register.
TEST(FenceSet, RegionAndPitchReachTheirLimits) {
  COVERS("G45-4.5.4-03");
  for (const DeviceId id : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    const spec::DeviceModel& model = spec::model(id);
    FenceSet fences(model);
    EventLog log;
    for (const bool walk_y : {false, true}) {
      const uint64_t tile_B = walk_y ? 128 : 512;
      for (const uint64_t tiles : {uint64_t{1}, 128 * 1024 / tile_B}) {
        for (const uint64_t bytes : {uint64_t{0x1000}, uint64_t{0x20000000}}) {
          fences.write(0, driver_value(false, 0, bytes, tiles * tile_B, walk_y), &log);
          const Fence& fence = fences.fence(0);
          EXPECT_EQ(fence.pitch_tiles(), tiles);
          EXPECT_EQ(fence.fault(model.gen), FenceFault::none);
          EXPECT_TRUE(fence.contains(GgttOffset(bytes - 1)));
          EXPECT_FALSE(fence.contains(GgttOffset(bytes)));
        }
      }
    }
    EXPECT_TRUE(log.events().empty());
    fences.write(0, ~uint64_t{0});
    EXPECT_EQ(fences.fence(0).pitch_B, 128u * 1024u) << "no larger pitch can be written";
  }
  EXPECT_EQ(fence_rule(spec::GenId::gen4).max_pitch_B, 256u * 512u);
  EXPECT_EQ(fence_rule(spec::GenId::gen4_5).max_pitch_B, 1024u * 128u);
}

TEST(FenceSet, BrokenRulesAreReported) {
  const spec::DeviceModel& snb = spec::model(DeviceId::snb);
  FenceSet fences(snb);
  EventLog log;
  const auto last = [&] { return log.events().empty() ? std::string() : log.events().back().detail; };
  fences.write(0, driver_value(true, 0x10000, 0x4000, 128 * 3, false), &log, "gpu0.fence");
  EXPECT_EQ(last(), name_of(FenceFault::pitch_not_whole_tiles));
  EXPECT_EQ(fences.fence(0).translate(GgttOffset(0x10200)).value, 0x10200u) << "as if of one tile";
  fences.write(0, driver_value(true, 0x10000, 0x4000, 256 * 1024, true), &log, "gpu0.fence");
  EXPECT_EQ(last(), name_of(FenceFault::pitch_too_large)) << "128 KB before Gen7";
  fences.write(0, 0x00001000'00010000 | 1, &log, "gpu0.fence");
  EXPECT_EQ(last(), name_of(FenceFault::end_before_start));
  EXPECT_EQ(fences.find(GgttOffset(0x10000)), nullptr);
  EXPECT_EQ(log.count(EventKind::undefined_behaviour), 3u);
  EXPECT_EQ(log.events().back().path, "gpu0.fence");
  EXPECT_EQ(log.events().back().item, "FENCE_GEN6");

  FenceSet later(spec::model(DeviceId::skl));
  log.clear();
  later.write(0, driver_value(true, 0x10000, 0x4000, 256 * 1024, true), &log);
  EXPECT_TRUE(log.events().empty());
}

TEST(FenceSet, OverlapIsReportedAndTheLowestWins) {
  COVERS("G45-4.5.4-04");
  FenceSet fences(spec::model(DeviceId::g45));
  EventLog log;
  fences.write(5, driver_value(false, 0x10000, 0x8000, 512, false), &log);
  EXPECT_TRUE(log.events().empty());
  fences.write(2, driver_value(false, 0x17000, 0x8000, 128, true), &log);
  ASSERT_EQ(log.count(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(log.events()[0].detail, "fence 2 overlaps fence 5");
  EXPECT_EQ(fences.find(GgttOffset(0x17000)), &fences.fence(2));
  EXPECT_EQ(fences.find(GgttOffset(0x16fff)), &fences.fence(5));
  fences.reset();
  EXPECT_EQ(fences.find(GgttOffset(0x17000)), nullptr);
  EXPECT_FALSE(fences.fence(5).valid);
}

TEST(FenceSet, AnyRegisterValueTranslates) {
  Random random;
  SCOPED_TRACE(random.message());
  for (const spec::DeviceModel& model : spec::device_models()) {
    FenceSet fences(model);
    EventLog log;
    for (unsigned i = 0; i < 2000 && fences.count() != 0; ++i) {
      fences.write(random.in(0, fences.count() - 1), random.word(), &log);
      const GgttOffset at(random.word() & 0xffffffff);
      if (const Fence* fence = fences.find(at)) {
        ASSERT_GE(fence->translate(at), fence->start);
        ASSERT_GE(fence->run_at(at), 1u);
      }
    }
  }
}

}  // namespace
}  // namespace halogen::surface
