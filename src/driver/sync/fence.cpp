#include "driver/sync/fence.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/exhaustion.h"

namespace halogen::driver {
namespace {

class AllOf final : public Fence {
 public:
  static FenceRef make(std::vector<FenceRef> parts) {
    auto made = std::make_shared<AllOf>();
    made->open_ = parts.size();
    for (const FenceRef& part : parts) made->depend_on(*part);
    made->parts_ = std::move(parts);
    return made;
  }
  void list(std::vector<FenceRef>& into) override { into.insert(into.end(), parts_.begin(), parts_.end()); }
  std::string driver_name() const override { return "dma_fence_array"; }
  std::string timeline_name() const override { return "unbound"; }

 private:
  bool part_done(const Fence& part) override {
    if (error == 0) error = part.error;
    return --open_ == 0;
  }

  std::vector<FenceRef> parts_;
  size_t open_ = 0;
};

}  // namespace

void Fence::finish(int its_error) {
  done = true;
  if (its_error != 0) error = its_error;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  when = static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
  released();
}

// Uses a loop instead of recursion, because a timeline may have any length. Needs no memory: fences that are done and
// whose dependents were not looked at yet are linked through `next_done_`.
void Fence::signal(int its_error) {
  if (done) return;
  finish(its_error);
  if (callbacks_.empty() && dependents_.empty()) return;
  for (FenceRef open = shared_from_this(); open;) {
    const FenceRef fence = std::move(open);
    open = std::move(fence->next_done_);
    const auto callbacks = std::exchange(fence->callbacks_, {});
    // A callback that the host cannot complete does not keep the others from theirs.
    for (const auto& callback : callbacks) static_cast<void>(completes(callback));
    const auto dependents = std::exchange(fence->dependents_, {});
    for (const std::weak_ptr<Fence>& each : dependents) {
      const FenceRef dependent = each.lock();
      if (!dependent || dependent->done || !dependent->part_done(*fence)) continue;
      dependent->finish(0);
      dependent->next_done_ = std::move(open);
      open = dependent;
    }
  }
}

void Fence::then(std::function<void()> callback) {
  if (done) {
    callback();
  } else {
    callbacks_.push_back(std::move(callback));
  }
}

void Fence::depend_on(Fence& part) {
  std::vector<std::weak_ptr<Fence>>& list = part.dependents_;
  // Drop expired dependents.
  if (list.size() == list.capacity()) std::erase_if(list, [](const auto& each) { return each.expired(); });
  list.push_back(weak_from_this());
}

FenceRef signalled_fence() {
  auto fence = std::make_shared<Fence>();
  fence->signal();
  return fence;
}

FenceRef all_of(const std::vector<FenceRef>& fences) {
  std::vector<FenceRef> single;
  for (const FenceRef& fence : fences) fence->list(single);
  std::vector<FenceRef> open;
  for (const FenceRef& fence : single) {
    if (fence->done) continue;
    const auto same = std::find_if(open.begin(), open.end(), [&](const FenceRef& other) {
      return other == fence || (fence->timeline != 0 && other->timeline == fence->timeline);
    });
    if (same == open.end()) {
      open.push_back(fence);
    } else if (fence->number > (*same)->number) {
      *same = fence;
    }
  }
  if (open.empty()) return signalled_fence();
  return open.size() == 1 ? open.front() : AllOf::make(std::move(open));
}

std::shared_ptr<TimelinePoint> TimelinePoint::add(const FenceRef& before, FenceRef fence, uint64_t point) {
  auto made = std::make_shared<TimelinePoint>();
  auto* previous = dynamic_cast<TimelinePoint*>(before.get());
  if (previous != nullptr && point > previous->point()) {
    made->order_ = previous->order_;
    made->point_before_ = previous->point();
  } else {  // a point not above the last one starts a new order; the timeline does not go back
    made->order_ = std::make_shared<int>(0);
    if (previous != nullptr) point = std::max(point, previous->point());
  }
  made->number = point;
  made->fence_ = std::move(fence);
  made->before_ = before;
  // Points that only wait for earlier ones are not kept.
  while (previous != nullptr && !previous->done && previous->fence_->done) {
    made->before_ = previous->before_;
    previous = dynamic_cast<TimelinePoint*>(made->before_.get());
  }
  if (made->before_ && made->before_->done) made->before_ = nullptr;
  if (!made->fence_->done) made->depend_on(*made->fence_);
  if (made->before_) made->depend_on(*made->before_);
  if (made->part_done(*made)) made->signal();
  return made;
}

// Frees a long timeline from its end to its start without recursion.
TimelinePoint::~TimelinePoint() {
  FenceRef next = std::move(before_);
  while (next && next.use_count() == 1) {
    auto* const point = dynamic_cast<TimelinePoint*>(next.get());
    if (point == nullptr) break;
    FenceRef after = std::move(point->before_);
    next = std::move(after);
  }
}

uint64_t TimelinePoint::payload() const {
  if (done) return point();
  const TimelinePoint* last = this;
  while (last->before_ && !last->before_->done) {
    const auto* const before = dynamic_cast<const TimelinePoint*>(last->before_.get());
    if (before == nullptr || before->order_ != order_) break;
    last = before;
  }
  return last->point_before_;
}

FenceRef TimelinePoint::find(const FenceRef& top, uint64_t point) {
  if (!top || point == 0) return top;
  const auto* const first = dynamic_cast<const TimelinePoint*>(top.get());
  if (first == nullptr || first->point() < point) return nullptr;
  FenceRef fence = top;
  for (;;) {
    const auto* const each = dynamic_cast<const TimelinePoint*>(fence.get());
    if (each == nullptr || each->order_ != first->order_ || each->point_before_ < point) return fence;
    if (!each->before_ || each->before_->done) return signalled_fence();
    fence = each->before_;
  }
}

std::vector<std::pair<FenceRef, uint64_t>> TimelinePoint::parts(const FenceRef& top) {
  std::vector<std::pair<FenceRef, uint64_t>> all;
  for (FenceRef each = top; each;) {
    const auto* const point = dynamic_cast<const TimelinePoint*>(each.get());
    if (point == nullptr) {
      all.emplace_back(each, 0);
      break;
    }
    if (point->done) {
      all.emplace_back(signalled_fence(), point->point());
      break;
    }
    all.emplace_back(point->fence_, point->point());
    if (!point->before_ && point->point_before_ != 0) all.emplace_back(signalled_fence(), point->point_before_);
    each = point->before_;
  }
  std::reverse(all.begin(), all.end());
  return all;
}

void TimelinePoint::list(std::vector<FenceRef>& into) {
  for (const TimelinePoint* each = this; each != nullptr;) {
    each->fence_->list(into);
    const FenceRef& before = each->before_;
    each = dynamic_cast<const TimelinePoint*>(before.get());
    if (before && each == nullptr) before->list(into);
  }
}

}  // namespace halogen::driver
