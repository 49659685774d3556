// A single fence that counts how often it is met.
#pragma once

#include <cstdint>

#include "driver/sync/fence.h"

namespace halogen::driver {

class CountedFence final : public Fence {
 public:
  explicit CountedFence(uint64_t& meetings) : meetings_(meetings) {}
  void show(FenceVisitor& visitor) override {
    ++meetings_;
    Fence::show(visitor);
  }

 private:
  uint64_t& meetings_;
};

}  // namespace halogen::driver
