// A unit of work for one engine. It is also the fence that signals its completion.
#pragma once

#include <cstddef>
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
  uint64_t batch = 0;  // address of its first command; 0: no commands, only a fence
  bool secure = false;
  uint64_t flags = 0;  // of the EXECBUFFER2 call
  int priority = 0;
  std::vector<FenceRef> waits;                     // must signal before it may start
  size_t waits_done = 0;                           // so many of them, from the first, are done
  std::vector<std::shared_ptr<Request>> partners;  // must start before it may start
  std::vector<std::shared_ptr<void>> keeps;        // objects that must live until it is done
  std::vector<std::shared_ptr<Buffer>> tiled;      // tiled buffers that programs may see as linear
  bool started = false;                            // the engine executes or has executed it
  int failed = 0;                                  // the error that it will signal
  // Set when its commands are written.
  uint32_t seqno = 0;
  uint64_t start = 0;  // of its commands in the ring
  uint64_t end = 0;

  bool ready() {
    while (waits_done < waits.size() && waits[waits_done]->done) ++waits_done;
    if (waits_done < waits.size()) return false;
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
