// Confines this process for the rest of its life. Call it while the process has one thread, before it reads anything
// that a guest, a client or a file says. Afterwards it can open the named files only, and cannot start programs, create
// sockets, map memory as code, or observe or signal other processes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace halogen::sandbox {

// The rights that a confined process keeps. Paths that do not exist are ignored.
struct Rights {
  std::vector<std::string> read;     // files, and folders with all below them
  std::vector<std::string> write;    // files that exist
  std::vector<std::string> folders;  // in which files may be created, written and read
  bool replace = false;              // files of these folders may be truncated
  bool accept = false;               // accept connections on sockets that already listen
  pid_t child = 0;                   // a child process that may be signalled; 0: none
};

// Returns what the kernel does not offer, as a phrase. Empty: the process is confined in every respect. An error names
// the parts that failed; the others are in effect.
Result<std::string> confine(const Rights& rights);

}  // namespace halogen::sandbox
