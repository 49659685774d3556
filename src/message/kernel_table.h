// The kernels that one unit dispatches: which program of the device's library each is, and how often its instructions
// ran. A kernel is known by where it starts. Its program is compared with memory before each draw or dispatch.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "base/fidelity.h"
#include "eu/library/kernel_library.h"
#include "memory/address_space.h"

namespace halogen::message {

struct DispatchedKernel {
  std::shared_ptr<const eu::Program> program;
  std::unique_ptr<eu::ExecutionCounts> counts;  // of the program's kernel
  bool judged = false;                          // the dispatcher has looked for rules that it breaks
};

class KernelTable {
 public:
  explicit KernelTable(eu::KernelLibrary& library) : library_(library) {}

  const eu::Executor& executor() const { return library_.executor(); }

  // Forgets the kernels used least recently if there are too many. References from find() end here.
  void trim();
  // Returns the kernel that starts at `entry` from the instruction base. `fresh`: its code is compared with memory
  // first.
  DispatchedKernel& find(memory::AddressSpace& space, uint64_t base, uint32_t entry, bool fresh);
  // Runs a thread for at most `budget` instructions. Code that only a register leads to is read when a thread gets
  // there; the kernel then has another program.
  eu::ThreadStatus run(DispatchedKernel& kernel, memory::AddressSpace& space, uint64_t base, eu::Thread& thread,
                       uint64_t budget, eu::MessageTarget& target);
  // Adds what another host thread counted for a program of the kernel, and clears it there.
  void merge(DispatchedKernel& kernel, const eu::Program& program, eu::ExecutionCounts& counts);
  void report(FidelityReport& report) const;

 private:
  using Key = std::pair<uint64_t, uint32_t>;
  struct Item {
    DispatchedKernel kernel;
    std::list<Key>::iterator use;
  };
  static constexpr size_t kMaxKernels = 256;
  static constexpr size_t kMaxInstructions = 1 << 18;  // of all kernels

  bool extend(DispatchedKernel& kernel, memory::AddressSpace& space, uint64_t base, uint32_t offset);
  void set_program(DispatchedKernel& kernel, std::shared_ptr<const eu::Program> program);

  eu::KernelLibrary& library_;
  std::map<Key, Item> kernels_;
  std::list<Key> uses_;  // the one used last comes first
  size_t instructions_ = 0;
  FidelityReport gone_;  // counts of programs that are no longer in the table
};

}  // namespace halogen::message
