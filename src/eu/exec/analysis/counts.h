// Counts executed instructions for the fidelity report: one counter per instruction of a kernel, named by operation and
// types.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "eu/exec/kernel.h"

namespace halogen::eu {

// Returns the name of an instruction in the fidelity report: "add f,f->f", "math.inv f->f", "send 10".
std::string instruction_name(const Prepared& prepared);

class KernelCounts final : public ExecutionCounts {
 public:
  explicit KernelCounts(const PreparedKernel& kernel) : kernel_(kernel), counters_(kernel.list().size()) {}
  uint64_t* counters() { return counters_.data(); }
  void report(FidelityReport& report) const override;
  void take(ExecutionCounts& other) override;
  void add_first(size_t instructions, uint64_t times) override;
  [[nodiscard]] std::span<const uint64_t> executed() const override { return counters_; }
  void clear() override { std::fill(counters_.begin(), counters_.end(), 0); }

 private:
  const PreparedKernel& kernel_;
  std::vector<uint64_t> counters_;
};

}  // namespace halogen::eu
