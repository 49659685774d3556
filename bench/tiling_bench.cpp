// Tiling and detiling of a 4096 x 4096 surface with 32 bits per pixel on one thread, compared with memcpy of the same
// bytes in the same run. The goal is 0.6 of memcpy. The ratios at the end compare the best CPU time of each
// benchmark's repetitions, which is stable on a busy machine.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ratios.h"
#include "surface/tile_copy.h"

namespace {

using namespace halogen;
using namespace halogen::surface;

constexpr uint32_t kSide = 4096;
constexpr uint32_t kPitch_B = kSide * 4;
constexpr size_t kBytes = size_t{kPitch_B} * kSide;

struct Free {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

struct Buffers {
  std::unique_ptr<std::byte, Free> surface{static_cast<std::byte*>(std::aligned_alloc(4096, kBytes))};
  std::unique_ptr<std::byte, Free> linear{static_cast<std::byte*>(std::aligned_alloc(4096, kBytes))};
  Buffers() {
    std::memset(surface.get(), 1, kBytes);
    std::memset(linear.get(), 2, kBytes);
  }
};

Buffers& buffers() {
  static Buffers kBuffers;
  return kBuffers;
}

void copy_plain(benchmark::State& state) {
  for (auto _ : state) {
    std::memcpy(buffers().surface.get(), buffers().linear.get(), kBytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(kBytes) * state.iterations());
}

void copy_tiled(benchmark::State& state, const TilePattern& pattern, bool to_surface, SwizzleMode swizzle) {
  const SurfaceLayout layout{
      .pattern = &pattern, .pitch_B = uint64_t{kPitch_B} / pattern.width_B * pattern.pitch_width_B, .swizzle = swizzle};
  const CopyRect rect{.width_B = kPitch_B, .height = kSide};
  const std::span surface(buffers().surface.get(), kBytes);
  const std::span linear(buffers().linear.get(), kBytes);
  for (auto _ : state) {
    const CopyFault fault = to_surface ? copy_to_surface(surface, layout, rect, linear, kPitch_B)
                                       : copy_to_linear(linear, kPitch_B, surface, layout, rect);
    if (fault != CopyFault::none) {
      state.SkipWithError(std::string(name_of(fault)).c_str());
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(kBytes) * state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto add = [&pairs](const std::string& name, auto&&... arguments) {
    pairs.emplace_back(name, "memcpy");
    benchmark::RegisterBenchmark(name.c_str(), arguments...)
        ->Repetitions(5)
        ->MinTime(0.2)
        ->Unit(benchmark::kMillisecond);
  };
  add("memcpy", copy_plain);
  for (const bool to_surface : {true, false}) {
    const std::string verb = to_surface ? "tile_" : "detile_";
    add(verb + "x", copy_tiled, kTileX, to_surface, SwizzleMode::none);
    add(verb + "y", copy_tiled, kTileY, to_surface, SwizzleMode::none);
    add(verb + "x_swizzled", copy_tiled, kTileX, to_surface, SwizzleMode::bit9_10);
    add(verb + "y_swizzled", copy_tiled, kTileY, to_surface, SwizzleMode::bit9);
    add(verb + "yf", copy_tiled, *find_pattern({.tiling = Tiling::yf}), to_surface, SwizzleMode::none);
    add(verb + "ys", copy_tiled, *find_pattern({.tiling = Tiling::ys}), to_surface, SwizzleMode::none);
    add(verb + "w", copy_tiled, kTileW, to_surface, SwizzleMode::none);
  }
  return bench::run(argc, argv, std::move(pairs));
}
