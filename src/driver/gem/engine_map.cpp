#include "driver/gem/engine_map.h"

#include <cerrno>
#include <cstddef>
#include <utility>

#include "driver/calls/extensions.h"
#include "driver/hw/gpu.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

using Map = std::vector<EngineSlot>;

bool is_free(const EngineSlot& slot) {
  return slot.queue == nullptr && slot.siblings.empty() && slot.parallel.empty();
}

template <class Head>
bool is_reserved_zero(const Head& head) {
  for (const uint64_t value : head.mbz64) {
    if (value != 0) return false;
  }
  return head.flags == 0;
}

// Reads the engines at the end of an extension. Returns 0, -EFAULT, or -EINVAL for an engine that does not exist.
int read_engines(const Gpu& gpu, uint64_t address, size_t count, std::vector<EngineQueue*>& into) {
  const auto names = read_user_array<i915_engine_class_instance>(address, count);
  if (!names) return -EFAULT;
  for (const i915_engine_class_instance& name : *names) {
    EngineQueue* const queue = gpu.find_user(name.engine_class, name.engine_instance);
    if (queue == nullptr) return -EINVAL;
    into.push_back(queue);
  }
  return 0;
}

// A balanced slot: any of several engines executes the work.
int balance(Gpu& gpu, Map& map, uint64_t address) {
  if (!gpu.hardware().generation().has_execlists()) return -ENODEV;
  i915_context_engines_load_balance head;
  if (!read_user(address, &head, offsetof(i915_context_engines_load_balance, engines))) return -EFAULT;
  if (head.engine_index >= map.size()) return -EINVAL;
  EngineSlot& slot = map[head.engine_index];
  if (!is_free(slot)) return -EEXIST;
  if (head.flags != 0 || head.mbz64 != 0) return -EINVAL;
  if (head.num_siblings == 0) return 0;
  std::vector<EngineQueue*> siblings;
  const int result =
      read_engines(gpu, address + offsetof(i915_context_engines_load_balance, engines), head.num_siblings, siblings);
  if (result != 0) return result;
  if (siblings.size() == 1) {
    slot.queue = siblings[0];
  } else {
    slot.siblings = std::move(siblings);
  }
  return 0;
}

// Bonds have no effect any more, but their arguments are still checked.
int bond(Gpu& gpu, const Map& map, uint64_t address) {
  if (!spec::interface_of(gpu.hardware().model().id).bonds) return -ENODEV;
  i915_context_engines_bond head;
  if (!read_user(address, &head, offsetof(i915_context_engines_bond, engines))) return -EFAULT;
  if (head.virtual_index >= map.size() || map[head.virtual_index].queue == nullptr) return -EINVAL;
  if (!is_reserved_zero(head)) return -EINVAL;
  if (gpu.find_user(head.master.engine_class, head.master.engine_instance) == nullptr) return -EINVAL;
  std::vector<EngineQueue*> bonds;
  return read_engines(gpu, address + offsetof(i915_context_engines_bond, engines), head.num_bonds, bonds);
}

// A parallel slot: several adjacent engines of one class run at the same time, each with its own batch.
int parallel(Gpu& gpu, Map& map, uint64_t address) {
  i915_context_engines_parallel_submit head;
  if (!read_user(address, &head, offsetof(i915_context_engines_parallel_submit, engines))) return -EFAULT;
  if (head.num_siblings != 1) return -EINVAL;  // more needs firmware that chooses
  if (head.engine_index >= map.size() || !is_free(map[head.engine_index])) return -EINVAL;
  if (!is_reserved_zero(head)) return -EINVAL;
  if (head.width < 2) return -EINVAL;
  std::vector<EngineQueue*> engines;
  const int result =
      read_engines(gpu, address + offsetof(i915_context_engines_parallel_submit, engines), head.width, engines);
  if (result != 0) return result;
  for (unsigned i = 0; i < head.width; ++i) {
    const OfferedEngine* const offer = gpu.offer_of(*engines[i]);
    if (offer->user_class == I915_ENGINE_CLASS_RENDER || offer->user_class == I915_ENGINE_CLASS_COMPUTE) return -EINVAL;
    if (i == 0) continue;
    const OfferedEngine* const before = gpu.offer_of(*engines[i - 1]);
    if (offer->user_class != before->user_class || offer->user_instance != before->user_instance + 1) return -EINVAL;
  }
  map[head.engine_index].queue = engines[0];
  map[head.engine_index].parallel = std::move(engines);
  return 0;
}

}  // namespace

int set_engine_map(Gpu& gpu, Context& context, const drm_i915_gem_context_param& parameter) {
  constexpr size_t kHead = offsetof(i915_context_param_engines, engines);
  constexpr size_t kMax = I915_EXEC_RING_MASK + 1;
  if (context.has_engine_map) return -EINVAL;
  if (parameter.size < kHead || (parameter.size - kHead) % sizeof(i915_engine_class_instance) != 0) return -EINVAL;
  const size_t count = (parameter.size - kHead) / sizeof(i915_engine_class_instance);
  if (count > kMax) return -EINVAL;
  Map map(count);
  const auto names = read_user_array<i915_engine_class_instance>(parameter.value + kHead, count);
  if (!names) return -EFAULT;
  for (size_t i = 0; i < count; ++i) {
    const i915_engine_class_instance& name = (*names)[i];
    if (name.engine_class == static_cast<uint16_t>(I915_ENGINE_CLASS_INVALID) &&
        name.engine_instance == static_cast<uint16_t>(I915_ENGINE_CLASS_INVALID_NONE)) {
      continue;
    }
    map[i].queue = gpu.find_user(name.engine_class, name.engine_instance);
    if (map[i].queue == nullptr) return -ENOENT;
  }
  const auto extensions = read_user<uint64_t>(parameter.value);
  if (!extensions) return -EFAULT;
  const int result = for_each_extension(*extensions, [&](uint32_t name, uint64_t address) -> int {
    switch (name) {
      case I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE:
        return balance(gpu, map, address);
      case I915_CONTEXT_ENGINES_EXT_BOND:
        return bond(gpu, map, address);
      case I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT:
        return parallel(gpu, map, address);
      default:
        return -EINVAL;
    }
  });
  if (result != 0) return result;
  context.engines = std::move(map);
  context.has_engine_map = true;
  return 0;
}

}  // namespace halogen::driver
