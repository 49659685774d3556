#include "driver/gem/user_memory.h"

#include <link.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "driver/gem/foreign_call.h"
#include "driver/gem/user_rights.h"

namespace halogen::driver {
namespace {

// Bounds of all ranges of the process whose access rights were reduced.
std::atomic<uint64_t> lost_start = ~uint64_t{0}, lost_end = 0;

void* pointer_at(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr): of an ioctl
}

// Returns whether the program has not reduced the rights there.
bool has_all_rights(uint64_t address, size_t bytes) {
  return address >= lost_end.load(std::memory_order_relaxed) ||
         address + bytes <= lost_start.load(std::memory_order_relaxed);
}

// Returns whether the range lies on the calling thread's stack, above this call. Such memory exists unless the program
// reduced its rights, and most arguments of calls lie there.
bool on_own_stack(uint64_t address, size_t bytes) {
  struct Stack {
    uint64_t start = 0, end = 0;
  };
  static thread_local const Stack stack = [] {
    Stack found;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return found;
    void* start = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
      found.start = reinterpret_cast<uintptr_t>(start);
      found.end = found.start + size;
    }
    pthread_attr_destroy(&attributes);
    return found;
  }();
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;  // an array may be shorter than the program says, so the sanitizer must not see the copy
#endif
#endif
  const uint64_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here < stack.start || here >= stack.end) return false;  // a program that switches stacks itself
  if (address < here || address >= stack.end || bytes > stack.end - address) return false;
  return has_all_rights(address, bytes);
}

struct Range {
  uint64_t start = 0, end = 0;
  bool holds(uint64_t address, size_t bytes) const {
    return address >= start && address < end && bytes <= end - address;
  }
  bool touches(uint64_t address, uint64_t bytes) const { return address < end && start < address + bytes; }
};

// Returns the range of the program's own variables, which always exist.
const Range& program_variables() {
  static const Range found = [] {
    Range range;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* into) {
          Range& result = *static_cast<Range*>(into);
          for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
            const auto& part = info->dlpi_phdr[i];
            const uint64_t start = info->dlpi_addr + part.p_vaddr;
            constexpr unsigned kBoth = PF_R | PF_W;
            if (part.p_type == PT_LOAD && (part.p_flags & kBoth) == kBoth) result = {start, start + part.p_memsz};
          }
          for (unsigned i = 0; i < info->dlpi_phnum; ++i) {  // PT_GNU_RELRO is read-only
            const auto& part = info->dlpi_phdr[i];
            const uint64_t end = (info->dlpi_addr + part.p_vaddr + part.p_memsz + 4095) / 4096 * 4096;
            if (part.p_type == PT_GNU_RELRO) result.start = std::max(result.start, end);
          }
          return 1;  // stop after the first entry, which is the program
        },
        &range);
    return range;
  }();
  return found;
}

// Returns the present extent of the C library's main heap.
Range first_heap() {
  static const uint64_t start = [] {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.ends_with("[heap]")) return std::strtoull(line.c_str(), nullptr, 16);
    }
    return ~0ull;
  }();
  return {start, reinterpret_cast<uintptr_t>(sbrk(0))};
}

// Returns whether the memory can be accessed without asking the host.
bool is_certain(uint64_t address, size_t bytes) {
  if (on_own_stack(address, bytes)) return true;
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;
#endif
#endif
  if (!has_all_rights(address, bytes)) return false;
  return program_variables().holds(address, bytes) || first_heap().holds(address, bytes);
}

// Checks a range against the list of mappings.
bool has_rights_to(uint64_t address, uint64_t bytes, bool write) {
  std::ifstream maps("/proc/self/maps");
  const uint64_t end = address + bytes;
  uint64_t covered = address;  // accessible up to here
  for (std::string line; covered < end && std::getline(maps, line);) {
    uint64_t first = 0, last = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &first, &last, rights) != 3) continue;
    if (last <= covered) continue;
    if (first > covered || rights[0] != 'r' || (write && rights[1] != 'w')) return false;
    covered = last;
  }
  return covered >= end;
}

// Returns whether the calling thread has the capability now.
bool has_capability(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capget, &header, data) == 0 &&
         (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

bool has_rights() {
  return has_capability(CAP_SYS_ADMIN);
}

}  // namespace

bool can_read_user(uint64_t address, uint64_t bytes) {
  if (ForeignCall* const call = ForeignCall::current()) return call->has(address, bytes);
  return is_user_range(address, bytes);
}

bool read_user(uint64_t address, void* into, size_t bytes) {
  if (bytes == 0) return true;
  if (ForeignCall* const call = ForeignCall::current()) return call->read(address, into, bytes);
  if (is_certain(address, bytes)) {
    std::memcpy(into, pointer_at(address), bytes);
    return true;
  }
  const iovec here{into, bytes};
  const iovec there{pointer_at(address), bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_user(uint64_t address, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  if (ForeignCall* const call = ForeignCall::current()) return call->write(address, from, bytes);
  if (is_certain(address, bytes)) {
    std::memcpy(pointer_at(address), from, bytes);
    return true;
  }
  const iovec here{const_cast<void*>(from), bytes};
  const iovec there{pointer_at(address), bytes};
  return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_unsure(uint64_t address, const void* from, size_t bytes) {
  const iovec here{const_cast<void*>(from), bytes};
  const iovec there{pointer_at(address), bytes};
  return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool is_user_mapped(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kPage = 4096, kTogether = 1 << 16;
  std::vector<unsigned char> resident(std::min(kTogether, bytes / kPage));
  for (uint64_t done = 0; done < bytes; done += kTogether * kPage) {
    if (mincore(pointer_at(address + done), std::min(bytes - done, kTogether * kPage), resident.data()) != 0) {
      return false;
    }
  }
  return true;
}

// Reads a byte of each page, because a mapping may extend beyond the end of its file.
static bool can_be_touched(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  std::array<iovec, 512> there;
  std::array<char, there.size()> here;
  for (uint64_t done = 0; done < bytes;) {
    size_t count = 0;
    for (; count < there.size() && done < bytes; done += kPage) there[count++] = {pointer_at(address + done), 1};
    const iovec into{here.data(), count};
    if (process_vm_readv(getpid(), &into, 1, there.data(), count, 0) != static_cast<ssize_t>(count)) return false;
  }
  return true;
}

void lose_user_memory(uint64_t address, uint64_t bytes) {
  if (program_variables().touches(address, bytes) || first_heap().touches(address, bytes)) {
    lose_user_rights(address, bytes);
  }
}

void lose_user_rights(uint64_t address, uint64_t bytes) {
  uint64_t start = lost_start.load(), end = lost_end.load();
  while (address < start && !lost_start.compare_exchange_weak(start, address)) continue;
  while (address + bytes > end && !lost_end.compare_exchange_weak(end, address + bytes)) continue;
}

// Lets the host fault in all pages, as i915 does. Fails for a hole, a missing right or a truncated file.
bool can_use_user(uint64_t address, uint64_t bytes, bool write) {
  int result = 0;
  do {
    result = madvise(pointer_at(address), bytes, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  // EINVAL is also the answer of Linux before 5.14, which lacks this operation.
  return errno == EINVAL && has_rights_to(address, bytes, write) && can_be_touched(address, bytes);
}

bool is_user_range(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kEnd = (uint64_t{1} << 47) - 4096;
  return address <= kEnd && bytes <= kEnd - address;
}

pid_t user_process() {
  const ForeignCall* const call = ForeignCall::current();
  return call != nullptr ? call->caller().process() : getpid();
}

bool is_own_process() {
  return ForeignCall::current() == nullptr;
}

// Returns whether the program may administrate. It may have dropped its rights since it opened the device.
bool may_administrate() {
  if (const ForeignCall* const call = ForeignCall::current()) return call->caller().may_administrate();
  static const bool had = has_rights();
  return !had || has_rights();
}

bool may_monitor() {
  if (const ForeignCall* const call = ForeignCall::current()) return call->caller().may_administrate();
  return has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
}

bool read_user_to_file(uint64_t address, int descriptor, uint64_t offset, size_t bytes) {
  if (!is_own_process()) return false;
  for (size_t done = 0; done < bytes;) {
    const ssize_t part =
        // The host checks the pointer, so a sanitizer must not check it first.
        syscall(SYS_pwrite64, descriptor, pointer_at(address + done), bytes - done, static_cast<off_t>(offset + done));
    if (part <= 0) return false;
    done += static_cast<size_t>(part);
  }
  return true;
}

bool write_user_from_file(uint64_t address, int descriptor, uint64_t offset, size_t bytes) {
  if (!is_own_process()) return false;
  for (size_t done = 0; done < bytes;) {
    const ssize_t part =
        syscall(SYS_pread64, descriptor, pointer_at(address + done), bytes - done, static_cast<off_t>(offset + done));
    if (part <= 0) return false;
    done += static_cast<size_t>(part);
  }
  return true;
}

}  // namespace halogen::driver
