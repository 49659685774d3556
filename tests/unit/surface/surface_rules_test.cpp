// Rules for software: each broken rule gives its own fault. The Gen4 tables are typed from the manual (seed
// 003 4.5.4.3, 4.5.5).
#include "surface/surface_rules.h"

#include <gtest/gtest.h>

namespace halogen::surface {
namespace {

using spec::GenId;
using enum MemoryClient;
using Fault = SurfaceFault;

constexpr Tiling kTilings[] = {Tiling::linear, Tiling::x, Tiling::y, Tiling::w, Tiling::yf, Tiling::ys};
constexpr GenId kGen4[] = {GenId::gen4, GenId::gen4_5};

// A surface that can only break the rule about tiling.
SurfaceUse plain(MemoryClient client, Tiling tiling, uint32_t bits = 32) {
  return {.client = client, .tiling = tiling, .element_bits = bits, .pitch_B = 4096, .width_B = 512};
}

TEST(SurfaceRules, ProcessorDisplayAndBlitterOfGen4HaveTheirTilings) {
  for (const GenId gen : kGen4) {
    for (const Tiling tiling : {Tiling::linear, Tiling::x, Tiling::y}) {
      EXPECT_EQ(check_client(gen, plain(host, tiling)), Fault::none);
    }
    for (const MemoryClient client : {display, overlay, blit}) {
      EXPECT_EQ(check_client(gen, plain(client, Tiling::linear)), Fault::none);
      EXPECT_EQ(check_client(gen, plain(client, Tiling::x)), Fault::none);
      EXPECT_EQ(check_client(gen, plain(client, Tiling::y)), Fault::tiling_not_supported);
    }
    SurfaceUse flip = plain(display, Tiling::x);
    flip.async_flip = true;
    EXPECT_EQ(check_client(gen, flip), Fault::none);
    flip.tiling = Tiling::linear;
    EXPECT_EQ(check_client(gen, flip), Fault::tiling_of_async_flip);
  }
}

TEST(SurfaceRules, SamplerAndBuffersOfGen4AllowLinearXAndYTiling) {
  for (const GenId gen : kGen4) {
    for (const Tiling tiling : {Tiling::linear, Tiling::x, Tiling::y}) {
      for (const uint32_t bits : {8u, 16u, 32u, 64u}) {
        EXPECT_EQ(check_client(gen, plain(sampler, tiling, bits)), Fault::none);
        EXPECT_EQ(check_client(gen, plain(color, tiling, bits)), Fault::none);
        // Each client is checked alone, so any combination with the colour buffer is allowed.
        EXPECT_EQ(check_client(gen, plain(depth, tiling, bits)), Fault::none);
      }
      EXPECT_EQ(check_client(gen, plain(sampler, tiling, 128)), Fault::none);
    }
    for (const Tiling tiling : {Tiling::w, Tiling::yf, Tiling::ys}) {
      EXPECT_EQ(check_client(gen, plain(sampler, tiling)), Fault::tiling_not_supported);
    }
    EXPECT_EQ(check_client(gen, plain(stencil, Tiling::y)), Fault::no_such_client) << "lies in the depth buffer";
  }
}

TEST(SurfaceRules, WideElementsOfGen4AreNotRenderedToYTiles) {
  for (const GenId gen : kGen4) {
    EXPECT_EQ(check_client(gen, plain(color, Tiling::linear, 128)), Fault::none);
    EXPECT_EQ(check_client(gen, plain(color, Tiling::x, 128)), Fault::none);
    EXPECT_EQ(check_client(gen, plain(color, Tiling::y, 128)), Fault::tiling_of_wide_element);
  }
  EXPECT_EQ(check_client(GenId::gen8, plain(color, Tiling::y, 128)), Fault::none);
}

// Tilings that public drivers use on later generations, one letter each: linear, X, Y, W, Yf, Ys.
TEST(SurfaceRules, ClientsOfLaterGenerationsHaveTheirTilings) {
  struct Row {
    GenId gen;
    MemoryClient client;
    const char* allowed;
  };
  constexpr Row kRows[] = {
      {GenId::gen6, display, "lx"},     {GenId::gen8, display, "lx"},     {GenId::gen9, display, "lxyf"},
      {GenId::gen11, display, "lxyf"},  {GenId::gen12, display, "lxy"},   {GenId::gen6, blit, "lxy"},
      {GenId::gen9, blit, "lxyfs"},     {GenId::gen6, sampler, "lxy"},    {GenId::gen8, sampler, "lxyw"},
      {GenId::gen9, sampler, "lxywfs"}, {GenId::gen12, sampler, "lxyfs"}, {GenId::gen6, depth, "y"},
      {GenId::gen9, depth, "yfs"},      {GenId::gen6, stencil, "w"},      {GenId::gen11, stencil, "w"},
      {GenId::gen12, stencil, "yfs"},   {GenId::gen12, host, "lxy"},      {GenId::gen9, color, "lxyfs"},
  };
  for (const Row& row : kRows) {
    for (size_t i = 0; i < std::size(kTilings); ++i) {
      const bool allowed = std::string_view(row.allowed).find("lxywfs"[i]) != std::string_view::npos;
      EXPECT_EQ(check_client(row.gen, plain(row.client, kTilings[i])),
                allowed ? Fault::none : Fault::tiling_not_supported)
          << name_of(row.client) << " " << name_of(kTilings[i]) << " " << spec::name_of(row.gen);
    }
  }
}

TEST(SurfaceRules, BasePitchAndWidthOfAClientSurfaceAreChecked) {
  SurfaceUse use = plain(sampler, Tiling::y);
  use.base = GpuVa(0x1000);
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::none);
  use.base = GpuVa(0x1800);
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::base_not_aligned);
  use.tiling = Tiling::linear;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::none) << "linear surfaces start anywhere";

  use = plain(sampler, Tiling::x);
  use.pitch_B = 512 * 3 + 128;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::pitch_not_whole_tiles);
  use.tiling = Tiling::y;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::none);
  use.pitch_B = 256 * 1024;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::none);
  use.pitch_B += 128;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::pitch_too_large);
  use.pitch_B = 0;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::pitch_not_whole_tiles);
  use.pitch_B = 512;
  use.width_B = 513;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::width_beyond_pitch);

  use = plain(sampler, Tiling::ys);
  use.base = GpuVa(0x1000);
  EXPECT_EQ(check_client(GenId::gen9, use), Fault::base_not_aligned) << "64 KB tiles";
  use.element_bits = 96;
  EXPECT_EQ(check_client(GenId::gen9, use), Fault::no_such_pattern);

  use = plain(blit, Tiling::linear);
  use.pitch_B = 0x8000;
  EXPECT_EQ(check_client(GenId::gen4, use), Fault::pitch_too_large) << "a signed number of 16 bits";
}

Fence fence_of(Tiling walk, uint32_t pitch_B) {
  Fence fence;
  fence.start = GgttOffset(0x100000);
  fence.last = GgttOffset(0x1fffff);
  fence.pitch_B = pitch_B;
  fence.walk = walk;
  fence.valid = true;
  return fence;
}

TEST(SurfaceRules, SurfaceMustLieWithinTheFence) {
  const Fence fence = fence_of(Tiling::x, 2048);
  EXPECT_EQ(check_host(fence, GgttOffset(0x100000), 2048), Fault::none);
  EXPECT_EQ(check_host(fence, GgttOffset(0x100400), 1024), Fault::none) << "ends at the right edge";
  EXPECT_EQ(check_host(fence, GgttOffset(0x100400), 1025), Fault::straddles_fence_edge);
  EXPECT_EQ(check_host(fence, GgttOffset(0x100000 + 7 * 2048 + 1024), 1025), Fault::straddles_fence_edge);
  EXPECT_EQ(check_host(fence, GgttOffset(0x100000), 2049), Fault::width_beyond_fence_pitch);
  EXPECT_EQ(check_host(fence, GgttOffset(0x0ff000), 64), Fault::outside_fence);
}

// The two lower rows of the table in 4.5.4.3.
TEST(SurfaceRules, SurfaceOfHostAndClientMustMatchItsFence) {
  SurfaceUse use = plain(sampler, Tiling::x);
  use.pitch_B = 2048;
  const Fence fence = fence_of(Tiling::x, 2048);
  const GgttOffset start = fence.start;
  EXPECT_EQ(check_shared(GenId::gen4, use, fence, start, false), Fault::none);
  EXPECT_EQ(check_shared(GenId::gen4, use, fence, start + 4 * 4096, false), Fault::none)
      << "the second row of four tiles";
  EXPECT_EQ(check_shared(GenId::gen4, use, fence, start + 4096, false), Fault::not_a_tile_row_start);
  EXPECT_EQ(check_shared(GenId::gen4, use, fence, start + 4096, true), Fault::none) << "mapped on its own";
  EXPECT_EQ(check_shared(GenId::gen4, use, fence_of(Tiling::x, 4096), start, false), Fault::pitch_differs);
  EXPECT_EQ(check_shared(GenId::gen4, use, fence_of(Tiling::x, 4096), start, true), Fault::none);
  EXPECT_EQ(check_shared(GenId::gen4, use, fence_of(Tiling::y, 2048), start, true), Fault::walk_differs);
  use.width_B = 1024;
  EXPECT_EQ(check_shared(GenId::gen4, use, fence_of(Tiling::x, 512), start, true), Fault::width_beyond_fence_pitch);
  use.pitch_B = 256 * 1024;
  EXPECT_EQ(check_shared(GenId::gen4, use, fence, start, true), Fault::pitch_too_large) << "128 KB when shared";
  use.pitch_B = 2048;
  EXPECT_EQ(check_shared(GenId::gen4, use, fence_of(Tiling::x, 128 * 1024), start, true), Fault::none);
  EXPECT_EQ(check_shared(GenId::gen4, use, fence_of(Tiling::x, 128 * 1024 + 512), start, true), Fault::pitch_too_large)
      << "the fence's too";
  use.client = display;
  use.tiling = Tiling::y;
  EXPECT_EQ(check_shared(GenId::gen4, use, fence_of(Tiling::y, 2048), start, true), Fault::tiling_not_supported);
}

TEST(SurfaceRules, EveryFaultHasAMessage) {
  for (unsigned i = 0; i <= static_cast<unsigned>(Fault::width_beyond_fence_pitch); ++i) {
    EXPECT_FALSE(name_of(static_cast<Fault>(i)).empty());
  }
}

}  // namespace
}  // namespace halogen::surface
