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
  void show(FenceVisitor& visitor) override {
    if (!visitor.enters(*this)) return;
    for (const FenceRef& part : parts_) visitor.visit(part);
  }
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

void Fence::list(std::vector<FenceRef>& into) {
  class Lister final : public FenceVisitor {
   public:
    explicit Lister(std::vector<FenceRef>& all) : all_(all) {}
    void visit(const FenceRef& single) override { all_.push_back(single); }

   private:
    std::vector<FenceRef>& all_;
  } lister(into);
  show(lister);
}

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

bool OpenFences::enters(const Fence& combined) {
  return !combined.done && met_.insert(&combined).second;
}

void OpenFences::visit(const FenceRef& single) {
  if (single->done || (without_ != 0 && single->timeline == without_)) return;
  if (single->timeline == 0) {
    if (met_.insert(single.get()).second) fences_.push_back(single);
    return;
  }
  const auto [last, is_first] = of_timeline_.try_emplace(single->timeline, fences_.size());
  if (is_first) {
    fences_.push_back(single);
  } else if (single->number > fences_[last->second]->number) {
    fences_[last->second] = single;
  }
}

FenceRef all_of(const std::vector<FenceRef>& fences) {
  OpenFences all;
  for (const FenceRef& fence : fences) all.add(fence);
  std::vector<FenceRef> open = all.take();
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

TimelinePoint::Place TimelinePoint::place(const FenceRef& fence) const {
  const auto* const point = dynamic_cast<const TimelinePoint*>(fence.get());
  if (point == nullptr || point->order_ != order_) return {fence, 0};
  return {fence, point->point_before_};
}

// Call it for places with a point before them.
TimelinePoint::Place TimelinePoint::before(const Place& place) const {
  const FenceRef& fence = static_cast<const TimelinePoint*>(place.fence.get())->before_;
  if (!fence || fence->done) return {signalled_fence(), 0};
  return this->place(fence);
}

FenceRef TimelinePoint::find(const FenceRef& top, uint64_t point) {
  if (!top || point == 0) return top;
  const auto* const last = dynamic_cast<const TimelinePoint*>(top.get());
  if (last == nullptr || last->point() < point) return nullptr;
  Place place = last->place(top);
  while (place.above >= point) place = last->before(place);
  return place.fence;
}

TimelineIndex::TimelineIndex(FenceRef top)
    : top_(std::move(top)), last_(dynamic_cast<const TimelinePoint*>(top_.get())) {}

FenceRef TimelineIndex::find(uint64_t point) {
  if (!top_ || point == 0) return top_;
  if (last_ == nullptr || last_->point() < point) return nullptr;
  if (places_.empty()) places_.push_back(last_->place(top_));
  while (places_.back().above >= point) places_.push_back(last_->before(places_.back()));
  return std::partition_point(places_.begin(), places_.end(), [&](const auto& each) { return each.above >= point; })
      ->fence;
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

void TimelinePoint::show(FenceVisitor& visitor) {
  const TimelinePoint* each = this;
  while (each != nullptr && visitor.enters(*each)) {
    each->fence_->show(visitor);
    const FenceRef& before = each->before_;
    each = dynamic_cast<const TimelinePoint*>(before.get());
    if (before && each == nullptr) before->show(visitor);
  }
}

}  // namespace halogen::driver
