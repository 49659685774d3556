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
                       AddressSpace& space) {
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
  const bool fresh = std::ranges::find(compared_, kernel) == compared_.end();
  if (fresh) {
    compared_.push_back(kernel);
  }
  kernel_ =
      &kernels_.find(*executor_, generation_->id(), *space_, instruction_base_, static_cast<uint32_t>(kernel), fresh);
}

size_t ShaderUnit::prepare(eu::Thread& thread, const Shader& shader, size_t first_grf) const {
  thread = {};
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

ThreadEnd ShaderUnit::run(eu::Thread& thread) {
  while (true) {
    const uint64_t before = thread.instructions;
    const eu::ThreadStatus status = executor_->run(thread, *kernel_->kernel, kTurn, functions_, kernel_->counts.get());
    instructions_ += thread.instructions - before;
    switch (status) {
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
