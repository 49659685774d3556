// Buffers as descriptors: one handle for one buffer, the same bytes everywhere, fences across opens.
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "sync_door.h"

namespace halogen::driver {
namespace {

class Prime : public SyncDoor {
 protected:
  int out(uint32_t handle, uint32_t flags = DRM_CLOEXEC | DRM_RDWR) {
    drm_prime_handle prime{.handle = handle, .flags = flags, .fd = -1};
    const int result = call(DRM_IOCTL_PRIME_HANDLE_TO_FD, prime);
    if (result != 0) return result;
    descriptors_.push_back(prime.fd);
    return prime.fd;
  }
  int in(File& into, int descriptor, uint32_t& handle) {
    drm_prime_handle prime{.handle = 0, .flags = 0, .fd = descriptor};
    const int result = call_on(into, DRM_IOCTL_PRIME_FD_TO_HANDLE, prime);
    handle = prime.handle;
    return result;
  }
  template <class T>
  std::optional<int> on(int descriptor, unsigned long request, T argument) {
    return driver->descriptor_ioctl(descriptor, request, reinterpret_cast<uintptr_t>(&argument));
  }
};

TEST_P(Prime, BufferHasOneHandlePerFile) {
  const uint32_t handle = create(3 * 4096);
  const int descriptor = out(handle);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(fcntl(descriptor, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(lseek(descriptor, 0, SEEK_END), 3 * 4096 + static_cast<off_t>(Buffer::kBehind));
  uint32_t again = 0;
  ASSERT_EQ(in(*file, descriptor, again), 0);
  EXPECT_EQ(again, handle);
  const std::shared_ptr<File> other = driver->open();
  ASSERT_EQ(in(*other, descriptor, again), 0);
  EXPECT_EQ(other->buffers.find(again), file->buffers.find(handle));
  uint32_t third = 0;
  ASSERT_EQ(in(*other, out(handle), third), 0);
  EXPECT_EQ(third, again);
  EXPECT_EQ(close(handle), 0);
  uint32_t fresh = 0;
  ASSERT_EQ(in(*file, descriptor, fresh), 0);
  EXPECT_EQ(file->buffers.find(fresh), other->buffers.find(again)) << "the other file still has it";
  driver->close(other);
  EXPECT_EQ(close(fresh), 0);
  ASSERT_EQ(in(*file, descriptor, fresh), 0) << "the descriptor alone keeps the content";
  EXPECT_EQ(file->buffers.find(fresh)->size(), 3 * 4096u);
}

TEST_P(Prime, AllImportsSeeTheSameBytes) {
  const uint32_t handle = create(2 * 4096);
  fill(handle, {0x1111'1111, 0x2222'2222});
  // Earlier mappings still show this buffer.
  const BufferRef buffer = file->buffers.find(handle);
  const auto map = [](int descriptor, uint64_t offset) {
    return static_cast<uint32_t*>(
        mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(offset)));
  };
  uint32_t* const before = map(buffer->descriptor(), buffer->offset());
  ASSERT_NE(before, MAP_FAILED);
  const int descriptor = out(handle);
  uint32_t* const shared = map(descriptor, 0);
  ASSERT_NE(shared, MAP_FAILED);
  EXPECT_EQ(shared[1], 0x2222'2222u) << "the content moves too";
  shared[0] = 1;
  EXPECT_EQ(before[0], 1u);
  before[1025] = 2;
  EXPECT_EQ(shared[1025], 2u);
  uint32_t seen = 0;
  std::memcpy(&seen, content(handle).data() + 1025 * 4, 4);
  EXPECT_EQ(seen, 2u) << "and so does the device";

  // Another process: a driver that does not know the buffer.
  DriverOptions options;
  options.hardware.memory_bytes = uint64_t{1} << 30;
  auto booted = Driver::start(model(), options);
  ASSERT_TRUE(booted.ok());
  const std::unique_ptr<Driver> far = std::move(booted).value();
  const std::shared_ptr<File> far_file = far->open();
  for (const int each : {descriptor, out(handle, DRM_CLOEXEC)}) {  // also a read-only descriptor
    drm_prime_handle prime{.handle = 0, .flags = 0, .fd = each};
    ASSERT_EQ(far->ioctl(*far_file, DRM_IOCTL_PRIME_FD_TO_HANDLE, reinterpret_cast<uintptr_t>(&prime)), 0);
    const BufferRef there = far_file->buffers.find(prime.handle);
    ASSERT_EQ(there->size(), 2 * 4096u);
    std::memcpy(&seen, there->bytes().data() + 1025 * 4, 4);
    EXPECT_EQ(seen, shared[1025]);
    const uint32_t value = 77 + static_cast<uint32_t>(each);
    std::memcpy(there->bytes().data() + 8, &value, 4);
    EXPECT_EQ(shared[2], value);
  }
  far->close(far_file);
  munmap(before, 2 * 4096);
  munmap(shared, 2 * 4096);
}

TEST_P(Prime, FencesApplyAcrossOpens) {
  Gate gate;
  const uint32_t handle = create(4096);
  const int descriptor = out(handle);
  const std::shared_ptr<File> other = driver->open();
  uint32_t there = 0;
  ASSERT_EQ(in(*other, descriptor, there), 0);
  drm_i915_gem_exec_object2 object{};
  object.handle = handle;
  ASSERT_EQ(run({.in = gate.descriptor(), .more = {object}}), 0) << "reads it";
  drm_i915_gem_wait wait{.bo_handle = there, .flags = 0, .timeout_ns = 0};
  EXPECT_EQ(call_on(*other, DRM_IOCTL_I915_GEM_WAIT, wait), -ETIME);
  const auto fences = [&](uint32_t flags) {
    dma_buf_export_sync_file fence{.flags = flags, .fd = -1};
    EXPECT_EQ(driver->descriptor_ioctl(descriptor, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, reinterpret_cast<uintptr_t>(&fence)),
              0);
    descriptors_.push_back(fence.fd);
    return fence.fd;
  };
  EXPECT_EQ(status(fences(DMA_BUF_SYNC_READ)), 1) << "no open writer";
  const int all = fences(DMA_BUF_SYNC_WRITE);
  EXPECT_EQ(status(all), 0);
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_SYNC, dma_buf_sync{DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ}), 0);
  gate.open();
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_SYNC, dma_buf_sync{DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW}), 0);
  EXPECT_TRUE(readable(all, true));
  EXPECT_EQ(call_on(*other, DRM_IOCTL_I915_GEM_WAIT, wait), 0);

  // A fence imported by a program blocks work.
  Gate second;
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_IMPORT_SYNC_FILE,
               dma_buf_import_sync_file{.flags = DMA_BUF_SYNC_WRITE, .fd = second.descriptor()}),
            0);
  int reader = -1;
  ASSERT_EQ(run({.more = {object}}, &reader), 0);
  EXPECT_FALSE(readable(reader));
  EXPECT_EQ(status(fences(DMA_BUF_SYNC_READ)), 0);
  second.open();
  EXPECT_TRUE(readable(reader, true));
  driver->close(other);
}

TEST_P(Prime, InvalidArgumentsReturnTheErrnoOfLinux) {
  const uint32_t handle = create(4096);
  uint32_t any = 0;
  EXPECT_EQ(out(99), -ENOENT);
  EXPECT_EQ(out(handle, 1), -EINVAL);
  EXPECT_EQ(in(*file, -1, any), -EBADF);
  const int memory = memfd_create("something else", MFD_CLOEXEC);
  descriptors_.push_back(memory);
  EXPECT_EQ(in(*file, memory, any), -EINVAL);
  const int false_one = memfd_create("halogen buffer", MFD_CLOEXEC);
  descriptors_.push_back(false_one);
  EXPECT_EQ(ftruncate(false_one, 4096), 0);
  EXPECT_EQ(in(*file, false_one, any), -EINVAL) << "it could be truncated under the device";
  Gate gate;
  EXPECT_EQ(in(*file, gate.descriptor(), any), -EINVAL);
  EXPECT_EQ(on(memory, DMA_BUF_IOCTL_SYNC, dma_buf_sync{DMA_BUF_SYNC_READ}), std::nullopt);

  const int descriptor = out(handle, DRM_CLOEXEC);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), MAP_FAILED) << "read-only";
  EXPECT_NE(ftruncate(out(handle), 0), 0);
  EXPECT_EQ(fcntl(out(handle, DRM_RDWR), F_GETFD), 0);
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_SYNC, dma_buf_sync{0}), -EINVAL);
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_SYNC, dma_buf_sync{8 | DMA_BUF_SYNC_READ}), -EINVAL);
  EXPECT_EQ(driver->descriptor_ioctl(descriptor, DMA_BUF_IOCTL_SYNC, 16), -EFAULT);
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, dma_buf_export_sync_file{0, -1}), -EINVAL);
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, dma_buf_export_sync_file{4, -1}), -EINVAL);
  EXPECT_EQ(on(descriptor, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, dma_buf_import_sync_file{DMA_BUF_SYNC_READ, memory}),
            -EINVAL);
  EXPECT_EQ(on(descriptor, _IO(DMA_BUF_BASE, 9), 0), -ENOTTY);
  const std::string good(31, 'x'), bad(32, 'x');
  EXPECT_EQ(driver->descriptor_ioctl(descriptor, DMA_BUF_SET_NAME_B, reinterpret_cast<uintptr_t>(good.c_str())), 0);
  EXPECT_EQ(driver->descriptor_ioctl(descriptor, DMA_BUF_SET_NAME_B, reinterpret_cast<uintptr_t>(bad.c_str())),
            -EINVAL);
  EXPECT_EQ(driver->descriptor_ioctl(descriptor, DMA_BUF_SET_NAME_A, 16), -EFAULT);
}

INSTANTIATE_TEST_SUITE_P(Chips, Prime, ::testing::Values("i965", "g45", "snb", "icl", "dg1"), chip_name);

}  // namespace
}  // namespace halogen::driver
