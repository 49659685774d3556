// A process that this one starts and answers for: it never outlives us, and where it cannot be started the caller knows
// why at once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace halogen::vm {

// How a process ended.
struct Ending {
  std::optional<int> status;  // nothing: by a signal
  int signal = 0;

  std::string to_string() const;  // "with status 1", "by signal 9"
};

// Ended and waited for when it goes out of sight.
class Process {
 public:
  // `kept`: a descriptor that the process keeps under its number; -1: none. Its input is empty; signals that we block
  // reach it. The error says that the program is missing, where it is.
  static Result<Process> start(const std::vector<std::string>& words, int kept);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  void ask_to_end() const;  // SIGTERM
  void end();               // SIGKILL
  Ending wait();
  // For a process that is about to end by itself: false when it has not within that time, or when `stop` (a descriptor;
  // -1: none) becomes readable.
  bool wait_for(std::chrono::milliseconds time, int stop);

 private:
  explicit Process(pid_t process) : process_(process) {}
  static Ending ending_of(int status);

  pid_t process_;
  std::optional<int> collected_;  // its status, where it was waited for already
};

}  // namespace halogen::vm
