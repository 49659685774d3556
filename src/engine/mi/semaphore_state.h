#pragma once

#include <cstdint>
#include <optional>

#include "base/strong.h"

namespace halogen::engine {

// A semaphore that was not signalled at its first comparison.
struct SemaphoreState {
  std::optional<GpuVa> waiting;  // address of the waiting command, whose interrupt was raised

  bool operator==(const SemaphoreState&) const = default;
};

}  // namespace halogen::engine
