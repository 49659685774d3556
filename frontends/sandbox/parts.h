// The parts of a confinement. Those that depend on a feature of the host's kernel return whether the kernel has it.
#pragma once

#include "base/result.h"
#include "sandbox/confine.h"

namespace halogen::sandbox {

// Whether this build has a sanitizer, which reads /proc, stops threads and starts a process at the end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// Restricts access to files and, as far as the host's kernel can, to TCP ports, abstract sockets and signals. False:
// the kernel has no Landlock.
Result<bool> restrict_files(const Rights& rights);
// Removes all capabilities except those given as a mask.
Result<void> drop_capabilities(unsigned long long kept);
// Restricts system calls. `files`: false denies every open. False: the host's kernel has no filters.
Result<bool> restrict_system_calls(const Rights& rights, bool files);

}  // namespace halogen::sandbox
