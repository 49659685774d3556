// Calls about contexts and address spaces.
#include <cerrno>
#include <cstddef>

#include "driver/ioctls.h"
#include "driver/user_memory.h"

namespace halogen::driver {
namespace {

constexpr int kMostPriority = I915_CONTEXT_MAX_USER_PRIORITY;
constexpr size_t kMostEngines = 64;

std::optional<spec::EngineClass> class_of(uint16_t number) {
  switch (number) {
    case I915_ENGINE_CLASS_RENDER:
      return spec::EngineClass::render;
    case I915_ENGINE_CLASS_COPY:
      return spec::EngineClass::blit;
    case I915_ENGINE_CLASS_VIDEO:
      return spec::EngineClass::video;
    case I915_ENGINE_CLASS_VIDEO_ENHANCE:
      return spec::EngineClass::vebox;
    default:
      return std::nullopt;
  }
}

int set_engines(Call& call, Context& context, const drm_i915_gem_context_param& parameter) {
  if (parameter.size == 0) {
    context.has_engine_map = false;
    context.engines.clear();
    return 0;
  }
  constexpr size_t kHead = offsetof(i915_context_param_engines, engines);
  if (parameter.size < kHead || (parameter.size - kHead) % sizeof(i915_engine_class_instance) != 0) return -EINVAL;
  const size_t count = (parameter.size - kHead) / sizeof(i915_engine_class_instance);
  if (count > kMostEngines) return -EINVAL;
  const auto extensions = read_user<uint64_t>(parameter.value);
  const auto list = read_user_array<i915_engine_class_instance>(parameter.value + kHead, count);
  if (!extensions || !list) return -EFAULT;
  if (*extensions != 0) return -EINVAL;  // balanced and bonded engines are for parallel work
  std::vector<EngineQueue*> engines;
  for (const i915_engine_class_instance& each : *list) {
    if (each.engine_class == static_cast<uint16_t>(I915_ENGINE_CLASS_INVALID)) {
      engines.push_back(nullptr);
      continue;
    }
    const auto engine_class = class_of(each.engine_class);
    EngineQueue* const queue = engine_class ? call.kernel.gpu().find(*engine_class, each.engine_instance) : nullptr;
    if (queue == nullptr) return -ENOENT;
    engines.push_back(queue);
  }
  context.engines = std::move(engines);
  context.has_engine_map = true;
  return 0;
}

int set_parameter(Call& call, Context& context, const drm_i915_gem_context_param& parameter) {
  switch (parameter.param) {
    case I915_CONTEXT_PARAM_BAN_PERIOD:
      return -EINVAL;
    case I915_CONTEXT_PARAM_NO_ERROR_CAPTURE:
      return parameter.size != 0 ? -EINVAL : 0;
    case I915_CONTEXT_PARAM_BANNABLE:
      if (parameter.size != 0) return -EINVAL;
      context.bannable = parameter.value != 0;
      return 0;
    case I915_CONTEXT_PARAM_RECOVERABLE:
      if (parameter.size != 0) return -EINVAL;
      context.recoverable = parameter.value != 0;
      return 0;
    case I915_CONTEXT_PARAM_PRIORITY: {
      const auto priority = static_cast<int64_t>(parameter.value);
      if (parameter.size != 0 || priority > kMostPriority || priority < -kMostPriority) return -EINVAL;
      if (!call.kernel.gpu().hardware().has(spec::Feature::execlists)) return -ENODEV;
      context.priority = static_cast<int>(priority);
      return 0;
    }
    case I915_CONTEXT_PARAM_ENGINES:
      return set_engines(call, context, parameter);
    case I915_CONTEXT_PARAM_VM: {
      if (parameter.size != 0) return -EINVAL;
      const auto space = call.file.spaces.find(static_cast<uint32_t>(parameter.value));
      if (!space) return -ENOENT;
      if (!context.states.empty()) return -EINVAL;  // it has worked already
      context.space = space;
      return 0;
    }
    case I915_CONTEXT_PARAM_PERSISTENCE:
      return parameter.size != 0 ? -EINVAL : 0;
    default:
      return -EINVAL;
  }
}

}  // namespace

int create_context(Call& call, drm_i915_gem_context_create_ext& create) {
  constexpr uint32_t kKnown = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS | I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE;
  if ((create.flags & ~kKnown) != 0) return -EINVAL;
  const std::shared_ptr<Space>& shared = call.kernel.shared_space();
  const ContextRef context = call.kernel.make_context(shared ? shared : std::make_shared<Space>(call.kernel.gpu()));
  if ((create.flags & I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS) != 0) {
    constexpr int kMostExtensions = 512;
    uint64_t next = create.extensions;
    for (int count = 0; next != 0; ++count) {
      if (count == kMostExtensions) return -E2BIG;
      const auto extension = read_user<drm_i915_gem_context_create_ext_setparam>(next);
      if (!extension) return -EFAULT;
      if (extension->base.name != I915_CONTEXT_CREATE_EXT_SETPARAM || extension->base.flags != 0) return -EINVAL;
      if (extension->param.ctx_id != 0) return -EINVAL;
      const int result = set_parameter(call, *context, extension->param);
      if (result != 0) return result;
      next = extension->base.next_extension;
    }
  }
  create.ctx_id = call.file.contexts.add(context);
  return 0;
}

int destroy_context(Call& call, drm_i915_gem_context_destroy& destroy) {
  if (destroy.pad != 0) return -EINVAL;
  if (destroy.ctx_id == 0) return -ENOENT;  // the file's own stays
  return call.file.contexts.remove(destroy.ctx_id) ? 0 : -ENOENT;
}

int get_context_parameter(Call& call, drm_i915_gem_context_param& parameter) {
  const ContextRef context = call.file.contexts.find(parameter.ctx_id);
  if (!context) return -ENOENT;
  switch (parameter.param) {
    case I915_CONTEXT_PARAM_GTT_SIZE:
      parameter.value = context->space->size();
      break;
    case I915_CONTEXT_PARAM_NO_ERROR_CAPTURE:
      parameter.value = 0;
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
    case I915_CONTEXT_PARAM_VM:
      if (call.kernel.shared_space()) return -ENODEV;
      parameter.value = call.file.spaces.add(context->space);
      break;
    case I915_CONTEXT_PARAM_PERSISTENCE:
      parameter.value = 1;
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
  const ContextRef context = call.file.contexts.find(statistics.ctx_id);
  if (!context) return -ENOENT;
  statistics.reset_count = 0;  // of the whole device: for privileged callers
  statistics.batch_active = context->hung;
  statistics.batch_pending = context->lost;
  return 0;
}

int create_space(Call& call, drm_i915_gem_vm_control& control) {
  if (call.kernel.shared_space()) return -ENODEV;
  if (control.flags != 0 || control.extensions != 0) return -EINVAL;
  control.vm_id = call.file.spaces.add(std::make_shared<Space>(call.kernel.gpu()));
  return 0;
}

int destroy_space(Call& call, drm_i915_gem_vm_control& control) {
  if (control.flags != 0 || control.extensions != 0) return -EINVAL;
  return call.file.spaces.remove(control.vm_id) ? 0 : -ENOENT;
}

}  // namespace halogen::driver
