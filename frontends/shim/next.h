// The C library's function that one of our functions replaces.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>

// First and last byte of this library, set by the linker.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

namespace halogen::shim {

// Returns whether the call comes from this library. The driver's own memory and descriptors do not belong to the
// program, and the driver calls with its lock held.
inline bool is_ours(const void* caller) {
  return caller >= static_cast<const void*>(__ehdr_start) && caller < static_cast<const void*>(_end);
}

template <size_t kSize>
struct FunctionName {
  char text[kSize]{};
  consteval FunctionName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
};

template <FunctionName kName>
class NextFunction {
 public:
  // Null: dlsym(3) itself calls the function. It frees the text of this thread's last error before it looks.
  static void* find() {
    static_cast<void>(&at_start);
    void* found = slot.load(std::memory_order_acquire);
    if (found == nullptr && !looks) {
      looks = true;
      found = dlsym(RTLD_NEXT, kName.text);
      looks = false;
      slot.store(found, std::memory_order_release);
    }
    return found;
  }

 private:
  static inline constinit thread_local bool looks = false;
  static inline constinit std::atomic<void*> slot{nullptr};
  // Looked up while this library is loaded. Later the loader's lock may be held for long: dlclose(3) runs destructors
  // with it, and those of drivers wait for threads that write files.
  static inline void* const at_start = find();
};

}  // namespace halogen::shim

// HALOGEN_NEXT(int(int), "close")(3)
// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot have parentheses around it
#define HALOGEN_NEXT(type, name)               \
  (reinterpret_cast<std::add_pointer_t<type>>( \
      ::halogen::shim::NextFunction<::halogen::shim::FunctionName(name)>::find()))
// NOLINTEND(bugprone-macro-parentheses)
