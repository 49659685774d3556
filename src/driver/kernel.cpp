#include "driver/kernel.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "driver/ioctls.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kSlice = 20'000;  // of the device's time, between two looks
constexpr uint32_t kBanAfter = 3;    // hangs of one context

}  // namespace

std::shared_ptr<EngineContext> Context::on(EngineQueue& queue) {
  std::shared_ptr<EngineContext>& state = states[&queue];
  if (!state) state = queue.make_context(number, space->tables());
  return state;
}

Result<std::unique_ptr<Kernel>> Kernel::boot(const spec::DeviceModel& model, const KernelOptions& options) {
  Result<std::unique_ptr<Gpu>> gpu = Gpu::start(model, options.hardware);
  if (!gpu) return gpu.error();
  return std::unique_ptr<Kernel>(new Kernel(std::move(gpu).value(), options));
}

Kernel::Kernel(std::unique_ptr<Gpu> gpu, const KernelOptions& options) : options_(options), gpu_(std::move(gpu)) {
  if (gpu_->shares_space()) shared_space_ = std::make_shared<Space>(*gpu_);
  thread_ = std::thread([this] { run(); });
}

Kernel::~Kernel() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  thread_.join();
}

std::shared_ptr<File> Kernel::open() {
  const std::lock_guard lock(mutex_);
  auto file = std::make_shared<File>();
  file->contexts.add(make_context(shared_space_ ? shared_space_ : std::make_shared<Space>(*gpu_)));
  return file;
}

void Kernel::close(const std::shared_ptr<File>& file) {
  const std::lock_guard lock(mutex_);
  *file = File{};
}

ContextRef Kernel::make_context(std::shared_ptr<Space> space) {
  auto context = std::make_shared<Context>();
  context->number = next_context();
  context->space = std::move(space);
  return context;
}

int Kernel::ioctl(File& file, unsigned long request, uint64_t argument) {
  Lock lock(mutex_);
  return dispatch_ioctl(*this, file, lock, request, argument);
}

uint64_t Kernel::offset_of(const BufferRef& buffer) {
  uint64_t& offset = offsets_[buffer.get()];
  const auto known = mappings_.find(offset);
  if (known == mappings_.end() || known->second.lock() != buffer) {  // new, or one that lay at this address before
    if (known != mappings_.end()) mappings_.erase(known);
    offset = next_offset_;
    next_offset_ += buffer->size() + kPageBytes;
    mappings_[offset] = buffer;
  }
  return offset;
}

void Kernel::forget_offset(const Buffer& buffer) {
  const auto found = offsets_.find(&buffer);
  if (found == offsets_.end()) return;
  mappings_.erase(found->second);
  offsets_.erase(found);
}

std::optional<Mapping> Kernel::map(uint64_t offset, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto after = mappings_.upper_bound(offset);
  if (after == mappings_.begin()) return std::nullopt;
  const auto& [start, weak] = *std::prev(after);
  const BufferRef buffer = weak.lock();
  if (!buffer || offset - start > buffer->size() || bytes > buffer->size() - (offset - start)) return std::nullopt;
  if (!buffer->need_pages()) return std::nullopt;
  return Mapping{buffer->descriptor(), buffer->offset() + (offset - start)};
}

void Kernel::queue(EngineQueue& engine, RequestRef request) {
  engine.add(std::move(request));
  engine.update();
  if (waiters_ == 0) work_.notify_all();
}

bool Kernel::wait(Lock& lock, const std::function<bool()>& condition, std::optional<std::chrono::nanoseconds> timeout) {
  using Clock = std::chrono::steady_clock;
  const std::optional<Clock::time_point> end =
      timeout ? std::optional(Clock::now() + std::min(*timeout, std::chrono::nanoseconds(std::chrono::hours(24 * 365))))
              : std::nullopt;
  ++waiters_;
  bool held = condition();
  while (!held && !gpu_->idle() && !(end && Clock::now() >= *end)) {
    step();
    held = condition();
    // Others may come in between.
    lock.unlock();
    lock.lock();
  }
  --waiters_;
  if (waiters_ == 0 && !gpu_->idle()) work_.notify_all();
  return held;
}

void Kernel::step() {
  gpu_->work(kSlice);
  look_for_hangs();
}

void Kernel::look_for_hangs() {
  const auto now = std::chrono::steady_clock::now();
  for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) {
    Watch& watch = watches_[queue.get()];
    const RequestRef current = queue->current();
    if (current != watch.request) {
      watch = {current, now};
    } else if (current && now - watch.since > options_.hang_after) {
      queue->recover(-EIO);
      if (const ContextRef owner = current->owner.lock()) {
        ++owner->hung;
        owner->banned = owner->bannable && (owner->hung >= kBanAfter || !owner->recoverable);
      }
      watch = {};
    }
  }
}

// Whoever waits lets the device work himself; this thread is for work that nobody waits for.
void Kernel::run() {
  Lock lock(mutex_);
  while (!stop_) {
    if (waiters_ != 0 || gpu_->idle()) {
      work_.wait(lock);
      continue;
    }
    step();
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

}  // namespace halogen::driver
