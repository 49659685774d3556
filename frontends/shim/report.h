// The fidelity report of a process's device. The first process of a run that opens a node writes the file that the user
// named, every other one a file with its process number behind the name. Written now and then while the program runs,
// so that there is one when it is killed, and at its end.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "driver/core/driver.h"

namespace halogen::shim {

// The user's name, or with the process number when another process of this run has it already. `what`: "report",
// "trace".
std::string claim_name(const std::string& name, const std::string& root, const char* what);

constexpr int kInterval = 500;  // milliseconds between two writes of what grows

class Report {
 public:
  // Null: nobody wants one.
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
