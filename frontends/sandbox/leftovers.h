// Files that must not outlive this process. A child process removes them when this process has ended, however it ended,
// because a confined process cannot remove files, and a killed one does not.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace halogen::sandbox {

class Leftovers {
 public:
  // `files` need not exist. `folder` is removed after them; empty: none.
  static Result<Leftovers> watch(const std::vector<std::string>& files, const std::string& folder);
  Leftovers(Leftovers&& other) noexcept;
  Leftovers& operator=(Leftovers&&) = delete;
  ~Leftovers();  // removes the files, and waits for that

 private:
  Leftovers(pid_t process, int pipe) : process_(process), pipe_(pipe) {}

  pid_t process_;
  int pipe_;  // when it is closed, the child removes the files
};

}  // namespace halogen::sandbox
