// Access rights to its own memory that a program gives up.
#pragma once

#include <cstdint>

namespace halogen::driver {

// Call before mprotect(2): arguments on a stack in this range are checked again from now on.
void lose_user_rights(uint64_t address, uint64_t bytes);
// Does the same before munmap(2) and mmap(2) with MAP_FIXED.
void lose_user_memory(uint64_t address, uint64_t bytes);

}  // namespace halogen::driver
