#include "driver/gem/context.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include <libdrm/i915_drm.h>

#include "driver/hw/gpu.h"

namespace halogen::driver {

// Errors of balanced engines are reported at the first use.
int Context::begin() {
  if (in_use) return 0;
  for (EngineSlot& slot : engines) {
    if (slot.siblings.empty()) continue;
    for (size_t i = 0; i < slot.siblings.size(); ++i) {
      if (slot.siblings[i]->engine().engine_class != slot.siblings[0]->engine().engine_class) return -EINVAL;
      for (size_t j = 0; j < i; ++j) {
        if (slot.siblings[i] == slot.siblings[j]) return -EINVAL;
      }
    }
    // Contexts start on different siblings.
    slot.queue = slot.siblings[number % slot.siblings.size()];
  }
  in_use = true;
  return 0;
}

EngineSlot* Context::find_slot(const Gpu& gpu, uint64_t flags) {
  size_t index = flags & I915_EXEC_RING_MASK;
  if (!has_engine_map) {
    constexpr unsigned kNames[] = {I915_ENGINE_CLASS_RENDER, I915_ENGINE_CLASS_RENDER, I915_ENGINE_CLASS_VIDEO,
                                   I915_ENGINE_CLASS_COPY, I915_ENGINE_CLASS_VIDEO_ENHANCE};
    const uint64_t choice = (flags & I915_EXEC_BSD_MASK) >> I915_EXEC_BSD_SHIFT;
    if (choice != 0 && index != I915_EXEC_BSD) return nullptr;
    if (index >= std::size(kNames)) return nullptr;
    unsigned instance = 0;
    if (index == I915_EXEC_BSD && gpu.find_user(I915_ENGINE_CLASS_VIDEO, 1) != nullptr) {
      if (choice > 2) return nullptr;
      instance = choice == 0 ? number % 2 : static_cast<unsigned>(choice - 1);
    }
    EngineQueue* const queue = gpu.find_user(kNames[index], instance);
    for (EngineSlot& each : engines) {
      if (queue != nullptr && each.queue == queue) return &each;
    }
    return nullptr;
  }
  return index < engines.size() && engines[index].queue != nullptr ? &engines[index] : nullptr;
}

void Context::balance(EngineSlot& slot) {
  if (slot.siblings.empty() || slot.queue->idle() || (slot.last && !slot.last->done)) return;
  const auto free = std::find_if(slot.siblings.begin(), slot.siblings.end(), [](auto* each) { return each->idle(); });
  if (free == slot.siblings.end()) return;
  const auto state_of = [&](auto sibling) -> std::shared_ptr<EngineContext>& {
    return slot.sibling_states[static_cast<size_t>(sibling - slot.siblings.begin())];
  };
  slot.sibling_states.resize(slot.siblings.size());
  state_of(std::find(slot.siblings.begin(), slot.siblings.end(), slot.queue)) = std::move(slot.state);
  slot.queue = *free;
  slot.state = std::move(state_of(free));
}

std::shared_ptr<EngineContext> Context::on(EngineSlot& slot, size_t index) {
  if (!slot.parallel.empty()) slot.parallel_states.resize(slot.parallel.size());
  std::shared_ptr<EngineContext>& state = slot.parallel.empty() ? slot.state : slot.parallel_states[index];
  if (state) return state;
  state = (slot.parallel.empty() ? slot.queue : slot.parallel[index])->make_context(space->tables());
  if (state) state->load = load;
  return state;
}

EngineSlot* Context::slot_of(const EngineContext& state) {
  for (EngineSlot& each : engines) {
    if (each.state.get() == &state) return &each;
    for (const std::shared_ptr<EngineContext>& other : each.parallel_states) {
      if (other.get() == &state) return &each;
    }
  }
  return nullptr;
}

}  // namespace halogen::driver
