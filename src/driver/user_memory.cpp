#include "driver/user_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <utility>

namespace halogen::driver {
namespace {

thread_local pid_t other_process = 0;

pid_t process() {
  return other_process != 0 ? other_process : getpid();
}

void* pointer_at(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

}  // namespace

UserProcess::UserProcess(pid_t process) : before_(std::exchange(other_process, process)) {}
UserProcess::~UserProcess() {
  other_process = before_;
}

bool read_user(uint64_t address, void* into, size_t bytes) {
  if (bytes == 0) return true;
  const iovec here{into, bytes};
  const iovec there{pointer_at(address), bytes};
  return process_vm_readv(process(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_user(uint64_t address, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  const iovec here{const_cast<void*>(from), bytes};
  const iovec there{pointer_at(address), bytes};
  return process_vm_writev(process(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace halogen::driver
