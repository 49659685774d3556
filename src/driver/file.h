// What one open of the device node holds: buffers, contexts and address spaces by number.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "driver/buffer.h"
#include "driver/engine_queue.h"
#include "driver/id_table.h"
#include "driver/space.h"

namespace halogen::driver {

struct Context {
  uint32_t number = 0;  // among all contexts of the device
  std::shared_ptr<Space> space;
  std::vector<EngineQueue*> engines;  // as the program numbered them; null: a hole
  bool has_engine_map = false;        // without: by the names of the first interface
  std::unordered_map<EngineQueue*, std::shared_ptr<EngineContext>> states;
  int priority = 0;
  bool recoverable = true;
  bool bannable = true;
  bool banned = false;
  uint32_t hung = 0;  // batches of its own that hung
  uint32_t lost = 0;  // batches that a reset took with it

  // What it is on an engine, made at the first use. Null: no memory.
  std::shared_ptr<EngineContext> on(EngineQueue& queue);
};
using ContextRef = std::shared_ptr<Context>;

struct File {
  IdTable<BufferRef> buffers{1};
  IdTable<ContextRef> contexts{0};  // 0 is the one that every file has
  IdTable<std::shared_ptr<Space>> spaces{1};
};

}  // namespace halogen::driver
