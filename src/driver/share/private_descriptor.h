// Descriptors that the driver opens inside the user's program. A mark on them makes the program's calls skip them. They
// lie above the soft limit if the hard limit allows it, so that the program keeps its full number of descriptors.
#pragma once

#include <sys/resource.h>

#include <mutex>

namespace halogen::driver {

// Returns the lock that is held while the limit differs from the program's, and around fork(2).
std::mutex& limit_guard();

// Raises the descriptor limit to the hard limit during its lifetime.
class RaisedLimit {
 public:
  RaisedLimit();
  ~RaisedLimit();
  RaisedLimit(const RaisedLimit&) = delete;
  RaisedLimit& operator=(const RaisedLimit&) = delete;

  // Moves the file to a private number and marks it; the old number is closed. Negative values are returned unchanged.
  int keep(int descriptor) const;

 private:
  std::lock_guard<std::mutex> lock_;
  rlimit before_{};
  bool raised_ = false;
};

// Makes a descriptor private and returns its new number. The program must not have a copy of it.
int keep_private(int descriptor);

// Opens a private descriptor, even if the program has used up its own.
template <class Open>
int open_private(Open open) {
  const RaisedLimit limit;
  return limit.keep(open());
}

}  // namespace halogen::driver
