// Hang detection as in i915. A request that blocks more urgent work has less time than one that only takes long, and a
// batch that can be preempted is not hung. Then: which context is guilty, and what happens to the other engines.
#include <cerrno>
#include <limits>

#include "base/exhaustion.h"
#include "driver/core/driver.h"
#include "spec/interface_model.h"

namespace halogen::driver {

bool Driver::has_ended() const {
  const Clock::rep end = end_by_;
  return end != kNever && Clock::now().time_since_epoch().count() >= end;
}

// Returns whether long work must end in the middle. Called very often, so only every 16th call reads the clocks.
bool Driver::demands_stop() const {
  constexpr uint32_t kAsks = 16;
  thread_local uint32_t asks = 0;
  if (++asks % kAsks != 0) return false;
  device::Device& device = gpu_->hardware().device();
  if (!has_ended() && !hangs_.is_over(device.engine_at_work())) return false;
  device.stop_flag().raise();  // for all threads
  return true;
}

// Runs the device and the engines' queues. Work that uses up the time of its request is stopped.
void Driver::run_device(uint64_t nanoseconds) {
  hangs_.arm(gpu_->queues(), model().engines);
  gpu_->work(nanoseconds);
  gpu_->hardware().device().stop_flag().clear();
}

void Driver::look_for_hangs() {
  uint64_t work = 0;
  bool inside = false;
  for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) {
    work += queue->work_done().amount;
    inside = inside || queue->in_long_work();
  }
  hangs_.count(work, inside);
  bool blamed = false;
  for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) {
    HangWatch::Verdict verdict = hangs_.judge(*queue);
    if (verdict == HangWatch::Verdict::ask_to_yield) {
      verdict = send_heartbeat(*queue) ? HangWatch::Verdict::fine : HangWatch::Verdict::hung;
    }
    if (verdict != HangWatch::Verdict::hung) continue;
    blame(*queue, queue->current(), Clock::now());
    hangs_.forget(*queue);
    blamed = true;
  }
  if (blamed) gpu_->update();  // other engines may have waited for the removed request
}

// Submits a heartbeat. False: out of memory.
bool Driver::send_heartbeat(EngineQueue& queue) {
  const auto space = std::make_shared<Space>(*gpu_);
  auto heartbeat = std::make_shared<Request>();
  if (space->tables()) heartbeat->context = queue.make_context(space->tables());
  if (!heartbeat->context) return false;
  heartbeat->keeps.push_back(space);
  heartbeat->priority = std::numeric_limits<int>::max();
  hangs_.set_heartbeat(queue, heartbeat);
  queue.add(heartbeat);
  queue.update();
  return true;
}

// Handles a hang in this request. A context is banned from the engine after three hangs within two minutes, or after
// one hang if it is not recoverable. A file whose contexts hang too often cannot create more contexts.
void Driver::blame(EngineQueue& queue, const RequestRef& culprit, Context::Clock::time_point now) {
  constexpr size_t kHangs = 2;  // earlier hangs that are remembered
  constexpr std::chrono::seconds kFast{120}, kFastForFiles{60};
  constexpr uint32_t kScoreOfHang = 1, kScoreOfBan = 3;
  queue.recover(-EIO);
  restart_others(queue);
  const ContextRef context = culprit->owner.lock();
  if (!context) return;
  ++context->hung;
  ++resets_;
  if (!context->bannable) return;
  bool banned = !context->recoverable;
  if (context->hangs.size() == kHangs) {
    banned = banned || now < context->hangs.front() + kFast;
    context->hangs.erase(context->hangs.begin());
  }
  context->hangs.push_back(now);
  if (File* const file = context->owner) {
    if (banned) file->ban_score += kScoreOfBan;
    if (now < file->last_hang + kFastForFiles) file->ban_score += kScoreOfHang;
    file->last_hang = now;
  }
  EngineSlot* const slot = context->slot_of(*culprit->context);
  if (!banned || slot == nullptr) return;
  slot->banned = true;
  cancel(queue, *culprit->context);
}

// The host was exhausted in the middle of the device's work, which has no defined state any more, so the engines that
// were at work are reset, and what they executed fails. A reset that the host cannot complete either is left to the
// hang check.
void Driver::fail_work() {
  for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) {
    if (!queue->working()) continue;
    static_cast<void>(completes([&] {
      queue->recover(-EIO);
      restart_others(*queue);
    }));
    if (!spec::interface_of(model().id).engine_reset) return;  // one reset covers all
  }
}

// Repeats the current work of the other engines on chips that can only reset all engines together.
void Driver::restart_others(const EngineQueue& queue) {
  if (spec::interface_of(model().id).engine_reset) return;
  for (const std::unique_ptr<EngineQueue>& other : gpu_->queues()) {
    if (other.get() == &queue) continue;
    const RequestRef innocent = other->current();
    const ContextRef context = innocent ? innocent->owner.lock() : nullptr;
    if (context) ++context->lost;
    other->replay();
  }
}

void Driver::cancel(EngineQueue& queue, const EngineContext& context) {
  if (queue.cancel(context, -EIO)) restart_others(queue);
}

void Driver::kill(Context& context) {
  for (EngineSlot& slot : context.engines) {
    slot.banned = true;
    if (slot.state) cancel(*slot.queue, *slot.state);
    for (size_t i = 0; i < slot.parallel_states.size(); ++i) {
      if (slot.parallel_states[i]) cancel(*slot.parallel[i], *slot.parallel_states[i]);
    }
  }
  gpu_->update();  // other engines may have waited for it
}

}  // namespace halogen::driver
