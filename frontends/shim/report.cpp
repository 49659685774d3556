#include "report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "settings.h"

namespace halogen::shim {

std::string claim_name(const std::string& name, const std::string& root, const char* what) {
  const std::string mark = root + "/" + what + ".taken";
  const int taken = ::open(mark.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (taken < 0) return name + "." + std::to_string(getpid());
  ::close(taken);
  return name;
}

std::unique_ptr<Report> Report::start(driver::Driver& driver, const std::string& root) {
  const char* const name = secure_getenv(kReportVariable);
  if (name == nullptr || *name == '\0') return nullptr;
  return std::unique_ptr<Report>(new Report(driver, claim_name(name, root, "report")));
}

void Report::write_if_old() {
  if (std::chrono::steady_clock::now() - last_ >= std::chrono::milliseconds(kInterval)) write();
}

void Report::write() {
  const std::string text = driver_.fidelity().to_json(driver_.model().name);
  const std::lock_guard lock(guard_);
  last_ = std::chrono::steady_clock::now();
  if (text == written_) return;
  std::ofstream out(file_);
  out << text;
  if (!out.flush()) std::fprintf(stderr, "halogen: %s: cannot write the file.\n", file_.c_str());
  written_ = text;
}

}  // namespace halogen::shim
