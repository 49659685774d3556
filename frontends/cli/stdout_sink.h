// Writes to standard output. A closed pipe is not an error: writing stops silently. A full disk is an error.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace halogen::cli {

class StdoutSink {
 public:
  // False: the reader of the output is gone.
  bool write(std::string_view text) {
    while (open_ && !text.empty()) {
      const ssize_t done = ::write(STDOUT_FILENO, text.data(), text.size());
      if (done >= 0) {
        text.remove_prefix(static_cast<size_t>(done));
      } else if (errno != EINTR) {
        open_ = false;
        error_ = errno;
      }
    }
    return open_;
  }

  bool is_open() const { return open_; }

  // False, after an error message: text was lost for a reason other than a closed pipe.
  bool finish() const {
    if (open_ || error_ == EPIPE) return true;
    fmt::print(stderr, "halogen: cannot write standard output: {}.\n", std::strerror(error_));
    return false;
  }

 private:
  bool open_ = true;
  int error_ = 0;
};

}  // namespace halogen::cli
