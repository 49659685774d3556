// Runs EU threads. A Kernel is a program decoded and prepared once; KernelLibrary keeps kernels for all units of a
// device. An Executor runs a thread on one for a number of instructions. The Interpreter is the first executor; a
// faster one must leave the same bits.
//
//   const auto executor = make_interpreter(gen);
//   const auto kernel = executor->prepare(code, start_ip);   // code: gives the instruction at a byte offset
//   thread.start(start_ip, mask);
//   while (executor->run(thread, *kernel, 10000, target) == ThreadStatus::running) {}
//
// `blocked` and `faulted` are left by calling run again: the same instruction is tried again.
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
#include "eu/exec/thread.h"
#include "eu/isa/instruction.h"
#include "spec/descriptors.h"

namespace halogen::eu {

// Where instructions come from: memory and a decoder, or a vector in a test. Offsets count from the instruction base.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  // An instruction of op `illegal` where bits mean nothing; nothing where memory cannot be read.
  virtual std::optional<Instruction> at(uint32_t offset) const = 0;
};

// Prepared code that can be reached from its entry. Constant once made: threads on several host threads share it.
class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual uint32_t entry() const = 0;
  [[nodiscard]] virtual size_t instruction_count() const = 0;
  // No other kernel has had it.
  [[nodiscard]] virtual uint64_t number() const = 0;
  // What its threads can have written, unless they stray.
  [[nodiscard]] virtual RegisterUse writes() const = 0;
  [[nodiscard]] virtual const Instruction* find(uint32_t offset) const = 0;
  // Every instruction that can be reached without a register, by offset.
  virtual void visit(const std::function<void(uint32_t, const Instruction&)>& each) const = 0;
};

// How often which instruction ran, by operation and types. One for each host thread; merged by the caller.
class ExecutionCounts {
 public:
  virtual ~ExecutionCounts() = default;
  virtual void report(FidelityReport& report) const = 0;
  // Adds those of another one of the same kernel, and begins again there; or only begins again.
  virtual void take(ExecutionCounts& other) = 0;
  virtual void clear() = 0;
  // As if the first instructions of the kernel, in the order of their offsets, had run so often.
  virtual void add_first(size_t instructions, uint64_t times) = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Names the executor and everything beside code that its kernels depend on: generation, options, a JIT's host.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual spec::GenId gen() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Kernel> prepare(std::shared_ptr<const CodeSource> code,
                                                        uint32_t entry) const = 0;
  // At most `budget` instructions. The thread's status is the answer; `running` means that the budget is used up.
  virtual ThreadStatus run(Thread& thread, const Kernel& kernel, uint64_t budget, MessageTarget& target,
                           ExecutionCounts* counts = nullptr) const = 0;
  [[nodiscard]] virtual std::unique_ptr<ExecutionCounts> make_counts(const Kernel& kernel) const = 0;
  // One line about how the instruction at an offset is run, for people.
  [[nodiscard]] virtual std::string describe(const Kernel& kernel, uint32_t offset) const = 0;
};

struct InterpreterOptions {
  bool only_generic = false;  // never a specialised routine: the judge of those
};
std::unique_ptr<Executor> make_interpreter(spec::GenId gen, InterpreterOptions options = {});

// Instructions in a row at offset 0, 16 bytes each unless they say 8.
std::shared_ptr<const CodeSource> make_code(std::span<const Instruction> instructions);

}  // namespace halogen::eu
