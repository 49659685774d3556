// The C library's own function behind one of ours.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace halogen::shim {

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
