// A piece of work for one engine, and the fence that tells when it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace halogen::driver {

// Signalled once, for good. All fences live under the driver's one lock.
struct Fence {
  virtual ~Fence() = default;
  bool done = false;
  int error = 0;  // a negative errno: what went wrong
};
using FenceRef = std::shared_ptr<Fence>;

class EngineContext;
struct Context;

struct Request final : Fence {
  std::shared_ptr<EngineContext> context;
  std::weak_ptr<Context> owner;
  uint64_t batch = 0;  // address of its first command; 0: none, only a point in time
  bool secure = false;
  int priority = 0;
  std::vector<FenceRef> waits;               // it may not start before them
  std::vector<std::shared_ptr<void>> keeps;  // what must live until it is done
  // Set when it goes to the engine.
  uint32_t seqno = 0;
  uint64_t start = 0;  // of its commands in the ring
  uint64_t end = 0;
  uint64_t number = 0;  // in the order of submission

  bool ready() const {
    for (const FenceRef& each : waits) {
      if (!each->done) return false;
    }
    return true;
  }
};
using RequestRef = std::shared_ptr<Request>;

}  // namespace halogen::driver
