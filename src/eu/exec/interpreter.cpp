#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "eu/exec/analysis/counts.h"
#include "eu/exec/control/flow.h"
#include "eu/exec/executor.h"
#include "eu/exec/kernel.h"
#include "spec/device_model.h"

namespace halogen::eu {

FloatMode float_mode(const Thread& thread, const EuRules& rules) {
  const uint32_t control = thread.control[0];
  FloatMode mode;
  mode.rounding = static_cast<Rounding>(ControlBits::kRounding.of(control));
  mode.flush_single = !rules.float_denormals || (control & ControlBits::kFloatDenormals) == 0;
  mode.flush_double = !rules.float_denormals || (control & ControlBits::kDoubleDenormals) == 0;
  mode.flush_half = !rules.half_denormals || (control & ControlBits::kHalfDenormals) == 0;
  mode.alternate = (control & ControlBits::kAlternateFloat) != 0;
  return mode;
}

namespace {

class Interpreter final : public Executor {
 public:
  Interpreter(spec::GenId gen, InterpreterOptions options) : gen_(gen), rules_(eu_rules(gen)), options_(options) {}

  std::string name() const override {
    return fmt::format("interpreter {}{}", spec::name_of(gen_), options_.only_generic ? " general" : "");
  }
  spec::GenId gen() const override { return gen_; }

  std::unique_ptr<Kernel> prepare(std::shared_ptr<const CodeSource> code, uint32_t entry) const override {
    return std::make_unique<PreparedKernel>(std::move(code), entry, rules_, options_.only_generic);
  }

  ThreadStatus run(Thread& thread, const Kernel& any_kernel, uint64_t budget, MessageTarget& target,
                   ExecutionCounts* counts) const override {
    const auto& kernel = static_cast<const PreparedKernel&>(any_kernel);
    if (thread.status == ThreadStatus::blocked || thread.status == ThreadStatus::faulted) {
      thread.status = ThreadStatus::running;  // retry the same instruction
    }
    if (thread.status != ThreadStatus::running) {
      return thread.status;
    }
    Frame frame{thread, rules_, target, float_mode(thread, rules_), gen_};
    uint64_t* counters = counts == nullptr ? nullptr : static_cast<KernelCounts*>(counts)->counters();
    for (; budget > 0; --budget) {
      const Prepared* prepared = kernel.at(thread.ip);
      if (prepared == nullptr) {
        if (!run_unprepared(frame, kernel)) {
          return thread.status;
        }
        continue;
      }
      if (counters != nullptr) {
        ++counters[kernel.index_of(*prepared)];
      }
      ++thread.instructions;
      const Step step = (prepared->fast != nullptr ? prepared->fast : prepared->handler)(frame, *prepared);
      if (!advance(thread, *prepared, step)) {
        if (counters != nullptr && thread.status == ThreadStatus::blocked) {
          --counters[kernel.index_of(*prepared)];  // not executed; it will be retried
        }
        return thread.status;
      }
    }
    return thread.status;
  }

  std::unique_ptr<ExecutionCounts> make_counts(const Kernel& kernel) const override {
    return std::make_unique<KernelCounts>(static_cast<const PreparedKernel&>(kernel));
  }

  std::string describe(const Kernel& any_kernel, uint32_t offset) const override {
    const auto& kernel = static_cast<const PreparedKernel&>(any_kernel);
    const Prepared* prepared = kernel.at(offset);
    if (prepared == nullptr) {
      return fmt::format("{:#x}: prepared when reached", offset);
    }
    return fmt::format("{:#x}: {} by the {} routine", offset, instruction_name(*prepared),
                       prepared->rest != nullptr   ? "specialised vector"
                       : prepared->fast != nullptr ? "specialised"
                                                   : "general");
  }

 private:
  // Sets the ip after a step. False: the thread cannot continue now.
  static bool advance(Thread& thread, const Prepared& prepared, Step step) {
    switch (step) {
      case Step::next:
        if (prepared.next < thread.join_ip) {
          thread.ip = prepared.next;
        } else {
          continue_at(thread, prepared.next);
        }
        return true;
      case Step::jumped:
        return true;
      case Step::stop:
        if (thread.status == ThreadStatus::blocked) {
          --thread.instructions;
        }
        return false;
    }
    return false;
  }

  bool run_unprepared(Frame& frame, const PreparedKernel& kernel) const {
    Thread& thread = frame.thread;
    if ((thread.ip & 7) != 0) {
      thread.status = ThreadStatus::illegal;
      return false;
    }
    const auto in = kernel.code().at(thread.ip);
    if (!in) {
      thread.status = ThreadStatus::faulted;
      return false;
    }
    const Prepared prepared = prepare_instruction(*in, thread.ip, rules_, &kernel.code(), options_.only_generic);
    ++thread.instructions;
    thread.ran_unprepared = true;
    return advance(thread, prepared, prepared.handler(frame, prepared));
  }

  const spec::GenId gen_;
  const EuRules& rules_;
  InterpreterOptions options_;
};

class CodeList final : public CodeSource {
 public:
  explicit CodeList(std::span<const Instruction> instructions) {
    uint32_t offset = 0;
    for (const Instruction& in : instructions) {
      list_.emplace(offset, in);
      offset += in.size == 8 ? 8 : 16;
    }
  }
  std::optional<Instruction> at(uint32_t offset) const override {
    const auto found = list_.find(offset);
    return found == list_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<uint32_t, Instruction> list_;
};

}  // namespace

std::unique_ptr<Executor> make_interpreter(spec::GenId gen, InterpreterOptions options) {
  return std::make_unique<Interpreter>(gen, options);
}

std::shared_ptr<const CodeSource> make_code(std::span<const Instruction> instructions) {
  return std::make_shared<CodeList>(instructions);
}

}  // namespace halogen::eu
