// The i915 user interface: files are opened, ioctls come in, memory is mapped. Any thread may call; one lock guards
// all. The device works while somebody waits for it and, when nobody does, on a thread of its own. A batch that does
// not end is found by its silence and taken out.
//
// Errors are the kernel's errno for the same mistake, negative.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "driver/gem/file.h"
#include "driver/gem/live_mappings.h"
#include "driver/kms/kms.h"
#include "driver/share/remote_fence_watcher.h"
#include "driver/share/shared_buffers.h"
#include "driver/sync/interruption.h"
#include "driver/sync/sync_file.h"

namespace halogen::driver {

struct DriverOptions {
  HardwareOptions hardware{};
  // Without progress: nothing done, no thread dispatched. A quarter of it, when more urgent work waits for its place.
  std::chrono::milliseconds hang_after{2500};
  std::chrono::milliseconds throttle_after{20};  // work that is older is waited for by THROTTLE
  bool privileged = false;                       // the programs may do what administrators may
  // An idle device's time goes on as the host's does, and vertical blanks come at the mode's rate. Without: time passes
  // only while the device works or somebody waits for a vertical blank, which comes as fast as the host can make it.
  bool host_time = false;
  // Gets what the screen shows after each change, at the vertical blank; empty: nobody.
  std::function<void(const picture::Image&)> frames{};
  Tracepoints* tracepoints = nullptr;  // hears what happens; lives longer than the kernel
};

// An open of one of the device's nodes.
struct OpenOptions {
  bool render = false;  // the node without mode setting
  int events = -1;      // a socket that takes the events of mode setting; stays the caller's
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

  // A file holds parts of the device: it is closed before the kernel goes. Null: no memory for it.
  std::shared_ptr<File> open(const OpenOptions& options = {});
  void close(const std::shared_ptr<File>& file);
  // 0 or more, or a negative errno. `argument` is an address of the calling program. Waits end with EINTR when an
  // Interruption is around the call and due. `no_wait`: the node is one with O_NONBLOCK.
  int ioctl(File& file, unsigned long request, uint64_t argument, bool no_wait = false);
  // Of a descriptor that is no device node: a sync file or a shared buffer. Nothing: it is not the driver's.
  std::optional<int> descriptor_ioctl(int descriptor, unsigned long request, uint64_t argument);
  // A sync file for poll(2) on a shared buffer: done when those who write it are, or all who use it. Or an errno.
  int fence_file(int descriptor, bool also_reads);
  // mmap(2) of the node: a place, or MAP_FAILED and errno. The mapping keeps the buffer until forget_memory().
  void* map_here(File& file, void* address, uint64_t bytes, int protection, int flags, uint64_t offset);
  // What mmap(2) and GEM_MMAP shall map, for a front end that does it for another process. 0 or a negative errno.
  int map(File& file, uint64_t offset, uint64_t bytes, Mapping& mapping);
  int map_buffer(File& file, uint32_t handle, uint64_t offset, uint64_t bytes, Mapping& mapping);
  // This range of the process's memory is about to be unmapped or replaced: what works on it is waited for. Before
  // munmap(2), mremap(2) and mmap(2) with MAP_FIXED; not from inside the driver's own calls. What mappings there kept
  // goes to release() when they are gone, or to keep_mapping() when they moved.
  std::vector<BufferRef> forget_memory(uint64_t address, uint64_t bytes);
  void settle_memory(uint64_t address, uint64_t bytes);  // the same where mappings stay: before mprotect(2)
  void release(std::vector<BufferRef> kept);
  void keep_mapping(uint64_t address, uint64_t bytes, const BufferRef& buffer) {
    release(live_.add(address, bytes, buffer));
  }
  bool is_mapping(uint64_t address, uint64_t bytes) const { return live_.touches(address, bytes); }

  // Nothing happens to the device meanwhile.
  void with_lock(const std::function<void()>& function);
  // What the device did so far, and how well.
  FidelityReport fidelity();
  // Waits until the screen shows what was asked for.
  void finish_display();

  const spec::DeviceModel& model() const { return gpu_->hardware().model(); }

  // ---- for the ioctls, with the lock held
  using Lock = std::unique_lock<std::mutex>;
  Gpu& gpu() { return *gpu_; }
  Kms& kms() { return *kms_; }
  // Whether the program that calls may do what administrators may.
  bool privileged() const;
  const DriverOptions& options() const { return options_; }
  const std::shared_ptr<Space>& shared_space() const { return shared_space_; }
  LiveMappings& live_mappings() { return live_; }
  uint64_t offset_of(const BufferRef& buffer, bool aperture);  // for mmap()
  void add_program_buffer(const BufferRef& buffer);
  void add_purgeable(const BufferRef& buffer);
  void forget_offset(const Buffer& buffer);
  void queue(EngineQueue& engine, RequestRef request);
  // Until the condition holds. False: the time is over.
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
  bool wait(Lock& lock, const std::function<bool()>& condition, std::optional<std::chrono::nanoseconds> timeout);
  bool wait_until(Lock& lock, const std::function<bool()>& condition, std::optional<Clock::time_point> end);
  // The same for what a call waits for: 0, ETIME or EINTR.
  int wait_call(Lock& lock, const std::function<bool()>& condition,
                std::optional<Clock::time_point> end = std::nullopt);
  void listen() { remote_fences_.listen(); }  // something is shared: others may ring
  ContextRef make_context(File& file);
  void leave(Context& context);  // nobody names it any more
  uint32_t resets() const { return resets_; }
  void catch_up();  // with the host's time, if the device is idle and that is wanted
  SyncFiles& sync_files() { return sync_files_; }
  SyncObjectFiles& sync_object_files() { return sync_object_files_; }
  SharedBuffers& shared_buffers() { return shared_buffers_; }

 private:
  Driver(std::unique_ptr<Gpu> gpu, const DriverOptions& options);
  void run();
  bool working() const { return batched_ != 0 || gpu_->working() || kms_->waits(); }
  void step();
  void run_queued();
  std::optional<Clock::time_point> next_blank();
  void flush_batched();
  struct Watch;
  void look_for_hangs();
  bool hangs(EngineQueue& queue, Watch& watch, Clock::time_point now);
  bool send_pulse(EngineQueue& queue, Watch& watch);
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
  void kill(Context& context);  // its work ends here
  void fences_signalled();      // by others than the device
  int find_offer(File& file, uint64_t offset, uint64_t bytes, BufferRef& buffer, Mapping& mapping);
  bool purge_unneeded();
  int shared_buffer_ioctl(Lock& lock, int buffer, unsigned long request, uint64_t argument);

  DriverOptions options_;
  PeerProcesses peers_;  // outlives what is shared
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Kms> kms_;
  std::shared_ptr<Space> shared_space_;
  uint32_t next_context_ = 1;
  uint32_t resets_ = 0;
  Clock::time_point host_then_ = Clock::now();  // when the two clocks were compared
  uint64_t device_then_ = 0;

  std::mutex mutex_;
  std::mutex gate_;  // taken before the lock by those who come in: then whoever works lets them in
  std::condition_variable work_;
  std::condition_variable changed_;  // fences may be done, or another may take over the work
  bool stop_ = false;
  bool stepping_ = false;  // somebody who waits lets the device work
  unsigned waiters_ = 0;
  struct WaitSlot {
    int wake_fd = -1;
    int signals = -1;
  };
  std::vector<int> wake_fds_;              // of those who sleep and can be interrupted
  std::vector<WaitSlot> free_wait_slots_;  // not in use now
  bool queued_ = false;                    // the call that runs now brought work
  bool found_idle_ = false;                // which found the device idle
  unsigned burst_length_ = 0;              // calls that brought work, without another between them or much time
  Clock::time_point last_queued_{};
  unsigned batched_ = 0;  // batches that the engines do not know yet: more may come
  uint64_t batched_total_ = 0;
  bool batching_ = false;  // the thread looks whether more comes

  uint64_t next_offset_ = uint64_t{1} << 32;
  struct Offer {
    std::weak_ptr<Buffer> buffer;
    bool aperture = false;  // tiled ones look linear
  };
  std::map<std::pair<const Buffer*, bool>, uint64_t> offsets_;
  std::map<uint64_t, Offer> mappings_;
  std::vector<std::weak_ptr<Buffer>> program_buffers_;  // over the program's own memory
  std::vector<std::weak_ptr<Buffer>> purgeable_;        // that programs can do without
  LiveMappings live_;
  int empty_ = -1;  // a file without content: what is mapped of it cannot be touched

  struct Watch {
    RequestRef request;
    std::chrono::steady_clock::time_point since;
    std::optional<uint64_t> work{};                                // done half of the time ago
    uint32_t renewals = 0;                                         // for the work's sake
    std::optional<std::chrono::steady_clock::time_point> urged{};  // more urgent work wants its place
    RequestRef pulse{};                                            // sent to see whether it lets others in
  };
  std::unordered_map<EngineQueue*, Watch> watches_;
  RemoteFenceWatcher remote_fences_;
  SyncFiles sync_files_;
  SyncObjectFiles sync_object_files_;
  SharedBuffers shared_buffers_;
  std::thread thread_;
};

}  // namespace halogen::driver
