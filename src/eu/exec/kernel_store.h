// Prepared kernels by content: the same code is prepared once, wherever it lies and whoever dispatches it. For
// executors whose preparation costs more than a look at the code; the interpreter is kept by address (src/message).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>

#include "eu/exec/executor.h"

namespace halogen::eu {

class KernelStore {
 public:
  explicit KernelStore(size_t most_kernels = 256) : most_(most_kernels == 0 ? 1 : most_kernels) {}

  // The kernel that starts at `entry`, prepared now or before. It lives as long as somebody holds it.
  std::shared_ptr<const Kernel> find(const Executor& executor, const std::shared_ptr<const CodeSource>& code,
                                     uint32_t entry);
  [[nodiscard]] size_t size() const { return kernels_.size(); }

 private:
  struct Item {
    std::shared_ptr<const Kernel> kernel;
    std::list<KernelKey>::iterator use;
  };
  size_t most_;
  std::map<KernelKey, Item> kernels_;
  std::list<KernelKey> uses_;  // the one that was asked for last stands first
};

}  // namespace halogen::eu
