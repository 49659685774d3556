#include "support/host_faults.h"

#include <sys/mman.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

namespace halogen::test {
namespace {

thread_local bool enclosed = false;
thread_local HostCall kind = HostCall::memory;
thread_local uint64_t due = HostFaults::kNever;
thread_local uint64_t count = 0;
thread_local bool all_later = false;
thread_local bool has_failed = false;

bool fails(HostCall call) {
  if (!enclosed || call != kind) return false;
  ++count;
  if (count < due || (count > due && !all_later)) return false;
  has_failed = true;
  return true;
}

void* allocate(size_t bytes) {
  if (!fails(HostCall::memory)) {
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  }
  throw std::bad_alloc();
}

void* allocate(size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  if (!fails(HostCall::memory)) {
    if (void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

const char* name_of(HostCall call) {
  constexpr const char* kNames[] = {"memory", "mapping", "file", "thread"};
  return kNames[static_cast<size_t>(call)];
}

HostFaults::HostFaults(HostCall call, uint64_t n, bool then_all) {
  kind = call;
  due = n;
  count = 0;
  all_later = then_all;
  has_failed = false;
}
HostFaults::~HostFaults() {
  due = kNever;
}
uint64_t HostFaults::counted() const {
  return count;
}
bool HostFaults::failed() const {
  return has_failed;
}
HostFaults::Enclosed::Enclosed() {
  enclosed = true;
}
HostFaults::Enclosed::~Enclosed() {
  enclosed = false;
}

}  // namespace halogen::test

// Returns AddressSanitizer's options. An allocation that is too large fails, as without the sanitizer, and memory of
// libraries, which have the sanitizer's own operator new, may be released by the operator delete below.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" const char* __asan_default_options();
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:alloc_dealloc_mismatch=0";
}

void* operator new(size_t bytes) {
  return halogen::test::allocate(bytes);
}
void* operator new[](size_t bytes) {
  return halogen::test::allocate(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return halogen::test::allocate(bytes, alignment);
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return halogen::test::allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

// The linker sends the calls of these functions here (option --wrap).
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real_mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __real_memfd_create(const char* name, unsigned flags);
int __real_pipe2(int* ends, int flags);
int __real_eventfd(unsigned value, int flags);
int __real_fallocate(int descriptor, int mode, off_t offset, off_t bytes);
int __real_ftruncate(int descriptor, off_t bytes);
// std::thread::_M_start_thread
void __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(void* thread,
                                                                                                  void* state,
                                                                                                  void (*depend)());

void* __wrap_mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  if (!halogen::test::fails(halogen::test::HostCall::mapping)) {
    return __real_mmap(address, bytes, protection, flags, descriptor, offset);
  }
  errno = ENOMEM;
  return MAP_FAILED;
}
int __wrap_memfd_create(const char* name, unsigned flags) {
  if (!halogen::test::fails(halogen::test::HostCall::file)) return __real_memfd_create(name, flags);
  errno = EMFILE;
  return -1;
}
int __wrap_pipe2(int* ends, int flags) {
  if (!halogen::test::fails(halogen::test::HostCall::file)) return __real_pipe2(ends, flags);
  errno = EMFILE;
  return -1;
}
int __wrap_eventfd(unsigned value, int flags) {
  if (!halogen::test::fails(halogen::test::HostCall::file)) return __real_eventfd(value, flags);
  errno = EMFILE;
  return -1;
}
int __wrap_fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (!halogen::test::fails(halogen::test::HostCall::file)) return __real_fallocate(descriptor, mode, offset, bytes);
  errno = ENOSPC;
  return -1;
}
int __wrap_ftruncate(int descriptor, off_t bytes) {
  if (!halogen::test::fails(halogen::test::HostCall::file)) return __real_ftruncate(descriptor, bytes);
  errno = ENOSPC;
  return -1;
}
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(void* thread,
                                                                                                  void* state,
                                                                                                  void (*depend)()) {
  if (halogen::test::fails(halogen::test::HostCall::thread)) {
    throw std::system_error(EAGAIN, std::generic_category());
  }
  __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(thread, state, depend);
}
}
// NOLINTEND(bugprone-reserved-identifier)
