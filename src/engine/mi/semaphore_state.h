#pragma once

#include <cstdint>
#include <optional>

#include "base/strong.h"

namespace halogen::engine {

// A semaphore that was not signalled when it was first looked at.
struct SemaphoreState {
  std::optional<GpuVa> waiting;  // the command that waits; its interrupt was raised

  bool operator==(const SemaphoreState&) const = default;
};

}  // namespace halogen::engine
