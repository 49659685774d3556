#include "eu/library/kernel_library.h"

#include "base/check.h"

namespace halogen::eu {
namespace {

std::unique_ptr<const Executor> make_executor(spec::GenId gen, ExecutorKind kind) {
  check(is_available(kind), "the executor is not available");
  return make_interpreter(gen);
}

}  // namespace

KernelLibrary::KernelLibrary(spec::GenId gen, ExecutorKind kind, Limits limits)
    : limits_(limits), executor_(make_executor(gen, kind)) {}

void KernelLibrary::forget(const Key& key) {
  const auto found = programs_.find(key);
  if (found != programs_.end()) {
    instructions_ -= found->second.program->kernel().instruction_count();
    uses_.erase(found->second.use);
    programs_.erase(found);
  }
}

std::shared_ptr<const Program> KernelLibrary::prepare(std::shared_ptr<CodeImage> code, const CodePages& pages,
                                                      uint32_t entry) {
  std::unique_ptr<const Kernel> kernel = executor_->prepare(code, entry);
  code->seal();
  ++prepared_;
  return std::make_shared<const Program>(std::move(code), std::move(kernel), !pages.refused());
}

void KernelLibrary::keep(const std::shared_ptr<const Program>& program) {
  const Key key{program->kernel().entry(), program->digest()};
  const size_t count = program->kernel().instruction_count();
  forget(key);  // another program with the same digest
  while (!uses_.empty() && (programs_.size() >= limits_.programs || instructions_ + count > limits_.instructions)) {
    forget(Key{uses_.back()});
  }
  uses_.push_front(key);
  programs_.emplace(key, Item{program, uses_.begin()});
  instructions_ += count;
}

std::shared_ptr<const Program> KernelLibrary::find(CodeMemory& memory, uint32_t entry) {
  const std::lock_guard lock(mutex_);
  CodePages pages(memory);
  for (auto each = programs_.lower_bound({entry, 0}); each != programs_.end() && each->first.entry == entry; ++each) {
    if (each->second.program->code_->matches(pages)) {
      uses_.splice(uses_.begin(), uses_, each->second.use);
      return each->second.program;
    }
  }
  std::shared_ptr<const Program> made = prepare(std::make_shared<CodeImage>(executor_->gen(), pages), pages, entry);
  if (made->complete()) {
    keep(made);
  }
  return made;
}

// The result is not kept: comparing it with memory would read a page that decoding would not read.
std::shared_ptr<const Program> KernelLibrary::extend(const Program& program, CodeMemory& memory, uint32_t offset) {
  const std::lock_guard lock(mutex_);
  CodePages pages(memory);
  auto code = std::make_shared<CodeImage>(*program.code_, pages);
  return code->add_page_of(offset) ? prepare(std::move(code), pages, program.kernel().entry()) : nullptr;
}

KernelLibrary::Statistics KernelLibrary::statistics() const {
  const std::lock_guard lock(mutex_);
  return {programs_.size(), instructions_, prepared_};
}

}  // namespace halogen::eu
