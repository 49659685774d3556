// Calls that map memory: fake offsets for mmap(2), GEM_MMAP, and buffers over the program's own memory (USERPTR).
#include <sys/mman.h>

#include <cerrno>

#include "driver/calls/extensions.h"
#include "driver/calls/ioctls.h"
#include "driver/gem/user_memory.h"
#include "spec/interface_model.h"

namespace halogen::driver {

// MMAP_GTT is the same call without flags. All kinds of mapping show the same memory; through the aperture tiled
// buffers look linear.
int map_offset(Call& call, drm_i915_gem_mmap_offset& map) {
  Hardware& hardware = call.driver.gpu().hardware();
  const int read = for_each_extension(map.extensions, [](uint32_t, uint64_t) { return -EINVAL; });
  if (read != 0) return read;
  switch (map.flags) {
    case I915_MMAP_OFFSET_GTT:
      if (hardware.aperture_bytes() == 0) return -ENODEV;
      break;
    case I915_MMAP_OFFSET_WC:
    case I915_MMAP_OFFSET_WB:
    case I915_MMAP_OFFSET_UC:
    case I915_MMAP_OFFSET_FIXED:
      break;
    default:
      return -EINVAL;
  }
  const BufferRef buffer = call.file.buffers.find(map.handle);
  if (!buffer) return -ENOENT;
  if (buffer->is_of_program()) return -ENODEV;
  // If the buffer's placement decides the caching, only the fixed kind exists.
  const bool fixed = spec::interface_of(hardware.model().id).caching_by_placement;
  if ((map.flags == I915_MMAP_OFFSET_FIXED) != fixed) return -ENODEV;
  map.offset = call.driver.offset_of(buffer, map.flags == I915_MMAP_OFFSET_GTT);
  return 0;
}

int find_mapping(Buffer& buffer, uint64_t offset, uint64_t bytes, Mapping& mapping) {
  if (buffer.is_of_program()) return -ENXIO;
  if (offset > buffer.size() || bytes > buffer.size() - offset) return -EINVAL;
  if (bytes == 0 || offset % kPageBytes != 0) return -EINVAL;
  if (!buffer.need_content()) return -ENOMEM;
  mapping = {.descriptor = buffer.descriptor(), .offset = buffer.offset() + offset};
  return 0;
}

int map_now(Call& call, drm_i915_gem_mmap& map) {
  if (!spec::interface_of(call.driver.model().id).processor_copies) return -EOPNOTSUPP;
  if ((map.flags & ~uint64_t{I915_MMAP_WC}) != 0) return -EINVAL;
  const BufferRef buffer = call.file.buffers.find(map.handle);
  if (!buffer) return -ENOENT;
  if (!is_own_process()) return -ENODEV;  // the front end maps instead (Driver::map_buffer)
  Mapping mapping;
  if (const int result = find_mapping(*buffer, map.offset, map.size, mapping); result != 0) return result;
  const void* const place =
      call.driver.map_buffer_here(buffer, mapping, nullptr, map.size, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (place == MAP_FAILED) return -errno;
  map.addr_ptr = reinterpret_cast<uintptr_t>(place);
  return 0;
}

int adopt_memory(Call& call, drm_i915_gem_userptr& user) {
  const spec::InterfaceModel& chip = spec::interface_of(call.driver.model().id);
  constexpr uint32_t kKnown = I915_USERPTR_READ_ONLY | I915_USERPTR_PROBE | I915_USERPTR_UNSYNCHRONIZED;
  if (!chip.llc && !chip.snoop) return -ENODEV;
  if ((user.flags & ~kKnown) != 0) return -EINVAL;
  if (user.user_size / kPageBytes > INT32_MAX) return -E2BIG;
  if (user.user_size == 0 || (user.user_ptr | user.user_size) % kPageBytes != 0) return -EINVAL;
  if (!is_user_range(user.user_ptr, user.user_size)) return -EFAULT;
  if ((user.flags & I915_USERPTR_UNSYNCHRONIZED) != 0) return -ENODEV;
  const bool read_only = (user.flags & I915_USERPTR_READ_ONLY) != 0;
  if (read_only && !chip.read_only_pages) return -ENODEV;
  if (!is_own_process()) return -ENODEV;  // the device runs in this process
  if ((user.flags & I915_USERPTR_PROBE) != 0) {
    if (!is_user_mapped(user.user_ptr, user.user_size)) return -EFAULT;
    if (call.driver.is_mapping(user.user_ptr, user.user_size)) return -EFAULT;  // has no pages that USERPTR could use
  }
  const BufferRef buffer = Buffer::of_program(call.driver.gpu().hardware(), user.user_ptr, user.user_size, read_only);
  call.driver.add_program_buffer(buffer);
  user.handle = call.file.buffers.add(buffer);
  return 0;
}

}  // namespace halogen::driver
