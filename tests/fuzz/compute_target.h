// Dispatches with real messages. An input changes a dispatch that works. Surfaces, samplers, local memory, barriers and
// atomics are those of message::SharedFunctions; kernels are made of pieces (kernel_maker.h). Also checked: a dispatch
// ends or stops in parts, and several host threads leave the same memory, parts, walks, faults and Events as one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/worker_pool.h"
#include "compute/commands.h"
#include "compute/dispatcher.h"
#include "fuzz/draw_scene.h"
#include "fuzz/input.h"
#include "fuzz/kernel_maker.h"
#include "fuzz/reach.h"
#include "spec/device_model.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz {

struct DispatchResult {
  compute::JobStatus job = compute::JobFault::none;
  std::vector<std::byte> memory;
  std::vector<compute::Outcome> outcomes;
  compute::Walk walk;
  std::vector<uint64_t> faults;
  std::vector<std::string> events;
  std::string report;
};

class DispatchWorld final : private Input {
 public:
  explicit DispatchWorld(const spec::DeviceModel& model)
      : generation_(model), scene_(generation_), kernels_(generation_.id()) {
    for (const char* name : {"GPGPU_WALKER", "MEDIA_OBJECT", "MEDIA_OBJECT_WALKER", "MEDIA_OBJECT_PRT"}) {
      const spec::CommandDesc* desc = spec::find_command(name);
      if (desc != nullptr && scene_.maker().has(*desc)) commands_.push_back(desc);
    }
    for (const spec::CommandDesc* desc : spec::commands()) {
      compute::Settings probe;
      if (scene_.maker().has(*desc) &&
          compute::change_settings(generation_.id(), desc->id, scene_.maker().command(*desc), probe)) {
        settings_commands_.push_back(desc);
      }
    }
    descriptor_ = spec::find_struct("INTERFACE_DESCRIPTOR_DATA");
    front_end_ = spec::find_struct("VFE_STATE");
    // Lanes: r2 has the offset of each lane's own dword, r6 small numbers, r10 zeros.
    head_ = kernels_.first_of(
        {"(W) mov (8|M0) r12.0<1>:uw 0x76543210:v\n(W) mov (8|M0) r2.0<1>:ud r12.0<8;8,1>:uw\n"
         "(W) shl (8|M0) r2.0<1>:ud r2.0<8;8,1>:ud 0x2:ud\n(W) shl (1|M0) r3.0<1>:ud r0.1<0;1,0>:ud 0x7:ud\n"
         "(W) add (8|M0) r2.0<1>:ud r2.0<8;8,1>:ud r3.0<0;1,0>:ud\n(W) mov (8|M0) r3.0<1>:ud r2.0<8;8,1>:ud\n"
         "(W) mov (8|M0) r6.0<1>:ud 0x8:ud\n(W) mov (8|M0) r7.0<1>:ud 0x1:ud\n(W) mov (8|M0) r10.0<1>:ud 0x0:ud\n"});
    end_ = kernels_.first_of(
        {"(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud\n(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT}\n",
         "(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud\n(W) send.ts (8|M0) null r127 0x0 0x02000010 {EOT}\n",
         "(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n(W) send.ts (8|M0) null m1 0x0 0x02000010 {EOT}\n",
         "(W) send.ts (8|M0) null:ud m1 r0.0<8;8,1>:ud 0x0 0x02000010 {EOT}\n"});
    barrier_ = kernels_.first_of(
        {"(W) mov (8|M0) r122.0<1>:ud r0.2<0;1,0>:ud\n(W) send.gtwy (8|M0) null r122 null 0x0 0x02000004\n"
         "(W) sync.bar (1|M0) null\n",
         "(W) mov (8|M0) r122.0<1>:ud r0.2<0;1,0>:ud\n(W) send.gtwy (8|M0) null r122 0x0 0x02000004\n"
         "(W) wait (1|M0) n0.0<0;1,0>:ud\n"});
  }

  bool build(std::span<const uint8_t> data) {
    if (commands_.empty() || settings_commands_.empty() || descriptor_ == nullptr) return false;
    start(data);
    std::copy(scene_.memory().begin(), scene_.memory().end(), memory_.bytes().begin());
    make_base();
    const auto changes = take<uint8_t>();
    const unsigned most = changes < 0xe0 ? changes % 8u : kOperations;
    for (unsigned more = most; more != 0 && !empty(); --more) operate();
    bound();
    start_memory_.assign(memory_.bytes().begin(), memory_.bytes().end());
    return true;
  }

  DispatchResult run(WorkerPool* pool, compute::Observer* observer = nullptr) {
    std::copy(start_memory_.begin(), start_memory_.end(), memory_.bytes().begin());
    memory_.space().invalidate();
    memory_.forget_faults();
    DispatchResult result;
    EventLog events;
    eu::KernelLibrary library(generation_.id());
    compute::Dispatcher dispatcher(library);
    dispatcher.set_events(&events, "gpu0.rcs0");
    dispatcher.set_pool(pool);
    dispatcher.set_observer(observer);
    result.job = make(result.walk.job);
    uint64_t missed = 0;
    uint64_t instructions = 0;
    for (unsigned part = 0; part < kParts && result.job.fault == compute::JobFault::none; ++part) {
      memory_.space().begin_work(missed);
      result.outcomes.push_back(dispatcher.run(generation_, settings_, result.walk, memory_.space(), part == 0));
      missed = memory_.space().end_work().skipped;
      instructions += result.outcomes.back().instructions;
      if (result.outcomes.back().stop != compute::Stop::unfinished || instructions > kInstructions) break;
    }
    result.faults = memory_.first_faults();
    for (const Event& event : events.events()) result.events.push_back(event.to_string());
    FidelityReport report;
    dispatcher.report(report);
    result.report = report.to_json("x");
    result.memory.assign(memory_.bytes().begin(), memory_.bytes().end());
    return result;
  }
  bool wrote_memory(const DispatchResult& result) const { return result.memory != start_memory_; }
  // Returns memory behind an address, for a debugger. False: a part is not mapped.
  bool read(uint64_t address, std::span<std::byte> into) {
    std::ranges::fill(into, std::byte{0});
    if (address > scene::kBytes || into.size() > scene::kBytes - address) return false;
    std::ranges::copy(memory_.bytes().subspan(address, into.size()), into.begin());
    return true;
  }

 private:
  static constexpr uint64_t kDescriptors = 0x3000;
  static constexpr uint64_t kFrontEnd = 0x3800;
  static constexpr uint64_t kCode = scene::kPixelKernel;
  static constexpr unsigned kOperations = 32;
  static constexpr unsigned kParts = 40;
  static constexpr uint64_t kInstructions = 200'000;

  // The dispatch that works: two rows of groups, four threads in a group.
  void make_base() {
    const auto options = take<uint8_t>();
    memory_.set_action((options & 1) != 0 ? memory::FaultAction::stop : memory::FaultAction::skip);
    command_ = commands_[(options >> 1 & 3) == 3 ? (options >> 3) % commands_.size() : 0];
    settings_ = {};
    settings_.max_threads = 63;
    settings_.scratch_base = scene::kScratch;
    settings_.scratch_code = 1;
    settings_.constants_offset = scene::kConstants;
    settings_.constants_B = 1024;
    settings_.descriptors_offset = compute::has_media_units(generation_.id()) ? kFrontEnd : kDescriptors;
    settings_.descriptors_B = 128;
    bases_ = {};
    words_ = scene_.maker().command(*command_);
    const std::vector<FieldValue> walk{
        {command_->name, "thread_width_counter_maximum", 3}, {command_->name, "thread_group_id_x_dimension", 6},
        {command_->name, "thread_group_id_y_dimension", 2},  {command_->name, "thread_group_id_z_dimension", 1},
        {command_->name, "right_execution_mask", 0xff},      {command_->name, "bottom_execution_mask", 0xffff'ffff},
        {command_->name, "global_resolution_x", 4},          {command_->name, "global_resolution_y", 4},
        {command_->name, "block_resolution_x", 4},           {command_->name, "block_resolution_y", 4},
        {command_->name, "local_loop_exec_count", 3},        {command_->name, "local_outer_loop_stride_y", 1},
        {command_->name, "local_inner_loop_unit_x", 1}};
    scene_.maker().set(*command_, words_, walk);
    descriptor_words_ = scene_.maker().structure(*descriptor_);
    const std::vector<FieldValue> values{{descriptor_->name, "kernel_start_pointer", kCode},
                                         {descriptor_->name, "sampler_state_pointer", scene::kSamplers},
                                         {descriptor_->name, "binding_table_pointer", scene::kTable},
                                         {descriptor_->name, "constant_urb_entry_read_length", 1},
                                         {descriptor_->name, "barrier_enable", 1},
                                         {descriptor_->name, "shared_local_memory_size", 1},
                                         {descriptor_->name, "number_of_threads_in_gpgpu_thread_group", 4}};
    scene_.maker().set(*descriptor_, descriptor_words_, values);
    if (front_end_ != nullptr && scene_.maker().has(*front_end_)) {
      std::vector<uint32_t> unit = scene_.maker().structure(*front_end_);
      const std::vector<FieldValue> own{{front_end_->name, "interface_descriptor_base_pointer", kDescriptors},
                                        {front_end_->name, "maximum_number_of_threads", 15}};
      scene_.maker().set(*front_end_, unit, own);
      std::memcpy(memory_.bytes().data() + kFrontEnd, unit.data(), unit.size() * 4);
    }
    place_descriptor();
    place_kernel({});
  }
  void place_descriptor() {
    for (uint64_t i = 0; i < 4; ++i) {
      std::memcpy(memory_.bytes().data() + kDescriptors + i * descriptor_words_.size() * 4, descriptor_words_.data(),
                  descriptor_words_.size() * 4);
    }
  }
  void place_kernel(const std::vector<std::byte>& body) {
    std::vector<std::byte> code = head_;
    KernelMaker::append(code, body);
    code.resize(std::min<size_t>(code.size(), 0x2f00));
    KernelMaker::append(code, end_);
    std::copy(code.begin(), code.end(), memory_.bytes().begin() + kCode);
  }

  void operate() {
    switch (take<uint8_t>() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {
        std::vector<std::byte> body = kernels_.body(*this, 10);
        if ((take<uint8_t>() & 1) != 0) {
          KernelMaker::append(body, barrier_);
          KernelMaker::append(body, kernels_.body(*this, 4));
        }
        return place_kernel(body);
      }
      case 5:
      case 6:
        return scene_.maker().change(*this, *command_, words_);
      case 7:
      case 8:
        scene_.maker().change(*this, *descriptor_, descriptor_words_);
        return place_descriptor();
      case 9:
      case 10:
      case 11: {
        const scene::Placed& placed = scene_.structures()[take<uint8_t>() % 12];
        std::vector<uint32_t> words = scene_.maker().structure(*placed.desc);
        std::memcpy(words.data(), memory_.bytes().data() + placed.at, words.size() * 4);
        scene_.maker().change(*this, *placed.desc, words);
        std::memcpy(memory_.bytes().data() + placed.at, words.data(), words.size() * 4);
        return;
      }
      case 12:
        memory_.at<uint32_t>(take<uint32_t>() % (scene::kBytes / 4) * 4) = take<uint32_t>();
        return;
      case 13: {
        const auto which = take<uint8_t>();
        const uint64_t base =
            (which & 0x80) != 0 ? take<uint64_t>() & 0xffff'ffff'f000 : uint64_t{take<uint8_t>()} << 12;
        if ((which & 1) != 0) bases_.general = base;
        if ((which & 2) != 0) bases_.surface = base;
        if ((which & 4) != 0) bases_.indirect_object = base;
        if ((which & 8) != 0) bases_.bindless_surface = base;
        return;
      }
      default: {  // commands that set the state of compute
        const spec::CommandDesc& desc = *settings_commands_[take<uint8_t>() % settings_commands_.size()];
        std::vector<uint32_t> words = scene_.maker().command(desc);
        scene_.maker().change(*this, desc, words);
        compute::change_settings(generation_.id(), desc.id, words, settings_);
        return;
      }
    }
  }
  // Keeps the number of groups small, mostly. The limits on instructions stop the others.
  void bound() {
    if (take<uint8_t>() == 0xff) return;
    const FieldList list(*command_, generation_.id(), words_.size());
    for (const FieldPlace& place : list.places()) {
      if (place.name.find("_dimension") == std::string::npos) continue;
      uint32_t& word = words_[place.first_bit / 32];
      if (word > 16) word %= 16;
    }
  }

  compute::JobStatus make(compute::Job& job) {
    if (command_->name == "GPGPU_WALKER") {
      return compute::make_job(generation_, settings_, bases_, words_, nullptr, memory_.space(), job);
    }
    return compute::make_media_job(generation_, settings_, bases_, command_->id, words_, memory_.space(), job);
  }

  Generation generation_;
  scene::Scene scene_;
  KernelMaker kernels_;
  test::MappedMemory memory_{scene::kBytes};
  std::vector<const spec::CommandDesc*> commands_;
  std::vector<const spec::CommandDesc*> settings_commands_;
  const spec::StructDesc* descriptor_ = nullptr;
  const spec::StructDesc* front_end_ = nullptr;
  std::vector<std::byte> head_, end_, barrier_;
  const spec::CommandDesc* command_ = nullptr;
  std::vector<uint32_t> words_;
  std::vector<uint32_t> descriptor_words_;
  compute::Settings settings_;
  message::StateBases bases_;
  std::vector<std::byte> start_memory_;
};

inline DispatchWorld& dispatch_world(size_t chip) {
  const auto models = spec::device_models();
  static std::vector<std::unique_ptr<DispatchWorld>> worlds(models.size());
  std::unique_ptr<DispatchWorld>& world = worlds[chip % models.size()];
  if (!world) world = std::make_unique<DispatchWorld>(models[chip % models.size()]);
  return *world;
}

inline void note_reach(const DispatchWorld& world, const DispatchResult& result) {
  static Reach reach{"threads", "wrote memory", "finished"};
  reach.input();
  reach.place(0, !result.outcomes.empty() && result.outcomes.front().threads != 0);
  reach.place(1, world.wrote_memory(result));
  reach.place(2, !result.outcomes.empty() && result.outcomes.back().stop == compute::Stop::finished);
}

inline void expect_same(const DispatchResult& one, const DispatchResult& other, const char* what) {
  const char* part = nullptr;
  if (one.job.fault != other.job.fault) part = "job";
  if (one.memory != other.memory) part = "memory";
  if (one.outcomes.size() != other.outcomes.size()) part = "number of parts";
  for (size_t i = 0; part == nullptr && i < one.outcomes.size(); ++i) {
    const compute::Outcome& a = one.outcomes[i];
    const compute::Outcome& b = other.outcomes[i];
    if (a.stop != b.stop || a.instructions != b.instructions || a.threads != b.threads || a.channels != b.channels ||
        a.ip != b.ip) {
      part = "outcomes";
    }
  }
  if (!(one.walk == other.walk)) part = "walk";
  if (one.faults != other.faults) part = "faults";
  if (one.events != other.events) part = "Events";
  if (one.report != other.report) part = "report";
  if (part == nullptr) return;
  std::fprintf(stderr, "%s: %s differ\n", what, part);
  std::abort();
}

// Input: number of host threads (0: one), chip, options and operations.
inline void dispatch(std::span<const uint8_t> data) {
  static std::array<WorkerPool, 3> pools{WorkerPool(2), WorkerPool(3), WorkerPool(4)};
  if (data.size() < 2) return;
  DispatchWorld& world = dispatch_world(data[1]);
  if (!world.build(data.subspan(2))) return;
  const DispatchResult one = world.run(nullptr);
  note_reach(world, one);
  if (data[0] % 4 != 0) expect_same(one, world.run(&pools[data[0] % 4 - 1u]), "host threads");
}

}  // namespace halogen::fuzz
