// Calls on sync objects.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "driver/calls/ioctls.h"
#include "driver/gem/foreign_call.h"
#include "driver/gem/user_memory.h"

namespace halogen::driver {
namespace {

constexpr size_t kMaxBytes = size_t{4} << 20;  // longest list of a program
constexpr unsigned kPointsTogether = 8;        // finding a point takes as long as its timeline
constexpr unsigned kChangesTogether = 64;      // each may lock a file and wake other processes
constexpr auto kSubmitTimeout = std::chrono::seconds(5);

using Objects = std::vector<SyncObjectRef>;

int find_objects(Call& call, uint64_t handles, uint32_t count, Objects& into) {
  if (count > kMaxBytes / sizeof(SyncObjectRef)) return -ENOMEM;
  const auto list = read_user_array<uint32_t>(handles, count);
  if (!list) return -EFAULT;
  for (const uint32_t handle : *list) {
    into.push_back(call.file.sync_objects.find(handle));
    if (!into.back()) return -ENOENT;
  }
  return 0;
}

// Reads an optional list of points.
std::optional<std::vector<uint64_t>> read_points(uint64_t address, uint32_t count) {
  if (address == 0) return std::vector<uint64_t>(count);
  return read_user_array<uint64_t>(address, count);
}

// Changes the objects of a list. A point must not be added twice, so a signal does not end the loop.
template <class Change>
int change_each(Call& call, size_t count, const Change& change) {
  LongLoop loop(call, kChangesTogether, LongLoop::Signals::wait);
  for (size_t i = 0; i < count; ++i) {
    if (const int result = loop.next(); result != 0) return result;
    change(i);
  }
  return 0;
}

struct Waiting {
  uint64_t handles;
  uint32_t count;
  uint64_t points;
  uint32_t flags;
  int64_t timeout;  // absolute
};

int wait_for_objects(Call& call, const Waiting& waiting, uint32_t& first_signalled) {
  if (waiting.count == 0) return -EINVAL;
  Objects objects;
  if (const int result = find_objects(call, waiting.handles, waiting.count, objects); result != 0) return result;
  const auto points = read_points(waiting.points, waiting.count);
  if (!points) return -EFAULT;
  const bool available = (waiting.flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE) != 0;
  const bool all = (waiting.flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL) != 0;
  const bool later = available || (waiting.flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) != 0;
  // Waits for the fences that the objects hold now, even if the objects change later.
  std::vector<FenceRef> fences(objects.size());
  const auto there = [&](size_t i) {
    if (!fences[i]) fences[i] = objects[i]->find((*points)[i]);
    return fences[i] && (available || fences[i]->done);
  };
  uint32_t first = ~0u;
  size_t count = 0;
  LongLoop loop(call, kPointsTogether);
  NamedTimelines named;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (const int result = loop.next(); result != 0) return result;
    fences[i] = named.of(objects[i]).find((*points)[i]);
    if (there(i)) {
      if (count++ == 0) first = static_cast<uint32_t>(i);
    } else if (!fences[i] && !later) {
      return -EINVAL;
    }
  }
  if (count < objects.size() && (all || count == 0)) {
    const auto enough = [&] {
      size_t now = 0;
      for (size_t i = 0; i < objects.size(); ++i) {
        if (!there(i)) continue;
        if (!all) {
          first = static_cast<uint32_t>(i);
          return true;
        }
        ++now;
      }
      return now == objects.size();
    };
    const Driver::Clock::time_point end{std::chrono::nanoseconds(waiting.timeout)};
    if (const int result = call.driver.wait_call(call.lock, enough, end); result != 0) return result;
  }
  first_signalled = first;
  return 0;
}

// Finds the fence of a point. With WAIT_FOR_SUBMIT, waits until it is promised.
int find_fence(Call& call, uint32_t handle, uint64_t point, uint32_t flags, FenceRef& fence) {
  const SyncObjectRef object = call.file.sync_objects.find(handle);
  if (!object) return -ENOENT;
  const auto promised = [&] {
    fence = object->find(point);
    return fence != nullptr;
  };
  if (promised()) return 0;
  if ((flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) == 0) return -EINVAL;  // other flags are ignored
  return call.driver.wait_call(call.lock, promised, Driver::Clock::now() + kSubmitTimeout);
}

}  // namespace

int create_sync_object(Call& call, drm_syncobj_create& create) {
  if ((create.flags & ~uint32_t{DRM_SYNCOBJ_CREATE_SIGNALED}) != 0) return -EINVAL;
  auto object = std::make_shared<SyncObject>();
  if (create.flags != 0) object->set(signalled_fence());
  create.handle = call.file.sync_objects.add(std::move(object));
  return 0;
}

int destroy_sync_object(Call& call, drm_syncobj_destroy& destroy) {
  if (destroy.pad != 0) return -EINVAL;
  return call.file.sync_objects.remove(destroy.handle) ? 0 : -EINVAL;
}

int export_sync_object(Call& call, drm_syncobj_handle& handle) {
  if (handle.pad != 0) return -EINVAL;
  if ((handle.flags & ~uint32_t{DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE}) != 0) return -EINVAL;
  int descriptor = -1;
  if (handle.flags != 0) {
    FenceRef fence;
    if (const int result = find_fence(call, handle.handle, 0, 0, fence); result != 0) return result;
    descriptor = call.driver.sync_files().create(fence);
  } else {
    const SyncObjectRef object = call.file.sync_objects.find(handle.handle);
    if (!object) return -EINVAL;
    descriptor = call.driver.sync_object_files().create(object);
    call.driver.listen();
  }
  const int given = give_in_argument(descriptor, offsetof(drm_syncobj_handle, fd));
  if (given < 0) return given;
  handle.fd = given;
  return 0;
}

int import_sync_object(Call& call, drm_syncobj_handle& handle) {
  if (handle.pad != 0) return -EINVAL;
  if ((handle.flags & ~uint32_t{DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE}) != 0) return -EINVAL;
  if (handle.flags != 0) {
    const std::optional<SyncFile> file = call.driver.sync_files().find(descriptor_of_program(handle.fd));
    if (!file) return -EINVAL;
    const SyncObjectRef object = call.file.sync_objects.find(handle.handle);
    if (!object) return -ENOENT;
    object->set(file->fence);
    return 0;
  }
  SyncObjectRef object = call.driver.sync_object_files().find(descriptor_of_program(handle.fd));
  if (!object) return -EINVAL;
  call.driver.listen();
  handle.handle = call.file.sync_objects.add(std::move(object));
  return 0;
}

int wait_sync_objects(Call& call, drm_syncobj_wait& wait) {
  constexpr uint32_t kKnown = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  if ((wait.flags & ~kKnown) != 0 || wait.count_handles == 0) return -EINVAL;
  const Waiting waiting{wait.handles, wait.count_handles, 0, wait.flags, wait.timeout_nsec};
  return wait_for_objects(call, waiting, wait.first_signaled);
}

int wait_timelines(Call& call, drm_syncobj_timeline_wait& wait) {
  constexpr uint32_t kKnown =
      DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  if ((wait.flags & ~kKnown) != 0 || wait.count_handles == 0) return -EINVAL;
  const Waiting waiting{wait.handles, wait.count_handles, wait.points, wait.flags, wait.timeout_nsec};
  return wait_for_objects(call, waiting, wait.first_signaled);
}

int reset_sync_objects(Call& call, drm_syncobj_array& array) {
  if (array.pad != 0 || array.count_handles == 0) return -EINVAL;
  Objects objects;
  if (const int result = find_objects(call, array.handles, array.count_handles, objects); result != 0) return result;
  return change_each(call, objects.size(), [&](size_t i) { objects[i]->set(nullptr); });
}

int signal_sync_objects(Call& call, drm_syncobj_array& array) {
  if (array.pad != 0 || array.count_handles == 0) return -EINVAL;
  Objects objects;
  if (const int result = find_objects(call, array.handles, array.count_handles, objects); result != 0) return result;
  return change_each(call, objects.size(), [&](size_t i) { objects[i]->set(signalled_fence()); });
}

int signal_timelines(Call& call, drm_syncobj_timeline_array& array) {
  if (array.flags != 0 || array.count_handles == 0) return -EINVAL;
  Objects objects;
  if (const int result = find_objects(call, array.handles, array.count_handles, objects); result != 0) return result;
  const auto points = read_points(array.points, array.count_handles);
  if (!points) return -EFAULT;
  return change_each(call, objects.size(), [&](size_t i) { objects[i]->add_point(signalled_fence(), (*points)[i]); });
}

int query_timelines(Call& call, drm_syncobj_timeline_array& array) {
  if ((array.flags & ~uint32_t{DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED}) != 0) return -EINVAL;
  if (array.count_handles == 0) return -EINVAL;
  Objects objects;
  if (const int result = find_objects(call, array.handles, array.count_handles, objects); result != 0) return result;
  std::vector<uint64_t> points;
  LongLoop loop(call, kPointsTogether);
  for (const SyncObjectRef& object : objects) {
    if (const int result = loop.next(); result != 0) return result;
    const auto* const last = dynamic_cast<const TimelinePoint*>(object->fence().get());
    if (last == nullptr) {
      points.push_back(0);
    } else {
      points.push_back(array.flags != 0 ? last->point() : last->payload());
    }
  }
  return write_user(array.points, points.data(), points.size() * sizeof points[0]) ? 0 : -EFAULT;
}

int transfer_sync_object(Call& call, drm_syncobj_transfer& transfer) {
  if (transfer.pad != 0) return -EINVAL;
  const SyncObjectRef into = call.file.sync_objects.find(transfer.dst_handle);
  if (!into) return -ENOENT;
  FenceRef fence;
  if (const int result = find_fence(call, transfer.src_handle, transfer.src_point, transfer.flags, fence);
      result != 0) {
    return result;
  }
  if (transfer.dst_point != 0) {
    into->add_point(all_of({fence}), transfer.dst_point);
  } else {
    into->set(fence);
  }
  return 0;
}

}  // namespace halogen::driver
