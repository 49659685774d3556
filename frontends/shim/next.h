// The C library's own function behind one of ours.
#pragma once

#include <dlfcn.h>

#include <atomic>

// The first and the last byte of this library, by the linker.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

namespace halogen::shim {

// The driver's own memory and descriptors are no program's, and it calls with its lock held.
inline bool is_ours(const void* caller) {
  return caller >= static_cast<const void*>(__ehdr_start) && caller < static_cast<const void*>(_end);
}

template <class Function>
Function* next_function(std::atomic<void*>& slot, const char* name) {
  void* found = slot.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = dlsym(RTLD_NEXT, name);
    slot.store(found, std::memory_order_release);
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace halogen::shim

// HALOGEN_NEXT(int(int), "close")(3)
#define HALOGEN_NEXT(type, name)                               \
  ([] {                                                        \
    static constinit std::atomic<void*> slot{nullptr};         \
    return ::halogen::shim::next_function<type>(slot, (name)); \
  }())
