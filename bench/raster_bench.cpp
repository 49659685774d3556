// Coverage of triangles, and pixels through depth test and blending into a Y-tiled RGBA8 target, compared with memset
// of the bytes of the target. No shader runs, except in `shaded`: the figures are the costs of the fixed functions, on
// one thread.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "eu/isa/assembler.h"
#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "pipe3d/geometry/triangle.h"
#include "pipe3d/output/pixel_output.h"
#include "pipe3d/pixel/pixel_work.h"
#include "spec/device_model.h"

namespace {

using namespace halogen;
using namespace halogen::pipe3d;

constexpr int32_t kSide = 1024;

class World final : private memory::FaultHandler {
 public:
  static constexpr uint64_t kTarget_B = uint64_t{kSide} * kSide * 4;
  static constexpr uint64_t kDepth = kTarget_B;
  static constexpr uint64_t kTables = 2 * kTarget_B;

  World() : bytes_(kTables + (1 << 20)) {
    memory_.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, bytes_.size(), &frames_});
    memory::WalkContext context;
    context.format = formats_.find(memory::WalkMode::legacy48);
    context.roots[0] = kTables;
    entry(0, 0) = (kTables + 4096) | 3;
    entry(1, 0) = (kTables + 2 * 4096) | 3;
    for (uint64_t table = 0; table < kTables >> 21; ++table) {
      entry(2, table) = (kTables + (3 + table) * 4096) | 3;
    }
    for (uint64_t page = 0; page < kTables / 4096; ++page) {
      entry(3, page) = page * 4096 | 3;
    }
    space_.load(context);
    target_.kind = message::Surface::Kind::image;
    target_.type = hw::SurfaceType::SURFTYPE_2D;
    target_.format = &surface::texel_format(hw::SurfaceFormat::R8G8B8A8_UNORM);
    target_.width = target_.height = kSide;
    target_.depth = 1;
    target_.layout.pattern = &surface::kTileY;
    target_.layout.pitch_B = kSide * 4;
    DepthBuffers& buffers = state_.output.buffers;
    buffers.format = hw::DepthFormat::D24_UNORM_X8_UINT;
    buffers.depth.present = buffers.depth.write = true;
    buffers.depth.address = kDepth;
    buffers.depth.pitch_B = kSide * 4;
    buffers.depth.width = buffers.depth.height = kSide;
    state_.output.depth_stencil.depth_test = true;
    state_.output.depth_stencil.depth_write = true;
    state_.output.depth_stencil.depth_function = hw::CompareFunction::LEQUAL;
    state_.clip.divide = false;
    state_.raster.cull = hw::CullMode::NONE;
    state_.raster.drawing = {.x_min = 0, .y_min = 0, .x_max = kSide - 1, .y_max = kSide - 1};
    state_.raster.sample_mask = 1;
    blend_.clamp_before = blend_.clamp_after = true;
    blend_.range = hw::ColorClampRange::RTFORMAT;
  }

  PipelineState& state() { return state_; }
  BlendTarget& blend() { return blend_; }
  const message::Surface& target() const { return target_; }
  memory::AddressSpace& space() { return space_; }
  std::byte* bytes() { return bytes_.data(); }

 private:
  memory::FaultAction on_fault(const memory::Fault& /*fault*/) override { return memory::FaultAction::stop; }
  uint64_t& entry(uint64_t table, uint64_t index) {
    return *reinterpret_cast<uint64_t*>(bytes_.data() + kTables + table * 4096 + index * 8);
  }

  std::vector<std::byte> bytes_;
  memory::FlatFrames frames_{bytes_};
  memory::PhysicalMemory memory_;
  memory::PageFormats formats_{*spec::find_device("dg1"), 39};
  memory::Tlb tlb_{1024};
  memory::AddressSpace space_{memory_, tlb_, 1, *this};
  message::Surface target_;
  PipelineState state_;
  BlendTarget blend_;
};

// Returns triangles of one size that cover the whole target. Two of them make a square.
std::vector<Primitive> mesh(int32_t size) {
  std::vector<Primitive> all;
  for (int32_t y = 0; y < kSide; y += size) {
    for (int32_t x = 0; x < kSide; x += size) {
      const auto corner = [&](int32_t dx, int32_t dy) {
        ClipVertex vertex;
        vertex.position = {static_cast<float>(x + dx * size), static_cast<float>(y + dy * size), 0.5f, 1.0f};
        return vertex;
      };
      Primitive made;
      made.vertex = {corner(0, 0), corner(1, 0), corner(0, 1)};
      all.push_back(made);
      made.vertex = {corner(1, 0), corner(1, 1), corner(0, 1)};
      all.push_back(made);
    }
  }
  return all;
}

constexpr Rectangle kWindow{.x_min = 0, .y_min = 0, .x_max = kSide - 1, .y_max = kSide - 1};

template <class Each>
void draw(const PipelineState& state, const std::vector<Primitive>& all, Each&& each) {
  Clipper clipper(state, 0);
  std::vector<ClippedPart> pieces;
  std::vector<ScreenPrimitive> screen;
  uint32_t steps = 0;
  for (const Primitive& primitive : all) {
    pieces.clear();
    screen.clear();
    clipper.clip(primitive, pieces);
    for (const ClippedPart& piece : pieces) {
      set_up(state, piece, screen, steps);
    }
    for (const ScreenPrimitive& made : screen) {
      const Rasteriser raster(state, made);
      raster.walk(kWindow, [&](const Subspan& span) { each(raster, span); });
    }
  }
}

void count(benchmark::State& state, size_t triangles) {
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["triangles"] =
      benchmark::Counter(rounds * static_cast<double>(triangles), benchmark::Counter::kIsRate);
  state.counters["pixels"] = benchmark::Counter(rounds * kSide * kSide, benchmark::Counter::kIsRate);
}

// range(0): side of a triangle; range(1): log2 of the sample count.
void coverage(benchmark::State& state) {
  World world;
  world.state().raster.samples_log2 = static_cast<uint8_t>(state.range(1));
  world.state().raster.multisample = true;
  world.state().raster.sample_mask = 0xffff;
  constexpr std::array<std::array<uint8_t, 2>, 4> kFour{{{6, 2}, {14, 6}, {2, 10}, {10, 14}}};
  std::ranges::copy(kFour, world.state().raster.positions.begin());
  const std::vector<Primitive> all = mesh(static_cast<int32_t>(state.range(0)));
  uint64_t seen = 0;
  for (auto _ : state) {
    draw(world.state(), all, [&](const Rasteriser&, const Subspan& span) { seen += span.coverage[0]; });
    benchmark::DoNotOptimize(seen);
  }
  count(state, all.size());
}

// range(0): side of a triangle; range(1): 0 for colours only, 1 with depth, 2 with depth and blending.
void pixels(benchmark::State& state) {
  World world;
  const bool tests = state.range(1) > 0;
  if (state.range(1) > 1) {
    world.blend().blend = true;
    world.blend().source_color = world.blend().source_alpha = hw::BlendFactor::SRC_ALPHA;
    world.blend().dest_color = world.blend().dest_alpha = hw::BlendFactor::INV_SRC_ALPHA;
  }
  std::memset(world.bytes(), 0xff, World::kTables);
  DepthStencilUnit depth;
  depth.begin(world.state().output, world.space(), 0);
  TargetWriter writer;
  writer.begin(world.target(), world.blend(), {}, world.space());
  const std::vector<Primitive> all = mesh(static_cast<int32_t>(state.range(0)));
  const Colour colour{0x3f00'0000, 0x3e80'0000, 0x3f80'0000, 0x3f00'0000};
  for (auto _ : state) {
    draw(world.state(), all, [&](const Rasteriser& raster, const Subspan& span) {
      for (int32_t lane = 0; lane < 4; ++lane) {
        uint32_t mask = span.coverage[static_cast<size_t>(lane)];
        if (mask == 0) {
          continue;
        }
        const PixelPlace place{span.x + lane % 2, span.y + lane / 2, 0};
        if (tests) {
          const std::array<float, kMaxSamples> z{
              raster.depth(static_cast<float>(place.x) + 0.5f, static_cast<float>(place.y) + 0.5f)};
          mask = depth.test(place, mask, z, true, nullptr, true);
        }
        writer.write(place, mask, colour, colour);
      }
    });
  }
  if (writer.stopped() || depth.stopped()) {
    state.SkipWithError("memory access failed");
  }
  count(state, all.size());
}

// Squares of threads that shade a texel from their coordinates. range(0): 0 if no counts are wanted, 1 for counts of
// work, 2 for all counts.
constexpr std::string_view kShade = R"(
    (W) add (16|M0) r20.0<1>:uw r1.4<2;4,0>:uw 0x10101010:v
    (W) add (16|M0) r21.0<1>:uw r1.5<2;4,0>:uw 0x11001100:v
    mov (16|M0) r30.0<1>:f r20.0<8;8,1>:uw
    mov (16|M0) r32.0<1>:f r21.0<8;8,1>:uw
    mul (16|M0) r10.0<1>:f r30.0<8;8,1>:f 0.0009765625:f
    mul (16|M0) r12.0<1>:f r32.0<8;8,1>:f 0.0009765625:f
    mul (16|M0) r14.0<1>:f r10.0<8;8,1>:f r12.0<8;8,1>:f
    mov (16|M0) r16.0<1>:f 1.0:f
    send.rc (16|M0) null r10 0x0 0x10031000 {EOT}
)";

void shaded(benchmark::State& state) {
  World world;
  const spec::DeviceModel& model = *spec::find_device("skl");
  const Generation generation(model);
  constexpr uint32_t kStates = World::kDepth, kCode = World::kDepth + 0x1'0000, kTable = 0x100, kSurface = 0x200;
  const auto put = [&](uint64_t at, uint32_t value) { std::memcpy(world.bytes() + at, &value, sizeof(value)); };
  put(kStates + kTable, kSurface);
  const std::array<uint32_t, 4> surface{1u << 29 | 0xc7u << 18 | 1u << 16 | 1u << 14 | 3u << 12, 0,
                                        (kSide - 1) | (kSide - 1) << 16, kSide * 4 - 1};
  for (uint32_t i = 0; i < surface.size(); ++i) {
    put(kStates + kSurface + i * 4, surface[i]);
  }
  const auto code = eu::assemble(model.gen, kShade);
  if (!code.ok()) {
    state.SkipWithError("kernel not assembled");
    return;
  }
  std::memcpy(world.bytes() + kCode, code.value().data(), code.value().size());
  PipelineState& to = world.state();
  to.output.buffers.depth.present = false;
  to.output.depth_stencil = {};
  to.bases.surface = kStates;
  to.bases.instruction = kCode;
  to.wanted = {.work = state.range(0) > 0, .activity = state.range(0) > 1};
  to.pixel.dispatch = to.pixel.shader.enabled = true;
  to.pixel.shader.binding_table = kStates + kTable;
  to.pixel.simd16 = {.enabled = true, .start = 0, .first_grf = 40};
  PrimitiveList list;
  list.begin(2);
  Clipper clipper(to, 0);
  uint32_t steps = 0;
  for (const Primitive& primitive : mesh(64)) {
    std::vector<ClippedPart> pieces;
    clipper.clip(primitive, pieces);
    for (const ClippedPart& piece : pieces) {
      set_up(to, piece, list.target(), steps);
    }
  }
  eu::KernelLibrary kernels(model.gen);
  PixelWork work(kernels);
  for (auto _ : state) {
    work.begin(generation, to, 2, world.space());
    uint64_t next = 0;
    if (!work.draw(list, next, ~uint64_t{0}) || work.counts().invocations != uint64_t{kSide} * kSide) {
      state.SkipWithError("not drawn");
      return;
    }
    oa::WorkCounts counts;
    work.take_work(counts);
    benchmark::DoNotOptimize(counts);
  }
  count(state, list.primitives().size());
}

void set_memory(benchmark::State& state) {
  World world;
  for (auto _ : state) {
    std::memset(world.bytes(), static_cast<int>(state.iterations()), World::kTarget_B);
    benchmark::ClobberMemory();
  }
  count(state, 0);
}

BENCHMARK(coverage)->ArgsProduct({{4, 32, 1024}, {0, 2}})->Unit(benchmark::kMillisecond);
BENCHMARK(pixels)->ArgsProduct({{4, 1024}, {0, 1, 2}})->Unit(benchmark::kMillisecond);
BENCHMARK(shaded)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK(set_memory)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
