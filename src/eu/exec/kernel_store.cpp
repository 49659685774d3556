#include "eu/exec/kernel_store.h"

#include <utility>

namespace halogen::eu {

std::shared_ptr<const Kernel> KernelStore::find(const Executor& executor, const std::shared_ptr<const CodeSource>& code,
                                                uint32_t entry) {
  const KernelKey key = executor.key(*code, entry);
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) {
    uses_.splice(uses_.begin(), uses_, known->second.use);
    return known->second.kernel;
  }
  while (kernels_.size() >= most_) {
    kernels_.erase(uses_.back());
    uses_.pop_back();
  }
  std::shared_ptr<const Kernel> made = executor.prepare(code, entry);
  uses_.push_front(key);
  kernels_.emplace(key, Item{made, uses_.begin()});
  return made;
}

}  // namespace halogen::eu
