// Calls on contexts and address spaces.
#include <bit>
#include <cerrno>

#include "driver/calls/extensions.h"
#include "driver/calls/ioctls.h"
#include "driver/gem/engine_map.h"
#include "driver/gem/user_memory.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kBannedFile = 9;  // ban score from which a file cannot create contexts

const spec::InterfaceModel& interface_of(Call& call) {
  return spec::interface_of(call.driver.model().id);
}

Sseu full_sseu(Call& call) {
  const spec::DeviceModel& model = call.driver.model();
  const spec::InterfaceModel& frame = interface_of(call);
  if (frame.slices == 0) return {};
  return {(uint64_t{1} << model.topology.slices) - 1, (uint64_t{1} << model.topology.subslices) - 1, frame.eus,
          frame.eus};
}

// Checks the slices and subslices that a program requests against those of the chip.
int check_sseu(Call& call, const drm_i915_gem_context_param_sseu& wanted) {
  const Sseu all = full_sseu(call);
  if (wanted.slice_mask == 0 || wanted.subslice_mask == 0 || wanted.min_eus_per_subslice == 0 ||
      wanted.max_eus_per_subslice < wanted.min_eus_per_subslice) {
    return -EINVAL;
  }
  if ((wanted.slice_mask & ~all.slices) != 0 || (wanted.subslice_mask & ~all.subslices) != 0) return -EINVAL;
  if (wanted.max_eus_per_subslice > all.max_eus) return -EINVAL;
  if (!interface_of(call).sseu_control) return 0;
  const int slices = std::popcount(wanted.slice_mask);
  const int subslices = std::popcount(wanted.subslice_mask);
  const int all_subslices = std::popcount(all.subslices);
  if (slices > 1 && (subslices != all_subslices || slices != std::popcount(all.slices))) return -EINVAL;
  if (subslices > 4 && subslices % 2 != 0) return -EINVAL;
  // With one slice, i915 allows all of its subslices or half.
  if (slices == 1 && subslices != all_subslices && subslices != all_subslices / 2) return -EINVAL;
  if (wanted.min_eus_per_subslice != all.max_eus || wanted.max_eus_per_subslice != all.max_eus) return -EINVAL;
  return 0;
}

// Returns the slot that the structure names. Null: it does not exist or is named in the wrong way.
EngineSlot* find_sseu_slot(Call& call, Context& context, const drm_i915_gem_context_param_sseu& sseu) {
  const bool by_index = (sseu.flags & I915_CONTEXT_SSEU_FLAG_ENGINE_INDEX) != 0;
  if (by_index != context.has_engine_map) return nullptr;
  if (by_index) {
    const size_t index = sseu.engine.engine_instance;
    return index < context.engines.size() && context.engines[index].queue != nullptr ? &context.engines[index]
                                                                                     : nullptr;
  }
  EngineQueue* const queue = call.driver.gpu().find_user(sseu.engine.engine_class, sseu.engine.engine_instance);
  for (EngineSlot& each : context.engines) {
    if (queue != nullptr && each.queue == queue) return &each;
  }
  return nullptr;
}

int read_sseu(uint64_t address, drm_i915_gem_context_param_sseu& sseu) {
  const auto there = read_user<drm_i915_gem_context_param_sseu>(address);
  if (!there) return -EFAULT;
  sseu = *there;
  if (sseu.rsvd != 0 || (sseu.flags & ~uint32_t{I915_CONTEXT_SSEU_FLAG_ENGINE_INDEX}) != 0) return -EINVAL;
  return 0;
}

int set_sseu(Call& call, Context& context, drm_i915_gem_context_param& parameter) {
  drm_i915_gem_context_param_sseu wanted{};
  if (parameter.size < sizeof wanted) return -EINVAL;
  if (!interface_of(call).sseu_control) return -ENODEV;
  if (const int result = read_sseu(parameter.value, wanted); result != 0) return result;
  EngineSlot* const slot = find_sseu_slot(call, context, wanted);
  if (slot == nullptr) return -EINVAL;
  if (slot->queue->engine().engine_class != spec::EngineClass::render) return context.in_use ? -ENODEV : -EINVAL;
  if (const int result = check_sseu(call, wanted); result != 0) return result;
  slot->sseu = {wanted.slice_mask, wanted.subslice_mask, wanted.min_eus_per_subslice, wanted.max_eus_per_subslice};
  parameter.size = sizeof wanted;
  return 0;
}

int get_sseu(Call& call, Context& context, drm_i915_gem_context_param& parameter) {
  drm_i915_gem_context_param_sseu sseu{};
  if (parameter.size != 0) {
    if (parameter.size < sizeof sseu) return -EINVAL;
    if (const int result = read_sseu(parameter.value, sseu); result != 0) return result;
    EngineSlot* const slot = find_sseu_slot(call, context, sseu);
    if (slot == nullptr) return -EINVAL;
    const Sseu now = slot->sseu.slices == 0 ? full_sseu(call) : slot->sseu;
    sseu.slice_mask = now.slices;
    sseu.subslice_mask = now.subslices;
    sseu.min_eus_per_subslice = now.min_eus;
    sseu.max_eus_per_subslice = now.max_eus;
    if (!write_user(parameter.value, &sseu, sizeof sseu)) return -EFAULT;
  }
  parameter.size = sizeof sseu;
  return 0;
}

int set_priority(Call& call, Context& context, const drm_i915_gem_context_param& parameter) {
  const auto priority = static_cast<int64_t>(parameter.value);
  if (parameter.size != 0) return -EINVAL;
  if (!call.driver.gpu().hardware().generation().has_execlists()) return -ENODEV;
  if (priority > I915_CONTEXT_MAX_USER_PRIORITY || priority < I915_CONTEXT_MIN_USER_PRIORITY) return -EINVAL;
  if (priority > I915_CONTEXT_DEFAULT_PRIORITY && !call.driver.privileged()) return -EPERM;
  context.priority = static_cast<int>(priority);
  return 0;
}

int set_space(Call& call, Context& context, const drm_i915_gem_context_param& parameter) {
  if (parameter.size != 0) return -EINVAL;
  if (call.driver.shared_space()) return -ENODEV;
  if (parameter.value >> 32 != 0) return -ENOENT;
  const auto space = call.file.spaces.find(static_cast<uint32_t>(parameter.value));
  if (!space) return -ENOENT;
  context.space = space;
  return 0;
}

int set_flag(bool& flag, const drm_i915_gem_context_param& parameter) {
  if (parameter.size != 0) return -EINVAL;
  flag = parameter.value != 0;
  return 0;
}

int set_parameter(Call& call, Context& context, drm_i915_gem_context_param& parameter) {
  switch (parameter.param) {
    case I915_CONTEXT_PARAM_NO_ERROR_CAPTURE:
      return set_flag(context.no_error_capture, parameter);
    case I915_CONTEXT_PARAM_BANNABLE:
      if (parameter.size == 0 && parameter.value == 0 && !call.driver.privileged()) return -EPERM;
      return set_flag(context.bannable, parameter);
    case I915_CONTEXT_PARAM_RECOVERABLE:
      return set_flag(context.recoverable, parameter);
    case I915_CONTEXT_PARAM_PERSISTENCE: {
      const spec::InterfaceModel& chip = interface_of(call);
      if (parameter.size == 0 && parameter.value == 0 && !(chip.preemption && chip.engine_reset)) return -ENODEV;
      return set_flag(context.persistent, parameter);
    }
    case I915_CONTEXT_PARAM_PRIORITY:
      return set_priority(call, context, parameter);
    case I915_CONTEXT_PARAM_SSEU:
      return set_sseu(call, context, parameter);
    case I915_CONTEXT_PARAM_VM:
      return context.in_use ? -EINVAL : set_space(call, context, parameter);
    case I915_CONTEXT_PARAM_ENGINES:
      return context.in_use ? -EINVAL : set_engine_map(call.driver.gpu(), context, parameter);
    case I915_CONTEXT_PARAM_PROTECTED_CONTENT:
      if (context.in_use) return -EINVAL;
      return parameter.value != 0 ? -ENODEV : 0;
    default:  // includes parameters that Linux has removed: ban period, ring size, no address zero
      return -EINVAL;
  }
}

}  // namespace

// The slices and subslices that are powered while a stream of performance counters is open.
int check_global_sseu(Call& call, uint64_t address) {
  const auto wanted = read_user<drm_i915_gem_context_param_sseu>(address);
  if (!wanted) return -EFAULT;
  const bool is_render = wanted->engine.engine_class == I915_ENGINE_CLASS_RENDER && wanted->engine.engine_instance == 0;
  return is_render ? check_sseu(call, *wanted) : -EINVAL;
}

int create_context(Call& call, drm_i915_gem_context_create_ext& create) {
  constexpr uint32_t kKnown = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS | I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE;
  if ((create.flags & ~kKnown) != 0) return -EINVAL;
  if (call.file.ban_score >= kBannedFile) return -EIO;
  const ContextRef context = call.driver.make_context(call.file);
  if (!context) return -ENOMEM;
  if ((create.flags & I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE) != 0) {
    if (!call.driver.gpu().hardware().generation().has_execlists()) return -EINVAL;
    context->single_timeline = true;
  }
  if ((create.flags & I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS) != 0) {
    const int result = for_each_extension(create.extensions, [&](uint32_t name, uint64_t address) -> int {
      if (name != I915_CONTEXT_CREATE_EXT_SETPARAM) return -EINVAL;  // Linux has removed cloning
      auto extension = read_user<drm_i915_gem_context_create_ext_setparam>(address);
      if (!extension) return -EFAULT;
      if (extension->param.ctx_id != 0) return -EINVAL;
      return set_parameter(call, *context, extension->param);
    });
    if (result != 0) return result;
  }
  create.ctx_id = call.file.contexts.add(context);
  return 0;
}

int destroy_context(Call& call, drm_i915_gem_context_destroy& destroy) {
  if (destroy.pad != 0) return -EINVAL;
  if (destroy.ctx_id == 0) return -ENOENT;  // the default context cannot be destroyed
  const ContextRef context = call.file.contexts.remove(destroy.ctx_id);
  if (!context) return -ENOENT;
  call.driver.leave(*context);
  return 0;
}

int get_context_parameter(Call& call, drm_i915_gem_context_param& parameter) {
  const auto [context, error] = call.file.use_context(parameter.ctx_id);
  if (!context) return error;
  switch (parameter.param) {
    case I915_CONTEXT_PARAM_GTT_SIZE:
      parameter.value = context->space->size();
      break;
    case I915_CONTEXT_PARAM_NO_ERROR_CAPTURE:
      parameter.value = context->no_error_capture;
      break;
    case I915_CONTEXT_PARAM_BANNABLE:
      parameter.value = context->bannable;
      break;
    case I915_CONTEXT_PARAM_RECOVERABLE:
      parameter.value = context->recoverable;
      break;
    case I915_CONTEXT_PARAM_PRIORITY:
      parameter.value = static_cast<__u64>(int64_t{context->priority});
      break;
    case I915_CONTEXT_PARAM_SSEU:
      return get_sseu(call, *context, parameter);
    case I915_CONTEXT_PARAM_VM:
      if (call.driver.shared_space()) return -ENODEV;
      parameter.value = call.file.spaces.add(context->space);
      break;
    case I915_CONTEXT_PARAM_PERSISTENCE:
      parameter.value = context->persistent;
      break;
    case I915_CONTEXT_PARAM_PROTECTED_CONTENT:
      parameter.value = 0;
      break;
    default:
      return -EINVAL;
  }
  parameter.size = 0;
  return 0;
}

int set_context_parameter(Call& call, drm_i915_gem_context_param& parameter) {
  const ContextRef context = call.file.contexts.find(parameter.ctx_id);
  if (!context) return -ENOENT;
  return set_parameter(call, *context, parameter);
}

int get_reset_statistics(Call& call, drm_i915_reset_stats& statistics) {
  if (statistics.flags != 0 || statistics.pad != 0) return -EINVAL;
  const auto [context, error] = call.file.use_context(statistics.ctx_id);
  if (!context) return error;
  statistics.reset_count = call.driver.privileged() ? call.driver.resets() : 0;
  statistics.batch_active = context->hung;
  statistics.batch_pending = context->lost;
  return 0;
}

int create_space(Call& call, drm_i915_gem_vm_control& control) {
  if (call.driver.shared_space()) return -ENODEV;
  if (control.flags != 0) return -EINVAL;
  const int result = for_each_extension(control.extensions, [](uint32_t, uint64_t) { return -EINVAL; });
  if (result != 0) return result;
  auto space = std::make_shared<Space>(call.driver.gpu());
  if (!space->tables()) return -ENOMEM;
  control.vm_id = call.file.spaces.add(std::move(space));
  return 0;
}

int destroy_space(Call& call, drm_i915_gem_vm_control& control) {
  if (control.flags != 0 || control.extensions != 0) return -EINVAL;
  return call.file.spaces.remove(control.vm_id) ? 0 : -ENOENT;
}

}  // namespace halogen::driver
