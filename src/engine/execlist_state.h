#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace halogen::engine {

// A list of contexts to run, in order.
struct ExecutionQueue {
  static constexpr size_t kMaxElements = 8;
  std::array<uint64_t, kMaxElements> descriptors{};
  uint8_t count = 0;
  uint8_t next = 0;  // element that runs, or is to run next

  bool operator==(const ExecutionQueue&) const = default;
};

struct ExeclistState {
  std::array<uint32_t, 4> port{};  // writes to the four-dword port so far
  uint8_t port_writes = 0;
  std::optional<ExecutionQueue> pending;  // submitted, not yet taken
  ExecutionQueue active;
  std::optional<uint64_t> running;  // descriptor of the context that is loaded

  bool operator==(const ExeclistState&) const = default;
};

}  // namespace halogen::engine
