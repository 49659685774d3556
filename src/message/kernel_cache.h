// Kernels decoded and prepared once. A kernel is known by where it starts; before each dispatch the bytes that it was
// made of are compared with memory, so that code which was written since is never run from the cache.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/fidelity.h"
#include "eu/exec/executor.h"
#include "memory/address_space.h"
#include "spec/descriptors.h"

namespace halogen::message {

class CodePages;

struct CachedKernel {
  std::shared_ptr<CodePages> code;
  std::unique_ptr<eu::Kernel> kernel;
  std::unique_ptr<eu::ExecutionCounts> counts;
  bool judged = false;  // whoever dispatches it has looked for rules that it breaks

  // Frozen: no code is read that is not here already, so that several threads of the host may run it.
  void freeze(bool frozen);
};

class KernelCache {
 public:
  KernelCache();
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  // The kernel that starts at `entry` from the instruction base. `fresh`: its bytes are compared with memory first.
  CachedKernel& find(const eu::Executor& executor, spec::GenId gen, memory::AddressSpace& space, uint64_t base,
                     uint32_t entry, bool fresh);
  // Null: it is not kept.
  CachedKernel* known(uint64_t base, uint32_t entry);
  void report(FidelityReport& report) const;

 private:
  void forget(const std::pair<uint64_t, uint32_t>& key);

  static constexpr size_t kMostKernels = 256;
  static constexpr size_t kMostInstructions = 1 << 18;  // of all kernels

  std::map<std::pair<uint64_t, uint32_t>, CachedKernel> kernels_;
  size_t instructions_ = 0;
  FidelityReport gone_;  // what kernels ran that are no longer kept
};

}  // namespace halogen::message
