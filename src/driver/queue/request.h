// A piece of work for one engine. It is the fence that tells when the work is done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/sync/fence.h"

namespace halogen::driver {

class Buffer;
class EngineContext;
struct Context;

struct Request final : Fence {
  std::shared_ptr<EngineContext> context;
  std::weak_ptr<Context> owner;
  uint64_t batch = 0;  // address of its first command; 0: none, only a point in time
  bool secure = false;
  uint64_t flags = 0;  // of the call that brought it
  int priority = 0;
  std::vector<FenceRef> waits;                     // it may not start before they are done
  std::vector<std::shared_ptr<Request>> partners;  // nor before these start
  std::vector<std::shared_ptr<void>> keeps;        // what must live until it is done
  std::vector<std::shared_ptr<Buffer>> tiled;      // that programs may see as linear
  bool started = false;                            // the engine works on it, or has
  int failed = 0;                                  // the error that it will be done with
  // Set when it goes to the engine.
  uint32_t seqno = 0;
  uint64_t start = 0;  // of its commands in the ring
  uint64_t end = 0;

  bool ready() const {
    for (const FenceRef& each : waits) {
      if (!each->done) return false;
    }
    for (const std::shared_ptr<Request>& each : partners) {
      if (!each->done && !each->started) return false;
    }
    return true;
  }
  std::string driver_name() const override { return "0000:00:02.0"; }  // the device
  std::string timeline_name() const override;
};
using RequestRef = std::shared_ptr<Request>;

}  // namespace halogen::driver
