#include "driver/core/hang_watch.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace halogen::driver {

HangWatch::HangWatch(RunTime clock, std::chrono::milliseconds limit, size_t engines)
    : clock_(std::move(clock)), limit_(limit), counted_(clock_()), ends_(engines) {
  for (std::atomic<int64_t>& end : ends_) end = std::numeric_limits<int64_t>::max();
}

void HangWatch::count(uint64_t work, bool inside) {
  if (!enabled()) return;
  const Time now = clock_();
  const Time passed = now - counted_;
  if (passed.count() <= 0) return;
  counted_ = now;
  const bool is_long = inside || work != work_;
  work_ = work;
  now_ += is_long ? passed / kSlowness : passed;
}

HangWatch::Verdict HangWatch::judge(EngineQueue& queue) {
  if (!enabled()) return Verdict::fine;
  Entry& entry = entries_[&queue];
  const RequestRef current = queue.current();
  if (current != entry.request || (entry.heartbeat && entry.heartbeat->done)) {
    entry = {.request = current, .since = now_, .progressed = counted_};
  }
  if (!current) return Verdict::fine;
  if (!queue.in_long_work() || queue.work_done().progress != entry.progress) {
    entry.progress = queue.work_done().progress;
    entry.progressed = counted_;
  }
  if (queue.wanted() != EngineQueue::Wanted::by_more_urgent) {
    entry.urged.reset();
  } else if (!entry.urged) {
    entry.urged = now_;
  }
  const Time stalled = counted_ - entry.progressed;
  if (entry.urged && std::max(now_ - *entry.urged, stalled) >= preempt_limit()) return Verdict::hung;
  const Time used = std::max(now_ - entry.since, stalled);
  if (used < limit_) return Verdict::fine;
  // The request may be preemptible. Then a heartbeat of the highest priority completes, and the request continues.
  if (!queue.can_interrupt() || queue.wanted() == EngineQueue::Wanted::by_equal) return Verdict::hung;
  if (!entry.heartbeat) return Verdict::ask_to_yield;
  return used >= limit_ + heartbeat_limit() ? Verdict::hung : Verdict::fine;
}

// Returns the time at which judge() will call the request hung, if its long work makes progress.
HangWatch::Time HangWatch::deadline(const EngineQueue& queue, const Entry& entry) const {
  const bool yields = queue.can_interrupt() && queue.wanted() != EngineQueue::Wanted::by_equal;
  const Time end = entry.since + limit_ + (yields ? heartbeat_limit() : Time{});
  return entry.urged ? std::min(end, *entry.urged + preempt_limit()) : end;
}

void HangWatch::arm(const std::vector<std::unique_ptr<EngineQueue>>& queues,
                    std::span<const spec::EngineModel> engines) {
  if (!enabled()) return;
  const auto end_of = [&](Time deadline) {
    constexpr Time kRounding{1};
    return (counted_ + (std::max(deadline - now_, Time{}) + kRounding) * kSlowness).count();
  };
  // A request that starts while the device runs has all of its time.
  for (std::atomic<int64_t>& end : ends_) end = end_of(now_ + limit_ + heartbeat_limit());
  for (const std::unique_ptr<EngineQueue>& queue : queues) {
    const auto found = entries_.find(queue.get());
    const auto number = static_cast<size_t>(&queue->engine() - engines.data());
    if (found == entries_.end() || !found->second.request || found->second.request != queue->current()) continue;
    ends_[number] = end_of(deadline(*queue, found->second));
  }
}

bool HangWatch::is_over(unsigned engine) const {
  return enabled() && engine < ends_.size() && clock_().count() >= ends_[engine].load(std::memory_order_relaxed);
}

}  // namespace halogen::driver
