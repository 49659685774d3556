// Fences. Each is signalled exactly once, with or without an error. A request is a fence, and so is a promise of
// another process. Fences can be combined: all of a list, and the points of a timeline. The driver's lock guards all
// fences.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace halogen::driver {

class Fence;
using FenceRef = std::shared_ptr<Fence>;

// Receives the single fences that combined ones stand for.
class FenceVisitor {
 public:
  virtual ~FenceVisitor() = default;
  virtual void visit(const FenceRef& single) = 0;
  // Returns whether to visit the parts of a combined fence.
  virtual bool enters(const Fence&) { return true; }
};

class Fence : public std::enable_shared_from_this<Fence> {
 public:
  Fence() = default;
  virtual ~Fence() = default;
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  // Read only; signal() sets them.
  bool done = false;
  int error = 0;      // 0 or a negative errno
  uint64_t when = 0;  // time of the signal: nanoseconds of the monotonic clock

  // Fences of one timeline signal in the order of their numbers. 0: no timeline.
  uint64_t timeline = 0;
  uint64_t number = 0;
  int engine_class = -1;  // in the numbering of the user interface, for requests; otherwise -1

  void signal(int its_error = 0);
  // Calls `callback` when the fence signals, or now if it already has.
  void then(std::function<void()> callback);

  // Shows the single fences that this one combines.
  virtual void show(FenceVisitor& visitor) { visitor.visit(shared_from_this()); }
  // Lists them, each as often as it occurs.
  void list(std::vector<FenceRef>& into);
  // Names of the creator and the timeline, as shown to programs.
  virtual std::string driver_name() const { return "stub"; }
  virtual std::string timeline_name() const { return "stub"; }

 protected:
  void depend_on(Fence& part);
  // Called when a part of this fence signalled. True: this fence is done too.
  virtual bool part_done(const Fence&) { return false; }
  virtual void released() {}  // the fence is done: resources held for it can be freed

 private:
  void finish(int its_error);

  std::vector<std::function<void()>> callbacks_;
  std::vector<std::weak_ptr<Fence>> dependents_;
  FenceRef next_done_;  // in signal()
};

FenceRef signalled_fence();

// Collects what must be waited for: of the added fences the single ones that are open, and of each timeline only the
// last. Takes time in proportion to the fences that it visits for the first time. For example, the points of a timeline
// share the fences of all earlier points. Added fences must live until take().
class OpenFences final : private FenceVisitor {
 public:
  // Skips fences of the timeline `without`. 0 skips none.
  explicit OpenFences(uint64_t without = 0) : without_(without) {}
  void add(const FenceRef& fence) { fence->show(*this); }
  std::vector<FenceRef> take() { return std::move(fences_); }

 private:
  void visit(const FenceRef& single) override;
  bool enters(const Fence& combined) override;

  uint64_t without_;
  std::vector<FenceRef> fences_;
  std::unordered_map<uint64_t, size_t> of_timeline_;  // indices in fences_
  std::unordered_set<const Fence*> met_;
};

// Returns a fence that signals when all fences of the list have signalled. Signalled fences are skipped. Only the last
// fence of a timeline counts.
FenceRef all_of(const std::vector<FenceRef>& fences);

// A point of a timeline: signals when its fence and all earlier points have.
class TimelinePoint final : public Fence {
 public:
  // `before`: the previous content of the timeline; may be null, and need not be a point.
  static std::shared_ptr<TimelinePoint> add(const FenceRef& before, FenceRef fence, uint64_t point);
  ~TimelinePoint() override;

  uint64_t point() const { return number; }
  // Returns the highest point up to which all is done.
  uint64_t payload() const;
  // Returns the fence to wait for until `point` is reached. Null: nothing has promised it.
  static FenceRef find(const FenceRef& top, uint64_t point);

  // Returns the parts of a timeline from its first relevant point. Adding them in this order rebuilds it. Point 0: a
  // fence that is not a point.
  static std::vector<std::pair<FenceRef, uint64_t>> parts(const FenceRef& top);

  void show(FenceVisitor& visitor) override;
  std::string driver_name() const override { return "dma_fence_chain"; }
  std::string timeline_name() const override { return "unbound"; }

 private:
  friend class TimelineIndex;
  // A fence of a timeline. It is the one to wait for if a point is above `above` and not above those of later fences.
  struct Place {
    FenceRef fence;
    uint64_t above = 0;
  };
  Place place(const FenceRef& fence) const;  // `this` is the timeline's last point
  Place before(const Place& place) const;

  bool part_done(const Fence&) override { return fence_->done && (!before_ || before_->done); }
  void released() override { before_ = nullptr; }

  FenceRef fence_;
  FenceRef before_;
  uint64_t point_before_ = 0;
  std::shared_ptr<int> order_;  // shared by points that were added in ascending order
};

// Finds many points of one timeline, as it is now, and walks each part of it only once.
class TimelineIndex {
 public:
  explicit TimelineIndex(FenceRef top);
  const FenceRef& top() const { return top_; }
  // Returns the same as TimelinePoint::find().
  FenceRef find(uint64_t point);
  size_t steps() const { return places_.size(); }  // that were walked so far

 private:
  FenceRef top_;
  const TimelinePoint* last_;                 // null: a single fence
  std::vector<TimelinePoint::Place> places_;  // from the last one backwards
};

}  // namespace halogen::driver
