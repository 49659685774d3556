// Anonymous files of fixed size. No process that has a descriptor can shrink them, so that a mapping of the file stays
// readable, or enlarge them.
#pragma once

#include <cstdint>

namespace halogen::driver {

// Creates such a file with that many zero bytes. -1: the host refused; errno says why.
int create_sealed_file(const char* name, uint64_t bytes);
// Opens a file again, for writing: the new descriptor shares neither flags nor position with the other. -1: the host
// refused.
int reopen_file(int descriptor);
// Returns whether the file behind a descriptor is of this kind, whichever process created it.
bool is_sealed_file(int descriptor);

}  // namespace halogen::driver
