// A context of a program: its engine map, its address space and its policy for hangs. It can be changed freely until
// its first use.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "driver/gem/space.h"
#include "driver/queue/engine_queue.h"

namespace halogen::driver {

struct File;

// The part of the chip that is powered for a context of the render engine.
struct Sseu {
  uint64_t slices = 0;
  uint64_t subslices = 0;
  uint16_t min_eus = 0;
  uint16_t max_eus = 0;
};

// One entry of the engine map. Two entries for one engine are two contexts on it.
struct EngineSlot {
  EngineQueue* queue = nullptr;          // null: a hole
  std::vector<EngineQueue*> siblings;    // candidates for `queue`; chosen again when the last work is done
  std::vector<EngineQueue*> parallel;    // engines of a parallel slot: one batch for each in every submission
  std::shared_ptr<EngineContext> state;  // created at the first use
  std::vector<std::shared_ptr<EngineContext>> parallel_states;
  std::vector<std::shared_ptr<EngineContext>> sibling_states;  // states on siblings other than `queue`
  std::shared_ptr<Fence> last;                                 // fence of its last work
  Sseu sseu;
  bool banned = false;
};

struct Context {
  using Clock = std::chrono::steady_clock;

  uint32_t number = 0;    // unique among all contexts of the device
  File* owner = nullptr;  // null: closed
  std::shared_ptr<ClientLoad> load;
  std::shared_ptr<Space> space;
  std::vector<EngineSlot> engines;
  bool has_engine_map = false;  // false: `engines` are those of the chip, named by the flags of EXECBUFFER2
  bool in_use = false;          // engines and address space are final
  int priority = 0;
  bool recoverable = true;
  bool bannable = true;
  bool persistent = true;  // its work continues when it is destroyed
  bool no_error_capture = false;
  bool single_timeline = false;          // work of all its engines is serialised
  std::shared_ptr<Fence> last;           // last fence of the single timeline
  std::vector<Clock::time_point> hangs;  // times of the last hangs
  uint32_t hung = 0;                     // own batches that hung
  uint32_t lost = 0;                     // batches lost to a reset

  // Marks the context as in use. Returns 0 or a negative errno.
  int begin();
  // Returns the slot that the flags of EXECBUFFER2 name. Null: it does not exist.
  EngineSlot* find_slot(const Gpu& gpu, uint64_t flags);
  // Moves to an idle sibling if the present engine has other work. Work of its own in flight prevents the move, because
  // it must stay in order.
  static void balance(EngineSlot& slot);
  // Returns the context's state on an engine of the slot. Null: out of memory.
  std::shared_ptr<EngineContext> on(EngineSlot& slot, size_t index = 0);
  EngineSlot* slot_of(const EngineContext& state);
};
using ContextRef = std::shared_ptr<Context>;

}  // namespace halogen::driver
