// Descriptors of the driver's own inside somebody else's program. They carry a mark by which the program's calls pass
// over them, and lie above its soft limit where the hard one leaves room: what it may have open is its own to use.
#pragma once

#include <sys/resource.h>

#include <mutex>

namespace halogen::driver {

// Held while the limit is another than the program's: around fork(2) too.
std::mutex& limit_guard();

// As long as it lives descriptors up to the hard limit can be had.
class RaisedLimit {
 public:
  RaisedLimit();
  ~RaisedLimit();
  RaisedLimit(const RaisedLimit&) = delete;
  RaisedLimit& operator=(const RaisedLimit&) = delete;

  // The same file at its place and with the mark; the old number is closed. Negative ones stay what they are.
  int keep(int descriptor) const;

 private:
  std::lock_guard<std::mutex> lock_;
  rlimit before_{};
  bool raised_ = false;
};

// A descriptor that is no copy of one that a program has: its new number.
int keep_private(int descriptor);

// What a function opens, also when the program has all its descriptors in use.
template <class Open>
int open_private(Open open) {
  const RaisedLimit limit;
  return limit.keep(open());
}

}  // namespace halogen::driver
