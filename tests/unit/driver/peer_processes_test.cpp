// Drivers that share buffers and sync objects: fences of one are visible to the other. A second driver acts as another
// process; a process that must die is a child.
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>
#include <thread>

#include "driver/share/shared_fences.h"
#include "driver/share/shared_object.h"
#include "sync_door.h"

namespace halogen::driver {
namespace {

class PeerDrivers : public SyncDoor {
 protected:
  void SetUp() override {
    SyncDoor::SetUp();
    DriverOptions options;
    options.hardware.memory_bytes = uint64_t{1} << 30;
    auto booted = Driver::start(model(), options);
    ASSERT_TRUE(booted.ok());
    far_ = std::move(booted).value();
    far_file_ = far_->open();
  }
  void TearDown() override {
    far_->close(far_file_);
    SyncDoor::TearDown();
  }
  template <class T>
  int far_call(unsigned long request, T& argument) {
    return far_->ioctl(*far_file_, request, reinterpret_cast<uintptr_t>(&argument));
  }
  // Redirects the helper calls to the other driver.
  template <class Function>
  auto there(Function function) {
    std::swap(driver, far_);
    std::swap(file, far_file_);
    const auto result = function();
    std::swap(driver, far_);
    std::swap(file, far_file_);
    return result;
  }
  int give(uint32_t handle) {
    drm_prime_handle prime{.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR, .fd = -1};
    EXPECT_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, prime), 0);
    descriptors_.push_back(prime.fd);
    return prime.fd;
  }
  uint32_t take(int descriptor) {
    drm_prime_handle prime{.handle = 0, .flags = 0, .fd = descriptor};
    EXPECT_EQ(far_call(DRM_IOCTL_PRIME_FD_TO_HANDLE, prime), 0);
    return prime.handle;
  }
  int far_wait(uint32_t handle, int64_t timeout) {
    drm_i915_gem_wait wait{.bo_handle = handle, .flags = 0, .timeout_ns = timeout};
    return far_call(DRM_IOCTL_I915_GEM_WAIT, wait);
  }
  uint32_t far_busy(uint32_t handle) {
    drm_i915_gem_busy busy{.handle = handle, .busy = 77};
    EXPECT_EQ(far_call(DRM_IOCTL_I915_GEM_BUSY, busy), 0);
    return busy.busy;
  }
  bool far_ready(int descriptor, bool also_reads, bool wait = false) {
    const int fences = far_->fence_file(descriptor, also_reads);
    EXPECT_GE(fences, 0);
    const bool ready = readable(fences, wait);
    ::close(fences);
    return ready;
  }
  static drm_i915_gem_exec_object2 object(uint32_t handle, uint64_t flags) {
    drm_i915_gem_exec_object2 made{};
    made.handle = handle;
    made.flags = flags;
    return made;
  }
  uint32_t share_sync_object(uint32_t handle) {
    drm_syncobj_handle out{handle, 0, -1, 0};
    EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out), 0);
    descriptors_.push_back(out.fd);
    drm_syncobj_handle in{0, 0, out.fd, 0};
    EXPECT_EQ(far_call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, in), 0);
    return in.handle;
  }

  std::unique_ptr<Driver> far_;
  std::shared_ptr<File> far_file_;
};

TEST_P(PeerDrivers, WriteOfOneProcessBlocksTheOther) {
  for (const bool shared_first : {true, false}) {
    Gate gate;
    const uint32_t handle = create(4096);
    int descriptor = shared_first ? give(handle) : -1;
    ASSERT_EQ(run({.in = gate.descriptor(), .more = {object(handle, EXEC_OBJECT_WRITE)}}), 0);
    if (!shared_first) descriptor = give(handle);
    const uint32_t there_too = take(descriptor);
    EXPECT_EQ(far_busy(there_too), 0x1'0001u) << "the render engine, reading and writing";
    EXPECT_EQ(far_wait(there_too, 0), -ETIME);
    EXPECT_FALSE(far_ready(descriptor, false));
    dma_buf_export_sync_file fence{.flags = DMA_BUF_SYNC_READ, .fd = -1};
    ASSERT_EQ(far_->descriptor_ioctl(descriptor, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, reinterpret_cast<uintptr_t>(&fence)),
              0);
    descriptors_.push_back(fence.fd);
    EXPECT_FALSE(readable(fence.fd));
    int reader = -1;
    ASSERT_EQ(there([&] { return run({.more = {object(there_too, 0)}}, &reader); }), 0);
    EXPECT_FALSE(readable(reader));
    if (execlists()) {
      int careless = -1;
      const uint32_t other = there([&] { return context(); });
      const auto more = {object(there_too, EXEC_OBJECT_ASYNC)};
      ASSERT_EQ(there([&] { return run({.context = other, .more = more}, &careless); }), 0);
      EXPECT_TRUE(readable(careless, true)) << "does not wait";
    }
    gate.open();
    EXPECT_EQ(far_wait(there_too, -1), 0);
    EXPECT_TRUE(readable(reader, true));
    EXPECT_TRUE(readable(fence.fd, true));
    EXPECT_TRUE(far_ready(descriptor, true, true));
    EXPECT_EQ(far_busy(there_too), 0u);
  }
}

TEST_P(PeerDrivers, ReadsOfTwoProcessesRunTogether) {
  Gate gate;
  const uint32_t handle = create(4096);
  const int descriptor = give(handle);
  const uint32_t there_too = take(descriptor);
  ASSERT_EQ(run({.in = gate.descriptor(), .more = {object(handle, 0)}}), 0);
  EXPECT_TRUE(far_ready(descriptor, false));
  EXPECT_FALSE(far_ready(descriptor, true));
  int reader = -1, writer = -1;
  ASSERT_EQ(there([&] { return run({.more = {object(there_too, 0)}}, &reader); }), 0);
  EXPECT_TRUE(readable(reader, true));
  ASSERT_EQ(there([&] { return run({.more = {object(there_too, EXEC_OBJECT_WRITE)}}, &writer); }), 0);
  EXPECT_FALSE(readable(writer));
  // The reverse: new work waits for that writer.
  int second = -1;
  ASSERT_EQ(run({.context = 0, .more = {object(handle, 0)}}, &second), 0);
  EXPECT_FALSE(readable(second));
  gate.open();
  EXPECT_TRUE(readable(writer, true));
  EXPECT_TRUE(readable(second, true));
}

TEST_P(PeerDrivers, FencesOfEndedPeerAreDone) {
  Gate gate;
  const uint32_t handle = create(4096);
  const int descriptor = give(handle);
  const uint32_t there_too = take(descriptor);
  ASSERT_EQ(there([&] { return run({.in = gate.descriptor(), .more = {object(there_too, EXEC_OBJECT_WRITE)}}); }), 0);
  EXPECT_EQ(wait(handle, 0), -ETIME);
  far_->close(far_file_);
  far_.reset();
  EXPECT_EQ(wait(handle, -1), 0);
  SetUp();
}

TEST_P(PeerDrivers, SharedSyncObjectHasTheSameStateInBoth) {
  const uint32_t here = sync_object();
  EXPECT_EQ(signal_point(here, 5), 0);
  const uint32_t far_handle = share_sync_object(here);
  EXPECT_EQ(there([&] { return query(far_handle); }), 5u);
  EXPECT_EQ(there([&] { return signal_point(far_handle, 9); }), 0);
  EXPECT_EQ(query(here), 9u);
  EXPECT_EQ(wait_points({here}, {9}), 0);
  EXPECT_EQ(wait_points({here}, {10}), -EINVAL);
  uint32_t one = here;
  drm_syncobj_array array{.handles = reinterpret_cast<uintptr_t>(&one), .count_handles = 1, .pad = 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_RESET, array), 0);
  EXPECT_EQ(there([&] { return wait_objects({far_handle}); }), -EINVAL);

  // One driver waits for a point that the other has not promised.
  int result = 1;
  std::thread waiter([&] {
    uint32_t handle = far_handle;
    drm_syncobj_wait wait{};
    wait.handles = reinterpret_cast<uintptr_t>(&handle);
    wait.count_handles = 1;
    wait.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
    wait.timeout_nsec = INT64_MAX;
    result = far_->ioctl(*far_file_, DRM_IOCTL_SYNCOBJ_WAIT, reinterpret_cast<uintptr_t>(&wait));
  });
  Gate gate;
  EXPECT_EQ(run({.in = gate.descriptor(), .fences = {{here, I915_EXEC_FENCE_SIGNAL}}}), 0);
  EXPECT_EQ(there([&] { return wait_objects({far_handle}, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT); }), -ETIME);
  int behind = -1;
  EXPECT_EQ(there([&] { return run({.fences = {{far_handle, I915_EXEC_FENCE_WAIT}}}, &behind); }), 0);
  EXPECT_FALSE(readable(behind));
  gate.open();
  waiter.join();
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(readable(behind, true));
}

TEST_P(PeerDrivers, LongSharedTimelineHasTheSamePointsInBoth) {
  const uint32_t here = sync_object();
  const uint32_t far_handle = share_sync_object(here);
  constexpr uint64_t kPoints = 3 * SharedObject::kEntries;
  for (uint64_t point = 1; point <= kPoints; ++point) {
    const bool mine = point % 3 != 0;
    ASSERT_EQ(mine ? signal_point(here, point) : there([&] { return signal_point(far_handle, point); }), 0);
  }
  EXPECT_EQ(query(here), kPoints);
  EXPECT_EQ(there([&] { return query(far_handle); }), kPoints);
  // A third process that joins late sees the same.
  PeerProcesses third;
  SyncObjectFiles files(third, [](const auto&) {});
  const SyncObjectRef late = files.find(descriptors_.back());
  ASSERT_TRUE(late);
  const auto* const point = dynamic_cast<const TimelinePoint*>(late->fence().get());
  ASSERT_NE(point, nullptr);
  EXPECT_EQ(point->payload(), kPoints);
}

INSTANTIATE_TEST_SUITE_P(Chips, PeerDrivers, ::testing::Values("g45", "snb", "icl", "dg1"), chip_name);

int shared_file(uint64_t bytes) {
  const int file = memfd_create("shared", MFD_CLOEXEC);
  EXPECT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
  return file;
}

TEST(PeerProcesses, FencesOfDeadProcessFail) {
  const int file = shared_file(4096 + SharedFences::kBytes);
  PeerProcesses here;
  const auto fences = SharedFences::open(
      here, [](const auto&) {}, file, 4096);
  ASSERT_TRUE(fences);
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    PeerProcesses peers;
    const auto theirs = SharedFences::open(
        peers, [](const auto&) {}, file, 4096);
    const auto fence = std::make_shared<Fence>();
    theirs->add(fence, true);
    const char word = 'r';
    if (write(ready[1], &word, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char word = 0;
  ASSERT_EQ(read(ready[0], &word, 1), 1);
  std::vector<FenceRef> open;
  fences->list(false, open);
  ASSERT_EQ(open.size(), 1u);
  const auto fence = std::dynamic_pointer_cast<WatchedFence>(open.front());
  fence->look();
  EXPECT_FALSE(fence->done);
  const int pidfd = fence->process_fd();
  kill(child, SIGKILL);
  if (pidfd >= 0) {
    pollfd end{.fd = pidfd, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&end, 1, -1), 1) << "its end can be waited for";
  }
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  fence->look();
  EXPECT_TRUE(fence->done);
  EXPECT_EQ(fence->error, -EIO);
  open.clear();
  fences->list(true, open);
  EXPECT_TRUE(open.empty());
  for (const int each : {file, ready[0], ready[1]}) close(each);
}

// A lock of the file, as any holder of its descriptor can take it.
class KeptLock {
 public:
  KeptLock(int descriptor, uint64_t offset)
      : file_(open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDWR | O_CLOEXEC)) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(offset);
    range.l_len = 1;
    EXPECT_EQ(fcntl(file_, F_OFD_SETLK, &range), 0);
  }
  ~KeptLock() { close(file_); }
  KeptLock(const KeptLock&) = delete;
  KeptLock& operator=(const KeptLock&) = delete;

 private:
  int file_;
};

class LockPatiences : public ::testing::Test {
 protected:
  void pass(std::chrono::milliseconds more) { time_ += more; }
  LockPatience::Clock::time_point time_{std::chrono::hours(1)};
  LockPatience patience_{[this] { return time_; }};
};
using std::chrono::milliseconds;

TEST_F(LockPatiences, WaitsInVainAreBoundedTogether) {
  LockPatience::Page kept, other;
  EXPECT_EQ(patience_.longest(kept), milliseconds(100));
  pass(milliseconds(100));
  patience_.spend(kept, milliseconds(100), true);
  EXPECT_EQ(patience_.lost(), 1u);
  EXPECT_EQ(patience_.longest(kept), milliseconds(0)) << "the same lock";
  EXPECT_EQ(patience_.longest(other), milliseconds(5)) << "another shares what is left: a twentieth of the time";
  pass(milliseconds(1000));
  EXPECT_EQ(patience_.longest(other), milliseconds(55));
  pass(milliseconds(8900));
  EXPECT_EQ(patience_.longest(kept), milliseconds(0));
  pass(milliseconds(200));
  EXPECT_EQ(patience_.longest(kept), milliseconds(100)) << "it gets another chance";
}

// A lock that is given back just in time costs no less.
TEST_F(LockPatiences, LongWaitsWithSuccessAreBoundedToo) {
  LockPatience::Page slow, fresh;
  patience_.spend(slow, milliseconds(99), false);
  EXPECT_EQ(patience_.lost(), 0u);
  EXPECT_EQ(patience_.longest(slow), milliseconds(1));
  patience_.spend(slow, milliseconds(1), false);
  EXPECT_EQ(patience_.longest(slow), milliseconds(0)) << "everything is spent";
  EXPECT_EQ(patience_.longest(fresh), milliseconds(1)) << "a lock that was free so far";
  patience_.spend(fresh, std::chrono::microseconds(100), false);
  EXPECT_EQ(patience_.longest(fresh), milliseconds(1)) << "a short wait is no reason for distrust";
}

TEST(PeerProcesses, LockThatAPeerKeepsDelaysOneChangeOfMany) {
  const int file = shared_file(SharedObject::kBytes);
  PeerProcesses here;
  const auto object = SharedObject::open(
      here, [](const auto&) {}, file);
  ASSERT_TRUE(object);
  const KeptLock kept(file, 0);
  const auto ignore = [](SharedObject::Change, const FenceRef&, uint64_t) {};
  for (uint64_t point = 1; point <= 5000; ++point) {
    object->add(SharedObject::Change::point, signalled_fence(), point, ignore);
  }
  EXPECT_EQ(here.lock_patience().lost(), 1u);
  close(file);
}

// As fences of Linux: each has its own error, and a fence of several has the error of the first that failed.
TEST(PeerProcesses, SuccessDoesNotHideAFailureOfThePromisedWork) {
  const int file = shared_file(SharedFences::kBytes);
  PeerProcesses one, two;
  const auto open_here = [&](PeerProcesses& peers) {
    return SharedFences::open(
        peers, [](const auto&) {}, file, 0);
  };
  const auto theirs = open_here(one), ours = open_here(two);
  ASSERT_TRUE(theirs && ours);
  const auto promise = [&](bool also_reads) {
    std::vector<FenceRef> open;
    ours->list(also_reads, open);
    EXPECT_EQ(open.size(), 1u);
    return std::dynamic_pointer_cast<WatchedFence>(open.front());
  };
  const auto add = [&](bool write) {
    auto fence = std::make_shared<Fence>();
    theirs->add(fence, write);
    return fence;
  };
  const auto first = add(true), second = add(true);
  const auto both = promise(false);
  const auto reads = add(false);
  const auto all = promise(true);
  first->signal(-EIO);
  second->signal();
  both->look();
  ASSERT_TRUE(both->done);
  EXPECT_EQ(both->error, -EIO);
  const auto last = add(true);
  const auto after = promise(false);
  reads->signal(-ENOMEM);
  all->look();
  ASSERT_TRUE(all->done);
  EXPECT_EQ(all->error, -EIO) << "the first error";
  last->signal();
  after->look();
  ASSERT_TRUE(after->done);
  EXPECT_EQ(after->error, 0) << "earlier failures and failed reads are not its own";

  // A failure that comes before an earlier request is done.
  const auto slow = add(true), fast = add(true);
  fast->signal(-ECANCELED);
  const auto late = promise(false);
  late->look();
  EXPECT_FALSE(late->done);
  slow->signal();
  late->look();
  ASSERT_TRUE(late->done);
  EXPECT_EQ(late->error, -ECANCELED);
  close(file);
}

// Any content of the shared memory is handled without a crash.
TEST(PeerProcesses, CorruptSharedMemoryIsHarmless) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const int file = shared_file(SharedObject::kBytes);
    auto* const words =
        static_cast<uint64_t*>(mmap(nullptr, SharedObject::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    ASSERT_NE(words, MAP_FAILED);
    const auto scatter = [&] {
      for (int i = 0; i < 200; ++i) {
        const uint64_t value = random();
        words[random() % (SharedObject::kBytes / 8)] = seed % 2 == 0 ? value : value % 1000;
      }
    };
    PeerProcesses here;
    std::vector<std::shared_ptr<WatchedFence>> watched;
    const auto watch = [&](const std::shared_ptr<WatchedFence>& fence) { watched.push_back(fence); };
    if (seed % 3 != 0) scatter();
    const auto fences = SharedFences::open(here, watch, file, 0);
    const auto object = SharedObject::open(here, watch, file);
    for (int round = 0; round < 20; ++round) {
      const auto fence = std::make_shared<Fence>();
      std::vector<FenceRef> open;
      if (fences) fences->add(fence, round % 2 == 0);
      if (fences) fences->list(round % 3 == 0, open);
      FenceRef held;
      const auto apply = [&](SharedObject::Change, FenceRef its, uint64_t) { held = std::move(its); };
      if (object) object->add(SharedObject::Change::point, fence, random() % 100, apply);
      scatter();
      if (object) object->take(apply);
      for (const auto& each : watched) each->look();
      fence->signal();
    }
    watched.clear();
    munmap(words, SharedObject::kBytes);
    close(file);
  }
}

}  // namespace
}  // namespace halogen::driver
