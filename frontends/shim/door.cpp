#include "door.h"

#include <libdrm/drm.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/own_thread.h"
#include "counters.h"
#include "descriptors.h"
#include "driver/gem/lent_memory.h"
#include "driver/gem/user_memory.h"
#include "driver/gem/user_rights.h"
#include "frames.h"
#include "settings.h"
#include "tree.h"

namespace halogen::shim {
namespace {

bool has_capability(unsigned capability) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2]{};
  return syscall(SYS_capget, &header, data) == 0 &&
         (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

constexpr std::chrono::milliseconds kLastWork{400};     // time that long work may hold an ending process
constexpr std::string_view kNodeName = "halogen-drm/";  // followed by process, number and minor number

constinit std::atomic<Door*> doors{nullptr};
thread_local Door* forking = nullptr;

// Blocks the program's signals in our own threads.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

// Disables thread cancellation, because no call of the door is a cancellation point, though it may call one.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() {
    int now = 0;
    pthread_setcancelstate(before_, &now);
  }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// A signal handler that calls while its thread is inside would deadlock on the lock, so it gets an error instead.
thread_local bool inside = false;
class Inside {
 public:
  Inside() : first_(!std::exchange(inside, true)) {}
  ~Inside() {
    if (first_) inside = false;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return first_; }

 private:
  bool first_;
};

// An uninterruptible call: signal handlers run after it has released everything.
class UninterruptibleCall {
 public:
  explicit operator bool() const { return static_cast<bool>(inside_); }

 private:
  driver::Interruption signals_;  // destroyed last
  NotCancelled cancellation_;
  Inside inside_;
};

// An interruptible call. If a signal arrives, its handler runs after the call has released everything. Then the call
// fails or is restarted.
template <class Function>
int interruptible(Function function) {
  while (true) {
    driver::Interruption interruption;
    int result = -EIO;
    {
      const NotCancelled whole;
      const Inside first;
      if (!first) return -EIO;
      result = function();
    }
    if (!interruption.deliver() || result != -EINTR) return result;
  }
}

bool name_socket(int socket, pid_t pid, uint64_t number, NodeKind kind) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = std::string(kNodeName) + std::to_string(pid) + "/" + std::to_string(number) + "/" +
                           std::to_string(minor_of(kind));
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // an abstract name, not a file
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0;
}

// Returns the kind of a node of any process, by the name of its other end.
std::optional<NodeKind> kind_by_name(int socket) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
  if (address.sun_family != AF_UNIX || length <= offsetof(sockaddr_un, sun_path) + 1) return std::nullopt;
  const std::string_view name(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  if (!name.starts_with(kNodeName)) return std::nullopt;
  return name.ends_with("/0") ? NodeKind::card : NodeKind::render;
}

// Null: not requested, or the file cannot be written.
std::unique_ptr<driver::Tracepoints> start_tracepoints(const spec::DeviceModel& model) {
  const char* const file = secure_getenv(kEventsVariable);
  if (file == nullptr || *file == '\0') return nullptr;
  auto made = driver::Tracepoints::create(file, model);
  if (made) return std::move(*made);
  std::fprintf(stderr, "halogen: %s\n", made.message().c_str());
  return nullptr;
}

std::optional<driver::FileKey> socket_key(int descriptor) {
  struct stat info {};
  if (syscall(SYS_fstat, descriptor, &info) != 0 || !S_ISSOCK(info.st_mode)) return std::nullopt;
  return driver::FileKey(info.st_dev, info.st_ino);
}

std::optional<ino_t> socket_inode(int descriptor) {
  const auto key = socket_key(descriptor);
  return key ? std::optional<ino_t>(key->second) : std::nullopt;
}

}  // namespace

// A child of fork gets its own door. Doors of other processes stay in the list, because a child of vfork shares it.
Door* Door::known() {
  const pid_t pid = getpid();
  for (Door* door = doors.load(std::memory_order_acquire); door != nullptr; door = door->next_) {
    if (door->pid_ == pid) return door;
  }
  return nullptr;
}

Door* Door::get() {
  if (Paths::get() == nullptr) return nullptr;
  if (Door* const door = known()) return door;
  static std::once_flag handlers;
  std::call_once(handlers, [] { pthread_atfork(before_fork, after_fork_here, after_fork_there); });
  const pid_t pid = getpid();
  Door* const made = new Door(pid);
  made->next_ = doors.load(std::memory_order_acquire);
  while (!doors.compare_exchange_weak(made->next_, made, std::memory_order_acq_rel)) {
    for (Door* door = made->next_; door != nullptr; door = door->next_) {
      if (door->pid_ != pid) continue;
      delete made;
      return door;
    }
  }
  return made;
}

// Takes the locks, so that the child does not inherit one that another thread holds.
void Door::before_fork() {
  Door* const door = known();
  if (door != nullptr) {
    if (door->booted_.load(std::memory_order_acquire)) door->driver_->separate_mapped();
    door->guard_.lock();
    driver::limit_guard().lock();
    driver::LentMemory::of_process().guard().lock();
  }
  forking = door;
}
void Door::after_fork_here() {
  if (forking != nullptr) forking->unlock();
}
void Door::unlock() {
  driver::LentMemory::of_process().guard().unlock();
  driver::limit_guard().unlock();
  guard_.unlock();
}
// Closes our ends of nodes, channels and fences in the child, which would keep them open after the parent has exited.
void Door::after_fork_there() {
  if (forking == nullptr) return;
  for_each_private([](int descriptor) { syscall(SYS_close, descriptor); });
  OwnThread::lose_all();
  driver::LentMemory::of_process().forget_leaving();
  forking->unlock();
  Paths::get()->hold();
}

namespace {

// Reads a number from the environment. An invalid value is reported and replaced by the default.
long number_of(const char* variable, long min, long max, long usual) {
  const char* const text = secure_getenv(variable);
  if (text == nullptr || *text == '\0') return usual;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end == '\0' && value >= min && value <= max) return value;
  std::fprintf(stderr, "halogen: %s=\"%s\" is not a number from %ld to %ld; using %ld.\n", variable, text, min, max,
               usual);
  return usual;
}

// Reads the executor from the environment. An unknown name is reported and replaced by the default; the device refuses
// one that is not available.
eu::ExecutorKind executor_of_environment() {
  const char* const text = secure_getenv(kExecutorVariable);
  if (text == nullptr || *text == '\0') return eu::ExecutorKind::interpreter;
  if (const auto kind = eu::executor_named(text)) return *kind;
  std::fprintf(stderr, "halogen: %s=\"%s\" is not an executor; using interpreter.\n", kExecutorVariable, text);
  return eu::ExecutorKind::interpreter;
}

// Returns the time after which a batch counts as hung; zero: never. Tests of hangs shorten it.
std::chrono::milliseconds hang_after() {
  return std::chrono::milliseconds(number_of(kHangVariable, 0, 3'600'000, 10'000));
}

}  // namespace

bool Door::boot() {
  const std::lock_guard lock(booting_);
  if (driver_) return true;
  if (failed_) return false;
  const NoSignals quiet;
  driver::DriverOptions options;
  options.privileged = has_capability(CAP_SYS_ADMIN);
  options.monitors = true;  // decided for each call
  const std::string root = Paths::get()->root();
  options.perf = {.ids = root + kMetricsFolder,
                  .registers = root + kMetricRegisters,
                  .limits = root + kLimitsFolder,
                  .load = root + kLoadFile};
  options.hang_after = hang_after();
  options.hardware.device.threads =
      static_cast<unsigned>(number_of(kThreadsVariable, 1, 64, static_cast<long>(WorkerPool::threads_of_host())));
  options.hardware.device.executor = executor_of_environment();
  options.hardware.device.check_rules = number_of(kRulesVariable, 0, 1, 0) != 0;
  const spec::DeviceModel* const model = spec::find_device(Paths::get()->device());
  if (model != nullptr) recording_ = Recording::start(*model, Paths::get()->root());
  options.hardware.listener = recording_.get();
  rule_notice_.emplace(options.hardware.device.check_rules, &video_notice_);
  options.hardware.events = &*rule_notice_;
  const char* const clock = secure_getenv(kClockVariable);  // a trace does not use the host's clock
  options.host_time = recording_ == nullptr && (clock == nullptr || std::string_view(clock) != "device");
  if (model != nullptr) tracepoints_ = start_tracepoints(*model);
  options.tracepoints = tracepoints_.get();
  if (model != nullptr) counters_ = start_counters(*model, Paths::get()->root());
  options.counters = counters_.get();
  options.frames = frame_writer(Paths::get()->root());
  frames_ = static_cast<bool>(options.frames);
  auto driver =
      model == nullptr
          ? Result<std::unique_ptr<driver::Driver>>(Error{"unknown device; run \"halogen devices\" for a list."})
          : driver::Driver::start(*model, options);
  if (!driver) {
    failed_ = true;
    std::fprintf(stderr, "halogen: cannot start the device %s: %s\n", Paths::get()->device().c_str(),
                 driver.message().c_str());
    return false;
  }
  driver_ = std::move(*driver);
  clients_ = std::make_unique<Clients>(*driver_);
  booted_.store(true, std::memory_order_release);
  report_ = Report::start(*driver_, Paths::get()->root());
  poll_ = driver::keep_private(epoll_create1(EPOLL_CLOEXEC));
  std::thread([this] {
    const OwnThread here;
    pthread_setname_np(pthread_self(), "halogen-door");
    serve();
  }).detach();
  return true;
}

int Door::open(NodeKind kind, int flags) {
  const UninterruptibleCall whole;
  if (!boot()) return -ENOMEM;
  wait_for_closes();
  int ends[2];
  const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | ((flags & O_NONBLOCK) != 0 ? SOCK_NONBLOCK : 0);
  if (socketpair(AF_UNIX, type, 0, ends) != 0) return -errno;
  if ((flags & O_CLOEXEC) == 0) fcntl(ends[0], F_SETFD, 0);
  fcntl(ends[0], F_SETSIG, driver::kNodeMark);
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->peer = driver::keep_private(ends[1]);
  node->file = driver_->open({.render = kind == NodeKind::render, .events = node->peer, .file = socket_key(ends[0])});
  if (!node->file) {
    ::close(ends[0]);
    ::close(node->peer);
    return -ENOMEM;
  }
  const std::optional<ino_t> inode = socket_inode(ends[0]);
  if (!inode) return -EBADF;
  want_senders(node->peer);
  const std::lock_guard lock(guard_);
  while (!name_socket(node->peer, pid_, opened_++, kind)) {
    if (errno != EADDRINUSE) break;
  }
  nodes_[*inode] = node;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = *inode;
  epoll_ctl(poll_, EPOLL_CTL_ADD, node->peer, &event);
  return ends[0];
}

std::shared_ptr<Node> Door::find(int descriptor) {
  const int error = errno;
  const std::optional<ino_t> inode = socket_inode(descriptor);
  errno = error;
  if (!inode) return nullptr;
  const driver::Interruption signals;
  const Inside first;
  const std::lock_guard lock(guard_);
  if (const auto found = nodes_.find(*inode); found != nodes_.end()) return found->second;
  const std::optional<NodeKind> kind = kind_by_name(descriptor);
  errno = error;
  if (!kind) return nullptr;
  auto node = std::make_shared<Node>();
  node->kind = *kind;
  node->remote = std::make_unique<Remote>();
  nodes_[*inode] = node;
  return node;
}

int Door::ioctl(int descriptor, Node& node, unsigned long request, uint64_t argument) {
  const bool no_wait = node.file && is_execution(request) && has_no_wait(descriptor);
  return interruptible([&] {
    return node.remote ? node.remote->ioctl(descriptor, request, argument)
                       : driver_->ioctl(*node.file, request, argument, no_wait);
  });
}

template <class Function>
int Door::on_remote_stream(Function function) {
  std::vector<std::shared_ptr<Node>> nodes;
  {
    const driver::Interruption signals;
    const Inside first;
    const std::lock_guard lock(guard_);
    for (const auto& [inode, node] : nodes_) {
      if (node->remote) nodes.push_back(node);
    }
  }
  int result = -EIO;
  for (size_t i = 0; i < nodes.size() && result == -EIO; ++i) {
    result = interruptible([&] { return function(*nodes[i]->remote); });
  }
  return result;
}

std::optional<int> Door::other_ioctl(int descriptor, unsigned long request, uint64_t argument) {
  const bool is_stream = fcntl(descriptor, F_GETSIG) == driver::kStreamMark;
  if (!serves(descriptor)) {
    if (!is_stream) return std::nullopt;
    return on_remote_stream([&](Remote& remote) { return remote.stream_ioctl(descriptor, request, argument); });
  }
  std::optional<int> result;
  const int error = interruptible([&] {
    result = driver_->descriptor_ioctl(descriptor, request, argument);
    return result.value_or(0);
  });
  if (result) return error;
  if (error < 0) return error;
  if (!is_stream) return std::nullopt;
  return on_remote_stream([&](Remote& remote) { return remote.stream_ioctl(descriptor, request, argument); });
}

// Returns whether this process has a driver. Starts one for fences and buffers of other processes.
bool Door::serves(int descriptor) {
  if (booted_.load(std::memory_order_acquire)) return true;
  const int mark = fcntl(descriptor, F_GETSIG);
  return (mark == driver::kSyncFileMark || mark == driver::kSharedBufferMark) && boot();
}

void* Door::map(int descriptor, Node& node, void* address, size_t bytes, int protection, int flags, uint64_t offset) {
  if (node.remote) return node.remote->map(descriptor, address, bytes, protection, flags, offset);
  const UninterruptibleCall first;
  if (!first) {
    errno = EIO;
    return MAP_FAILED;
  }
  return driver_->map_here(*node.file, address, bytes, protection, flags, offset);
}

std::optional<int> Door::check_shared_map(int descriptor, size_t bytes, uint64_t offset) {
  const int mark = fcntl(descriptor, F_GETSIG);
  if (mark == driver::kSyncObjectMark) return ENODEV;
  if (mark != driver::kSharedBufferMark) return std::nullopt;
  struct stat info {};
  if (syscall(SYS_fstat, descriptor, &info) != 0) return std::nullopt;
  const uint64_t size = static_cast<uint64_t>(info.st_size) - driver::Buffer::kBehind;
  const uint64_t pages = (bytes + 4095) / 4096 * 4096;
  return offset > size || pages > size - offset ? EINVAL : 0;
}

Door* Door::to_notify() {
  Door* const door = known();
  return door == nullptr || inside || !door->booted_.load(std::memory_order_acquire) ? nullptr : door;
}

LeavingGuard::LeavingGuard(const void* address, size_t bytes)
    : door_(OwnThread::is_this() ? nullptr : Door::to_notify()), range_{{reinterpret_cast<uintptr_t>(address), bytes}} {
  if (door_ != nullptr && !driver::Driver::begin_leaving(range_)) door_ = nullptr;
}

LeavingGuard::~LeavingGuard() {
  if (door_ == nullptr) return;
  const UninterruptibleCall first;
  door_->driver().end_leaving(range_);
}

UnmapGuard::UnmapGuard(void* address, size_t bytes) : leaving_(address, bytes), door_(Door::to_notify()) {
  if (door_ == nullptr) return;
  driver::lose_user_memory(reinterpret_cast<uintptr_t>(address), bytes);
  const UninterruptibleCall first;
  kept_ = door_->driver().forget_memory(reinterpret_cast<uintptr_t>(address), bytes);
}

// Buffers must be released under the driver's lock, so no reference is left here.
UnmapGuard::~UnmapGuard() {
  if (kept_.empty()) return;
  const UninterruptibleCall first;
  door_->driver().release(std::move(kept_));
}

void UnmapGuard::move_to(const void* address, size_t bytes) {
  if (kept_.empty()) return;
  const UninterruptibleCall first;
  for (const driver::BufferRef& buffer : kept_) {
    door_->driver().keep_mapping(reinterpret_cast<uintptr_t>(address), bytes, buffer);
  }
}

int Door::fence_file(int descriptor, bool also_reads) {
  Door* const door = get();
  if (door == nullptr || inside || !door->serves(descriptor)) return -EIO;
  const UninterruptibleCall first;
  return door->driver_->fence_file(descriptor, also_reads);
}

void Door::on_rights_reduced(const void* address, size_t bytes) {
  driver::lose_user_rights(reinterpret_cast<uintptr_t>(address), bytes);
  settle(address, bytes);
}

ssize_t Door::read_stream(int descriptor, void* into, size_t bytes) {
  Door* const door = get();
  const auto address = reinterpret_cast<uintptr_t>(into);
  int result = door == nullptr || !door->booted_.load(std::memory_order_acquire)
                   ? -EIO
                   : interruptible([&] { return door->driver_->read_stream(descriptor, address, bytes); });
  if (result == -EIO && door != nullptr) {
    result = door->on_remote_stream([&](Remote& remote) { return remote.read_stream(descriptor, address, bytes); });
  }
  if (result >= 0) return result;
  errno = -result;
  return -1;
}

void Door::pass_stream_time(int descriptor, uint64_t ns) {
  Door* const door = to_notify();
  if (door == nullptr) return;
  const UninterruptibleCall first;
  door->driver_->pass_stream_time(descriptor, ns);
}

bool Door::is_inside() {
  return inside;
}

void Door::settle(const void* address, size_t bytes) {
  Door* const door = OwnThread::is_this() ? nullptr : to_notify();
  if (door == nullptr) return;
  const UninterruptibleCall first;
  door->driver_->settle_memory(reinterpret_cast<uintptr_t>(address), bytes);
}

bool Door::is_mapping(const void* address, size_t bytes) {
  Door* const door = to_notify();
  return door != nullptr && door->driver_->is_mapping(reinterpret_cast<uintptr_t>(address), bytes);
}

void Door::drop(ino_t inode) {
  std::shared_ptr<Node> node;
  {
    const std::lock_guard lock(guard_);
    const auto found = nodes_.find(inode);
    if (found == nodes_.end()) return;
    node = found->second;
    nodes_.erase(found);
    ++closing_;
  }
  ::close(node->peer);
  driver_->close(node->file);
  {
    const std::lock_guard lock(guard_);
    --closing_;
  }
  closed_.notify_all();
}

// Waits until closed files are released. Linux does that before close(2) returns; here another thread does it later. A
// program that opens a node again must find the screen free.
void Door::wait_for_closes() {
  const auto is_left = [](const auto& each) {
    pollfd end{.fd = each.second->peer, .events = POLLRDHUP, .revents = 0};
    return each.second->peer >= 0 && poll(&end, 1, 0) == 1;
  };
  std::unique_lock lock(guard_);
  closed_.wait(lock, [&] { return closing_ == 0 && std::none_of(nodes_.begin(), nodes_.end(), is_left); });
}

// Handles last closes, and other processes that connect through a node.
void Door::serve() {
  while (true) {
    epoll_event event{};
    const int count = epoll_wait(poll_, &event, 1, report_ || tracepoints_ ? kInterval : -1);
    if (count < 0 && errno != EINTR) return;
    if (report_) report_->write_if_old();
    if (tracepoints_) tracepoints_->flush();
    if (count <= 0) continue;
    const auto inode = static_cast<ino_t>(event.data.u64);
    std::shared_ptr<Node> node;
    {
      const std::lock_guard lock(guard_);
      if (const auto found = nodes_.find(inode); found != nodes_.end()) node = found->second;
    }
    if (!node) continue;
    if (const std::optional<Sender> sender = next_sender(node->peer)) {
      clients_->accept(node, *sender);
    } else if ((event.events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0) {
      drop(inode);
    }
  }
}

void Door::write_report() {
  if (!booted_.load(std::memory_order_acquire)) return;
  if (frames_) driver_->finish_display();
  // Long work must not hold the process. Libraries whose destructors run later may still use the device.
  driver_->end_by(std::chrono::steady_clock::now() + kLastWork);
  if (report_) report_->write();
  if (tracepoints_) tracepoints_->flush();
  const NotCancelled whole;
  if (counters_) driver_->with_lock([&] { counters_->finish(); });
  if (recording_) driver_->with_lock([&] { recording_->finish(); });
  driver_->end_by(std::chrono::steady_clock::time_point::max());
}

}  // namespace halogen::shim
