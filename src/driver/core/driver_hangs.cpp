// Hang detection as in i915. A request that blocks more urgent work has less time than one that only takes long, and a
// batch that can be preempted is not hung. Then: which context is guilty, and what happens to the other engines.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "driver/core/driver.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr int kPreemptShare = 4;  // of hang_after: 640 ms of 2.5 s in Linux

}  // namespace

// Time during which this process did not run does not count: a busy host or a debugger does not cause a hang.
void Driver::look_for_hangs() {
  constexpr std::chrono::nanoseconds kMax = std::chrono::milliseconds(50);  // normal time between two checks
  const auto now = Clock::now();
  const auto last =
      std::exchange(watches_[nullptr].since, now);  // the entry without an engine holds the time of the last check
  const auto lost = std::max<std::chrono::nanoseconds>(now - last - kMax, {});
  for (auto& [queue, watch] : watches_) {
    if (queue == nullptr) continue;
    watch.since += lost;
    if (watch.urged) *watch.urged += lost;
  }
  bool blamed = false;
  for (const std::unique_ptr<EngineQueue>& queue : gpu_->queues()) {
    Watch& watch = watches_[queue.get()];
    const RequestRef current = queue->current();
    if (current != watch.request || (watch.pulse && watch.pulse->done)) watch = {current, now};
    if (!current || !hangs(*queue, watch, now)) continue;
    blame(*queue, current, now);
    watch = {};
    blamed = true;
  }
  if (blamed) gpu_->update();  // other engines may have waited for the removed request
}

bool Driver::hangs(EngineQueue& queue, Watch& watch, Clock::time_point now) {
  constexpr uint32_t kRenewals = 500;  // a batch that dispatches forever hangs too
  const auto makes_progress = [&] {
    if (queue.work_done() == watch.work || watch.renewals >= kRenewals) return false;
    watch.work = queue.work_done();
    ++watch.renewals;
    return true;
  };
  // More urgent work waits for the engine.
  if (queue.wanted() != EngineQueue::Wanted::by_more_urgent) {
    watch.urged.reset();
  } else if (!watch.urged) {
    watch.urged = now;
    watch.work = queue.work_done();
  } else if (now - *watch.urged >= options_.hang_after / kPreemptShare) {
    if (!makes_progress()) return true;
    watch.urged = now;
  }
  if (now - watch.since < options_.hang_after / 2) return false;
  if (!watch.work) watch.work = queue.work_done();
  if (now - watch.since < options_.hang_after) return false;
  if (makes_progress()) {
    watch.since = now - options_.hang_after / 2;
    return false;
  }
  // The request may be preemptible. Then a heartbeat of the highest priority completes, and the request continues.
  if (!queue.can_interrupt() || queue.wanted() == EngineQueue::Wanted::by_equal) return true;
  if (!watch.pulse) return !send_pulse(queue, watch);
  return now - watch.since >= options_.hang_after + 2 * options_.hang_after / kPreemptShare;
}

// Submits a heartbeat. False: out of memory.
bool Driver::send_pulse(EngineQueue& queue, Watch& watch) {
  const auto space = std::make_shared<Space>(*gpu_);
  auto pulse = std::make_shared<Request>();
  if (space->tables()) pulse->context = queue.make_context(space->tables());
  if (!pulse->context) return false;
  pulse->keeps.push_back(space);
  pulse->priority = std::numeric_limits<int>::max();
  watch.pulse = pulse;
  queue.add(pulse);
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
