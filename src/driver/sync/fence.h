// Fences: points in time that work and programs wait for. Each is signalled once, for good, with or without an error.
// A request is one; so is what another process promises; and fences are put together from others: all of a list, and
// the points of a timeline. All live under the driver's one lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halogen::driver {

class Fence;
using FenceRef = std::shared_ptr<Fence>;

class Fence : public std::enable_shared_from_this<Fence> {
 public:
  Fence() = default;
  virtual ~Fence() = default;
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  // To be read; signal() sets them.
  bool done = false;
  int error = 0;      // a negative errno: what went wrong
  uint64_t when = 0;  // it was done: nanoseconds of the monotonic clock

  // Fences of one timeline are done in the order of their numbers. 0: of none.
  uint64_t timeline = 0;
  uint64_t number = 0;
  int engine_class = -1;  // as programs number them, of work of an engine

  void signal(int its_error = 0);
  // Calls back once it is done; now, when it already is.
  void then(std::function<void()> callback);

  // The single ones that this one stands for.
  virtual void list(std::vector<FenceRef>& into) { into.push_back(shared_from_this()); }
  // Who made it, and on which timeline, as programs are told.
  virtual std::string driver_name() const { return "stub"; }
  virtual std::string timeline_name() const { return "stub"; }

 protected:
  void depend_on(Fence& part);
  // A part of this one is done. True: now this one is, too.
  virtual bool part_done(const Fence&) { return false; }
  virtual void released() {}  // it is done: what was held for it can go

 private:
  void finish(int its_error);

  std::vector<std::function<void()>> callbacks_;
  std::vector<std::weak_ptr<Fence>> dependents_;
};

FenceRef signalled_fence();

// Done when all in the list are. Those that are done already do not count; of one timeline the last one does.
FenceRef all_of(const std::vector<FenceRef>& fences);

// A point of a timeline: done when its fence is, and all points before it.
class TimelinePoint final : public Fence {
 public:
  // `before`: what the timeline held; may be null, and need not be a point.
  static std::shared_ptr<TimelinePoint> add(const FenceRef& before, FenceRef fence, uint64_t point);
  ~TimelinePoint() override;

  uint64_t point() const { return number; }
  // The highest point below which all is done.
  uint64_t payload() const;
  // What to wait for to have this point reached. Null: nobody has promised it.
  static FenceRef find(const FenceRef& top, uint64_t point);

  // What a timeline is made of, from its first point that counts: the same, added in this order, make it again.
  // Point 0: a fence that is no point.
  static std::vector<std::pair<FenceRef, uint64_t>> parts(const FenceRef& top);

  void list(std::vector<FenceRef>& into) override;
  std::string driver_name() const override { return "dma_fence_chain"; }
  std::string timeline_name() const override { return "unbound"; }

 private:
  bool part_done(const Fence&) override { return fence_->done && (!before_ || before_->done); }
  void released() override { before_ = nullptr; }

  FenceRef fence_;
  FenceRef before_;
  uint64_t point_before_ = 0;
  std::shared_ptr<int> order_;  // shared by points that were added in order
};

}  // namespace halogen::driver
