// Calls that convert between buffers and descriptors (PRIME).
#include <fcntl.h>

#include <cerrno>
#include <cstddef>

#include "base/exhaustion.h"
#include "driver/calls/ioctls.h"
#include "driver/gem/foreign_call.h"

namespace halogen::driver {

int export_buffer(Call& call, drm_prime_handle& prime) {
  if ((prime.flags & ~uint32_t{DRM_CLOEXEC | DRM_RDWR}) != 0) return -EINVAL;
  const BufferRef buffer = call.file.buffers.find(prime.handle);
  if (!buffer) return -ENOENT;
  call.file.remember(buffer, prime.handle);
  const int descriptor =
      call.driver.shared_buffers().create(buffer, (prime.flags & DRM_CLOEXEC) != 0, (prime.flags & DRM_RDWR) != 0);
  if (descriptor < 0) return descriptor;
  const int given = give_in_argument(descriptor, offsetof(drm_prime_handle, fd));
  if (given < 0) return given;
  prime.fd = given;
  return 0;
}

int import_buffer(Call& call, drm_prime_handle& prime) {
  BufferRef buffer;
  Hardware& hardware = call.driver.gpu().hardware();
  if (const int result = call.driver.shared_buffers().import(hardware, descriptor_of_program(prime.fd), buffer);
      result != 0) {
    return result;
  }
  if (const uint32_t known = call.file.handle_of(*buffer); known != 0) {
    prime.handle = known;
    return 0;
  }
  const uint32_t handle = call.file.buffers.add(buffer);
  const bool done = completes([&] { call.file.remember(buffer, handle); });
  if (!done) {
    call.file.buffers.remove(handle);
    return -ENOMEM;
  }
  prime.handle = handle;
  return 0;
}

}  // namespace halogen::driver
