// Runs EU threads. A Kernel is a program decoded and prepared once; KernelLibrary keeps the kernels of all units of a
// device. An Executor runs a thread with a kernel for a number of instructions. The interpreter is the reference: every
// other executor must leave the same bits.
//
//   const auto executor = make_interpreter(gen);
//   const auto kernel = executor->prepare(code, start_ip);   // code: a CodeSource
//   thread.start(start_ip, mask);
//   while (executor->run(thread, *kernel, 10000, target) == ThreadStatus::running) {}
//
// After `blocked` or `faulted`, call run() again to retry the same instruction.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/fidelity.h"
#include "eu/exec/analysis/register_use.h"
#include "eu/exec/message.h"
#include "eu/isa/instruction.h"
#include "eu/thread.h"
#include "spec/descriptors.h"

namespace halogen::eu {

// A source of instructions: memory and a decoder, or a vector in a test. Offsets are relative to the instruction base.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  // Returns the instruction at an offset: Op::illegal if the bits do not decode. No value: memory cannot be read.
  virtual std::optional<Instruction> at(uint32_t offset) const = 0;
};

// Prepared code that is reachable from its entry. It never changes, so several host threads may share it.
class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual uint32_t entry() const = 0;
  [[nodiscard]] virtual size_t instruction_count() const = 0;
  // Returns a number that no other kernel of the process has or had.
  [[nodiscard]] virtual uint64_t number() const = 0;
  // Returns the registers that its threads may write, except threads with Thread::ran_unprepared.
  [[nodiscard]] virtual RegisterUse writes() const = 0;
  [[nodiscard]] virtual const Instruction* find(uint32_t offset) const = 0;
  // Calls `each` for every instruction of the kernel, in the order of offsets.
  virtual void visit(const std::function<void(uint32_t, const Instruction&)>& each) const = 0;
};

// Counts how often each instruction of a kernel ran. Each host thread has its own; the caller merges them.
class ExecutionCounts {
 public:
  virtual ~ExecutionCounts() = default;
  virtual void report(FidelityReport& report) const = 0;
  // Adds the counts of `other`, which must be of the same kernel, and clears `other`.
  virtual void take(ExecutionCounts& other) = 0;
  virtual void clear() = 0;
  // Adds `times` to the first instructions of the kernel, in the order of their offsets.
  virtual void add_first(size_t instructions, uint64_t times) = 0;
  // Returns how often each instruction of the kernel ran, in the order of their offsets.
  [[nodiscard]] virtual std::span<const uint64_t> executed() const = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Names the executor and everything besides code that its kernels depend on: generation, options, host of a JIT.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual spec::GenId gen() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Kernel> prepare(std::shared_ptr<const CodeSource> code,
                                                        uint32_t entry) const = 0;
  // Runs at most `budget` instructions and returns the thread's status. `running`: the budget is used up.
  virtual ThreadStatus run(Thread& thread, const Kernel& kernel, uint64_t budget, MessageTarget& target,
                           ExecutionCounts* counts = nullptr) const = 0;
  [[nodiscard]] virtual std::unique_ptr<ExecutionCounts> make_counts(const Kernel& kernel) const = 0;
  // Describes in one line how the instruction at an offset is executed, for debugging.
  [[nodiscard]] virtual std::string describe(const Kernel& kernel, uint32_t offset) const = 0;
};

struct InterpreterOptions {
  bool only_generic = false;  // use the general path only, the reference of the specialised routines
};
std::unique_ptr<Executor> make_interpreter(spec::GenId gen, InterpreterOptions options = {});

// Returns a source of consecutive instructions from offset 0 on. An instruction takes 16 bytes unless its size is 8.
std::shared_ptr<const CodeSource> make_code(std::span<const Instruction> instructions);

}  // namespace halogen::eu
