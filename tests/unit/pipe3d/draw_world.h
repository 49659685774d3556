// Draws from commands to memory: two megabytes of memory at address 0, the state commands of a context, and kernels in
// assembly. Kernels of Gen6 copy their registers to memory, where tests read the payload.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "eu/isa/assembler.h"
#include "hw/3d_constants.h"
#include "hw/3d_geometry.h"
#include "hw/3d_pixel.h"
#include "hw/3d_pointers.h"
#include "hw/3d_raster.h"
#include "hw/3d_so.h"
#include "hw/3d_urb.h"
#include "hw/3d_vertex.h"
#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "pipe3d/pipeline.h"
#include "spec/device_model.h"
#include "support/lent_pages.h"

namespace halogen::pipe3d {

class DrawWorld : private memory::FaultHandler {
 public:
  static constexpr uint32_t kStates = 0x1'0000;                   // surface and dynamic base
  static constexpr uint32_t kKernels = 0x2'0000;                  // instruction base
  static constexpr uint32_t kVertices = 0x3'0000;                 // vertex buffer 0
  static constexpr uint32_t kConstants = 0x1'8000;                // in the first 64 KB after the dynamic base
  static constexpr uint32_t kTarget = 0x4'0000;                   // binding table index 1
  static constexpr uint32_t kCopies = 0x8'0000;                   // binding table index 0: registers of threads
  static constexpr uint32_t kThreadCopy_B = 0x1000;               // size of the copy of one thread
  static constexpr uint32_t kVs = 0, kGs = 0x1000, kPs = 0x2000;  // kernels, from the instruction base

  explicit DrawWorld(const char* device) : model_(*spec::find_device(device)), bytes_(kBytes) {
    memory_.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, kBytes, &bytes_});
    memory::WalkContext context;
    context.format = formats_.find(memory::WalkMode::legacy48);
    context.roots[0] = kTables;
    for (uint64_t level = 0; level < 3; ++level) {
      entry(kTables + level * 4096) = (kTables + (level + 1) * 4096) | 3;
    }
    for (uint64_t page = 0; page < kMapped / 4096; ++page) {
      entry(kTables + 3 * 4096 + page * 8) = page * 4096 | 3;
    }
    space_.load(context);
    pipeline_.set_events(&log, "gpu0.rcs0");
  }

  spec::GenId gen() const { return model_.gen; }
  uint32_t& word(uint64_t at) { return *reinterpret_cast<uint32_t*>(bytes_.data() + at); }
  float& real(uint64_t at) { return *reinterpret_cast<float*>(bytes_.data() + at); }
  void put(uint64_t at, std::span<const uint32_t> words) {
    std::memcpy(bytes_.data() + at, words.data(), words.size_bytes());
  }
  // Returns a dword of a register that thread `thread` copied.
  uint32_t copied(uint32_t thread, uint32_t grf, uint32_t dword) {
    return word(kCopies + thread * kThreadCopy_B + grf * 32 + dword * 4);
  }
  float copied_real(uint32_t thread, uint32_t grf, uint32_t dword) {
    return std::bit_cast<float>(copied(thread, grf, dword));
  }

  template <class T>
  void send(const T& command, size_t dwords) {
    std::vector<uint32_t> words(dwords);
    ASSERT_TRUE(command.pack(gen(), words));
    send_words(T::kDesc, words);
  }
  void send_words(const spec::CommandDesc& desc, std::vector<uint32_t> words) {
    words[0] = (words[0] & ~0xffu) | static_cast<uint32_t>(words.size() - 2);
    ASSERT_TRUE(settings.change(generation_, desc, words)) << desc.name;
  }
  void kernel(uint32_t offset, const std::string& text) {
    const auto code = eu::assemble(gen(), text);
    ASSERT_TRUE(code) << code.message() << "\n" << text;
    std::memcpy(bytes_.data() + kKernels + offset, code->data(), code->size());
  }
  // Returns how often a dword occurs in memory.
  size_t count(uint32_t value) const {
    size_t found = 0;
    for (size_t at = 0; at < kMapped; at += 4) {
      uint32_t here = 0;
      std::memcpy(&here, bytes_.data() + at, 4);
      found += here == value ? 1 : 0;
    }
    return found;
  }
  // Runs one part of a draw.
  Outcome part(Progress& progress) { return pipeline_.draw(input(), progress); }
  // Returns the state that a draw would use now.
  PipelineState state() {
    PipelineState resolved;
    EXPECT_TRUE(resolve(input(), resolved));
    return resolved;
  }
  void set_work(const oa::CountsWanted& wanted, oa::WorkCounts* counts) { pipeline_.set_work(wanted, counts); }
  void set_pool(WorkerPool* pool) { pipeline_.set_pool(pool); }
  void set_stop(const StopFlag& stop) { pipeline_.set_stop(stop); }
  // Runs all parts of a draw.
  Outcome draw(const DrawCall& call) {
    Progress progress;
    progress.call = call;
    Outcome all = part(progress);
    for (unsigned number = 1; all.stop == Stop::unfinished; ++number) {
      if (between_parts) between_parts(number);
      const Outcome next = part(progress);
      all.stop = next.stop;
      all.counts.clip_in += next.counts.clip_in;
      all.counts.clip_out += next.counts.clip_out;
    }
    EXPECT_EQ(all.missing, "");
    if (!faults_expected) {
      EXPECT_EQ(all.stop, Stop::finished);
      EXPECT_EQ(faults_, 0u);
    }
    for (const Event& event : log.events()) {
      EXPECT_TRUE(events_expected) << event.to_string();
    }
    return all;
  }

  Settings settings;
  std::array<uint32_t, 4> stream_indices{};
  spec::UnreadFields unread;
  EventLog log;
  bool events_expected = false;
  bool faults_expected = false;
  std::function<void(unsigned part)> between_parts;  // called before part 1 and each later one; may be empty

  // Takes host memory away: its addresses then lead to holes.
  void take_back(uint64_t address, uint64_t bytes) { bytes_.take_back(memory_, address / 4096, bytes / 4096); }
  size_t faults() const { return faults_; }

 private:
  static constexpr uint64_t kBytes = 4 << 20;
  static constexpr uint64_t kTables = 3 << 20;
  static constexpr uint64_t kMapped = 2 << 20;

  memory::FaultAction on_fault(const memory::Fault& /*fault*/) override {
    ++faults_;
    return faults_expected ? memory::FaultAction::skip : memory::FaultAction::stop;
  }
  ResolveInput input() {
    return {.generation = &generation_,
            .settings = &settings,
            .bases = {.surface = kStates, .dynamic = kStates, .instruction = kKernels},
            .space = &space_,
            .stream_offsets = stream_indices,
            .tables = {.base = kStates},
            .unread = &unread};
  }
  uint64_t& entry(uint64_t at) { return *reinterpret_cast<uint64_t*>(bytes_.data() + at); }

  const spec::DeviceModel& model_;
  Generation generation_{model_};
  test::LentPages bytes_;
  memory::PhysicalMemory memory_;
  memory::PageFormats formats_{*spec::find_device("dg1"), 39};
  memory::Tlb tlb_{64};
  size_t faults_ = 0;
  memory::AddressSpace space_{memory_, tlb_, 1, *this};
  eu::KernelLibrary kernels_{model_.gen};
  Pipeline pipeline_{kernels_};
};

}  // namespace halogen::pipe3d
