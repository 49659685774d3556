#include "pipe3d/shader_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halogen::pipe3d {
namespace {

constexpr uint64_t kTurn = 1 << 16;
constexpr uint64_t kMostInstructions = 1 << 24;  // of one thread

}  // namespace

ShaderUnit::ShaderUnit() = default;
ShaderUnit::~ShaderUnit() = default;

void ShaderUnit::begin(const Generation& generation, const PipelineState& state, const Shader& shader,
                       memory::AddressSpace& space) {
  if (executor_ == nullptr) {
    executor_ = eu::make_interpreter(generation.id());
  }
  generation_ = &generation;
  space_ = &space;
  instruction_base_ = state.bases.instruction;
  surface_base_ = state.bases.surface;
  compared_.clear();
  functions_.begin(generation, {.space = &space,
                                .groups = groups_,
                                .urb = this,
                                .pixels = pixels_,
                                .bases = state.bases,
                                .binding_table = shader.binding_table,
                                .sampler_table = shader.sampler_table});
}

void ShaderUnit::use_kernel(uint64_t kernel) {
  if (main_ != nullptr) {
    return use_lent(kernel);
  }
  const bool fresh = std::ranges::find(compared_, kernel) == compared_.end();
  if (fresh) {
    compared_.push_back(kernel);
  }
  const message::CachedKernel& found =
      kernels_.find(*executor_, generation_->id(), *space_, instruction_base_, static_cast<uint32_t>(kernel), fresh);
  kernel_ = found.kernel.get();
  counts_ = found.counts.get();
}

// Kernels that were compared with memory in this draw are not compared again.
bool ShaderUnit::lend(std::span<const uint64_t> kernels, memory::AddressSpace& quiet) {
  for (const uint64_t kernel : kernels) {
    const bool fresh = std::ranges::find(compared_, kernel) == compared_.end();
    kernels_.find(*executor_, generation_->id(), quiet, instruction_base_, static_cast<uint32_t>(kernel), fresh);
  }
  lent_.clear();
  for (const uint64_t kernel : kernels) {
    message::CachedKernel* const known = kernels_.known(instruction_base_, static_cast<uint32_t>(kernel));
    if (known == nullptr) {  // the cache is too small for all of them
      take_back();
      return false;
    }
    known->freeze(true);
    lent_.push_back({kernel, known});
  }
  return true;
}

void ShaderUnit::take_back() {
  for (const Lent& each : lent_) {
    each.kernel->freeze(false);
  }
  lent_.clear();
}

void ShaderUnit::follow(ShaderUnit& main) {
  main_ = &main;
  functions_.follow(main.functions_);
}

void ShaderUnit::use_lent(uint64_t kernel) {
  kernel_ = nullptr;
  const auto lent = std::ranges::find(main_->lent_, kernel, &Lent::place);
  if (lent == main_->lent_.end()) {
    return;
  }
  auto mine = std::ranges::find(lent_counts_, lent->kernel, &LentCounts::kernel);
  if (mine == lent_counts_.end()) {
    lent_counts_.push_back({lent->kernel, executor_->make_counts(*lent->kernel->kernel)});
    mine = lent_counts_.end() - 1;
  }
  kernel_ = lent->kernel->kernel.get();
  counts_ = mine->counts.get();
}

void ShaderUnit::hand_over() {
  functions_.hand_over(main_->functions_);
  for (const LentCounts& each : lent_counts_) {
    each.kernel->counts->take(*each.counts);
  }
  main_->instructions_ += instructions_;
  drop_counts();
}

void ShaderUnit::drop_counts() {
  functions_.drop_counts();
  lent_counts_.clear();
  instructions_ = 0;
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
  put_dword(thread, 0, 3, shader.sampler_table | shader.scratch_code);
  put_dword(thread, 0, 4, static_cast<uint32_t>(shader.binding_table - surface_base_));
  put_dword(thread, 0, 5, static_cast<uint32_t>(shader.scratch_base));
  const size_t at = first_grf * eu::kGrfBytes;
  const size_t bytes = at < thread.grf.size() ? std::min(shader.constants.size(), thread.grf.size() - at) : 0;
  if (bytes != 0) {
    std::memcpy(thread.grf.data() + at, shader.constants.data(), bytes);
  }
  return first_grf + shader.constants.size() / eu::kGrfBytes;
}

namespace {

// Turns until the thread is done or stops.
template <class Turn>
ThreadEnd run_turns(const eu::Thread& thread, Turn&& turn) {
  while (true) {
    switch (turn()) {
      case eu::ThreadStatus::running:
        if (thread.instructions > kMostInstructions) {
          return ThreadEnd::endless;
        }
        break;
      case eu::ThreadStatus::blocked:
        return ThreadEnd::waiting;
      case eu::ThreadStatus::ended:
        return ThreadEnd::done;
      case eu::ThreadStatus::faulted:
        return ThreadEnd::fault;
      case eu::ThreadStatus::illegal:
        return ThreadEnd::illegal;
    }
  }
}

}  // namespace

ThreadEnd ShaderUnit::run(eu::Thread& thread) {
  if (kernel_ == nullptr) {  // one that was not lent
    return ThreadEnd::fault;
  }
  return run_turns(thread, [&] {
    const uint64_t before = thread.instructions;
    const eu::ThreadStatus status = executor_->run(thread, *kernel_, kTurn, functions_, counts_);
    instructions_ += thread.instructions - before;
    return status;
  });
}

ThreadEnd ShaderUnit::rehearse(eu::Thread& thread, eu::MessageTarget& target) {
  return run_turns(thread, [&] { return executor_->run(thread, *kernel_, kTurn, target); });
}

void ShaderUnit::count(uint64_t threads, size_t instructions) {
  instructions_ += threads * instructions;
  counts_->add_first(instructions, threads);
}

std::span<uint32_t> ShaderUnit::entry(eu::Thread& /*thread*/, uint32_t handle) {
  constexpr uint32_t kNumber = kInputHandles - 1;
  EntryStore* const store = (handle & kInputHandles) != 0 ? input_ : output_;
  const std::span<Slot> slots = store != nullptr ? store->entry(handle & kNumber) : std::span<Slot>();
  return slots.empty() ? std::span<uint32_t>() : std::span(slots.front().data(), slots.size() * 4);
}

void ShaderUnit::report(FidelityReport& report) const {
  functions_.report(report);
  kernels_.report(report);
}

}  // namespace halogen::pipe3d
