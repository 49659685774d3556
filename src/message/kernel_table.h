// The kernels that one unit dispatches: the program of each in the device's library, and its execution counts. A kernel
// is identified by its start address. Its program is compared with memory before each draw or dispatch.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/fidelity.h"
#include "eu/library/kernel_library.h"
#include "memory/address_space.h"
#include "message/issue_cost.h"

namespace halogen::message {

struct DispatchedKernel {
  std::shared_ptr<const eu::Program> program;
  std::unique_ptr<eu::ExecutionCounts> counts;  // of the program's kernel
  bool judged = false;                          // the dispatcher has checked it for broken rules
  // For KernelTable::watch(): counts when the watch began, and costs of the program's instructions.
  uint64_t watch = 0;  // number of the last watch in which the kernel was used
  std::vector<uint64_t> before;
  std::vector<IssueCost> costs;
};

class KernelTable {
 public:
  explicit KernelTable(eu::KernelLibrary& library) : library_(library) {}

  const eu::Executor& executor() const { return library_.executor(); }

  // Drops the least recently used kernels if there are too many. References from find() become invalid.
  void trim();
  // Returns the kernel that starts at offset `entry` from the instruction base. `fresh`: compares its code with memory
  // first.
  DispatchedKernel& find(memory::AddressSpace& space, uint64_t base, uint32_t entry, bool fresh);
  // Runs a thread for at most `budget` instructions. Code that is reached only through a register is read when a thread
  // gets there; the kernel then has another program.
  eu::ThreadStatus run(DispatchedKernel& kernel, memory::AddressSpace& space, uint64_t base, eu::Thread& thread,
                       uint64_t budget, eu::MessageTarget& target);
  // Adds the counts of another host thread for a program of the kernel, and clears them there.
  void merge(DispatchedKernel& kernel, const eu::Program& program, eu::ExecutionCounts& counts);
  void report(FidelityReport& report) const;
  // Begins to watch what the pipes of the EUs do, or ends the watch. Only kernels that find() returns after that are
  // watched.
  void watch(bool on);
  // Returns the activity since watch(true), and ends the watch.
  oa::StageActivity end_watch();

 private:
  using Key = std::pair<uint64_t, uint32_t>;
  struct Item {
    DispatchedKernel kernel;
    std::list<Key>::iterator use;
  };
  static constexpr size_t kMaxKernels = 256;
  static constexpr size_t kMaxInstructions = 1 << 18;  // total of all kernels

  bool extend(DispatchedKernel& kernel, memory::AddressSpace& space, uint64_t base, uint32_t offset);
  void set_program(DispatchedKernel& kernel, std::shared_ptr<const eu::Program> program);
  DispatchedKernel& look_up(memory::AddressSpace& space, uint64_t base, uint32_t entry, bool fresh);
  bool is_watched(const DispatchedKernel& kernel) const { return watching_ && kernel.watch == watch_; }
  void begin_watch(DispatchedKernel& kernel) const;
  void add_activity_of(const DispatchedKernel& kernel);

  eu::KernelLibrary& library_;
  std::map<Key, Item> kernels_;
  std::list<Key> uses_;  // most recently used first
  size_t instructions_ = 0;
  FidelityReport gone_;  // counts of programs that were removed from the table
  bool watching_ = false;
  uint64_t watch_ = 0;          // number of the watch
  oa::StageActivity activity_;  // of programs that were replaced during the watch
};

}  // namespace halogen::message
