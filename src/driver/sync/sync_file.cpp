#include "driver/sync/sync_file.h"

#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/exhaustion.h"
#include "driver/share/private_descriptor.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kMagic = 0x4e53'4c48;
constexpr size_t kMaxListed = 50;  // fences; a report is written to the pipe in one piece

struct Report {
  uint32_t magic;
  int32_t status;
  char name[32];
  uint32_t count;
  uint32_t unused;
  sync_fence_info fences[kMaxListed];
};
static_assert(sizeof(Report) <= PIPE_BUF);

template <size_t Size>
void copy_text(const std::string& text, char (&into)[Size]) {
  std::memset(into, 0, Size);
  std::memcpy(into, text.data(), std::min(text.size(), Size - 1));
}

// One fence of a report.
class ReportedFence final : public Fence {
 public:
  explicit ReportedFence(const sync_fence_info& info) : info_(info) {
    done = true;
    error = std::min(info.status, 0);
    when = info.timestamp_ns;
    info_.driver_name[sizeof info_.driver_name - 1] = info_.obj_name[sizeof info_.obj_name - 1] = '\0';
  }
  std::string driver_name() const override { return info_.driver_name; }
  std::string timeline_name() const override { return info_.obj_name; }

 private:
  sync_fence_info info_;
};

// All fences of a report.
class ReportedFences final : public Fence {
 public:
  explicit ReportedFences(const Report& report) {
    done = true;
    error = std::min(report.status, 0);
    for (uint32_t i = 0; i < std::min<uint32_t>(report.count, kMaxListed); ++i) {
      parts_.push_back(std::make_shared<ReportedFence>(report.fences[i]));
      when = std::max(when, parts_.back()->when);
    }
  }
  void show(FenceVisitor& visitor) override {
    if (!visitor.enters(*this)) return;
    for (const FenceRef& part : parts_) visitor.visit(part);
  }
  std::string driver_name() const override { return "dma_fence_array"; }
  std::string timeline_name() const override { return "unbound"; }

 private:
  std::vector<FenceRef> parts_;
};

// Returns whether a file is a pipe without a name. Other files can belong to a file system that lets each access wait.
bool is_pipe(const FileKey& file) {
  static std::atomic<uint64_t> device{0};  // of all such pipes
  int ends[2];
  if (device == 0 && pipe2(ends, O_CLOEXEC) == 0) {
    device = key_of(ends[0]).value_or(FileKey{}).first;
    close(ends[0]);
    close(ends[1]);
  }
  return device != 0 && file.first == device;
}

bool is_readable(int descriptor) {
  pollfd end{.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&end, 1, 0) == 1;
}

// Reads the report but leaves it in the pipe for other readers.
std::optional<Report> peek(int descriptor) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  Report report{};
  const bool got = tee(descriptor, ends[1], sizeof report, SPLICE_F_NONBLOCK) > 0 &&
                   read(ends[0], &report, sizeof report) >= static_cast<ssize_t>(offsetof(Report, fences)) &&
                   report.magic == kMagic;
  close(ends[0]);
  close(ends[1]);
  if (!got) return std::nullopt;
  report.name[sizeof report.name - 1] = '\0';
  return report;
}

Report report_on(Fence& fence, const std::string& name) {
  Report report{};
  report.magic = kMagic;
  report.status = status_of(fence);
  copy_text(name, report.name);
  std::vector<FenceRef> parts;
  fence.list(parts);
  report.count = static_cast<uint32_t>(std::min(parts.size(), kMaxListed));
  for (uint32_t i = 0; i < report.count; ++i) {
    copy_text(parts[i]->timeline_name(), report.fences[i].obj_name);
    copy_text(parts[i]->driver_name(), report.fences[i].driver_name);
    report.fences[i].status = status_of(*parts[i]);
    report.fences[i].timestamp_ns = parts[i]->when;
  }
  return report;
}

// Writes without SIGPIPE: the pipe may have no reader.
void write_quietly(int descriptor, const void* from, size_t bytes) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  if (write(descriptor, from, bytes) < 0 && errno == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    const timespec now{};
    while (sigtimedwait(&pipe_signal, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void write_report(int descriptor, Fence& fence, const std::string& name) {
  const Report report = report_on(fence, name);
  write_quietly(descriptor, &report, offsetof(Report, fences) + report.count * sizeof report.fences[0]);
}

}  // namespace

int status_of(const Fence& fence) {
  if (!fence.done) return 0;
  return fence.error != 0 ? fence.error : 1;
}

void RemoteFence::look() {
  if (done || !is_readable(descriptor())) return;
  const std::optional<Report> report = peek(descriptor());
  signal(report ? std::min(report->status, 0) : -EIO);  // the process ended without a report
}

SyncFiles::SyncFiles(Watch watch) : watch_(std::move(watch)) {}

int SyncFiles::create(const FenceRef& fence, std::string name) {
  DescriptorCharge charge = DescriptorCharge::for_this_call();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  Descriptor read_end(ends[0]), write_end(keep_private(ends[1]));
  const std::optional<FileKey> key = key_of(read_end.number());
  if (!key || !write_end || fcntl(read_end.number(), F_SETSIG, kSyncFileMark) != 0) return -EMFILE;
  // A holder of the read end can open the pipe and fill it. The report is then dropped, and closing the end signals.
  if (fcntl(write_end.number(), F_SETFL, O_NONBLOCK) != 0) return -EMFILE;
  if (name.empty()) {
    name = fmt::format("{}-{}{}-{}", fence->driver_name(), fence->timeline_name(), fence->timeline, fence->number);
  }
  if (fence->done) {
    write_report(write_end.number(), *fence, name);
    return read_end.release();
  }
  // An earlier entry with this key is of a pipe that is gone.
  const auto entry = state_->open.insert_or_assign(*key, Open{{fence, std::move(name)}, {}, std::move(charge)}).first;
  const bool waits = completes([&] {
    fence->then([state = std::weak_ptr(state_), key = *key] {
      const std::shared_ptr<State> here = state.lock();
      if (!here) return;
      // Closing the end signals the fence, even if the report cannot be made.
      const auto found = here->open.extract(key);
      if (!found.empty()) {
        const SyncFile& file = found.mapped().file;
        write_report(found.mapped().other_end.number(), *file.fence, file.name);
      }
    });
  });
  if (!waits) {
    state_->open.erase(entry);
    return -ENOMEM;
  }
  entry->second.other_end = std::move(write_end);
  return read_end.release();
}

std::optional<SyncFile> SyncFiles::find(int descriptor) {
  const std::optional<FileKey> key = key_of(descriptor);
  if (!key) return std::nullopt;
  if (const auto found = state_->open.find(*key); found != state_->open.end()) return found->second.file;
  if (fcntl(descriptor, F_GETSIG) != kSyncFileMark || !is_pipe(*key)) return std::nullopt;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY) return std::nullopt;
  if (is_readable(descriptor)) {
    if (const std::optional<Report> report = peek(descriptor)) {
      if (report->count == 1) return SyncFile{std::make_shared<ReportedFence>(report->fences[0]), report->name};
      return SyncFile{std::make_shared<ReportedFences>(*report), report->name};
    }
  }
  std::erase_if(remote_fences_, [](const auto& each) { return each.second.expired(); });
  std::shared_ptr<RemoteFence> fence = remote_fences_[*key].lock();
  if (!fence) {
    const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
    DescriptorCharge charge = DescriptorCharge::for_this_call();
    Descriptor own(open_private([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
    if (!own) return std::nullopt;
    remote_fences_[*key] = fence = std::make_shared<RemoteFence>(std::move(own), std::move(charge));
    fence->look();
    if (!fence->done) watch_(fence);
  }
  return SyncFile{fence, "other process"};
}

}  // namespace halogen::driver
