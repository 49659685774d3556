// The 3D pipeline on every generation. An input changes a draw that works (draw_scene.h): fields of state commands and
// of structures in memory, dwords of memory, pieces of kernels, the call. Memory has its exact size, so the sanitizers
// see any access outside. Also checked: a draw ends, also in parts and after stops at any look at the stop flag, and
// host threads leave the same memory, counts, faults and Events as one thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/stop_flag.h"
#include "base/worker_pool.h"
#include "fuzz/draw_scene.h"
#include "fuzz/input.h"
#include "fuzz/kernel_maker.h"
#include "fuzz/reach.h"
#include "hw/3d_raster.h"
#include "pipe3d/pipeline.h"
#include "spec/device_model.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz {

// The state that a draw leaves.
struct DrawResult {
  std::vector<std::byte> memory;
  std::vector<pipe3d::Stop> stops;     // of its parts
  std::vector<uint64_t> instructions;  // of its parts
  uint64_t shader_threads = 0;
  std::array<uint64_t, 5> counts{};
  std::vector<uint64_t> faults;
  std::vector<std::string> events;

  bool operator==(const DrawResult&) const = default;
};

class DrawWorld final : private Input {
 public:
  explicit DrawWorld(const spec::DeviceModel& model)
      : generation_(model), scene_(generation_), kernels_(generation_.id()) {}

  // Builds the draw of an input.
  void build(std::span<const uint8_t> data) {
    start(data);
    std::copy(scene_.memory().begin(), scene_.memory().end(), memory_.bytes().begin());
    settings_ = scene_.settings();
    bases_ = {};
    wide_tables_ = false;
    const auto options = take<uint8_t>();
    memory_.set_action((options & 1) != 0 ? memory::FaultAction::stop : memory::FaultAction::skip);
    call_ = {.topology = topology((options >> 1 & 7)),
             .indexed = (options & 0x10) != 0,
             .vertices = scene::kVertexCount - (options >> 5)};
    // Mostly few changes, because most draws with many changes have no pixels.
    const auto changes = take<uint8_t>();
    const unsigned most = changes < 0xe0 ? changes % 8u : kOperations;
    for (unsigned more = most; more != 0 && !empty(); --more) operate();
    bound();
    start_memory_.assign(memory_.bytes().begin(), memory_.bytes().end());
  }

  // Runs the draw with a pool, or without. With `looks`, each part is stopped at that look at the stop flag, by any
  // thread, and the draw continues in another pipeline, as after a snapshot.
  DrawResult draw(WorkerPool* pool, uint32_t looks = 0) {
    std::copy(start_memory_.begin(), start_memory_.end(), memory_.bytes().begin());
    memory_.space().invalidate();
    memory_.forget_faults();
    EventLog events;
    pipe3d::ResolveInput input;
    input.generation = &generation_;
    input.settings = &settings_;
    input.space = &memory_.space();
    input.bases = bases_;
    input.tables = {.base = bases_.surface, .wide = wide_tables_};
    pipe3d::Progress progress;
    progress.call = call_;
    eu::KernelLibrary library(generation_.id());
    StopFlag stop;
    std::atomic<uint32_t> looked{0};
    if (looks != 0) {
      stop.set_watch([&] {
        if (++looked < looks) return false;
        stop.raise();
        return true;
      });
    }
    std::optional<pipe3d::Pipeline> pipeline;
    DrawResult result;
    uint64_t instructions = 0;
    for (unsigned part = 0; part < kParts && instructions < kInstructions; ++part) {
      if (!pipeline || stop.raised()) {
        pipeline.emplace(library);
        pipeline->set_events(&events, "gpu0.rcs0");
        pipeline->set_pool(pool);
        pipeline->set_stop(stop);
      }
      looked = 0;
      stop.clear();
      const pipe3d::Outcome outcome = pipeline->draw(input, progress);
      instructions += outcome.instructions;
      result.stops.push_back(outcome.stop);
      result.instructions.push_back(outcome.instructions);
      add(outcome, result);
      if (outcome.stop != pipe3d::Stop::unfinished) break;
    }
    pipe3d::Progress clear;
    looked = 0;
    stop.clear();
    static_cast<void>(pipeline->depth_operation(input, clear));
    result.faults = memory_.first_faults();
    for (const Event& event : events.events()) result.events.push_back(event.to_string());
    result.memory.assign(memory_.bytes().begin(), memory_.bytes().end());
    return result;
  }
  size_t kernel_bytes() const { return scene_.write_target().size(); }
  // Returns whether bytes of the render target changed.
  bool painted(const DrawResult& result) const {
    return std::memcmp(result.memory.data() + scene::kTarget, start_memory_.data() + scene::kTarget,
                       scene::kDepth - scene::kTarget) != 0;
  }

 private:
  static constexpr unsigned kOperations = 48;
  static constexpr unsigned kParts = 64;
  static constexpr uint64_t kInstructions = 200'000;

  static void add(const pipe3d::Outcome& outcome, DrawResult& result) {
    const pipe3d::StageAmounts& threads = outcome.threads;
    result.shader_threads += threads.vertex + threads.hull + threads.domain + threads.geometry + threads.clip +
                             threads.setup + threads.pixel;
    const std::array<uint64_t, 5> counts{outcome.counts.vertices, outcome.counts.clip_in, outcome.counts.clip_out,
                                         outcome.counts.pixels.invocations, outcome.counts.pixels.passed};
    for (size_t i = 0; i < counts.size(); ++i) result.counts[i] += counts[i];
  }

  static hw::PrimitiveTopology topology(unsigned which) {
    using T = hw::PrimitiveTopology;
    constexpr std::array<T, 8> kAll{T::TRILIST,  T::TRISTRIP,  T::TRIFAN,    T::TRILIST,
                                    T::LINELIST, T::LINESTRIP, T::POINTLIST, T::RECTLIST};
    return kAll[which];
  }

  void operate() {
    switch (take<uint8_t>() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:  // fields of a command of the scene or of any other state command
        return change(*scene_.commands()[take<uint8_t>() % scene_.commands().size()]);
      case 5:
      case 6:
      case 7:  // fields of a structure
        return change(scene_.structures()[take<uint8_t>() % scene_.structures().size()]);
      case 8:  // the first surfaces and samplers, which kernels use most
        return change(scene_.structures()[take<uint8_t>() % std::min<size_t>(12, scene_.structures().size())]);
      case 9: {
        const uint64_t at = take<uint32_t>() % (scene::kBytes / 4) * 4;
        memory_.at<uint32_t>(at) = take<uint32_t>();
        return;
      }
      case 10:  // a vertex or an index
        memory_.at<uint32_t>(scene::kVertices + take<uint16_t>() % 0x4000 / 4 * 4) = dword();
        return;
      case 11:
        return pixel_kernel();
      case 12: {  // another kernel: a body before the end that is there
        constexpr std::array<uint64_t, 3> kAt{scene::kVertexKernel, scene::kGeometryKernel, scene::kSetupKernel};
        return kernel(kAt[take<uint8_t>() % kAt.size()]);
      }
      case 13:
        return bases();
      case 14:
        call_.vertices = take<uint8_t>() % 96;
        call_.instances = take<uint8_t>() % 4;
        call_.first = take<uint8_t>() < 0xf0 ? 0 : take<uint32_t>();
        return;
      default:
        call_.topology = static_cast<hw::PrimitiveTopology>(take<uint8_t>() & 63);
        call_.first_instance = take<uint8_t>();
        call_.base_vertex = take<int8_t>();
        return;
    }
  }

  // Returns a dword: a float in the target, a boundary value or random bits.
  uint32_t dword() {
    const auto how = take<uint8_t>();
    if (how < 0xc0) return std::bit_cast<uint32_t>(static_cast<float>(how) - 64);
    constexpr std::array<uint32_t, 8> kEdges{0,           0x7fc0'0000, 0x7f80'0000, 0xff80'0000,
                                             0xffff'ffff, 1,           0x4b80'0000, 0xffff};
    return how < 0xe0 ? kEdges[how % kEdges.size()] : take<uint32_t>();
  }

  void change(const spec::CommandDesc& desc) {
    const auto more_dwords = take<uint8_t>();
    std::vector<uint32_t> words = scene_.words(desc);
    const std::span<const uint32_t> now = settings_.words(desc.id);
    if (words.empty()) {
      words = scene_.maker().command(desc, more_dwords % 40u);
    } else if (now.size() == words.size() && (more_dwords & 1) == 0) {
      words.assign(now.begin(), now.end());
    }
    scene_.maker().change(*this, desc, words);
    settings_.change(generation_, desc, words);
  }
  void change(const scene::Placed& placed) {
    const size_t count = scene_.maker().structure(*placed.desc).size();
    std::vector<uint32_t> words(count);
    std::memcpy(words.data(), memory_.bytes().data() + placed.at, count * 4);
    scene_.maker().change(*this, *placed.desc, words);
    std::memcpy(memory_.bytes().data() + placed.at, words.data(), count * 4);
  }
  void pixel_kernel() {
    std::vector<std::byte> code = kernels_.body(*this, 8);
    KernelMaker::append(code, scene_.write_target());
    code.resize(std::min<size_t>(code.size(), 0x1000));
    std::copy(code.begin(), code.end(), memory_.bytes().begin() + scene::kPixelKernel);
  }
  void kernel(uint64_t at) {
    std::vector<std::byte> code = kernels_.body(*this, 6);
    code.resize(std::min<size_t>(code.size(), 0xf00));
    const auto end = scene_.memory().subspan(at, 0x20);
    code.insert(code.end(), end.begin(), end.end());
    std::copy(code.begin(), code.end(), memory_.bytes().begin() + static_cast<ptrdiff_t>(at));
  }
  void bases() {
    const auto which = take<uint8_t>();
    if ((which & 0x30) != 0) return change(*scene_.commands()[which % scene_.commands().size()]);
    const uint64_t base = (which & 0x80) != 0 ? take<uint64_t>() & 0xffff'ffff'f000 : uint64_t{take<uint8_t>()} << 12;
    if ((which & 1) != 0) bases_.general = base;
    if ((which & 2) != 0) bases_.surface = base;
    if ((which & 4) != 0) bases_.dynamic = base;
    if ((which & 8) != 0) bases_.instruction = base;
    wide_tables_ = (which & 0x40) != 0;
  }
  // Limits the number of pixels with a rectangle that is small in at least one direction.
  void bound() {
    hw::_3DSTATE_DRAWING_RECTANGLE rectangle;
    const bool wide = take<uint8_t>() == 0xff;
    rectangle.clipped_drawing_rectangle_x_max = wide ? 0x1fff : scene::kSide - 1;
    rectangle.clipped_drawing_rectangle_y_max = wide ? 0 : scene::kSide - 1;
    std::array<uint32_t, 4> words{};
    if (rectangle.pack(generation_.id(), words)) {
      settings_.change(generation_, spec::desc(spec::CommandId::_3DSTATE_DRAWING_RECTANGLE), words);
    }
  }

  Generation generation_;
  scene::Scene scene_;
  KernelMaker kernels_;
  test::MappedMemory memory_{scene::kBytes};
  pipe3d::Settings settings_;
  pipe3d::DrawCall call_;
  message::StateBases bases_;
  bool wide_tables_ = false;
  std::vector<std::byte> start_memory_;
};

inline DrawWorld& draw_world(size_t chip) {
  const auto models = spec::device_models();
  static std::vector<std::unique_ptr<DrawWorld>> worlds(models.size());
  std::unique_ptr<DrawWorld>& world = worlds[chip % models.size()];
  if (!world) world = std::make_unique<DrawWorld>(models[chip % models.size()]);
  return *world;
}

// Input: one byte for the chip, then options and operations.
inline void draw(std::span<const uint8_t> data) {
  static Reach reach{"shader threads", "target written", "finished"};
  if (data.empty()) return;
  DrawWorld& world = draw_world(data[0]);
  world.build(data.subspan(1));
  const DrawResult result = world.draw(nullptr);
  reach.input();
  reach.place(0, result.shader_threads != 0);
  reach.place(1, world.painted(result));
  reach.place(2, result.stops.back() == pipe3d::Stop::finished);
}

// The same with host threads, then with stops. Input: as above; before it a byte for the number of threads, whose upper
// bits choose the look at which parts stop.
inline void draw_threads(std::span<const uint8_t> data) {
  static std::array<WorkerPool, 3> pools{WorkerPool(2), WorkerPool(3), WorkerPool(4)};
  if (data.size() < 2) return;
  DrawWorld& world = draw_world(data[1]);
  world.build(data.subspan(2));
  const DrawResult one = world.draw(nullptr);
  WorkerPool& pool = pools[data[0] % pools.size()];
  const DrawResult many = world.draw(&pool);
  if (const uint32_t looks = data[0] / 4u; looks != 0) static_cast<void>(world.draw(&pool, looks));
  if (one == many) return;
  std::fprintf(stderr, "host threads change the result:%s%s%s%s%s%s\n", one.memory == many.memory ? "" : " memory",
               one.stops == many.stops && one.instructions == many.instructions ? "" : " parts",
               one.counts == many.counts ? "" : " counts", one.shader_threads == many.shader_threads ? "" : " threads",
               one.faults == many.faults ? "" : " faults", one.events == many.events ? "" : " events");
  std::abort();
}

}  // namespace halogen::fuzz
