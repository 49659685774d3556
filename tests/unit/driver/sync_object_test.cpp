// Sync objects as programs use them. Most of it is independent of the chip.
#include <fcntl.h>

#include <cerrno>
#include <thread>

#include "sync_door.h"

namespace halogen::driver {
namespace {

class SyncObjects : public SyncDoor {};

TEST_P(SyncObjects, HandlesCountUpAndBadFlagsAreRefused) {
  EXPECT_EQ(sync_object(), 1u);
  EXPECT_EQ(sync_object(), 2u);
  drm_syncobj_create create{.handle = 0, .flags = 2};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_CREATE, create), -EINVAL);
  drm_syncobj_destroy destroy{.handle = 1, .pad = 1};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_DESTROY, destroy), -EINVAL);
  destroy.pad = 0;
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_DESTROY, destroy), 0);
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_DESTROY, destroy), -EINVAL);
  for (const uint64_t capability : {uint64_t{DRM_CAP_SYNCOBJ}, uint64_t{DRM_CAP_SYNCOBJ_TIMELINE}}) {
    drm_get_cap cap{.capability = capability, .value = 0};
    EXPECT_EQ(call(DRM_IOCTL_GET_CAP, cap), 0);
    EXPECT_EQ(cap.value, 1u);
  }
  drm_get_cap prime{.capability = DRM_CAP_PRIME, .value = 0};
  EXPECT_EQ(call(DRM_IOCTL_GET_CAP, prime), 0);
  EXPECT_EQ(prime.value, uint64_t{DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT});
  drm_get_cap unknown{.capability = 0x99, .value = 0};
  EXPECT_EQ(call(DRM_IOCTL_GET_CAP, unknown), -EINVAL);
}

TEST_P(SyncObjects, WaitsForBinaryObjectsEndWithTheirFences) {
  const uint32_t empty = sync_object(), full = sync_object(true), other = sync_object(true);
  EXPECT_EQ(wait_objects({}), -EINVAL);
  EXPECT_EQ(wait_objects({99}), -ENOENT);
  EXPECT_EQ(wait_objects({full}, 0x80), -EINVAL);
  EXPECT_EQ(wait_objects({full}, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE), -EINVAL) << "only for timelines";
  EXPECT_EQ(wait_objects({empty}), -EINVAL) << "nothing was promised";
  constexpr uint32_t kSubmit = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, kAll = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
  EXPECT_EQ(wait_objects({empty}, kSubmit), -ETIME);
  EXPECT_EQ(wait_objects({empty}, kSubmit, 1), -ETIME) << "a time in the past";
  EXPECT_EQ(wait_objects({empty}, kSubmit, -1), -ETIME);
  uint32_t first = 77;
  EXPECT_EQ(wait_objects({empty, full, other}, kSubmit, 0, &first), 0);
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(wait_objects({empty, full}, kSubmit | kAll), -ETIME);
  EXPECT_EQ(wait_objects({full, other}, kAll, 0, &first), 0);
  EXPECT_EQ(first, 0u);
  drm_syncobj_wait wild{};
  wild.handles = 16;
  wild.count_handles = 1;
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_WAIT, wild), -EFAULT);
  wild.count_handles = ~0u;
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_WAIT, wild), -ENOMEM);
}

TEST_P(SyncObjects, ResetAndSignalChangeTheState) {
  uint32_t handle = sync_object(true);
  drm_syncobj_array array{reinterpret_cast<uintptr_t>(&handle), 1, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_RESET, array), 0);
  EXPECT_EQ(wait_objects({handle}), -EINVAL);
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_SIGNAL, array), 0);
  EXPECT_EQ(wait_objects({handle}), 0);
  for (const unsigned long request : {DRM_IOCTL_SYNCOBJ_RESET, DRM_IOCTL_SYNCOBJ_SIGNAL}) {
    drm_syncobj_array bad = array;
    bad.pad = 1;
    EXPECT_EQ(call(request, bad), -EINVAL);
    bad = {array.handles, 0, 0};
    EXPECT_EQ(call(request, bad), -EINVAL);
    bad = {0, 1, 0};
    EXPECT_EQ(call(request, bad), -EFAULT);
  }
}

TEST_P(SyncObjects, WaitEndsWhenAnotherThreadSignals) {
  uint32_t handle = sync_object();
  int result = 1;
  std::thread waiter([&] { result = wait_objects({handle}, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, INT64_MAX); });
  drm_syncobj_array array{reinterpret_cast<uintptr_t>(&handle), 1, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_SIGNAL, array), 0);
  waiter.join();
  EXPECT_EQ(result, 0);
}

TEST_P(SyncObjects, TimelinePointsCanBeWaitedForQueriedAndTransferred) {
  const uint32_t handle = sync_object(), source = sync_object();
  EXPECT_EQ(query(handle), 0u);
  EXPECT_EQ(wait_points({handle}, {1}), -EINVAL);
  constexpr uint32_t kSubmit = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  constexpr uint32_t kAvailable = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  EXPECT_EQ(wait_points({handle}, {1}, kSubmit), -ETIME);
  EXPECT_EQ(signal_point(handle, 5), 0);
  EXPECT_EQ(query(handle), 5u);
  EXPECT_EQ(wait_points({handle}, {5}), 0);
  EXPECT_EQ(wait_points({handle}, {2}), 0);
  EXPECT_EQ(wait_points({handle}, {6}), -EINVAL);

  Gate gate;
  ASSERT_EQ(import_sync_file(source, gate.descriptor()), 0);
  drm_syncobj_transfer transfer{source, handle, 0, 9, 0, 0};
  ASSERT_EQ(call(DRM_IOCTL_SYNCOBJ_TRANSFER, transfer), 0);
  EXPECT_EQ(query(handle), 5u);
  EXPECT_EQ(query(handle, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 9u);
  EXPECT_EQ(wait_points({handle}, {9}), -ETIME);
  EXPECT_EQ(wait_points({handle}, {9}, kAvailable), 0) << "promised is enough";
  EXPECT_EQ(wait_points({handle}, {10}, kAvailable), -ETIME);
  EXPECT_EQ(wait_points({handle}, {5}), 0) << "earlier points are done";
  EXPECT_EQ(signal_point(handle, 12), 0);
  EXPECT_EQ(query(handle), 5u) << "9 is still open";
  gate.open();
  EXPECT_EQ(wait_points({handle}, {12}, 0, INT64_MAX), 0);
  EXPECT_EQ(query(handle), 12u);

  transfer = {handle, source, 7, 0, 0, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_TRANSFER, transfer), 0);
  EXPECT_EQ(wait_objects({source}), 0);
  transfer.pad = 1;
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_TRANSFER, transfer), -EINVAL);
  transfer = {99, source, 0, 0, 0, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_TRANSFER, transfer), -ENOENT);
  transfer = {source, 99, 0, 0, 0, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_TRANSFER, transfer), -ENOENT);
  transfer = {handle, source, 100, 0, 0, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_TRANSFER, transfer), -EINVAL) << "unknown point";
  uint32_t one = handle;
  drm_syncobj_timeline_array bad{reinterpret_cast<uintptr_t>(&one), 16, 1, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_QUERY, bad), -EFAULT);
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, bad), -EFAULT);
  bad.flags = 2;
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_QUERY, bad), -EINVAL);
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, bad), -EINVAL);
}

TEST_P(SyncObjects, ExportedObjectStaysOneObject) {
  const uint32_t handle = sync_object();
  drm_syncobj_handle out{handle, 0, -1, 0};
  ASSERT_EQ(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out), 0);
  descriptors_.push_back(out.fd);
  EXPECT_EQ(fcntl(out.fd, F_GETFD), FD_CLOEXEC);
  const int copy = dup(out.fd);
  descriptors_.push_back(copy);
  drm_syncobj_handle in{0, 0, copy, 0};
  const std::shared_ptr<File> other = driver->open();
  ASSERT_EQ(call_on(*other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, in), 0);
  EXPECT_EQ(call_on(*other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, in), 0);
  EXPECT_EQ(in.handle, 2u) << "a new handle each time";
  EXPECT_EQ(signal_point(handle, 4), 0);
  EXPECT_EQ(file->sync_objects.find(handle), other->sync_objects.find(1));
  drm_syncobj_destroy destroy{handle, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_DESTROY, destroy), 0);
  driver->close(other);
  in = {0, 0, out.fd, 0};
  ASSERT_EQ(call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, in), 0) << "the descriptor keeps it";
  EXPECT_EQ(query(in.handle), 4u);

  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  descriptors_.insert(descriptors_.end(), {ends[0], ends[1]});
  in = {0, 0, ends[0], 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, in), -EINVAL);
  EXPECT_EQ(import_sync_file(in.handle, ends[0]), -EINVAL) << "not every pipe is a sync file";
  EXPECT_EQ(import_sync_file(in.handle, -1), -EINVAL);
  EXPECT_EQ(import_sync_file(in.handle, out.fd), -EINVAL) << "another kind of descriptor";
  out = {99, 0, -1, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out), -EINVAL);
  out.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out), -ENOENT);
  out.flags = 2;
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out), -EINVAL);
  out = {sync_object(), DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, -1, 0};
  EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out), -EINVAL) << "no fence yet";
}

TEST_P(SyncObjects, SyncFilesReportInfoAndMerge) {
  Gate one, two;
  const uint32_t a = sync_object(), b = sync_object();
  ASSERT_EQ(import_sync_file(a, one.descriptor()), 0);
  ASSERT_EQ(import_sync_file(b, two.descriptor()), 0);
  const auto file_of = [&](uint32_t handle) {
    drm_syncobj_handle out{handle, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, -1, 0};
    EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, out), 0);
    descriptors_.push_back(out.fd);
    return out.fd;
  };
  const int first = file_of(a), second = file_of(b);
  sync_merge_data merge{};
  std::strcpy(merge.name, "both");
  merge.fd2 = second;
  const auto on = [&](int descriptor, unsigned long request, auto& argument) {
    return driver->descriptor_ioctl(descriptor, request, reinterpret_cast<uintptr_t>(&argument));
  };
  ASSERT_EQ(on(first, SYNC_IOC_MERGE, merge), 0);
  descriptors_.push_back(merge.fence);
  EXPECT_EQ(fcntl(merge.fence, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(status(merge.fence), 0);
  one.open();
  EXPECT_TRUE(readable(first, true));
  EXPECT_EQ(status(first), 1);
  EXPECT_FALSE(readable(merge.fence));
  sync_fence_info fences[2] = {};
  sync_file_info info{};
  info.num_fences = 1;
  info.sync_fence_info = reinterpret_cast<uintptr_t>(fences);
  EXPECT_EQ(on(merge.fence, SYNC_IOC_FILE_INFO, info), -EINVAL) << "too short for both";
  info.num_fences = 2;
  ASSERT_EQ(on(merge.fence, SYNC_IOC_FILE_INFO, info), 0);
  EXPECT_STREQ(info.name, "both");
  EXPECT_EQ(info.num_fences, 2u);
  EXPECT_EQ(info.status, 0);
  EXPECT_EQ(fences[0].status, 1);
  EXPECT_NE(fences[0].timestamp_ns, 0u);
  EXPECT_EQ(fences[1].status, 0);
  EXPECT_EQ(fences[1].timestamp_ns, 0u);
  two.open(-EIO);
  EXPECT_TRUE(readable(merge.fence, true));
  const int copy = dup(merge.fence);
  descriptors_.push_back(copy);
  ASSERT_EQ(on(copy, SYNC_IOC_FILE_INFO, info), 0) << "also after the signal, repeatedly";
  ASSERT_EQ(on(copy, SYNC_IOC_FILE_INFO, info), 0);
  EXPECT_STREQ(info.name, "both");
  EXPECT_EQ(info.num_fences, 2u);
  EXPECT_EQ(info.status, -EIO);
  EXPECT_EQ(fences[0].status, 1);
  EXPECT_EQ(fences[1].status, -EIO);
  EXPECT_EQ(wait_objects({b}, 0, 0), 0) << "an error also signals";

  merge.fd2 = -1;
  EXPECT_EQ(on(first, SYNC_IOC_MERGE, merge), -ENOENT);
  merge.flags = 1;
  EXPECT_EQ(on(first, SYNC_IOC_MERGE, merge), -EINVAL);
  info.pad = 1;
  EXPECT_EQ(on(first, SYNC_IOC_FILE_INFO, info), -EINVAL);
  EXPECT_EQ(driver->descriptor_ioctl(first, SYNC_IOC_FILE_INFO, 16), -EFAULT);
  EXPECT_EQ(on(first, _IO('>', 9), info), -ENOTTY);
  EXPECT_EQ(on(0, SYNC_IOC_FILE_INFO, info), std::nullopt) << "not the driver's";
  EXPECT_EQ(on(-1, SYNC_IOC_FILE_INFO, info), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Chips, SyncObjects, ::testing::Values("g45", "snb"), chip_name);

}  // namespace
}  // namespace halogen::driver
