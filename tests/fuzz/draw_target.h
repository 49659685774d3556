// The 3D pipeline with random state and small draws, on every generation: any state commands with any fields, pointers
// into mostly random memory, invalid surfaces and kernels. Memory has its exact size, so the sanitizers see any access
// outside. Also checked: a draw ends, and a draw that is executed in parts, or stopped at any look at the stop flag,
// ends too.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "eu/isa/assembler.h"
#include "fuzz/input.h"
#include "hw/3d_depth.h"
#include "hw/3d_raster.h"
#include "pipe3d/pipeline.h"
#include "spec/device_model.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz {

class DrawWorld final : private Input {
 public:
  explicit DrawWorld(const spec::DeviceModel& model) : generation_(model) {
    for (const spec::CommandDesc* desc : spec::commands()) {
      const uint32_t group = desc->match_of_gen[gen()].value >> 24;
      if (group == 0x78 || group == 0x79) {
        commands_.push_back(desc);
      }
    }
    // A kernel that writes to a render target and ends, in the syntax that the generation accepts.
    for (const char* text :
         {"send.rc (8|M0) null r120 null 0x0 0x08031400 {EOT}", "send.rc (8|M0) null r120 0x0 0x08031400 {EOT}",
          "send.dpwr (8|M0) null m2 0x0 0x08031400 {EOT}"}) {
      if (const auto made = eu::assemble(generation_.id(), text)) {
        kernel_ = *made;
        break;
      }
    }
  }

  void run(std::span<const uint8_t> data) {
    start(data);
    fill_memory();
    pipe3d::Settings settings;
    for (unsigned more = kCommands; more != 0 && left() > kTail; --more) {
      change(settings, *commands_[take<uint16_t>() % commands_.size()]);
    }
    bound(settings);
    pipe3d::ResolveInput input;
    input.generation = &generation_;
    input.settings = &settings;
    input.space = &memory_.space();
    const uint64_t base = flag() ? 0 : uint64_t{take<uint8_t>()} * kPage;
    input.bases = {.general = base, .surface = base, .dynamic = base, .instruction = base};
    input.tables = {.base = input.bases.surface, .wide = flag()};
    memory_.set_action(flag() ? memory::FaultAction::stop : memory::FaultAction::skip);
    pipe3d::Progress progress;
    progress.call = {.topology = static_cast<hw::PrimitiveTopology>(take<uint8_t>() & 63),
                     .indexed = flag(),
                     .vertices = take<uint8_t>() % 24u,
                     .first = flag() ? 0 : take<uint32_t>(),
                     .instances = take<uint8_t>() % 3u,
                     .first_instance = take<uint8_t>(),
                     .base_vertex = take<int8_t>()};
    eu::KernelLibrary kernels(generation_.id());
    WorkerPool pool(flag() ? kThreads : 1);
    // Stops at a look of any thread. The draw goes on in another pipeline, as after a snapshot.
    StopFlag stop;
    std::atomic<uint32_t> looks{0};
    const uint32_t last = flag() ? ~0u : take<uint8_t>() + 1u;
    stop.set_watch([&] {
      if (++looks < last) {
        return false;
      }
      stop.raise();
      return true;
    });
    std::optional<pipe3d::Pipeline> pipeline;
    for (unsigned part = 0; part < kParts; ++part) {
      if (!pipeline || stop.raised()) {
        pipeline.emplace(kernels);
        pipeline->set_pool(&pool);
        pipeline->set_stop(stop);
      }
      looks = 0;
      stop.clear();
      const pipe3d::Progress copy = progress;
      progress = copy;
      if (pipeline->draw(input, progress).stop != pipe3d::Stop::unfinished) {
        break;
      }
    }
    looks = 0;
    stop.clear();
    pipe3d::Progress clear;
    static_cast<void>(pipeline->depth_operation(input, clear));
  }

 private:
  static constexpr uint64_t kPage = test::MappedMemory::kPage;
  static constexpr uint64_t kPages = 96;
  static constexpr unsigned kCommands = 64;
  static constexpr unsigned kParts = 64;
  static constexpr unsigned kThreads = 3;
  static constexpr size_t kTail = 16;  // bytes reserved for the draw itself
  static constexpr uint32_t kSide = 48;

  size_t gen() const { return static_cast<size_t>(generation_.id()); }

  // Returns a dword: often zero, a small number, an address, a float or NaN; sometimes random bits.
  uint32_t dword() {
    switch (take<uint8_t>() % 8) {
      case 0:
      case 1:
        return 0;
      case 2:
        return take<uint8_t>();
      case 3:
        return uint32_t{take<uint16_t>()} * 64 % static_cast<uint32_t>(kPages * kPage);
      case 4:
        return std::bit_cast<uint32_t>(static_cast<float>(take<int8_t>()));
      case 5:
        return take<uint8_t>() % 2 == 0 ? 0x7fc0'0000 : 0x3fff'3fff;
      default:
        return take<uint32_t>();
    }
  }
  // Fills memory with vertices, surfaces, tables and kernels: random bytes with some valid structures.
  void fill_memory() {
    std::mt19937 random(take<uint16_t>());
    for (uint64_t at = 0; at < kPages * kPage; at += 4) {
      const auto kind = static_cast<uint32_t>(random());
      const auto bits = static_cast<uint32_t>(random());
      const uint32_t value = kind % 4 == 0   ? 0
                             : kind % 4 == 1 ? std::bit_cast<uint32_t>(static_cast<float>(bits % 200) - 60)
                             : kind % 4 == 2 ? bits % (kPages * kPage) & ~63u
                                             : bits;
      memory_.at<uint32_t>(at) = value;
    }
    for (uint64_t at = 0; at + kernel_.size() <= kPages * kPage; at += kPage / 2) {
      std::copy_n(kernel_.begin(), kernel_.size(), memory_.bytes().begin() + static_cast<ptrdiff_t>(at));
    }
  }
  void change(pipe3d::Settings& settings, const spec::CommandDesc& desc) {
    const spec::LengthRule& length = desc.length_of_gen[gen()];
    const spec::MatchRule& match = desc.match_of_gen[gen()];
    uint32_t count = length.fixed;
    if (count == 0) {
      const uint32_t most = std::min<uint32_t>(length.max != 0 ? length.max : 64u, 64u);
      count = std::max<uint32_t>(length.min,
                                 length.min + take<uint8_t>() % (most - std::min<uint32_t>(length.min, most) + 1));
    }
    std::vector<uint32_t> dwords(std::max(count, 1u));
    for (uint32_t& each : dwords) {
      each = dword();
    }
    dwords[0] = (dwords[0] & ~match.mask) | match.value;
    if (length.fixed == 0) {
      const uint32_t mask = ((1u << length.width) - 1u) << length.first_bit;
      dwords[0] = (dwords[0] & ~mask) | ((count - length.bias) << length.first_bit & mask);
    }
    settings.change(generation_, desc, dwords);
  }
  // Limits the number of pixels with a rectangle that is small in at least one direction.
  void bound(pipe3d::Settings& settings) {
    hw::_3DSTATE_DRAWING_RECTANGLE rectangle;
    const bool wide = take<uint8_t>() == 0;
    rectangle.clipped_drawing_rectangle_x_max = wide ? 0x3fff : kSide;
    rectangle.clipped_drawing_rectangle_y_max = wide ? 0 : kSide;
    std::array<uint32_t, 4> words{};
    if (rectangle.pack(generation_.id(), words)) {
      settings.change(generation_, spec::desc(spec::CommandId::_3DSTATE_DRAWING_RECTANGLE), words);
    }
  }

  Generation generation_;
  test::MappedMemory memory_{kPages * kPage};
  std::vector<const spec::CommandDesc*> commands_;
  std::vector<std::byte> kernel_;
};

// Input: one byte for the chip, then the bytes for memory, state and the draw.
inline void draw(std::span<const uint8_t> data) {
  if (data.empty()) return;
  const auto models = spec::device_models();
  static std::vector<std::unique_ptr<DrawWorld>> worlds(models.size());
  std::unique_ptr<DrawWorld>& world = worlds[data[0] % models.size()];
  if (!world) world = std::make_unique<DrawWorld>(models[data[0] % models.size()]);
  world->run(data.subspan(1));
}

}  // namespace halogen::fuzz
