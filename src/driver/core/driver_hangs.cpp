// Hangs, as i915 finds them: who stands in the way of more urgent work has less time than who only takes long, and a
// batch that lets others in is none. Then whose fault it was, and what becomes of others.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "driver/core/driver.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr int kPreemptShare = 4;  // of the time without progress: 640 ms of 2.5 s in Linux

}  // namespace

// Time in which this process did not run does not count: a busy host or a debugger make no hang.
void Driver::look_for_hangs() {
  constexpr std::chrono::nanoseconds kMax = std::chrono::milliseconds(50);  // from one look to the next
  const auto now = Clock::now();
  const auto last = std::exchange(watches_[nullptr].since, now);  // of no engine: when anybody looked
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
  if (blamed) gpu_->update();  // other engines may have waited for what was taken out
}

bool Driver::hangs(EngineQueue& queue, Watch& watch, Clock::time_point now) {
  constexpr uint32_t kRenewals = 500;  // a batch that dispatches for ever hangs too
  const auto makes_progress = [&] {
    if (queue.work_done() == watch.work || watch.renewals >= kRenewals) return false;
    watch.work = queue.work_done();
    ++watch.renewals;
    return true;
  };
  // More urgent work wants its place.
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
  // It may let others in: then what is more urgent than anything comes through, and it may go on.
  if (!queue.can_interrupt() || queue.wanted() == EngineQueue::Wanted::by_equal) return true;
  if (!watch.pulse) return !send_pulse(queue, watch);
  return now - watch.since >= options_.hang_after + 2 * options_.hang_after / kPreemptShare;
}

// False: no memory for it.
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

// The engine hangs in this request. Three hangs of a context within two minutes, or one of a context that does not want
// to go on after one, ban it from the engine; whoever makes that happen too often gets no more contexts.
void Driver::blame(EngineQueue& queue, const RequestRef& culprit, Context::Clock::time_point now) {
  constexpr size_t kHangs = 2;  // that are remembered
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

// Where single engines cannot be reset, all were: what the others were at is done again.
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
