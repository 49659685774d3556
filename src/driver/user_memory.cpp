#include "driver/user_memory.h"

#include <sys/uio.h>
#include <unistd.h>

namespace halogen::driver {
namespace {

void* pointer_at(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

}  // namespace

bool read_user(uint64_t address, void* into, size_t bytes) {
  if (bytes == 0) return true;
  const iovec here{into, bytes};
  const iovec there{pointer_at(address), bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_user(uint64_t address, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  const iovec here{const_cast<void*>(from), bytes};
  const iovec there{pointer_at(address), bytes};
  return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace halogen::driver
