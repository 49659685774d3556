#include "message/kernel_table.h"

#include "message/environment.h"

namespace halogen::message {
namespace {

class MemoryCode final : public eu::CodeMemory {
 public:
  MemoryCode(memory::AddressSpace& space, uint64_t base) : space_(space), base_(base) {}
  bool read(uint64_t page, eu::CodePage& into) override {
    return ok(space_.read(wrapped_address(base_ + page * eu::kCodePage_B), into, true));
  }

 private:
  memory::AddressSpace& space_;
  uint64_t base_;
};

}  // namespace

void KernelTable::set_program(DispatchedKernel& kernel, std::shared_ptr<const eu::Program> program) {
  const bool watched = is_watched(kernel);
  if (watched) {
    add_activity_of(kernel);
  }
  kernel.costs.clear();
  if (kernel.program != nullptr) {
    kernel.counts->report(gone_);
    instructions_ -= kernel.program->kernel().instruction_count();
  }
  instructions_ += program->kernel().instruction_count();
  kernel.counts = library_.executor().make_counts(program->kernel());  // before the old kernel may be destroyed
  kernel.program = std::move(program);
  if (watched) {
    begin_watch(kernel);
  }
}

void KernelTable::watch(bool on) {
  watching_ = on;
  if (on) {
    ++watch_;
    activity_ = {};
  }
}

void KernelTable::begin_watch(DispatchedKernel& kernel) const {
  kernel.watch = watch_;
  const std::span<const uint64_t> executed = kernel.counts->executed();
  kernel.before.assign(executed.begin(), executed.end());
  if (kernel.costs.empty()) {
    kernel.costs = issue_costs(kernel.program->kernel());
  }
}

void KernelTable::add_activity_of(const DispatchedKernel& kernel) {
  add_activity(kernel.costs, kernel.counts->executed(), kernel.before, activity_);
}

oa::StageActivity KernelTable::end_watch() {
  if (watching_) {
    for (const auto& [key, item] : kernels_) {
      if (is_watched(item.kernel)) {
        add_activity_of(item.kernel);
      }
    }
  }
  watching_ = false;
  return std::exchange(activity_, {});
}

void KernelTable::trim() {
  while (kernels_.size() > kMaxKernels || instructions_ > kMaxInstructions) {
    const auto oldest = kernels_.find(uses_.back());
    const DispatchedKernel& kernel = oldest->second.kernel;
    kernel.counts->report(gone_);
    instructions_ -= kernel.program->kernel().instruction_count();
    kernels_.erase(oldest);
    uses_.pop_back();
  }
}

DispatchedKernel& KernelTable::find(memory::AddressSpace& space, uint64_t base, uint32_t entry, bool fresh) {
  DispatchedKernel& kernel = look_up(space, base, entry, fresh);
  if (watching_ && kernel.watch != watch_) {
    begin_watch(kernel);
  }
  return kernel;
}

DispatchedKernel& KernelTable::look_up(memory::AddressSpace& space, uint64_t base, uint32_t entry, bool fresh) {
  const Key key{base, entry};
  MemoryCode memory(space, base);
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) {
    uses_.splice(uses_.begin(), uses_, known->second.use);
    DispatchedKernel& kernel = known->second.kernel;
    if (fresh && !kernel.program->matches(memory)) {
      set_program(kernel, library_.find(memory, entry));
      kernel.judged = false;
    }
    return kernel;
  }
  uses_.push_front(key);
  Item& item = kernels_.emplace(key, Item{{}, uses_.begin()}).first->second;
  set_program(item.kernel, library_.find(memory, entry));
  return item.kernel;
}

eu::ThreadStatus KernelTable::run(DispatchedKernel& kernel, memory::AddressSpace& space, uint64_t base,
                                  eu::Thread& thread, uint64_t budget, eu::MessageTarget& target) {
  const uint64_t end = thread.instructions + budget;
  while (true) {
    const eu::ThreadStatus status =
        executor().run(thread, kernel.program->kernel(), end - thread.instructions, target, kernel.counts.get());
    if (status != eu::ThreadStatus::faulted || !extend(kernel, space, base, thread.ip)) [[likely]] {
      return status;
    }
  }
}

// Reads code that the program lacks. False: the thread stopped for another reason, or the code could not be read.
bool KernelTable::extend(DispatchedKernel& kernel, memory::AddressSpace& space, uint64_t base, uint32_t offset) {
  if (!kernel.program->lacks(offset)) {
    return false;
  }
  MemoryCode memory(space, base);
  std::shared_ptr<const eu::Program> extended = library_.extend(*kernel.program, memory, offset);
  if (extended == nullptr) {
    return false;
  }
  set_program(kernel, std::move(extended));
  return true;
}

void KernelTable::merge(DispatchedKernel& kernel, const eu::Program& program, eu::ExecutionCounts& counts) {
  if (kernel.program.get() == &program) {
    kernel.counts->take(counts);
  } else {
    if (watching_) {
      add_activity(issue_costs(program.kernel()), counts.executed(), {}, activity_);
    }
    counts.report(gone_);
    counts.clear();
  }
}

void KernelTable::report(FidelityReport& report) const {
  report.merge(gone_);
  for (const auto& [key, item] : kernels_) {
    item.kernel.counts->report(report);
  }
}

}  // namespace halogen::message
