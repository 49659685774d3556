// Rights to its own memory that a program takes away.
#pragma once

#include <cstdint>

namespace halogen::driver {

// Before mprotect(2): arguments of calls that lie there on a stack are no longer taken for good unseen.
void lose_user_rights(uint64_t address, uint64_t bytes);
// The same before munmap(2) and mmap(2) with MAP_FIXED.
void lose_user_memory(uint64_t address, uint64_t bytes);

}  // namespace halogen::driver
