#include "driver/core/driver.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/exhaustion.h"
#include "base/own_thread.h"
#include "driver/calls/ioctls.h"
#include "driver/core/counter_file.h"
#include "driver/core/tracepoints.h"
#include "driver/gem/foreign_call.h"
#include "driver/gem/user_memory.h"
#include "driver/perf/load_meter.h"
#include "driver/perf/perf.h"
#include "driver/share/private_descriptor.h"
#include "driver/share/sealed_file.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kSlice = 20'000;  // device time (ns) between two checks
constexpr unsigned kMaxBatched = 32;
constexpr std::chrono::microseconds kBatchDelay{100};
constexpr std::chrono::milliseconds kLookAgain{10};  // the end that end_by() set may be called off
constexpr unsigned kBurstLength = 16;                // consecutive submissions after which batches are gathered
constexpr std::chrono::microseconds kBurstGap{30};   // longest gap between two of them
constexpr uint32_t kCardMinor = 0, kRenderMinor = 128;

}  // namespace

Result<std::unique_ptr<Driver>> Driver::start(const spec::DeviceModel& model, const DriverOptions& options) {
  Result<std::unique_ptr<Driver>> driver = Error{"out of memory"};  // too short to need memory itself
  static_cast<void>(completes([&] {
    Result<std::unique_ptr<Gpu>> gpu = Gpu::start(model, options.hardware);
    if (gpu) {
      driver = std::unique_ptr<Driver>(new Driver(std::move(gpu).value(), options));
    } else {
      driver = gpu.error();
    }
  }));
  return driver;
}

Driver::Driver(std::unique_ptr<Gpu> gpu, const DriverOptions& options)
    : options_(options),
      gpu_(std::move(gpu)),
      kms_(std::make_unique<Kms>(*gpu_)),
      hangs_(options.run_time ? options.run_time : run_time_of_process(), options.hang_after, model().engines.size()),
      remote_fences_(mutex_, peers_, [this] { fences_signalled(); }),
      sync_files_([this](const auto& fence) { remote_fences_.add(fence); }),
      sync_object_files_(peers_, [this](const auto& fence) { remote_fences_.add(fence); }),
      shared_buffers_(peers_, [this](const auto& fence) { remote_fences_.add(fence); }) {
  gpu_->hardware().device().stop_flag().set_watch([this] { return demands_stop(); });
  device_then_ = gpu_->hardware().device().clock().nanoseconds;
  if (gpu_->shares_space()) shared_space_ = std::make_shared<Space>(*gpu_);
  if (options_.frames) {
    kms_->want_frames(true);
    gpu_->hardware().device().set_vblank_observer([this](unsigned pipe) {
      if (pipe != 0 || !kms_->take_frame_due()) return;
      if (const auto image = gpu_->hardware().device().take_frame(pipe)) options_.frames(*image);
    });
  }
  if (options_.tracepoints != nullptr) {
    options_.tracepoints->use_clock([this] { return gpu_->hardware().device().clock().nanoseconds; });
    for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) queue->tell(options_.tracepoints);
    kms_->tell(options_.tracepoints);
  }
  if (options_.counters != nullptr) options_.counters->attach(gpu_->hardware().device());
  perf_ = std::make_unique<Perf>(*this, options_.perf);
  meter_ = std::make_unique<LoadMeter>(*gpu_, options_.perf.load, options_.load_clock);
  thread_ = start_own_thread([this] { run(); });
}

Driver::~Driver() {
  perf_->stop();
  end_by(Clock::now());
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  thread_.join();
  const std::lock_guard lock(mutex_);
  gpu_->hardware().device().stop_flag().set_watch({});
  perf_.reset();
  if (options_.counters != nullptr) options_.counters->detach(gpu_->hardware().device());
  for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) queue->abandon();
  if (empty_ >= 0) ::close(empty_);
  for (const WaitSlot& each : free_wait_slots_) {
    ::close(each.wake_fd);
    if (each.signals >= 0) ::close(each.signals);
  }
  if (options_.tracepoints != nullptr) options_.tracepoints->use_clock({});
}

bool Driver::privileged() const {
  return options_.privileged && may_administrate();
}

bool Driver::may_monitor() const {
  return privileged() || (options_.monitors && driver::may_monitor());
}

std::shared_ptr<File> Driver::open(const OpenOptions& options) {
  const Lock lock = enter();
  std::shared_ptr<File> file;
  static_cast<void>(completes([&] { file = try_open(options); }));
  return file;
}

std::shared_ptr<File> Driver::try_open(const OpenOptions& options) {
  auto file = std::make_shared<File>();
  file->render = options.render;
  file->events = options.events;
  if (options.file) file->load = meter_->add_client(*options.file, options.render ? kRenderMinor : kCardMinor);
  ContextRef context = make_context(*file);
  if (!context && purge_unneeded()) context = make_context(*file);
  if (!context) return nullptr;
  context->begin();
  file->contexts.add(context);
  file->authenticated = privileged();
  kms_->opened(*file);
  return file;
}

void Driver::close(const std::shared_ptr<File>& file) {
  const Lock lock = enter();
  clear(*file);
  // A commit of another file may have waited for its work.
  static_cast<void>(completes([&] {
    if (kms_->busy()) kms_->follow_device();
  }));
  if (working() && waiters_ == 0) work_.notify_all();
  notify_waiters();
}

// Steps that the host cannot complete are skipped: nothing may refer to the file afterwards.
void Driver::clear(File& file) {
  file.contexts.for_each([&](Context& context) { context.owner = nullptr; });
  file.contexts.for_each([&](Context& context) {
    if (!completes([&] { leave(context); })) batched_ = std::max(batched_, 1u);
  });
  kms_->closed(file);
  file.release();
  file.closed = true;
}

void Driver::leave(Context& context) {
  context.owner = nullptr;
  if (!context.persistent) kill(context);
}

ContextRef Driver::make_context(File& file) {
  auto context = std::make_shared<Context>();
  context->number = next_context_++;
  context->owner = &file;
  context->load = file.load;
  context->space = shared_space_ ? shared_space_ : std::make_shared<Space>(*gpu_);
  if (!context->space->tables()) return nullptr;
  for (const OfferedEngine& each : gpu_->offered()) context->engines.push_back({.queue = each.queue});
  return context;
}

int Driver::ioctl(File& file, unsigned long request, uint64_t argument, bool no_wait) {
  Lock lock = enter();
  if (file.closed) return -ENODEV;
  file.no_wait = no_wait;
  const auto call = [&] { return dispatch_ioctl(*this, file, lock, request, argument); };
  int result = contain([&] {
    if (kms_->pipe().running()) catch_up();
    return call();
  });
  if (result == -ENOMEM) {
    result = contain([&] {
      if (!purge_unneeded()) return -ENOMEM;
      if (ForeignCall* const foreign = ForeignCall::current()) foreign->forget_results();
      return call();
    });
  }
  if (file.closed) clear(file);  // closed while the call waited
  after_call();
  return result;
}

// Starts the work that a call has left. What the host cannot complete now is repeated by the next call or step.
void Driver::after_call() {
  const bool queued = std::exchange(queued_, false);
  const bool done = completes([&] {
    if (kms_->busy()) kms_->follow_device();
    if (queued) {
      run_queued();
      last_queued_ = Clock::now();
      return;
    }
    burst_length_ = 0;
    if (batched_ != 0) flush_batched();  // any ioctl that does not submit flushes the batched submissions
  });
  const bool told = queued && done;  // by run_queued()
  if (waiters_ == 0 && (kms_->waits() || (!told && gpu_->working()))) work_.notify_all();
  notify_waiters();
}

void Driver::with_lock(const std::function<void()>& function) {
  const Lock lock = enter();
  function();
}

void Driver::finish_display() {
  constexpr std::chrono::milliseconds kLeast{10'000};
  Lock lock = enter();
  wait(
      lock, [&] { return !kms_->waits() && !kms_->busy(); }, std::max(options_.hang_after, kLeast));
}

FidelityReport Driver::fidelity() {
  const Lock lock = enter();
  return gpu_->hardware().device().fidelity();
}

uint64_t Driver::offset_of(const BufferRef& buffer, bool aperture) {
  uint64_t& offset = offsets_[{buffer.get(), aperture}];
  const auto known = mappings_.find(offset);
  if (known == mappings_.end() ||
      known->second.buffer.lock() != buffer) {  // new, or the address belonged to another buffer before
    if (known != mappings_.end()) mappings_.erase(known);
    offset = next_offset_;
    next_offset_ += buffer->size() + kPageBytes;
    mappings_[offset] = {buffer, aperture};
  }
  return offset;
}

void Driver::forget_offset(const Buffer& buffer) {
  for (const bool aperture : {false, true}) {
    const auto found = offsets_.find({&buffer, aperture});
    if (found == offsets_.end()) continue;
    mappings_.erase(found->second);
    offsets_.erase(found);
  }
}

// Finds the buffer of a fake offset. Only the exact offset is valid, and only for files that have a handle.
int Driver::find_offer(File& file, uint64_t offset, uint64_t bytes, BufferRef& buffer, Mapping& mapping) {
  const auto found = mappings_.find(offset);
  if (found == mappings_.end()) return -EINVAL;
  buffer = found->second.buffer.lock();
  if (!buffer || bytes > buffer->size()) return -EINVAL;
  bool has_handle = false;
  file.buffers.for_each([&](const Buffer& each) { has_handle = has_handle || &each == buffer.get(); });
  if (!has_handle) return -EACCES;
  if (buffer->purged) {
    if (empty_ < 0) empty_ = keep_private(create_sealed_file("halogen nothing", 0));
    mapping = {.descriptor = empty_};
    return empty_ < 0 ? -ENOMEM : 0;
  }
  if (!buffer->need_content() && !(purge_unneeded() && buffer->need_content())) return -ENOMEM;
  if (!buffer->is_managed()) buffer->attached = true;  // otherwise pages that are only mapped do not count
  mapping = {.descriptor = buffer->descriptor(), .offset = buffer->offset()};
  if (found->second.aperture && (buffer->tiling != Tiling::linear || buffer->has_view())) {
    const int view = buffer->need_view();
    if (view < 0) return -ENOMEM;
    mapping = {.descriptor = view};
  }
  return 0;
}

void* Driver::map_here(File& file, void* address, uint64_t bytes, int protection, int flags, uint64_t offset) {
  Lock lock = enter();
  BufferRef buffer;
  void* place = MAP_FAILED;
  const int result = contain([&] {
    Mapping mapping;
    if (const int found = find_offer(file, offset, bytes, buffer, mapping); found != 0) return found;
    place = map_buffer_here(buffer, mapping, address, bytes, protection, flags);
    return place == MAP_FAILED ? -errno : 0;
  });
  if (result != 0) errno = -result;
  return place;
}

void* Driver::map_buffer_here(const BufferRef& buffer, const Mapping& mapping, void* address, uint64_t bytes,
                              int protection, int flags) {
  void* const place = mmap(address, bytes, protection, flags, mapping.descriptor, static_cast<off_t>(mapping.offset));
  if (place == MAP_FAILED) return place;
  // A child could enlarge a mapping of the file that holds all buffers over the others (separate_mapped).
  const DriverHost& host = gpu_->hardware().host();
  const bool holds_all =
      mapping.descriptor == host.memory().descriptor() || mapping.descriptor == host.local().descriptor();
  const bool hidden = !holds_all || madvise(place, bytes, MADV_DONTFORK) == 0;
  if (hidden && completes([&] { live_.add(reinterpret_cast<uintptr_t>(place), bytes, buffer); })) return place;
  munmap(place, bytes);  // a mapping that is not known would show the pages' later owners
  errno = ENOMEM;
  return MAP_FAILED;
}

void Driver::separate_mapped() {
  if (!live_.any()) return;
  const Lock lock = enter();
  std::vector<BufferRef> all;
  static_cast<void>(completes([&] { all = live_.buffers(); }));
  // If one cannot be moved, its mappings stay hidden from the child.
  for (const BufferRef& buffer : all) static_cast<void>(contain([&] { return buffer->separate(); }));
}

int Driver::map(File& file, uint64_t offset, uint64_t bytes, Mapping& mapping) {
  const Lock lock = enter();
  return contain([&] {
    BufferRef buffer;
    if (const int result = find_offer(file, offset, bytes, buffer, mapping); result != 0) return result;
    buffer->lend();
    // Otherwise it is a linear view, or the file of purged buffers.
    return mapping.descriptor == buffer->descriptor() ? lend(*buffer, 0, mapping) : open_lent(mapping);
  });
}

int Driver::map_buffer(File& file, uint32_t handle, uint64_t offset, uint64_t bytes, Mapping& mapping) {
  const Lock lock = enter();
  return contain([&] {
    const BufferRef buffer = file.buffers.find(handle);
    if (!buffer) return -ENOENT;
    if (const int result = find_mapping(*buffer, offset, bytes, mapping); result != 0) return result;
    buffer->lend();
    return lend(*buffer, offset, mapping);
  });
}

// Moves the buffer to a file of its own, and describes that.
int Driver::lend(Buffer& buffer, uint64_t offset, Mapping& mapping) {
  if (const int result = buffer.separate(); result != 0) return result;
  mapping = {.descriptor = buffer.descriptor(), .offset = buffer.offset() + offset};
  return open_lent(mapping);
}

// Replaces the descriptor by one of its own: other threads may close the buffer, and a program that has a copy of a
// descriptor can change its flags.
int Driver::open_lent(Mapping& mapping) {
  mapping.descriptor = reopen_file(mapping.descriptor);
  return mapping.descriptor < 0 ? -EMFILE : 0;
}

void Driver::add_program_buffer(const BufferRef& buffer) {
  std::erase_if(program_buffers_, [](const std::weak_ptr<Buffer>& each) { return each.expired(); });
  program_buffers_.push_back(buffer);
}

void Driver::add_purgeable(const BufferRef& buffer) {
  if (buffer->listed) return;
  if (purgeable_.size() == purgeable_.capacity()) {
    std::erase_if(purgeable_, [](const auto& each) { return each.expired(); });
  }
  purgeable_.push_back(buffer);
  buffer->listed = true;
}

// Frees the content of buffers that programs marked as not needed, because memory is short. False: there was none.
bool Driver::purge_unneeded() {
  bool some = false;
  std::erase_if(purgeable_, [&](const std::weak_ptr<Buffer>& each) {
    const BufferRef buffer = each.lock();
    if (!buffer) return true;
    if (buffer->purgeable && !buffer->purged) {
      constexpr long kHandleAndHere = 2;  // more owners: a call that waits, or another file
      if (buffer.use_count() > kHandleAndHere || !buffer->may_be_purged() || live_.shows(*buffer)) return false;
      some = some || buffer->has_pages();
      buffer->purge();
    }
    buffer->listed = false;
    return true;
  });
  return some;
}

void Driver::release(std::vector<BufferRef> kept) {
  if (kept.empty()) return;
  const Lock lock = enter();
  for (BufferRef& buffer : kept) {
    if (!live_.shows(*buffer)) buffer->drop_view();
    if (buffer.use_count() == 1) forget_offset(*buffer);
    buffer = nullptr;
  }
}

std::vector<BufferRef> Driver::forget_memory(uint64_t address, uint64_t bytes) {
  std::vector<BufferRef> kept;
  complete_in_the_end([&] { kept = live_.take(address, bytes); });
  settle_memory(address, bytes);
  return kept;
}

bool Driver::begin_leaving(LentMemory::Leaving& range) {
  if (!LentMemory::of_process().touches(range.address, range.bytes)) return false;
  LentMemory::of_process().begin_leaving(range);
  return true;
}

void Driver::end_leaving(LentMemory::Leaving& range) {
  LentMemory::of_process().end_leaving(range);
  const Lock lock = enter();
  notify_waiters();  // calls that need the range
}

void Driver::settle_memory(uint64_t address, uint64_t bytes) {
  if (!LentMemory::of_process().touches(address, bytes)) return;
  Lock lock = enter();
  complete_in_the_end([&] { settle_memory(lock, address, bytes); });
}

void Driver::settle_memory(Lock& lock, uint64_t address, uint64_t bytes) {
  const std::vector<std::weak_ptr<Buffer>> all = program_buffers_;
  for (const std::weak_ptr<Buffer>& each : all) {
    const BufferRef buffer = each.lock();
    if (!buffer || !buffer->has_pages()) continue;
    const uint64_t first = buffer->program_address();
    if (first >= address + bytes || first + buffer->size() <= address) continue;
    wait(
        lock, [&] { return !buffer->is_used_here(); }, std::nullopt);
    while (!buffer->spaces.empty()) buffer->spaces.back()->unbind(*buffer);
    buffer->drop_pages();
  }
}

void Driver::queue(EngineQueue& engine, RequestRef request) {
  static_cast<void>(completes([this] { catch_up(); }));
  const uint64_t before = engine.progress();
  found_idle_ = batched_ == 0 && !gpu_->working();
  queued_ = true;
  burst_length_ = Clock::now() - last_queued_ < kBurstGap ? burst_length_ + 1 : 0;
  if (options_.tracepoints != nullptr) options_.tracepoints->queue(*request);
  // A program that submits batch after batch without another call in between does not wait for each one; its batches
  // are gathered and given to the engines together, as i915 leaves them to its tasklet.
  constexpr uint64_t kHasFences = I915_EXEC_FENCE_OUT | I915_EXEC_FENCE_ARRAY | I915_EXEC_USE_EXTENSIONS;
  const bool plain = request->waits.empty() && request->partners.empty() && (request->flags & kHasFences) == 0;
  engine.add(std::move(request));
  if (burst_length_ >= kBurstLength && plain && !stepping_ && (found_idle_ || batched_ != 0)) {
    ++batched_;
    ++batched_total_;
    return;
  }
  // The request is accepted: what the host cannot complete now is repeated by the next step, like a batched request.
  const bool done = completes([&] {
    flush_batched();
    engine.update();
    if (engine.progress() != before) gpu_->update();  // other engines may have waited for it
  });
  if (!done) batched_ = std::max(batched_, 1u);
}

// Gives the gathered batches to the engines.
void Driver::flush_batched() {
  if (batched_ == 0) return;
  gpu_->update();
  batched_ = 0;
}

// Runs short work before the submitting call returns, which is cheaper than waking a thread. Longer work, or work that
// finds the device busy, is left to the thread that runs the device.
void Driver::run_queued() {
  if (batched_ != 0 && batched_ < kMaxBatched) {
    if (waiters_ == 0 && !batching_) work_.notify_all();
    return;
  }
  if ((found_idle_ || batched_ != 0) && !stepping_ && working()) step();
  if (waiters_ == 0 && gpu_->working()) work_.notify_all();
}

bool Driver::wait(Lock& lock, const std::function<bool()>& condition, std::optional<std::chrono::nanoseconds> timeout) {
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);
  return wait_until(lock, condition,
                    timeout ? std::optional(Clock::now() + std::min(*timeout, kLongest)) : std::nullopt);
}

bool Driver::wait_until(Lock& lock, const std::function<bool()>& condition, std::optional<Clock::time_point> end) {
  return wait_for(lock, condition, end, nullptr) == Waited::held;
}

int Driver::wait_call(Lock& lock, const std::function<bool()>& condition, std::optional<Clock::time_point> end) {
  const Waited result = wait_for(lock, condition, end, Interruption::current());
  return result == Waited::held ? 0 : (result == Waited::late ? -ETIME : -EINTR);
}

Driver::Waited Driver::wait_for(Lock& lock, const std::function<bool()>& condition,
                                std::optional<Clock::time_point> end, Interruption* interruption) {
  if (condition()) return Waited::held;
  constexpr unsigned kStepsAlone = 4;  // most waits end by then; signals until then count as earlier than the call
  unsigned steps = 0;
  ++waiters_;
  const AtEnd pass_on([this] {
    --waiters_;
    if (waiters_ != 0) wake_waiters();  // another waiter takes over
    if (waiters_ == 0 && working()) work_.notify_all();
  });
  Waited result = Waited::late;
  while (result == Waited::late && !(end && Clock::now() >= *end)) {
    const std::optional<Clock::time_point> blank = next_blank();
    const bool steps_here = working() && !stepping_ && !blank;
    std::optional<Clock::time_point> until = end && blank ? std::min(*end, *blank) : (blank ? blank : end);
    if (has_ended()) until = std::min(until.value_or(Clock::time_point::max()), Clock::now() + kLookAgain);
    if (interruption != nullptr && (!steps_here || ++steps > kStepsAlone)) {
      interruption->hold_back();
      if (interruption->is_due()) {
        result = Waited::interrupted;
        break;
      }
    }
    if (steps_here) {
      stepping_ = true;
      const AtEnd stepped([this] { stepping_ = false; });
      step();
      if (condition()) {
        result = Waited::held;
      } else {
        yield_lock(lock);
      }
      continue;
    }
    if (interruption != nullptr) {
      sleep(lock, *interruption, until);
    } else if (const ForeignCall* const call = ForeignCall::current()) {
      constexpr std::chrono::milliseconds kLook{200};  // a caller that exits does not wake its thread here
      const Clock::time_point look = Clock::now() + kLook;
      changed_.wait_until(lock, until ? std::min(*until, look) : look);
      if (call->caller().is_gone()) {
        result = Waited::interrupted;
        break;
      }
    } else if (until) {
      changed_.wait_until(lock, *until);
    } else {
      changed_.wait(lock);
    }
    if (condition()) result = Waited::held;
  }
  return result;
}

// Sleeps until a waiter is woken, a signal of the program is due, or the time is over.
void Driver::sleep(Lock& lock, Interruption& interruption, std::optional<Clock::time_point> end) {
  WaitSlot slot;
  if (!free_wait_slots_.empty()) {
    slot = free_wait_slots_.back();
    free_wait_slots_.pop_back();
  } else {
    slot.wake_fd = open_private([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); });
  }
  const bool is_new = slot.signals < 0;
  if (const int signals = interruption.watch(slot.signals); signals >= 0) {
    slot.signals = is_new ? keep_private(signals) : signals;
  }
  const auto reserve = [&] {
    wake_fds_.reserve(wake_fds_.size() + 1);
    free_wait_slots_.reserve(free_wait_slots_.size() + wake_fds_.size() + 1);
  };
  if (slot.wake_fd < 0 || !completes(reserve)) {  // no descriptor available
    if (slot.wake_fd >= 0) ::close(slot.wake_fd);
    if (slot.signals >= 0) ::close(slot.signals);
    changed_.wait_for(lock, std::chrono::milliseconds(1));
    return;
  }
  wake_fds_.push_back(slot.wake_fd);
  lock.unlock();
  pollfd list[] = {{.fd = slot.wake_fd, .events = POLLIN, .revents = 0},
                   {.fd = slot.signals, .events = POLLIN, .revents = 0}};
  timespec left{};
  if (end) {
    const auto rest = std::max<std::chrono::nanoseconds>(*end - Clock::now(), std::chrono::nanoseconds(0));
    left.tv_sec = static_cast<time_t>(rest.count() / 1'000'000'000);
    left.tv_nsec = static_cast<long>(rest.count() % 1'000'000'000);
  }
  ppoll(list, 2, end ? &left : nullptr, nullptr);
  lock.lock();
  uint64_t wakeups = 0;
  [[maybe_unused]] const ssize_t got = read(slot.wake_fd, &wakeups, sizeof wakeups);
  std::erase(wake_fds_, slot.wake_fd);
  free_wait_slots_.push_back(slot);
}

Driver::Lock Driver::enter() {
  const std::lock_guard gate(gate_);
  return Lock(mutex_);
}

void Driver::yield_lock(Lock& lock) {
  lock.unlock();
  { const std::lock_guard gate(gate_); }  // its holder has acquired the lock by now
  lock.lock();
}

int Driver::let_others_pass(Lock& lock, bool interruptible) {
  yield_lock(lock);
  const ForeignCall* const call = ForeignCall::current();
  if (call != nullptr && call->caller().is_gone()) return -EINTR;
  Interruption* const interruption = Interruption::current();
  if (interruption == nullptr || !interruptible) return 0;
  interruption->hold_back();
  return interruption->is_due() ? -EINTR : 0;
}

void Driver::fences_signalled() {
  gpu_->update();
  kms_->follow_device();
  notify_waiters();
  if (waiters_ == 0) work_.notify_all();
}

void Driver::notify_waiters() {
  if (waiters_ != 0) wake_waiters();
}

void Driver::wake_waiters() {
  changed_.notify_all();
  const uint64_t one = 1;
  for (const int wake_fd : wake_fds_) {
    [[maybe_unused]] const ssize_t written = write(wake_fd, &one, sizeof one);
  }
}

void Driver::step() {
  const uint64_t before = gpu_->progress();
  const uint64_t blanks = kms_->vblanks();
  if (!completes([&] { take_step(); })) {
    fail_work();
    batched_ = std::max(batched_, 1u);  // requests may have become ready
  }
  if (gpu_->progress() != before || kms_->vblanks() != blanks) notify_waiters();
}

void Driver::take_step() {
  flush_batched();
  if (options_.host_time && !gpu_->working()) {
    catch_up();
  } else {
    run_device(gpu_->working() ? kSlice : kms_->until_vblank_ns());
  }
  look_for_hangs();
  perf_->after_step();
  if (options_.counters != nullptr) options_.counters->flush(!gpu_->working());
  meter_->update();
  kms_->follow_device();  // last: the work that a commit waits for may have hung
}

// Runs the device while no call waits for it. A waiting call runs the device itself.
void Driver::run() {
  Lock lock(mutex_);
  while (!stop_) {
    if (has_ended()) {
      work_.wait_for(lock, kLookAgain);
      continue;
    }
    if (waiters_ != 0 || !working()) {
      work_.wait(lock);
      continue;
    }
    if (const uint64_t before = batched_total_; batched_ != 0) {
      batching_ = true;
      work_.wait_for(lock, kBatchDelay);
      batching_ = false;
      if (stop_ || waiters_ != 0 || batched_total_ != before) continue;
    }
    if (const std::optional<Clock::time_point> blank = next_blank()) {
      work_.wait_until(lock, *blank);
      continue;
    }
    step();
    yield_lock(lock);
  }
}

}  // namespace halogen::driver
