// Fences of EXECBUFFER2 on every chip: in, out, submit, arrays, timelines, implicit fences, and fences after a hang.
#include <cerrno>
#include <thread>

#include "counted_fence.h"
#include "covers.h"
#include "sync_door.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kWait = I915_EXEC_FENCE_WAIT, kSignal = I915_EXEC_FENCE_SIGNAL;

class ExecuteFence : public SyncDoor {
 protected:
  static drm_i915_gem_exec_fence fence(uint32_t handle, uint64_t flags) {
    return {.handle = handle, .flags = static_cast<__u32>(flags)};
  }
  static drm_i915_gem_exec_object2 object(uint32_t handle, uint64_t flags) {
    drm_i915_gem_exec_object2 made{};
    made.handle = handle;
    made.flags = flags;
    return made;
  }
  int run_timelines(std::vector<drm_i915_gem_exec_fence> fences, std::vector<uint64_t> points, uint64_t flags = 0,
                    uint32_t name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES, uint32_t cliprects = 0) {
    drm_i915_gem_execbuffer_ext_timeline_fences extension{};
    extension.base.name = name;
    extension.fence_count = fences.size();
    extension.handles_ptr = reinterpret_cast<uintptr_t>(fences.data());
    extension.values_ptr = reinterpret_cast<uintptr_t>(points.data());
    std::vector<drm_i915_gem_exec_object2> objects(1);
    objects[0].handle = make_empty();
    drm_i915_gem_execbuffer2 execute{};
    execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
    execute.buffer_count = 1;
    execute.flags = I915_EXEC_USE_EXTENSIONS | flags;
    execute.cliprects_ptr = reinterpret_cast<uintptr_t>(&extension);
    execute.num_cliprects = cliprects;
    return call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute);
  }
};

TEST_P(ExecuteFence, InOutAndSubmitFencesOrderBatches) {
  Gate gate;
  const uint32_t batch = make_empty();
  int first = -1, after = -1, beside = -1, other = -1;
  ASSERT_EQ(run({.in = gate.descriptor(), .batch = batch}, &first), 0);
  ASSERT_EQ(run({.context = context(), .in = first}, &after), 0);
  ASSERT_EQ(run({.flags = I915_EXEC_FENCE_SUBMIT, .context = context(), .in = first}, &beside), 0);
  ASSERT_EQ(run({.context = context()}, &other), 0);
  EXPECT_TRUE(readable(other, true)) << "waiting work does not block other contexts";
  EXPECT_EQ(status(other), 1);
  for (const int each : {first, after, beside}) {
    EXPECT_FALSE(readable(each));
    EXPECT_EQ(status(each), 0);
  }
  EXPECT_EQ(wait(batch, 0), -ETIME);
  gate.open();
  EXPECT_EQ(wait(batch), 0);
  for (const int each : {first, after, beside}) {
    EXPECT_TRUE(readable(each, true));
    EXPECT_EQ(status(each), 1);
  }
  sync_fence_info info{};
  sync_file_info list{};
  list.num_fences = 1;
  list.sync_fence_info = reinterpret_cast<uintptr_t>(&info);
  ASSERT_EQ(driver->descriptor_ioctl(after, SYNC_IOC_FILE_INFO, reinterpret_cast<uintptr_t>(&list)), 0);
  EXPECT_STREQ(info.driver_name, "0000:00:02.0");
  EXPECT_NE(info.timestamp_ns, 0u);
}

TEST_P(ExecuteFence, SyncObjectArrayWaitsAndSignals) {
  const uint32_t in = sync_object(), out = sync_object(), last = sync_object();
  EXPECT_EQ(run({.fences = {fence(99, kWait)}}), -ENOENT);
  EXPECT_EQ(run({.fences = {fence(in, kWait)}}), -EINVAL) << "nothing was promised";
  EXPECT_EQ(run({.fences = {fence(in, 4)}}), -EINVAL);
  Gate gate;
  ASSERT_EQ(import_sync_file(in, gate.descriptor()), 0);
  ASSERT_EQ(run({.fences = {fence(in, kWait), fence(out, kSignal)}}), 0);
  EXPECT_EQ(wait_objects({out}), -ETIME);
  const uint64_t engine = has_blitter() ? I915_EXEC_BLT : I915_EXEC_RENDER;
  // Waits for the object's fence and replaces it, on another engine if there is one.
  ASSERT_EQ(run({.flags = engine, .context = context(), .fences = {fence(out, kWait | kSignal)}}), 0);
  ASSERT_EQ(run({.context = context(), .fences = {fence(out, kWait), fence(last, kSignal)}}), 0);
  EXPECT_EQ(wait_objects({out, last}), -ETIME);
  std::vector<int> results(4, 1);
  std::vector<std::thread> waiters;
  for (int& result : results) {
    waiters.emplace_back([&] { result = wait_objects({in, out, last}, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, INT64_MAX); });
  }
  gate.open();
  for (std::thread& waiter : waiters) waiter.join();
  for (const int result : results) EXPECT_EQ(result, 0);
}

TEST_P(ExecuteFence, TimelinePointsWaitAndSignal) {
  const uint32_t line = sync_object(), in = sync_object();
  EXPECT_EQ(run_timelines({fence(line, kWait)}, {1}), -EINVAL) << "nothing was promised";
  EXPECT_EQ(run_timelines({fence(99, kWait)}, {1}), -ENOENT);
  EXPECT_EQ(run_timelines({fence(line, 4)}, {1}), -EINVAL);
  EXPECT_EQ(run_timelines({fence(line, kWait | kSignal)}, {1}), -EINVAL) << "a point cannot wait for itself";
  EXPECT_EQ(run_timelines({fence(line, kSignal)}, {1}, I915_EXEC_FENCE_ARRAY), -EINVAL) << "both use the same field";
  EXPECT_EQ(run_timelines({fence(line, kSignal)}, {1}, 0, 7), -EINVAL);
  EXPECT_EQ(run_timelines({fence(line, kSignal)}, {1}, 0, 0, 1), -EINVAL);
  Gate gate;
  ASSERT_EQ(import_sync_file(in, gate.descriptor()), 0);
  ASSERT_EQ(run_timelines({fence(in, kWait), fence(line, kSignal)}, {0, 3}), 0);
  ASSERT_EQ(run_timelines({fence(line, kWait), fence(line, kSignal)}, {3, 8}), 0);
  EXPECT_EQ(query(line), 0u);
  EXPECT_EQ(query(line, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 8u);
  EXPECT_EQ(run_timelines({fence(line, kWait)}, {9}), -EINVAL) << "not promised";
  EXPECT_EQ(wait_points({line}, {3}), -ETIME);
  gate.open();
  EXPECT_EQ(wait_points({line}, {8}, 0, INT64_MAX), 0);
  EXPECT_EQ(query(line), 8u);
  EXPECT_EQ(run_timelines({fence(line, kWait)}, {2}), 0) << "already passed";
}

TEST_P(ExecuteFence, ManyWaitsOnALongTimelineTakeOneWalk) {
  constexpr uint64_t kPoints = 2000;
  uint64_t meetings = 0;
  const uint32_t line = sync_object();
  std::vector<FenceRef> parts;
  std::vector<drm_i915_gem_exec_fence> fences;
  std::vector<uint64_t> points;
  driver->with_lock([&] {
    const SyncObjectRef object = file->sync_objects.find(line);
    for (uint64_t point = 1; point <= kPoints; ++point) {
      parts.push_back(std::make_shared<CountedFence>(meetings));
      object->add_point(parts.back(), point);
      fences.push_back(fence(line, kWait));
      points.push_back(point);
    }
  });
  ASSERT_EQ(run_timelines(fences, points), 0);
  EXPECT_LE(meetings, 2 * kPoints);
  driver->with_lock([&] {
    for (const FenceRef& each : parts) each->signal();
  });
}

TEST_P(ExecuteFence, ImplicitFencesOrderBatches) {
  Gate gate;
  const uint32_t data = create(4096);
  int reader = -1, writer = -1, async = -1;
  ASSERT_EQ(run({.in = gate.descriptor(), .more = {object(data, EXEC_OBJECT_WRITE)}}, nullptr), 0);
  ASSERT_EQ(run({.context = context(), .more = {object(data, 0)}}, &reader), 0);
  ASSERT_EQ(run({.context = context(), .more = {object(data, EXEC_OBJECT_WRITE)}}, &writer), 0);
  ASSERT_EQ(run({.context = context(), .more = {object(data, EXEC_OBJECT_WRITE | EXEC_OBJECT_ASYNC)}}, &async), 0);
  EXPECT_TRUE(readable(async, true)) << "asked not to wait";
  EXPECT_EQ(wait(data, 0), -ETIME) << "the other writers are open";
  EXPECT_FALSE(readable(reader));
  EXPECT_FALSE(readable(writer));
  gate.open();
  EXPECT_EQ(wait(data), 0);
  EXPECT_TRUE(readable(reader, true));
  EXPECT_TRUE(readable(writer, true));
}

// Readers wait for writers but not for each other; a writer waits for all.
TEST_P(ExecuteFence, ReadersRunTogetherAndWritersExclude) {
  COVERS("NOTES-DRV-06");
  Gate gate, last;
  const uint32_t data = create(4096);
  int first = -1, second = -1, writer = -1, after = -1;
  ASSERT_EQ(run({.context = context(), .in = gate.descriptor(), .more = {object(data, 0)}}, &first), 0);
  ASSERT_EQ(run({.context = context(), .more = {object(data, 0)}}, &second), 0);
  EXPECT_TRUE(readable(second, true)) << "together with a reader that has not started";
  ASSERT_EQ(run({.context = context(), .in = last.descriptor(), .more = {object(data, EXEC_OBJECT_WRITE)}}, &writer),
            0);
  ASSERT_EQ(run({.context = context(), .more = {object(data, 0)}}, &after), 0);
  last.open();
  EXPECT_FALSE(readable(writer)) << "a reader is before it";
  EXPECT_FALSE(readable(after));
  EXPECT_FALSE(readable(first));
  gate.open();
  for (const int each : {first, writer, after}) EXPECT_TRUE(readable(each, true));
}

// A frame: work that signals an object, a wait for it, its reset, and a query for lost work.
TEST_P(ExecuteFence, SequenceOfAVulkanFrameWorks) {
  COVERS("NOTES-DRV-07");
  const uint32_t in_context = context(), object_of_frame = sync_object();
  for (int frame = 0; frame < 3; ++frame) {
    Gate gate;
    ASSERT_EQ(run({.context = in_context, .in = gate.descriptor(), .fences = {fence(object_of_frame, kSignal)}}), 0);
    EXPECT_EQ(wait_objects({object_of_frame}), -ETIME);
    gate.open();
    EXPECT_EQ(wait_objects({object_of_frame}, 0, INT64_MAX), 0);
    drm_syncobj_array array{reinterpret_cast<uintptr_t>(&object_of_frame), 1, 0};
    EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_RESET, array), 0);
    EXPECT_EQ(wait_objects({object_of_frame}), -EINVAL) << "the object was reset";
    drm_i915_reset_stats statistics{};
    statistics.ctx_id = in_context;
    ASSERT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
    EXPECT_EQ(statistics.batch_active + statistics.batch_pending, 0u);
  }
  int hung = -1;
  ASSERT_EQ(run_endless(in_context, &hung, {fence(object_of_frame, kSignal)}), 0);
  EXPECT_EQ(wait_objects({object_of_frame}, 0, INT64_MAX), 0) << "lost work signals too";
  drm_i915_reset_stats statistics{};
  statistics.ctx_id = in_context;
  ASSERT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
  EXPECT_EQ(statistics.batch_active, 1u) << "the loss is reported";
}

TEST_P(ExecuteFence, FenceOfHungBatchHasAnError) {
  const uint32_t object_of_hung = sync_object();
  int hung = -1, same = -1, other = -1;
  ASSERT_EQ(run_endless(context(), &hung, {fence(object_of_hung, kSignal)}), 0);
  ASSERT_EQ(run({.context = context(), .fences = {fence(object_of_hung, kWait)}}, &same), 0);
  if (has_blitter()) {
    ASSERT_EQ(run({.flags = I915_EXEC_BLT, .context = context(), .fences = {fence(object_of_hung, kWait)}}, &other), 0);
  }
  EXPECT_TRUE(readable(hung, true));
  EXPECT_EQ(status(hung), -EIO);
  EXPECT_EQ(wait_objects({object_of_hung}), 0);
  EXPECT_TRUE(readable(same, true));
  EXPECT_EQ(status(same), 1) << "on the same engine the wait only keeps the order";
  if (has_blitter()) {
    EXPECT_TRUE(readable(other, true));
    EXPECT_EQ(status(other), -EIO) << "inherits the error of its dependency";
  }
  int late = -1;
  ASSERT_EQ(run({.context = context(), .in = hung}, &late), 0);
  EXPECT_TRUE(readable(late, true));
  EXPECT_EQ(status(late), 1) << "a past error is not inherited";
}

TEST_P(ExecuteFence, InvalidArgumentsReturnTheErrnoOfLinux) {
  Gate gate;
  int out = -1;
  EXPECT_EQ(run({.flags = I915_EXEC_FENCE_IN}), -EINVAL) << "descriptor 0 is not a sync file";
  EXPECT_EQ(run({.flags = I915_EXEC_FENCE_IN | I915_EXEC_FENCE_SUBMIT, .in = gate.descriptor()}), -EINVAL);
  EXPECT_EQ(run({.flags = uint64_t{1} << 22}, &out), -EINVAL);
  EXPECT_EQ(out, -1);
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = make_empty();
  drm_i915_gem_execbuffer2 execute{};
  execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
  execute.buffer_count = 1;
  execute.cliprects_ptr = 16;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute), -EINVAL) << "neither array nor extensions";
  execute.flags = I915_EXEC_USE_EXTENSIONS;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute), -EFAULT);
  execute.flags = I915_EXEC_FENCE_ARRAY;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute), 0) << "an empty array";
  execute.num_cliprects = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute), -EFAULT);
  execute.num_cliprects = ~0u;
  EXPECT_NE(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute), 0);
  execute = {};
  execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
  execute.buffer_count = 1;
  execute.DR4 = ~0u;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute), 0) << "a value that an old driver leaves there";
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecuteFence, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
