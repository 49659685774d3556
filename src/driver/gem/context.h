// A context of a program: engines as it numbered them, an address space, rules about hangs. It can be changed freely
// until it is used for the first time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "driver/gem/space.h"
#include "driver/queue/engine_queue.h"

namespace halogen::driver {

struct File;

// Which part of the chip a render engine's context has powered.
struct Sseu {
  uint64_t slices = 0;
  uint64_t subslices = 0;
  uint16_t min_eus = 0;
  uint16_t max_eus = 0;
};

// One number of the program's for an engine. Two numbers of one engine are two contexts to it.
struct EngineSlot {
  EngineQueue* queue = nullptr;          // null: a hole
  std::vector<EngineQueue*> siblings;    // any of these may be `queue`: chosen anew when the last work is done
  std::vector<EngineQueue*> parallel;    // batches come in as many at a time, one for each
  std::shared_ptr<EngineContext> state;  // made at the first use
  std::vector<std::shared_ptr<EngineContext>> parallel_states;
  std::vector<std::shared_ptr<EngineContext>> sibling_states;  // of those that are not `queue` now
  std::shared_ptr<Fence> last;                                 // of its work
  Sseu sseu;
  bool banned = false;
};

struct Context {
  using Clock = std::chrono::steady_clock;

  uint32_t number = 0;    // among all contexts of the device
  File* owner = nullptr;  // null: closed
  std::shared_ptr<Space> space;
  std::vector<EngineSlot> engines;
  bool has_engine_map = false;  // without: `engines` are those of the chip, by the names of the first interface
  bool in_use = false;          // engines and space stay what they are from now on
  int priority = 0;
  bool recoverable = true;
  bool bannable = true;
  bool persistent = true;  // its work outlives it
  bool no_error_capture = false;
  bool single_timeline = false;          // its engines work one after the other
  std::shared_ptr<Fence> last;           // of the single timeline
  std::vector<Clock::time_point> hangs;  // the last ones
  uint32_t hung = 0;                     // batches of its own that hung
  uint32_t lost = 0;                     // batches that a reset took with it

  // 0, or a negative errno: from now on it is in use.
  int begin();
  // The slot that the flags of EXECBUFFER2 name. Null: none such.
  EngineSlot* find_slot(const Gpu& gpu, uint64_t flags);
  // Work that would wait behind another's goes to a sibling that has none; not while some of its own is in flight,
  // which stays in order so.
  static void balance(EngineSlot& slot);
  // What it is on that engine, or on one of those that work side by side. Null: no memory.
  std::shared_ptr<EngineContext> on(EngineSlot& slot, size_t index = 0);
  EngineSlot* slot_of(const EngineContext& state);
};
using ContextRef = std::shared_ptr<Context>;

}  // namespace halogen::driver
