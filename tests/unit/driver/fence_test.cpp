// Fences alone: lists, timelines, and long timelines.
#include "driver/sync/fence.h"
#include "counted_fence.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "counted_fence.h"

namespace halogen::driver {
namespace {

FenceRef open_fence() {
  return std::make_shared<Fence>();
}

TEST(Fences, CallbackRunsOnceOrImmediatelyWhenDone) {
  const FenceRef fence = open_fence();
  int calls = 0;
  fence->then([&] { ++calls; });
  EXPECT_EQ(calls, 0);
  fence->signal(-EIO);
  fence->signal();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(fence->error, -EIO) << "the first signal counts";
  EXPECT_NE(fence->when, 0u);
  fence->then([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(Fences, CombinedFenceWaitsForAllAndInheritsErrors) {
  const FenceRef one = open_fence(), two = open_fence(), past = signalled_fence();
  EXPECT_EQ(all_of({one, past}), one) << "signalled fences are skipped";
  EXPECT_TRUE(all_of({past})->done);
  EXPECT_TRUE(all_of({})->done);
  const FenceRef both = all_of({one, two, one});
  std::vector<FenceRef> parts;
  both->list(parts);
  EXPECT_EQ(parts, (std::vector<FenceRef>{one, two}));
  one->signal(-EIO);
  EXPECT_FALSE(both->done);
  two->signal();
  EXPECT_TRUE(both->done);
  EXPECT_EQ(both->error, -EIO);
}

TEST(Fences, OnlyLastFenceOfATimelineCounts) {
  const FenceRef early = open_fence(), late = open_fence();
  early->timeline = late->timeline = 7;
  early->number = 1;
  late->number = 2;
  EXPECT_EQ(all_of({late, early}), late);
  EXPECT_EQ(all_of({early, late}), late);
}

TEST(Timelines, PayloadIsHighestPointWithAllEarlierPointsDone) {
  const FenceRef f1 = open_fence(), f2 = open_fence(), f3 = open_fence();
  const auto p1 = TimelinePoint::add(nullptr, f1, 10);
  const auto p2 = TimelinePoint::add(p1, f2, 20);
  const auto p3 = TimelinePoint::add(p2, f3, 30);
  EXPECT_EQ(p3->payload(), 0u);
  f2->signal();
  EXPECT_EQ(p3->payload(), 0u) << "10 is not reached yet";
  f1->signal();
  EXPECT_EQ(p3->payload(), 20u);
  EXPECT_TRUE(p2->done);
  f3->signal();
  EXPECT_EQ(p3->payload(), 30u);
}

TEST(Timelines, WaitUsesFirstPointAtOrAbove) {
  const FenceRef f1 = open_fence(), f2 = open_fence();
  const auto p1 = TimelinePoint::add(nullptr, f1, 10);
  const FenceRef top = TimelinePoint::add(p1, f2, 20);
  EXPECT_EQ(TimelinePoint::find(top, 21), nullptr) << "not promised";
  EXPECT_EQ(TimelinePoint::find(top, 20), top);
  EXPECT_EQ(TimelinePoint::find(top, 11), top);
  EXPECT_EQ(TimelinePoint::find(top, 10), p1);
  EXPECT_EQ(TimelinePoint::find(top, 1), p1);
  EXPECT_EQ(TimelinePoint::find(top, 0), top) << "the whole timeline";
  EXPECT_EQ(TimelinePoint::find(f1, 1), nullptr) << "a single fence has no points";
  f1->signal();
  EXPECT_TRUE(TimelinePoint::find(top, 5)->done);
  EXPECT_FALSE(TimelinePoint::find(top, 15)->done);
}

TEST(Timelines, OutOfOrderPointDoesNotLowerTimeline) {
  const FenceRef f1 = open_fence();
  const auto high = TimelinePoint::add(nullptr, f1, 10);
  const auto low = TimelinePoint::add(high, signalled_fence(), 3);
  EXPECT_EQ(low->point(), 10u);
  EXPECT_FALSE(low->done);
  EXPECT_EQ(low->payload(), 0u);
  f1->signal();
  EXPECT_EQ(low->payload(), 10u);
}

TEST(Timelines, LongTimelinesNeedNoRecursionAndDropDonePoints) {
  const FenceRef gate = open_fence();
  FenceRef top = TimelinePoint::add(nullptr, gate, 1);
  std::vector<FenceRef> open;
  for (uint64_t point = 2; point < 100'000; ++point) {
    open.push_back(open_fence());
    top = TimelinePoint::add(top, open.back(), point);
  }
  for (const FenceRef& each : open) each->signal();
  EXPECT_FALSE(top->done);
  gate->signal();
  EXPECT_TRUE(top->done);
  const FenceRef never = open_fence();
  top = TimelinePoint::add(nullptr, never, 1);
  for (uint64_t point = 2; point < 100'000; ++point) top = TimelinePoint::add(top, open_fence(), point);
  top = nullptr;  // must not recurse
  // Points that only wait for earlier ones are not kept.
  top = TimelinePoint::add(nullptr, never, 1);
  for (uint64_t point = 2; point < 1000; ++point) top = TimelinePoint::add(top, signalled_fence(), point);
  std::vector<FenceRef> parts;
  top->list(parts);
  EXPECT_EQ(parts.size(), 2u);
}

// Waits for all points of a timeline share its fences: each is visited once, not once per point.
TEST(Timelines, WaitsForManyPointsVisitEachFenceOnce) {
  constexpr uint64_t kPoints = 3000;
  uint64_t visits = 0;
  std::vector<FenceRef> points;
  FenceRef top;
  for (uint64_t point = 1; point <= kPoints; ++point) {
    top = TimelinePoint::add(top, std::make_shared<CountedFence>(visits), point);
    points.push_back(top);
  }
  OpenFences forwards, backwards;
  for (const FenceRef& each : points) forwards.add(each);
  EXPECT_EQ(visits, kPoints);
  EXPECT_EQ(forwards.take().size(), kPoints);
  for (auto each = points.rbegin(); each != points.rend(); ++each) backwards.add(*each);
  EXPECT_EQ(visits, 2 * kPoints);
  EXPECT_EQ(backwards.take().size(), kPoints);
}

TEST(Timelines, IndexFindsWhatFindFindsAndWalksOnce) {
  for (const bool restarts : {false, true}) {
    constexpr uint64_t kPoints = 500;
    std::vector<FenceRef> single;
    FenceRef top;
    for (uint64_t point = 1; point <= kPoints; ++point) {
      if (restarts && point == 200) top = TimelinePoint::add(top, open_fence(), 7);  // begins a new order
      single.push_back(open_fence());
      top = TimelinePoint::add(top, single.back(), 3 * point);
    }
    for (const bool some_done : {false, true}) {
      if (some_done) {
        for (size_t i = 0; i < kPoints; ++i) {
          if (i < 20 || i % 7 == 0) single[i]->signal();
        }
      }
      TimelineIndex index(top);
      for (uint64_t step = 0; step < 4 * kPoints; ++step) {
        const uint64_t point = step * 997 % (4 * kPoints);  // in no order
        const FenceRef expected = TimelinePoint::find(top, point), found = index.find(point);
        ASSERT_EQ(found == nullptr, expected == nullptr) << point;
        if (expected) {
          ASSERT_TRUE(found == expected || (found->done && expected->done)) << point;
        }
      }
      EXPECT_LE(index.steps(), kPoints + 2);
    }
  }
  EXPECT_EQ(TimelineIndex(nullptr).find(3), nullptr);
  const FenceRef plain = open_fence();
  EXPECT_EQ(TimelineIndex(plain).find(0), plain);
  EXPECT_EQ(TimelineIndex(plain).find(1), nullptr);
}

}  // namespace
}  // namespace halogen::driver
