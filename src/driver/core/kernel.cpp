#include "driver/core/kernel.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "driver/calls/ioctls.h"
#include "driver/core/quiet_thread.h"
#include "driver/core/tracepoints.h"
#include "driver/gem/lent_memory.h"
#include "driver/gem/user_memory.h"
#include "driver/share/private_descriptor.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kSlice = 20'000;  // of the device's time, between two looks
constexpr unsigned kMostGathered = 32;
constexpr std::chrono::microseconds kDoze{100};
constexpr unsigned kStreak = 16;                  // batches that make a program one that does not ask
constexpr std::chrono::microseconds kBreath{30};  // that it takes between two

}  // namespace

Result<std::unique_ptr<Kernel>> Kernel::boot(const spec::DeviceModel& model, const KernelOptions& options) {
  Result<std::unique_ptr<Gpu>> gpu = Gpu::start(model, options.hardware);
  if (!gpu) return gpu.error();
  return std::unique_ptr<Kernel>(new Kernel(std::move(gpu).value(), options));
}

Kernel::Kernel(std::unique_ptr<Gpu> gpu, const KernelOptions& options)
    : options_(options),
      gpu_(std::move(gpu)),
      kms_(std::make_unique<Kms>(*gpu_)),
      foreign_(mutex_, neighbours_, [this] { fences_signalled(); }),
      sync_files_([this](const auto& fence) { foreign_.add(fence); }),
      sync_object_files_(neighbours_, [this](const auto& fence) { foreign_.add(fence); }),
      shared_buffers_(neighbours_, [this](const auto& fence) { foreign_.add(fence); }) {
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
  thread_ = start_quietly([this] { run(); });
}

Kernel::~Kernel() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  thread_.join();
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) queue->abandon();
  if (empty_ >= 0) ::close(empty_);
  for (const Sleeper& each : beds_) {
    ::close(each.bell);
    if (each.signals >= 0) ::close(each.signals);
  }
  if (options_.tracepoints != nullptr) options_.tracepoints->use_clock({});
}

bool Kernel::privileged() const {
  return options_.privileged && may_administrate();
}

std::shared_ptr<File> Kernel::open(const OpenOptions& options) {
  const Lock lock = enter();
  auto file = std::make_shared<File>();
  file->render = options.render;
  file->events = options.events;
  ContextRef context = make_context(*file);
  if (!context && purge_unneeded()) context = make_context(*file);
  if (!context) return nullptr;
  kms_->opened(*file);
  file->authenticated = file->authenticated || privileged();
  context->begin();
  file->contexts.add(context);
  return file;
}

void Kernel::close(const std::shared_ptr<File>& file) {
  const Lock lock = enter();
  file->contexts.for_each([&](Context& context) { leave(context); });
  kms_->closed(*file);
  *file = File{};
  // A commit of another may have waited for its work.
  if (kms_->busy()) kms_->look();
  if (working() && waiters_ == 0) work_.notify_all();
  tell_waiters();
}

void Kernel::leave(Context& context) {
  context.owner = nullptr;
  if (!context.persistent) kill(context);
}

ContextRef Kernel::make_context(File& file) {
  auto context = std::make_shared<Context>();
  context->number = next_context_++;
  context->owner = &file;
  context->space = shared_space_ ? shared_space_ : std::make_shared<Space>(*gpu_);
  if (!context->space->tables()) return nullptr;
  for (const OfferedEngine& each : gpu_->offered()) context->engines.push_back({.queue = each.queue});
  return context;
}

int Kernel::ioctl(File& file, unsigned long request, uint64_t argument, bool no_wait) {
  Lock lock = enter();
  file.no_wait = no_wait;
  if (kms_->pipe().running()) catch_up();
  int result = dispatch_ioctl(*this, file, lock, request, argument);
  if (result == -ENOMEM && purge_unneeded()) result = dispatch_ioctl(*this, file, lock, request, argument);
  if (kms_->busy()) kms_->look();
  if (std::exchange(queued_, false)) {
    run_queued();
    last_queued_ = Clock::now();
  } else {
    streak_ = 0;
    if (gathered_ != 0) hand_over();  // who asks after his work wants it done
    if (waiters_ == 0 && gpu_->working()) work_.notify_all();
  }
  if (kms_->waits() && waiters_ == 0) work_.notify_all();
  tell_waiters();
  return result;
}

void Kernel::while_still(const std::function<void()>& function) {
  const std::lock_guard lock(mutex_);
  function();
}

void Kernel::finish_display() {
  Lock lock = enter();
  wait(
      lock, [&] { return !kms_->waits() && !kms_->busy(); }, options_.hang_after);
}

FidelityReport Kernel::fidelity() {
  const std::lock_guard lock(mutex_);
  return gpu_->hardware().device().fidelity();
}

uint64_t Kernel::offset_of(const BufferRef& buffer, bool aperture) {
  uint64_t& offset = offsets_[{buffer.get(), aperture}];
  const auto known = mappings_.find(offset);
  if (known == mappings_.end() ||
      known->second.buffer.lock() != buffer) {  // new, or one that lay at this address before
    if (known != mappings_.end()) mappings_.erase(known);
    offset = next_offset_;
    next_offset_ += buffer->size() + kPageBytes;
    mappings_[offset] = {buffer, aperture};
  }
  return offset;
}

void Kernel::forget_offset(const Buffer& buffer) {
  for (const bool aperture : {false, true}) {
    const auto found = offsets_.find({&buffer, aperture});
    if (found == offsets_.end()) continue;
    mappings_.erase(found->second);
    offsets_.erase(found);
  }
}

// Only from the start of what an offset names, and only by those who have a handle.
int Kernel::find_offer(File& file, uint64_t offset, uint64_t bytes, BufferRef& buffer, Mapping& mapping) {
  const auto found = mappings_.find(offset);
  if (found == mappings_.end()) return -EINVAL;
  buffer = found->second.buffer.lock();
  if (!buffer || bytes > buffer->size()) return -EINVAL;
  bool has_handle = false;
  file.buffers.for_each([&](const Buffer& each) { has_handle = has_handle || &each == buffer.get(); });
  if (!has_handle) return -EACCES;
  if (buffer->purged) {
    if (empty_ < 0) empty_ = keep_private(memfd_create("halogen nothing", MFD_CLOEXEC));
    mapping = {empty_, 0};
    return empty_ < 0 ? -ENOMEM : 0;
  }
  if (!buffer->need_content() && !(purge_unneeded() && buffer->need_content())) return -ENOMEM;
  if (!buffer->is_managed()) buffer->attached = true;  // else pages that are only mapped do not count
  mapping = {buffer->descriptor(), buffer->offset()};
  if (found->second.aperture && (buffer->tiling != Tiling::linear || buffer->has_view())) {
    const int view = buffer->need_view();
    if (view < 0) return -ENOMEM;
    mapping = {view, 0};
  }
  return 0;
}

void* Kernel::map_here(File& file, void* address, uint64_t bytes, int protection, int flags, uint64_t offset) {
  Lock lock = enter();
  BufferRef buffer;
  Mapping mapping;
  if (const int result = find_offer(file, offset, bytes, buffer, mapping); result != 0) {
    errno = -result;
    return MAP_FAILED;
  }
  void* const place = mmap(address, bytes, protection, flags, mapping.descriptor, static_cast<off_t>(mapping.offset));
  if (place != MAP_FAILED) live_.add(reinterpret_cast<uintptr_t>(place), bytes, buffer);
  return place;
}

int Kernel::map(File& file, uint64_t offset, uint64_t bytes, Mapping& mapping) {
  const Lock lock = enter();
  BufferRef buffer;
  const int result = find_offer(file, offset, bytes, buffer, mapping);
  if (result == 0) buffer->lend_view();
  return result;
}

int Kernel::map_buffer(File& file, uint32_t handle, uint64_t offset, uint64_t bytes, Mapping& mapping) {
  const Lock lock = enter();
  const BufferRef buffer = file.buffers.find(handle);
  if (!buffer) return -ENOENT;
  return find_mapping(*buffer, offset, bytes, mapping);
}

void Kernel::add_program_buffer(const BufferRef& buffer) {
  std::erase_if(program_buffers_, [](const std::weak_ptr<Buffer>& each) { return each.expired(); });
  program_buffers_.push_back(buffer);
}

void Kernel::add_purgeable(const BufferRef& buffer) {
  if (std::exchange(buffer->listed, true)) return;
  if (purgeable_.size() == purgeable_.capacity())
    std::erase_if(purgeable_, [](const auto& each) { return each.expired(); });
  purgeable_.push_back(buffer);
}

// Memory is short: what programs said that they can do without goes. False: there was nothing.
bool Kernel::purge_unneeded() {
  bool some = false;
  for (const std::weak_ptr<Buffer>& each : std::exchange(purgeable_, {})) {
    const BufferRef buffer = each.lock();
    if (!buffer) continue;
    buffer->listed = false;
    if (!buffer->purgeable || buffer->purged) continue;
    constexpr long kHandleAndHere = 2;  // nobody else has it: no screen, no work, no other file
    if (buffer.use_count() > kHandleAndHere || buffer->is_shared() || buffer->is_used_here() || live_.shows(*buffer)) {
      add_purgeable(buffer);
      continue;
    }
    some = some || buffer->has_pages();
    buffer->purge();
  }
  return some;
}

void Kernel::release(std::vector<BufferRef> kept) {
  if (kept.empty()) return;
  const Lock lock = enter();
  for (BufferRef& buffer : kept) {
    if (!live_.shows(*buffer)) buffer->drop_view();
    if (buffer.use_count() == 1) forget_offset(*buffer);
    buffer = nullptr;
  }
}

std::vector<BufferRef> Kernel::forget_memory(uint64_t address, uint64_t bytes) {
  std::vector<BufferRef> kept = live_.take(address, bytes);
  settle_memory(address, bytes);
  return kept;
}

void Kernel::settle_memory(uint64_t address, uint64_t bytes) {
  if (!LentMemory::of_process().touches(address, bytes)) return;
  Lock lock = enter();
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

void Kernel::queue(EngineQueue& engine, RequestRef request) {
  catch_up();
  const uint64_t before = engine.progress();
  alone_ = gathered_ == 0 && !gpu_->working();
  queued_ = true;
  streak_ = Clock::now() - last_queued_ < kBreath ? streak_ + 1 : 0;
  if (options_.tracepoints != nullptr) options_.tracepoints->queue(*request);
  // A program that submits one batch after the other and asks for nothing between them is not made to wait for each:
  // its batches are gathered, so that the engines get them together, as i915 leaves them to its tasklet.
  constexpr uint64_t kHasFences = I915_EXEC_FENCE_OUT | I915_EXEC_FENCE_ARRAY | I915_EXEC_USE_EXTENSIONS;
  const bool plain = request->waits.empty() && request->partners.empty() && (request->flags & kHasFences) == 0;
  engine.add(std::move(request));
  if (streak_ >= kStreak && plain && !stepping_ && (alone_ || gathered_ != 0)) {
    ++gathered_;
    ++gathered_ever_;
    return;
  }
  hand_over();
  engine.update();
  if (engine.progress() != before) gpu_->update();  // others may have waited for it
}

// What was gathered goes to the engines.
void Kernel::hand_over() {
  if (std::exchange(gathered_, 0) != 0) gpu_->update();
}

// Short work is over before the call that brought it returns, which is cheaper than to wake a thread for it. Work that
// goes on, or that finds the device busy, is left to whoever lets it work.
void Kernel::run_queued() {
  if (gathered_ != 0 && gathered_ < kMostGathered) {
    if (waiters_ == 0 && !dozing_) work_.notify_all();
    return;
  }
  if ((alone_ || gathered_ != 0) && !stepping_ && working()) step();
  if (waiters_ == 0 && gpu_->working()) work_.notify_all();
}

bool Kernel::wait(Lock& lock, const std::function<bool()>& condition, std::optional<std::chrono::nanoseconds> timeout) {
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);
  return wait_until(lock, condition,
                    timeout ? std::optional(Clock::now() + std::min(*timeout, kLongest)) : std::nullopt);
}

bool Kernel::wait_until(Lock& lock, const std::function<bool()>& condition, std::optional<Clock::time_point> end) {
  return wait_for(lock, condition, end, nullptr) == Waited::held;
}

int Kernel::wait_call(Lock& lock, const std::function<bool()>& condition, std::optional<Clock::time_point> end) {
  const Waited result = wait_for(lock, condition, end, Interruption::current());
  return result == Waited::held ? 0 : (result == Waited::late ? -ETIME : -EINTR);
}

Kernel::Waited Kernel::wait_for(Lock& lock, const std::function<bool()>& condition,
                                std::optional<Clock::time_point> end, Interruption* interruption) {
  if (condition()) return Waited::held;
  constexpr unsigned kStepsAlone = 4;  // most waits are over by then: signals that come meanwhile came before the call
  unsigned steps = 0;
  ++waiters_;
  Waited result = Waited::late;
  while (result == Waited::late && !(end && Clock::now() >= *end)) {
    const std::optional<Clock::time_point> blank = next_blank();
    const bool steps_here = working() && !stepping_ && !blank;
    const std::optional<Clock::time_point> until = end && blank ? std::min(*end, *blank) : (blank ? blank : end);
    if (interruption != nullptr && (!steps_here || ++steps > kStepsAlone)) {
      interruption->hold_back();
      if (interruption->is_due()) {
        result = Waited::interrupted;
        break;
      }
    }
    if (steps_here) {
      stepping_ = true;
      step();
      if (condition()) {
        result = Waited::held;
      } else {
        let_others_in(lock);
      }
      stepping_ = false;
      continue;
    }
    if (interruption != nullptr) {
      sleep(lock, *interruption, until);
    } else if (until) {
      changed_.wait_until(lock, *until);
    } else {
      changed_.wait(lock);
    }
    if (condition()) result = Waited::held;
  }
  --waiters_;
  if (waiters_ != 0) wake_sleepers();  // another takes over
  if (waiters_ == 0 && working()) work_.notify_all();
  return result;
}

// Until somebody tells, a signal of the program is due, or the time is over.
void Kernel::sleep(Lock& lock, Interruption& interruption, std::optional<Clock::time_point> end) {
  Sleeper bed;
  if (!beds_.empty()) {
    bed = beds_.back();
    beds_.pop_back();
  } else {
    bed.bell = open_private([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); });
  }
  const bool is_new = bed.signals < 0;
  if (const int signals = interruption.watch(bed.signals); signals >= 0) {
    bed.signals = is_new ? keep_private(signals) : signals;
  }
  if (bed.bell < 0) {  // no descriptor left
    changed_.wait_for(lock, std::chrono::milliseconds(1));
    return;
  }
  bells_.push_back(bed.bell);
  lock.unlock();
  pollfd list[] = {{.fd = bed.bell, .events = POLLIN, .revents = 0},
                   {.fd = bed.signals, .events = POLLIN, .revents = 0}};
  timespec left{};
  if (end) {
    const auto rest = std::max<std::chrono::nanoseconds>(*end - Clock::now(), std::chrono::nanoseconds(0));
    left.tv_sec = static_cast<time_t>(rest.count() / 1'000'000'000);
    left.tv_nsec = static_cast<long>(rest.count() % 1'000'000'000);
  }
  ppoll(list, 2, end ? &left : nullptr, nullptr);
  lock.lock();
  uint64_t rings = 0;
  [[maybe_unused]] const ssize_t got = read(bed.bell, &rings, sizeof rings);
  std::erase(bells_, bed.bell);
  beds_.push_back(bed);
}

Kernel::Lock Kernel::enter() {
  const std::lock_guard gate(gate_);
  return Lock(mutex_);
}

void Kernel::let_others_in(Lock& lock) {
  lock.unlock();
  { const std::lock_guard gate(gate_); }  // whoever holds it has the lock by now
  lock.lock();
}

void Kernel::fences_signalled() {
  gpu_->update();
  kms_->look();
  tell_waiters();
  if (waiters_ == 0) work_.notify_all();
}

void Kernel::tell_waiters() {
  if (waiters_ != 0) wake_sleepers();
}

void Kernel::wake_sleepers() {
  changed_.notify_all();
  const uint64_t one = 1;
  for (const int bell : bells_) {
    [[maybe_unused]] const ssize_t rung = write(bell, &one, sizeof one);
  }
}

void Kernel::step() {
  const uint64_t before = gpu_->progress();
  const uint64_t blanks = kms_->vblanks();
  hand_over();
  if (options_.host_time && !gpu_->working()) {
    catch_up();
  } else {
    gpu_->work(gpu_->working() ? kSlice : kms_->until_vblank_ns());
  }
  look_for_hangs();
  kms_->look();  // last: what a commit waits for may have hung
  if (gpu_->progress() != before || kms_->vblanks() != blanks) tell_waiters();
}

// Whoever waits lets the device work himself; this thread is for work that nobody waits for.
void Kernel::run() {
  Lock lock(mutex_);
  while (!stop_) {
    if (waiters_ != 0 || !working()) {
      work_.wait(lock);
      continue;
    }
    if (const uint64_t before = gathered_ever_; gathered_ != 0) {
      dozing_ = true;
      work_.wait_for(lock, kDoze);
      dozing_ = false;
      if (stop_ || waiters_ != 0 || gathered_ever_ != before) continue;
    }
    if (const std::optional<Clock::time_point> blank = next_blank()) {
      work_.wait_until(lock, *blank);
      continue;
    }
    step();
    let_others_in(lock);
  }
}

}  // namespace halogen::driver
