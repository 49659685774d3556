// The programs of a device, identified by their code instead of their address. Each distinct kernel is decoded and
// prepared once, for all stages, engines and host threads. find() compares the code with memory before it returns a
// program, so code that a guest has overwritten never runs from the library.
//
//   KernelLibrary library(gen, ExecutorKind::interpreter);
//   const std::shared_ptr<const Program> program = library.find(memory, entry);
//   library.executor().run(thread, program->kernel(), budget, target);
//
// The library belongs to one Device. All of its functions may be called from several host threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "eu/exec/executor.h"
#include "eu/library/code_image.h"
#include "eu/library/executor_kind.h"

namespace halogen::eu {

// A prepared kernel with the code that it was decoded from. Never changes.
class Program {
 public:
  Program(std::shared_ptr<const CodeImage> code, std::unique_ptr<const Kernel> kernel, bool complete)
      : code_(std::move(code)), kernel_(std::move(kernel)), complete_(complete) {}

  const Kernel& kernel() const { return *kernel_; }
  uint64_t digest() const { return code_->digest(); }
  // False: memory refused a part of the code. Such a program is not shared, and matches() is always false.
  bool complete() const { return complete_; }
  bool matches(CodeMemory& memory) const { return complete_ && code_->matches(memory); }
  // Returns whether a thread at this offset needs code that the program lacks because it jumped there through a
  // register.
  bool lacks(uint32_t offset) const { return kernel_->find(offset) == nullptr && !code_->at(offset); }

 private:
  friend class KernelLibrary;
  std::shared_ptr<const CodeImage> code_;
  std::unique_ptr<const Kernel> kernel_;
  bool complete_;
};

class KernelLibrary {
 public:
  // Limits of the kept programs. The program used least recently is dropped first.
  struct Limits {
    size_t programs = 1024;
    size_t instructions = 1 << 18;  // of all programs
  };
  struct Statistics {
    size_t programs = 0;
    size_t instructions = 0;
    uint64_t prepared = 0;  // kernels decoded so far
  };

  // `kind` must be available.
  KernelLibrary(spec::GenId gen, ExecutorKind kind, Limits limits);
  explicit KernelLibrary(spec::GenId gen, ExecutorKind kind = ExecutorKind::interpreter)
      : KernelLibrary(gen, kind, Limits{}) {}

  const Executor& executor() const { return *executor_; }

  // Returns the program whose code starts at `entry`, as memory holds it now.
  std::shared_ptr<const Program> find(CodeMemory& memory, uint32_t entry);
  // Returns a copy of `program` with the page of code at an offset that it lacks. The library does not keep the copy.
  // Null: memory refused the page.
  std::shared_ptr<const Program> extend(const Program& program, CodeMemory& memory, uint32_t offset);

  Statistics statistics() const;

 private:
  struct Key {
    uint32_t entry = 0;
    uint64_t digest = 0;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
  };
  using Uses = std::list<Key>;
  struct Item {
    std::shared_ptr<const Program> program;
    Uses::iterator use;
  };

  std::shared_ptr<const Program> prepare(std::shared_ptr<CodeImage> code, const CodePages& pages, uint32_t entry);
  void keep(const std::shared_ptr<const Program>& program);
  void forget(const Key& key);

  const Limits limits_;
  const std::unique_ptr<const Executor> executor_;
  mutable std::mutex mutex_;  // guards all members below; also held while code is read and decoded
  std::map<Key, Item> programs_;
  Uses uses_;  // most recently used first
  size_t instructions_ = 0;
  uint64_t prepared_ = 0;
};

}  // namespace halogen::eu
