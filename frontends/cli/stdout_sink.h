// Writes to standard output. A reader that goes away (a closed pipe) is no error: writing stops quietly. A full disk
// is.
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
  // False when nobody takes the text any more.
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

  // False, after one sentence, when text was lost for another reason than a closed pipe.
  bool finish() const {
    if (open_ || error_ == EPIPE) return true;
    fmt::print(stderr, "halogen: standard output cannot be written: {}.\n", std::strerror(error_));
    return false;
  }

 private:
  bool open_ = true;
  int error_ = 0;
};

}  // namespace halogen::cli
