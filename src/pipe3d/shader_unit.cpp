#include "pipe3d/shader_unit.h"

#include <algorithm>
#include <cstring>

#include "hw/thread_payloads.h"

namespace halogen::pipe3d {
namespace {

constexpr uint64_t kTurn = 1 << 10;             // between two looks at the stop flag
constexpr uint64_t kMaxInstructions = 1 << 24;  // limit for one thread

}  // namespace

ShaderUnit::ShaderUnit(eu::KernelLibrary& library) : kernels_(library) {}
ShaderUnit::~ShaderUnit() = default;

void ShaderUnit::begin(const Generation& generation, const PipelineState& state, const Shader& shader,
                       memory::AddressSpace& space) {
  gen_ = generation.id();
  space_ = &space;
  stop_ = state.stop;
  instruction_base_ = state.bases.instruction;
  surface_base_ = state.bases.surface;
  compared_.clear();
  kernels_.trim();
  kernels_.watch(state.wanted.activity);
  functions_.take_work();
  own_ = nullptr;
  kernel_ = nullptr;
  counts_ = nullptr;
  functions_.begin(generation, {.space = &space,
                                .groups = groups_,
                                .urb = this,
                                .pixels = pixels_,
                                .bases = state.bases,
                                .binding_table = shader.binding_table,
                                .sampler_table = shader.sampler_table,
                                .counts_work = state.wanted.work});
}

void ShaderUnit::use(message::DispatchedKernel& kernel) {
  own_ = &kernel;
  kernel_ = &kernel.program->kernel();
  counts_ = kernel.counts.get();
}

// Returns whether the kernel has not been compared in this draw, and marks it as compared.
bool ShaderUnit::compare_now(uint64_t kernel) {
  if (std::ranges::find(compared_, kernel) != compared_.end()) {
    return false;
  }
  compared_.push_back(kernel);
  return true;
}

void ShaderUnit::use_kernel(uint64_t kernel) {
  if (kernel_ != nullptr && offset_ == kernel) {
    return;
  }
  offset_ = kernel;
  if (main_ != nullptr) {
    return use_shared(kernel);
  }
  const bool fresh = compare_now(kernel);
  use(kernels_.find(*space_, instruction_base_, static_cast<uint32_t>(kernel), fresh));
}

void ShaderUnit::share_kernels(std::span<const uint64_t> kernels, memory::AddressSpace& quiet) {
  shared_.clear();
  for (const uint64_t kernel : kernels) {
    const bool fresh = std::ranges::find(compared_, kernel) == compared_.end();
    shared_.push_back({kernel, &kernels_.find(quiet, instruction_base_, static_cast<uint32_t>(kernel), fresh)});
  }
}

void ShaderUnit::use_kernels_of(ShaderUnit& main) {
  main_ = &main;
  functions_.use_fidelity_of(main.functions_);
}

void ShaderUnit::use_shared(uint64_t kernel) {
  kernel_ = nullptr;
  const auto shared = std::ranges::find(main_->shared_, kernel, &Shared::offset);
  if (shared == main_->shared_.end()) {
    return;
  }
  auto mine = std::ranges::find(shared_counts_, shared->kernel->program, &SharedCounts::program);
  if (mine == shared_counts_.end()) {
    const std::shared_ptr<const eu::Program>& program = shared->kernel->program;
    shared_counts_.push_back({shared->kernel, program, kernels_.executor().make_counts(program->kernel())});
    mine = shared_counts_.end() - 1;
  }
  kernel_ = &mine->program->kernel();
  counts_ = mine->counts.get();
}

void ShaderUnit::merge_counts() {
  functions_.merge_counts(main_->functions_);
  for (const SharedCounts& each : shared_counts_) {
    main_->kernels_.merge(*each.kernel, *each.program, *each.counts);
  }
  main_->instructions_ += instructions_;
  main_->threads_ += threads_;
  drop_counts();
}

void ShaderUnit::drop_counts() {
  functions_.drop_counts();
  shared_counts_.clear();
  kernel_ = nullptr;
  counts_ = nullptr;
  instructions_ = 0;
  threads_ = 0;
}

size_t ShaderUnit::prepare(eu::Thread& thread, eu::RegisterUse& used, const Shader& shader, size_t first_grf) const {
  eu::reset(thread, used);
  used = kernel_->writes();
  const size_t data = load(thread, shader, first_grf);
  used.cover_grfs(0, data + 1);
  return data;
}

size_t ShaderUnit::prepare(eu::Thread& thread, const Shader& shader, size_t first_grf) const {
  eu::reset(thread, eu::RegisterUse::all());
  return load(thread, shader, first_grf);
}

size_t ShaderUnit::load(eu::Thread& thread, const Shader& shader, size_t first_grf) const {
  thread.control[0] = shader.control;
  put(thread, hw::THREAD_STATE{.scratch_size = shader.scratch_code,
                               .sampler_table = shader.sampler_table,
                               .binding_table = shader.binding_table - surface_base_,
                               .scratch = shader.scratch_base});
  const size_t at = first_grf * eu::kGrfBytes;
  const size_t bytes = at < thread.grf.size() ? std::min(shader.constants.size(), thread.grf.size() - at) : 0;
  if (bytes != 0) {
    std::memcpy(thread.grf.data() + at, shader.constants.data(), bytes);
  }
  return first_grf + shader.constants.size() / eu::kGrfBytes;
}

// Runs turns until the thread is done or stops. The instruction limit also ends a thread that waits again and again.
template <class Turn>
ThreadEnd ShaderUnit::run_turns(const eu::Thread& thread, Turn&& turn) const {
  while (true) {
    const eu::ThreadStatus status = turn();
    switch (status) {
      case eu::ThreadStatus::running:
      case eu::ThreadStatus::blocked:
        if (thread.instructions > kMaxInstructions) {
          return ThreadEnd::endless;
        }
        if (stopping()) {
          return ThreadEnd::stopped;
        }
        if (status == eu::ThreadStatus::blocked) {
          return ThreadEnd::waiting;
        }
        break;
      case eu::ThreadStatus::ended:
        return ThreadEnd::done;
      case eu::ThreadStatus::faulted:
        return ThreadEnd::fault;
      case eu::ThreadStatus::illegal:
        return ThreadEnd::illegal;
    }
  }
}

ThreadEnd ShaderUnit::run(eu::Thread& thread) {
  if (kernel_ == nullptr) {  // the main unit does not share the kernel
    return ThreadEnd::fault;
  }
  threads_ += thread.instructions == 0 ? 1u : 0u;
  return run_turns(thread, [&] {
    const uint64_t before = thread.instructions;
    eu::ThreadStatus status;
    if (own_ != nullptr) {
      status = kernels_.run(*own_, *space_, instruction_base_, thread, kTurn, functions_);
      use(*own_);
    } else {
      status = kernels_.executor().run(thread, *kernel_, kTurn, functions_, counts_);
    }
    instructions_ += thread.instructions - before;
    return status;
  });
}

ThreadEnd ShaderUnit::rehearse(eu::Thread& thread, eu::MessageTarget& target) {
  return run_turns(thread, [&] { return kernels_.executor().run(thread, *kernel_, kTurn, target); });
}

void ShaderUnit::count(uint64_t threads, size_t instructions) {
  instructions_ += threads * instructions;
  counts_->add_first(instructions, threads);
}

std::span<uint32_t> ShaderUnit::entry(eu::Thread& /*thread*/, uint32_t handle) {
  EntryStore* const store = (handle & kInputHandles) != 0 ? input_ : output_;
  const std::span<Slot> slots = store != nullptr ? store->entry(handle & kHandleNumber) : std::span<Slot>();
  return slots.empty() ? std::span<uint32_t>() : std::span(slots.front().data(), slots.size() * 4);
}

size_t put_entry_rows(eu::Thread& thread, size_t grf, const Shader& shader, std::span<const Slot> entry) {
  for (size_t row = 0; row < shader.read_length; ++row, ++grf) {
    for (size_t half = 0; half < 2; ++half) {
      const size_t slot = (shader.read_offset + row) * 2 + half;
      for (size_t c = 0; slot < entry.size() && c < 4; ++c) {
        put_dword(thread, grf, half * 4 + c, entry[slot][c]);
      }
    }
  }
  return grf;
}

void ShaderUnit::take_work(oa::Stage stage, oa::WorkCounts& into) {
  functions_.take_work().add_to(into);
  into.activity[static_cast<size_t>(stage)].add(kernels_.end_watch());
}

void ShaderUnit::report(FidelityReport& report) const {
  functions_.report(report);
  kernels_.report(report);
}

}  // namespace halogen::pipe3d
