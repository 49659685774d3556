// The fidelity report of a process's device. The first process of a run that opens a node writes the file named by the
// user; every other process appends its id to the name. It is written periodically, so that it exists if the program is
// killed, and at the end.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "driver/core/driver.h"

namespace halogen::shim {

// Returns the user's name, or one with the process id if another process of this run has taken the name. `what` is
// "report", "trace" or "frames".
std::string claim_name(const std::string& name, const std::string& root, const char* what);

constexpr int kInterval = 500;  // milliseconds between two writes

class Report {
 public:
  // Null: not requested.
  static std::unique_ptr<Report> start(driver::Driver& driver, const std::string& root);

  void write_if_old();
  void write();

 private:
  Report(driver::Driver& driver, std::string file) : driver_(driver), file_(std::move(file)) {}

  driver::Driver& driver_;
  std::string file_;
  std::mutex guard_;
  std::string written_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace halogen::shim
