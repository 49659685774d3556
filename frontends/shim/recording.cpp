#include "recording.h"

#include <cstdio>
#include <cstdlib>

#include "report.h"
#include "settings.h"

namespace halogen::shim {

std::unique_ptr<Recording> Recording::start(const spec::DeviceModel& model, const std::string& root) {
  const char* const name = getenv(kTraceVariable);
  if (name == nullptr || *name == '\0') return nullptr;
  const std::string file = claim_name(name, root, "trace");
  const auto failed = [&](const std::string& why) {
    std::fprintf(stderr, "halogen: %s: %s\n", file.c_str(), why.c_str());
    return nullptr;
  };
  if (!can_record(model)) return failed("this device cannot be recorded");
  auto sink = trace::create_file(file);
  if (!sink) return failed(sink.message());
  auto recorder = vm::Recorder::create(model, std::move(*sink), false, false, "halogen run");
  if (!recorder) return failed(recorder.message());
  return std::unique_ptr<Recording>(new Recording(std::move(*recorder)));
}

void Recording::finish() {
  if (const auto done = recorder_->finish(); !done) std::fprintf(stderr, "halogen: %s\n", done.message().c_str());
}

}  // namespace halogen::shim
