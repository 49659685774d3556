// A child process. It never outlives this process, and the caller learns at once why it could not be started.
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
  std::optional<int> status;  // no value: a signal ended the process
  int signal = 0;

  std::string to_string() const;  // "with status 1", "by signal 9"
};

// Ended and waited for on destruction.
class Process {
 public:
  // `kept`: descriptors that the process inherits under their numbers. Its input is empty; signals that this process
  // blocks reach it. The error names a missing program.
  static Result<Process> start(const std::vector<std::string>& words, const std::vector<int>& kept = {});
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t number() const { return process_; }
  void ask_to_end() const;  // SIGTERM
  void end();               // SIGKILL
  Ending wait();
  // Waits for a process that is about to end. False: it has not ended within that time, or `stop` (a descriptor; -1:
  // none) became readable.
  bool wait_for(std::chrono::milliseconds time, int stop);

 private:
  explicit Process(pid_t process) : process_(process) {}
  static Ending ending_of(int status);

  pid_t process_;
  std::optional<int> collected_;  // its status, if already collected
};

}  // namespace halogen::vm
