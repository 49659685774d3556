// ioctl(2) and mmap(2) on nodes, and the end of the process.
#include <libdrm/drm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "descriptors.h"
#include "door.h"
#include "monitor.h"
#include "next.h"
#include "polling.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::shim::Door;
using halogen::shim::is_ours;
using halogen::shim::LeavingGuard;
using halogen::shim::make_room;
using halogen::shim::Monitor;
using halogen::shim::Node;
using halogen::shim::Paths;
using halogen::shim::UnmapGuard;

namespace {

constexpr unsigned kSyncFileType = '>';
constexpr unsigned kDmaBufType = 'b';
constexpr unsigned kStreamType = 'i';
constexpr unsigned kEventType = '$';

int answer(int result) {
  if (result >= 0) return result;
  errno = -result;
  return -1;
}

void* map(const void* caller, void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  const auto real = HALOGEN_NEXT(void*(void*, size_t, int, int, int, off_t), "mmap");
  if (is_ours(caller)) return real(address, bytes, protection, flags, descriptor, offset);
  std::optional<UnmapGuard> guard;
  if ((flags & MAP_FIXED) != 0) guard.emplace(address, bytes);
  if (descriptor < 0 || (flags & MAP_ANONYMOUS) != 0) {
    return real(address, bytes, protection, flags, descriptor, offset);
  }
  if (halogen::shim::mark_of(descriptor) == halogen::shim::kEventMark) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  if (Door* const door = Door::get()) {
    if (const std::shared_ptr<Node> node = door->find(descriptor)) {
      return door->map(descriptor, *node, address, bytes, protection, flags, static_cast<uint64_t>(offset));
    }
    const std::optional<int> wrong = Door::check_shared_map(descriptor, bytes, static_cast<uint64_t>(offset));
    if (wrong && *wrong != 0) {
      errno = *wrong;
      return MAP_FAILED;
    }
  }
  return real(address, bytes, protection, flags, descriptor, offset);
}

void finish() {
  if (Door* const door = Door::get()) door->write_report();
  if (Paths* const paths = Paths::get()) paths->leave_tree();
}

__attribute__((constructor)) void start() {
  if (Paths* const paths = Paths::get()) {
    paths->root();
    make_room();
  }
}
__attribute__((destructor)) void stop() {
  finish();
}

}  // namespace

HALOGEN_EXPORT int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  const unsigned type = _IOC_TYPE(request);
  if (type == kEventType && halogen::shim::mark_of(descriptor) == halogen::shim::kEventMark) {
    Monitor* const monitor = Monitor::get();
    return answer(
        monitor == nullptr ? -EIO : monitor->control_event(descriptor, request, reinterpret_cast<uintptr_t>(argument)));
  }
  if (type == DRM_IOCTL_BASE || type == kSyncFileType || type == kDmaBufType ||
      (type == kStreamType && halogen::shim::mark_of(descriptor) == halogen::driver::kStreamMark)) {
    if (Door* const door = Door::get()) {
      const auto value = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(argument));
      if (const std::shared_ptr<Node> node = door->find(descriptor)) {
        return answer(door->ioctl(descriptor, *node, request, value));
      }
      if (const std::optional<int> result = door->other_ioctl(descriptor, request, value)) return answer(*result);
    }
  }
  return HALOGEN_NEXT(int(int, unsigned long, ...), "ioctl")(descriptor, request, argument);
}

HALOGEN_EXPORT void* mmap(void* address, size_t bytes, int protection, int flags, int descriptor,
                          off_t offset) noexcept {
  return map(__builtin_return_address(0), address, bytes, protection, flags, descriptor, offset);
}
HALOGEN_EXPORT void* mmap64(void* address, size_t bytes, int protection, int flags, int descriptor,
                            off64_t offset) noexcept {
  return map(__builtin_return_address(0), address, bytes, protection, flags, descriptor, offset);
}

HALOGEN_EXPORT int munmap(void* address, size_t bytes) noexcept {
  const auto real = HALOGEN_NEXT(int(void*, size_t), "munmap");
  if (is_ours(__builtin_return_address(0)) || reinterpret_cast<uintptr_t>(address) % 4096 != 0 || bytes == 0) {
    return real(address, bytes);
  }
  const UnmapGuard guard(address, bytes);
  return real(address, bytes);
}
// Waits for work on the memory, as i915 makes Linux wait.
HALOGEN_EXPORT int mprotect(void* address, size_t bytes, int protection) noexcept {
  constexpr int kAll = PROT_READ | PROT_WRITE;
  std::optional<LeavingGuard> leaving;
  if ((protection & kAll) != kAll && !is_ours(__builtin_return_address(0))) {
    leaving.emplace(address, bytes);
    Door::on_rights_reduced(address, bytes);
  }
  return HALOGEN_NEXT(int(void*, size_t, int), "mprotect")(address, bytes, protection);
}
HALOGEN_EXPORT void* mremap(void* address, size_t bytes, size_t new_bytes, int flags, ...) noexcept {
  va_list list;
  va_start(list, flags);
  void* const place = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void*) : nullptr;
  va_end(list);
  const auto real = HALOGEN_NEXT(void*(void*, size_t, size_t, int, ...), "mremap");
  // Memory after the buffer may belong to other mappings. A length of zero maps the same memory once more.
  if (new_bytes > bytes && Door::is_mapping(address, std::max<size_t>(bytes, 1))) {
    errno = EFAULT;
    return MAP_FAILED;
  }
  UnmapGuard guard(address, bytes);  // the library itself never calls mremap
  std::optional<UnmapGuard> other;
  if (place != nullptr) other.emplace(place, new_bytes);
  void* const result = real(address, bytes, new_bytes, flags, place);
  if (result == MAP_FAILED) {
    guard.move_to(address, bytes);
    if (other) other->move_to(place, new_bytes);
  } else {
    guard.move_to(result, new_bytes);
  }
  return result;
}

HALOGEN_EXPORT void _exit(int status) {
  finish();
  HALOGEN_NEXT(void(int), "_exit")(status);
  __builtin_unreachable();
}
HALOGEN_EXPORT void _Exit(int status) noexcept {
  finish();
  HALOGEN_NEXT(void(int), "_Exit")(status);
  __builtin_unreachable();
}
