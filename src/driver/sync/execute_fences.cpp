#include "driver/sync/execute_fences.h"

#include <cerrno>

#include "driver/calls/extensions.h"
#include "driver/gem/foreign_call.h"
#include "driver/gem/user_memory.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kMaxFences = (uint64_t{4} << 20) / 32;
constexpr uint64_t kUserEnd = 0x7fff'ffff'f000;  // end of user addresses
constexpr uint32_t kUnknownFlags = ~uint32_t{I915_EXEC_FENCE_WAIT | I915_EXEC_FENCE_SIGNAL};

// Returns 0, or the errno for a bad list of fences.
int check_size(uint64_t address, uint64_t count, size_t bytes) {
  if (address > kUserEnd || count > (kUserEnd - address) / bytes) return -EFAULT;
  return count > kMaxFences ? -ENOMEM : 0;
}

}  // namespace

int ExecuteFences::read(Call& call, const drm_i915_gem_execbuffer2& arguments) {
  if ((arguments.flags & I915_EXEC_USE_EXTENSIONS) != 0) {
    // The list and the array would use the same field.
    if ((arguments.flags & I915_EXEC_FENCE_ARRAY) != 0 || arguments.num_cliprects != 0) return -EINVAL;
    const int result = for_each_extension(arguments.cliprects_ptr, [&](uint32_t name, uint64_t address) {
      return name == DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES ? read_timelines(call, address) : -EINVAL;
    });
    if (result != 0) return result;
  }
  if ((arguments.flags & I915_EXEC_FENCE_ARRAY) != 0) {
    if (const int result = read_array(call, arguments); result != 0) return result;
  }
  constexpr uint64_t kIn = I915_EXEC_FENCE_IN | I915_EXEC_FENCE_SUBMIT;
  if ((arguments.flags & kIn) == 0) return 0;
  if ((arguments.flags & kIn) == kIn) return -EINVAL;
  const int number = static_cast<int>(arguments.rsvd2 & 0xffff'ffff);
  const std::optional<SyncFile> file = call.driver.sync_files().find(descriptor_of_program(number));
  if (!file) return -EINVAL;
  if ((arguments.flags & I915_EXEC_FENCE_SUBMIT) != 0) {
    partner_ = file->fence;
  } else {
    waits_.push_back(file->fence);
  }
  return 0;
}

int ExecuteFences::read_array(Call& call, const drm_i915_gem_execbuffer2& arguments) {
  if (arguments.num_cliprects == 0) return 0;
  const int size = check_size(arguments.cliprects_ptr, arguments.num_cliprects, sizeof(drm_i915_gem_exec_fence));
  if (size != 0) return size;
  const auto list = read_user_array<drm_i915_gem_exec_fence>(arguments.cliprects_ptr, arguments.num_cliprects);
  if (!list) return -EFAULT;
  for (const drm_i915_gem_exec_fence& each : *list) {
    if ((each.flags & kUnknownFlags) != 0) return -EINVAL;
    const SyncObjectRef object = call.file.sync_objects.find(each.handle);
    if (!object) return -ENOENT;
    if ((each.flags & I915_EXEC_FENCE_WAIT) != 0) {
      if (!object->fence()) return -EINVAL;
      waits_.push_back(object->fence());
    }
    if ((each.flags & I915_EXEC_FENCE_SIGNAL) != 0) targets_.push_back({object});
  }
  return 0;
}

int ExecuteFences::read_timelines(Call& call, uint64_t extension) {
  const auto timelines = read_user<drm_i915_gem_execbuffer_ext_timeline_fences>(extension);
  if (!timelines) return -EFAULT;
  const uint64_t count = timelines->fence_count;
  if (count == 0) return 0;
  if (count > ~uint64_t{0} / 32) return -EINVAL;
  for (const uint64_t address : {timelines->handles_ptr, timelines->values_ptr}) {
    if (const int result = check_size(address, count, sizeof(uint64_t)); result != 0) return result;
  }
  const auto list = read_user_array<drm_i915_gem_exec_fence>(timelines->handles_ptr, timelines->fence_count);
  const auto points = read_user_array<uint64_t>(timelines->values_ptr, timelines->fence_count);
  if (!list || !points) return -EFAULT;
  NamedTimelines named;
  for (size_t i = 0; i < list->size(); ++i) {
    const drm_i915_gem_exec_fence& each = (*list)[i];
    const uint64_t point = (*points)[i];
    if ((each.flags & kUnknownFlags) != 0) return -EINVAL;
    const SyncObjectRef object = call.file.sync_objects.find(each.handle);
    if (!object) return -ENOENT;
    const bool fills = (each.flags & I915_EXEC_FENCE_SIGNAL) != 0;
    TimelineIndex& timeline = named.of(object);
    if (each.flags != 0 && !fills && !timeline.top()) return -EINVAL;
    FenceRef fence = timeline.find(point);
    if (timeline.top() && !fence) {
      if (!fills) return -EINVAL;  // nothing has promised this point
      fence = timeline.top();      // a new point comes after the existing ones
    }
    if (fills && point != 0 && (each.flags & I915_EXEC_FENCE_WAIT) != 0) return -EINVAL;
    if (fence) waits_.push_back(std::move(fence));
    if (fills) targets_.push_back({object, point});
  }
  return 0;
}

void ExecuteFences::hold(Request& request, OpenFences& waits) const {
  for (const FenceRef& fence : waits_) waits.add(fence);
  if (!partner_) return;
  OpenFences single(request.timeline);
  single.add(partner_);
  for (const FenceRef& fence : single.take()) {
    if (auto other = std::dynamic_pointer_cast<Request>(fence)) {
      request.partners.push_back(std::move(other));
    } else {
      waits.add(fence);
    }
  }
}

void ExecuteFences::fill(const FenceRef& done) const {
  for (const Target& target : targets_) {
    if (target.point != 0) {
      target.object->add_point(done, target.point);
    } else {
      target.object->set(done);
    }
  }
}

}  // namespace halogen::driver
