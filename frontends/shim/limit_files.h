// The files of /proc with limits: numbers in a range. Only the superuser can write them, as under Linux, where
// capabilities do not help.
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include <cstddef>

namespace halogen::shim {

bool may_write_limits();
// Writes to an open file with a limit, as write(2) does.
ssize_t write_limit(int descriptor, const void* text, size_t bytes);
// Opens a file with a limit as a stream for writing. Null: not such a file; errno is unchanged. `path`: in the tree.
FILE* open_limit(const char* path);

}  // namespace halogen::shim
