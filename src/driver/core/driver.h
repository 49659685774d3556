// The i915 user interface: open, ioctl and mmap. Any thread may call; one lock guards all state. A thread that waits
// for the device lets it work; without a waiter, a thread of the driver does. The hang check finds a batch that makes
// no progress and removes it.
//
// Errors are the negative errno that Linux returns for the same mistake.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "driver/core/hang_watch.h"
#include "driver/gem/file.h"
#include "driver/gem/file_key.h"
#include "driver/gem/lent_memory.h"
#include "driver/gem/live_mappings.h"
#include "driver/kms/kms.h"
#include "driver/share/remote_fence_watcher.h"
#include "driver/share/shared_buffers.h"
#include "driver/sync/interruption.h"
#include "driver/sync/sync_file.h"

namespace halogen::driver {

class CounterFile;
class LoadMeter;
class Perf;
class PerfStream;

// Folders and files of performance counters that programs read and write. Empty: the device has no counters.
struct PerfPaths {
  std::string ids;        // the folder with the numbers of metric sets
  std::string registers;  // the folder with their registers
  std::string limits;     // the folder with the limits for programs without privilege
  std::string load;       // the file for monitors (load_page.h), which is created; for all devices
};

struct DriverOptions {
  HardwareOptions hardware{};
  // Time until a request counts as hung, whether or not it makes progress (hang_watch.h). A quarter of it applies while
  // more urgent work waits for the engine. Zero: no request counts as hung.
  std::chrono::milliseconds hang_after{2500};
  RunTime run_time{};                            // clock for hang_after; empty: the time during which the process ran
  std::chrono::milliseconds throttle_after{20};  // THROTTLE waits for work that is older than this
  bool privileged = false;                       // programs may have the rights of an administrator
  bool monitors = false;                         // programs may have the right to monitor others
  PerfPaths perf{};
  std::function<uint64_t()> load_clock{};  // the host's, in nanoseconds, for monitors; empty: CLOCK_MONOTONIC
  // True: the time of an idle device follows the host's clock, and vertical blanks come at the mode's rate. False: time
  // passes only while the device works or a call waits for a vertical blank, which then comes as fast as the host can
  // produce it.
  bool host_time = false;
  // Receives the picture on the screen after each change, at the vertical blank. May be empty.
  std::function<void(const picture::Image&)> frames{};
  Tracepoints* tracepoints = nullptr;  // receives tracepoints; may be null, and must outlive the driver
  CounterFile* counters = nullptr;     // receives samples of counters; may be null, and must outlive the driver
};

// Options of one open() of a device node.
struct OpenOptions {
  bool render = false;          // a render node: no mode setting
  int events = -1;              // a socket that receives the events of mode setting; the caller keeps ownership
  std::optional<FileKey> file;  // behind the program's descriptors: monitors find the node by it
};

struct Mapping {
  int descriptor = -1;
  uint64_t offset = 0;
};

class Driver {
 public:
  static Result<std::unique_ptr<Driver>> start(const spec::DeviceModel& model, const DriverOptions& options);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Opens a file. It holds parts of the device: close it before the driver is destroyed. Null: out of memory.
  std::shared_ptr<File> open(const OpenOptions& options = {});
  void close(const std::shared_ptr<File>& file);
  // Returns 0 or more, or a negative errno. `argument` is an address of the calling program. If an Interruption is
  // active for the call, a pending signal ends waits with EINTR. `no_wait`: the node was opened with O_NONBLOCK.
  int ioctl(File& file, unsigned long request, uint64_t argument, bool no_wait = false);
  // Handles an ioctl on a sync file or a shared buffer. No value: the descriptor does not belong to the driver.
  std::optional<int> descriptor_ioctl(int descriptor, unsigned long request, uint64_t argument);
  // Performs read(2) on a stream of performance counters. Returns bytes or a negative errno.
  int read_stream(int descriptor, uint64_t address, uint64_t bytes);
  // Call it before poll(2) on a stream: time passes, at most `ns`, if the device's clock does not follow the host's.
  void pass_stream_time(int descriptor, uint64_t ns);
  // Returns a sync file for poll(2) on a shared buffer, or a negative errno. It signals when all writers are done, or
  // with `also_reads` all users.
  int fence_file(int descriptor, bool also_reads);
  // Performs mmap(2) on the node. Returns an address, or MAP_FAILED with errno set. The mapping keeps the buffer alive
  // until forget_memory().
  void* map_here(File& file, void* address, uint64_t bytes, int protection, int flags, uint64_t offset);
  // Return what mmap(2) and GEM_MMAP map, for a front end that maps it in another process: a sealed file that holds no
  // other buffer. The caller closes the descriptor. 0 or a negative errno.
  int map(File& file, uint64_t offset, uint64_t bytes, Mapping& mapping);
  int map_buffer(File& file, uint32_t handle, uint64_t offset, uint64_t bytes, Mapping& mapping);
  // Enclose every call that unmaps, replaces or protects a range of the process's memory: meanwhile no other call gives
  // the range to the device. False: the range is not lent, and end_leaving() must not be called.
  static bool begin_leaving(LentMemory::Leaving& range);
  void end_leaving(LentMemory::Leaving& range);
  // Waits for work on a range of the process's memory that is about to be unmapped or replaced. Call it before
  // munmap(2), mremap(2) and mmap(2) with MAP_FIXED, but not from inside the driver's own calls. Pass the returned
  // buffers to release() when the mappings are gone, or to keep_mapping() when they moved.
  std::vector<BufferRef> forget_memory(uint64_t address, uint64_t bytes);
  void settle_memory(uint64_t address, uint64_t bytes);  // the same before mprotect(2): mappings stay
  void release(std::vector<BufferRef> kept);
  void keep_mapping(uint64_t address, uint64_t bytes, const BufferRef& buffer) {
    release(live_.add(address, bytes, buffer));
  }
  bool is_mapping(uint64_t address, uint64_t bytes) const { return live_.touches(address, bytes); }
  // Moves each buffer that this process maps to a file of its own. Call it before fork(2): the child inherits these
  // mappings, and can enlarge them only over the rest of their files. It does not inherit other mappings.
  void separate_mapped();

  // Lets the device work only until then, for a process that is about to end. time_point::max(): without an end. Any
  // thread may call it.
  void end_by(std::chrono::steady_clock::time_point when) { end_by_ = when.time_since_epoch().count(); }
  // Calls `function` with the lock held, so that the device does not change meanwhile.
  void with_lock(const std::function<void()>& function);
  // Returns the fidelity report of everything that the device has done so far.
  FidelityReport fidelity();
  // Waits until the screen shows the last requested state.
  void finish_display();

  const spec::DeviceModel& model() const { return gpu_->hardware().model(); }

  // ---- for the ioctls, with the lock held
  using Lock = std::unique_lock<std::mutex>;
  Gpu& gpu() { return *gpu_; }
  Kms& kms() { return *kms_; }
  Perf& perf() { return *perf_; }
  // Returns whether the calling program has the rights of an administrator.
  bool privileged() const;
  bool may_monitor() const;  // has those rights, or CAP_PERFMON
  const DriverOptions& options() const { return options_; }
  const std::shared_ptr<Space>& shared_space() const { return shared_space_; }
  uint64_t offset_of(const BufferRef& buffer, bool aperture);  // the fake offset for mmap()
  LiveMappings& live_mappings() { return live_; }
  // Maps memory of a buffer and records that. Returns MAP_FAILED with errno set.
  void* map_buffer_here(const BufferRef& buffer, const Mapping& mapping, void* address, uint64_t bytes, int protection,
                        int flags);
  void add_program_buffer(const BufferRef& buffer);
  void add_purgeable(const BufferRef& buffer);
  void forget_offset(const Buffer& buffer);
  void queue(EngineQueue& engine, RequestRef request);
  // Wait until the condition holds. False: the time is over.
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
  bool wait(Lock& lock, const std::function<bool()>& condition, std::optional<std::chrono::nanoseconds> timeout);
  bool wait_until(Lock& lock, const std::function<bool()>& condition, std::optional<Clock::time_point> end);
  // Waits on behalf of a call: returns 0, -ETIME or -EINTR.
  int wait_call(Lock& lock, const std::function<bool()>& condition,
                std::optional<Clock::time_point> end = std::nullopt);
  // Gives up the lock for a moment if others want it. EINTR: the process that makes the call is gone, or, if signals
  // may interrupt the call, one of the program is due.
  int let_others_pass(Lock& lock, bool interruptible = true);
  void listen() { remote_fences_.listen(); }  // something is shared, so peers may wake us
  ContextRef make_context(File& file);
  void leave(Context& context);  // after its handle is closed
  uint32_t resets() const { return resets_; }
  void catch_up();  // follows the host's clock if host_time is set and the device is idle
  SyncFiles& sync_files() { return sync_files_; }
  SyncObjectFiles& sync_object_files() { return sync_object_files_; }
  SharedBuffers& shared_buffers() { return shared_buffers_; }

 private:
  Driver(std::unique_ptr<Gpu> gpu, const DriverOptions& options);
  void run();
  bool working() const { return !has_ended() && (batched_ != 0 || gpu_->working() || kms_->waits()); }
  void step();
  void take_step();
  void fail_work();
  void after_call();
  std::shared_ptr<File> try_open(const OpenOptions& options);
  void settle_memory(Lock& lock, uint64_t address, uint64_t bytes);
  void run_queued();
  std::optional<Clock::time_point> next_blank();
  void flush_batched();
  bool has_ended() const;
  bool demands_stop() const;
  void run_device(uint64_t nanoseconds);
  void look_for_hangs();
  bool send_heartbeat(EngineQueue& queue);
  Lock enter();
  void yield_lock(Lock& lock);
  void notify_waiters();
  void wake_waiters();
  enum class Waited { held, late, interrupted };
  Waited wait_for(Lock& lock, const std::function<bool()>& condition, std::optional<Clock::time_point> end,
                  Interruption* interruption);
  void sleep(Lock& lock, Interruption& interruption, std::optional<Clock::time_point> end);
  void blame(EngineQueue& queue, const RequestRef& culprit, Context::Clock::time_point now);
  void restart_others(const EngineQueue& queue);
  void cancel(EngineQueue& queue, const EngineContext& context);
  void kill(Context& context);  // bans it and cancels its work
  void fences_signalled();      // by something other than the device
  int find_offer(File& file, uint64_t offset, uint64_t bytes, BufferRef& buffer, Mapping& mapping);
  void clear(File& file);  // releases all that a closed file holds
  int lend(Buffer& buffer, uint64_t offset, Mapping& mapping);
  static int open_lent(Mapping& mapping);
  bool purge_unneeded();
  std::optional<int> stream_ioctl(int descriptor, unsigned long request, uint64_t argument);
  int shared_buffer_ioctl(Lock& lock, int buffer, unsigned long request, uint64_t argument);

  DriverOptions options_;
  PeerProcesses peers_;  // outlives everything that is shared
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Kms> kms_;
  std::shared_ptr<Space> shared_space_;
  uint32_t next_context_ = 1;
  uint32_t resets_ = 0;
  Clock::time_point host_then_ = Clock::now();  // when the two clocks were last compared
  uint64_t device_then_ = 0;

  std::mutex mutex_;
  std::mutex gate_;  // taken before mutex_ by calls that enter: yield_lock() then lets them pass
  std::condition_variable work_;
  std::condition_variable changed_;  // fences may be done, or another waiter may take over the work
  bool stop_ = false;
  bool stepping_ = false;  // a waiting thread lets the device work
  unsigned waiters_ = 0;
  struct WaitSlot {
    int wake_fd = -1;
    int signals = -1;
  };
  std::vector<int> wake_fds_;              // of waiters that a signal can interrupt
  std::vector<WaitSlot> free_wait_slots_;  // not in use now
  bool queued_ = false;                    // the current call submitted work
  bool found_idle_ = false;                // the current call found the device idle when it submitted
  unsigned burst_length_ = 0;              // consecutive submissions, without another call or a long gap between them
  Clock::time_point last_queued_{};
  unsigned batched_ = 0;  // batches not yet given to the engines, because more may come
  uint64_t batched_total_ = 0;
  bool batching_ = false;  // the thread waits for more batches

  uint64_t next_offset_ = uint64_t{1} << 32;
  struct Offer {
    std::weak_ptr<Buffer> buffer;
    bool aperture = false;  // tiled buffers look linear
  };
  std::map<std::pair<const Buffer*, bool>, uint64_t> offsets_;
  std::map<uint64_t, Offer> mappings_;
  std::vector<std::weak_ptr<Buffer>> program_buffers_;  // buffers over the program's own memory
  std::vector<std::weak_ptr<Buffer>> purgeable_;        // buffers that programs marked as not needed
  LiveMappings live_;
  int empty_ = -1;  // an empty file: pages mapped from it cannot be touched

  HangWatch hangs_;
  static constexpr Clock::rep kNever = Clock::time_point::max().time_since_epoch().count();
  std::atomic<Clock::rep> end_by_{kNever};
  RemoteFenceWatcher remote_fences_;
  SyncFiles sync_files_;
  SyncObjectFiles sync_object_files_;
  SharedBuffers shared_buffers_;
  std::unique_ptr<Perf> perf_;
  std::unique_ptr<LoadMeter> meter_;
  std::thread thread_;
};

}  // namespace halogen::driver
