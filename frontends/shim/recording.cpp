#include "recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/own_thread.h"
#include "report.h"
#include "settings.h"

namespace halogen::shim {
namespace {

// Returns whether the program has threads besides the calling one. For a call of another process all threads count.
bool has_other_threads() {
  if (OwnThread::is_this()) return true;
  struct stat tasks {};
  constexpr nlink_t kOfFolder = 2;
  if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) != 0) return true;
  return tasks.st_nlink > kOfFolder + OwnThread::count() + 1;
}

}  // namespace

std::unique_ptr<Recording> Recording::start(const spec::DeviceModel& model, const std::string& root) {
  const char* const name = secure_getenv(kTraceVariable);
  if (name == nullptr || *name == '\0') return nullptr;
  const std::string file = claim_name(name, root, "trace");
  const auto failed = [&](const std::string& why) {
    std::fprintf(stderr, "halogen: %s: %s\n", file.c_str(), why.c_str());
    return nullptr;
  };
  if (!can_record(model)) {
    return failed(
        fmt::format("device {} cannot be recorded: its global table is outside the register BAR.", model.name));
  }
  auto sink = trace::create_file(file);
  if (!sink) return failed(sink.message());
  auto recorder =
      trace::Recorder::create(model, std::move(*sink), false, device::DeviceOptions{}.local_tables, "halogen run");
  if (!recorder) return failed(recorder.message());
  return std::unique_ptr<Recording>(new Recording(std::move(*recorder), file, root + "/" + kRecordedFile));
}

void Recording::on_device(device::Device& device, driver::DriverHost& host) {
  recorder_->watch(device);
  recorder_->watch_threads(has_other_threads);
  if (host.local().size() == 0) return;
  recorder_->watch_local([&host](const trace::Recorder::Visitor& see) { host.local().visit(see); });
}

void Recording::finish() {
  if (std::exchange(finished_, true)) return;
  const auto done = recorder_->finish();
  std::string text;
  if (!done) {
    text = fmt::format("! {}: {}\n", file_, done.message());
  } else {
    text = fmt::format("{}: recorded {} commands, memory={:#018x} compared={} unjudged={} different={}\n", file_,
                       done->commands, done->memory_hash, done->comparisons, done->unjudged, done->differences);
    if (!done->fault.empty()) text += fmt::format("! {}: {}\n", file_, done->fault);
  }
  std::ofstream(results_, std::ios::app) << text;
}

}  // namespace halogen::shim
