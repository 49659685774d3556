// Makes resources of the host fail on demand, inside the calls that a test encloses: memory (operator new), mappings,
// files and descriptors, threads. A program that links test_host_faults has it; nothing fails unless a test asks.
#pragma once

#include <cstdint>
#include <limits>

namespace halogen::test {

enum class HostCall : uint8_t { memory, mapping, file, thread };
inline constexpr HostCall kHostCalls[] = {HostCall::memory, HostCall::mapping, HostCall::file, HostCall::thread};
const char* name_of(HostCall call);

class HostFaults {
 public:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  // The n-th call of this kind, from 1 on, fails inside the enclosed calls of this thread; with `then_all` each later
  // one too.
  HostFaults(HostCall call, uint64_t n, bool then_all = false);
  ~HostFaults();
  HostFaults(const HostFaults&) = delete;
  HostFaults& operator=(const HostFaults&) = delete;

  // Calls `function`; only inside it are calls counted and failed.
  template <class Function>
  auto in(const Function& function) {
    const Enclosed here;
    return function();
  }
  uint64_t counted() const;
  bool failed() const;  // at least one call

 private:
  struct Enclosed {
    Enclosed();
    ~Enclosed();
  };
};

}  // namespace halogen::test
