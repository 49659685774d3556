// The ioctls as a program uses them, on every chip: buffers, contexts, batches, waits, errors and hangs.
#include "driver/core/driver.h"

#include <gtest/gtest.h>
#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "door.h"

namespace halogen::driver {
namespace {

class KernelIoctls : public Door {
 protected:
  // On the first chips a non-privileged batch cannot store.
  bool can_store() const { return !narrow() || model().has(spec::Feature::ppgtt_2level); }

  template <class T>
  int write(uint32_t handle, uint64_t offset, const std::vector<T>& data) {
    if (local()) {  // the call does not exist on chips with local memory
      const BufferRef buffer = file->buffers.find(handle);
      EXPECT_TRUE(buffer->need_pages());
      std::memcpy(buffer->bytes().data() + offset, data.data(), data.size() * sizeof(T));
      return 0;
    }
    drm_i915_gem_pwrite write{.handle = handle,
                              .pad = 0,
                              .offset = offset,
                              .size = data.size() * sizeof(T),
                              .data_ptr = reinterpret_cast<uintptr_t>(data.data())};
    return call(DRM_IOCTL_I915_GEM_PWRITE, write);
  }
  uint32_t read(uint32_t handle, uint64_t offset) {
    uint32_t value = 0;
    if (local()) {
      std::memcpy(&value, file->buffers.find(handle)->bytes().data() + offset, 4);
      return value;
    }
    drm_i915_gem_pread read{
        .handle = handle, .pad = 0, .offset = offset, .size = 4, .data_ptr = reinterpret_cast<uintptr_t>(&value)};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_PREAD, read), 0);
    return value;
  }
  // A store with a relocated address, and the end of the batch.
  std::vector<uint32_t> store(uint32_t value) const { return {0x1000'0002, 0, 0, value, 0x0500'0000, 0}; }
  uint64_t address_at() const { return narrow() ? 8 : 4; }
};

TEST_P(KernelIoctls, BatchStoresAtRelocatedAddress) {
  if (!can_store()) GTEST_SKIP() << "non-privileged batches cannot store on this chip";
  const uint32_t data = create(8192);
  const uint32_t batch = create(4096);
  ASSERT_EQ(write(batch, 0, store(0x1234'5678)), 0);
  drm_i915_gem_relocation_entry relocation{};
  relocation.target_handle = data;
  relocation.offset = address_at();
  relocation.delta = 0x1010;
  relocation.presumed_offset = ~0ull;
  relocation.read_domains = relocation.write_domain = I915_GEM_DOMAIN_RENDER;
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = data;
  objects[1].handle = batch;
  objects[1].relocation_count = 1;
  objects[1].relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
  if (local()) {
    EXPECT_EQ(execute(objects), -EINVAL) << "relocations were removed";
    return;
  }
  ASSERT_EQ(execute(objects), 0);
  EXPECT_EQ(wait(data), 0);
  EXPECT_EQ(read(data, 0x1010), 0x1234'5678u);
  EXPECT_EQ(relocation.presumed_offset, objects[0].offset) << "the driver returns the address";
  EXPECT_NE(objects[0].offset, objects[1].offset);
}

TEST_P(KernelIoctls, PinnedBuffersKeepTheirAddresses) {
  if (driver->shared_space()) GTEST_SKIP() << "shared address space: buffers cannot be pinned";
  const bool wide = model().has(spec::Feature::ppgtt_4level) && !local();  // with local memory: one bit less
  const uint64_t place = wide ? 0xffff'8001'0000'0000 : 0x4000'0000;       // canonical, with bit 47 set
  const uint32_t data = create(4096);
  const uint32_t batch = create(4096);
  std::vector<uint32_t> commands = store(77);
  commands[1] = static_cast<uint32_t>(place);
  commands[2] = static_cast<uint32_t>(place >> 32);
  ASSERT_EQ(write(batch, 0, commands), 0);
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = batch;
  objects[0].flags = EXEC_OBJECT_PINNED;
  objects[0].offset = 0x2000'0000;
  objects[1].handle = data;
  objects[1].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS | EXEC_OBJECT_WRITE;
  objects[1].offset = place;
  ASSERT_EQ(execute(objects, I915_EXEC_BATCH_FIRST), 0);
  EXPECT_EQ(wait(data), 0);
  EXPECT_EQ(read(data, 0), 77u);
  EXPECT_EQ(objects[1].offset, place);
  if (wide) {
    objects[1].offset = place & 0xffff'ffff'ffff;
    EXPECT_EQ(execute(objects, I915_EXEC_BATCH_FIRST), -EINVAL) << "not in canonical form";
  }
}

// Batches that follow each other closely are gathered: they complete without a waiter, in order.
TEST_P(KernelIoctls, BatchesCompleteWithoutAnyWaiter) {
  if (driver->shared_space()) GTEST_SKIP() << "shared address space: buffers cannot be pinned";
  constexpr uint32_t kBatches = 300, kPlace = 0x4000'0000;
  const uint32_t data = create(4096);
  const uint32_t batch = create(3 * 4096);
  std::vector<uint32_t> commands;
  for (uint32_t i = 0; i < kBatches; ++i) {
    std::vector<uint32_t> one = store(i + 1);
    one[1] = kPlace + 4 * i;
    one.resize(8);
    commands.insert(commands.end(), one.begin(), one.end());
  }
  fill(batch, commands);
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = data;
  objects[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
  objects[0].offset = kPlace;
  objects[1].handle = batch;
  objects[1].flags = EXEC_OBJECT_PINNED;
  objects[1].offset = 0x2000'0000;
  const auto* const seen = reinterpret_cast<const uint32_t*>(content(data).data());
  const auto value = [&](uint32_t at) { return __atomic_load_n(seen + at, __ATOMIC_ACQUIRE); };
  for (uint32_t i = 0; i < kBatches; ++i) {
    drm_i915_gem_execbuffer2 execute{};
    execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
    execute.buffer_count = 2;
    execute.flags = I915_EXEC_NO_RELOC;
    execute.batch_start_offset = 32 * i;
    ASSERT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute), 0);
  }
  while (value(kBatches - 1) != kBatches) std::this_thread::yield();
  for (uint32_t i = 0; i < kBatches; ++i) ASSERT_EQ(value(i), i + 1);
  EXPECT_EQ(wait(data), 0);
}

TEST_P(KernelIoctls, UserMemoryBeyondEndOfFileIsRefused) {
  const int descriptor = memfd_create("one page", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(descriptor, 4096), 0);
  void* const place = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ASSERT_NE(place, MAP_FAILED);
  for (const bool whole : {false, true}) {
    drm_i915_gem_userptr lent{};
    lent.user_ptr = reinterpret_cast<uintptr_t>(place);
    lent.user_size = whole ? 8192 : 4096;
    const int result = call(DRM_IOCTL_I915_GEM_USERPTR, lent);
    if (result == -ENODEV) break;  // not supported on some chips
    ASSERT_EQ(result, 0);
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = lent.handle;
    objects[1].handle = make_empty();
    EXPECT_EQ(execute(objects), whole ? -EFAULT : 0);
    EXPECT_EQ(wait(objects[1].handle), 0);
    EXPECT_EQ(close(lent.handle), 0);
  }
  unmap(place, 8192);
  ::close(descriptor);
}

TEST_P(KernelIoctls, MappingAndDeviceSeeTheSameBytes) {
  const uint32_t data = create(8192);
  drm_i915_gem_mmap_offset map{};
  map.handle = data;
  map.flags = local() ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB;
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, map), 0);
  void* const there = driver->map_here(*file, nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, map.offset);
  ASSERT_NE(there, MAP_FAILED);
  const uint32_t value = 0xfeed'face;
  std::memcpy(static_cast<char*>(there) + 0x1ffc, &value, 4);
  EXPECT_EQ(read(data, 0x1ffc), value);
  EXPECT_EQ(write(data, 0, std::vector<uint32_t>{5}), 0);
  EXPECT_EQ(*static_cast<uint32_t*>(there), 5u);
  unmap(there, 8192);
  Mapping mapping;
  EXPECT_EQ(driver->map(*file, map.offset, 3 * 8192, mapping), -EINVAL) << "beyond its end";
  EXPECT_EQ(driver->map(*file, map.offset - 4096, 4096, mapping), -EINVAL);
  EXPECT_EQ(driver->map(*file, map.offset + 4096, 4096, mapping), -EINVAL) << "not from its start";
}

// A fake offset names a buffer, not what was at its memory address before, even after a file is closed with all its
// buffers.
TEST_P(KernelIoctls, MmapOffsetOfClosedFileIsRefused) {
  const auto offset_of = [&](const std::shared_ptr<File>& of) {
    drm_i915_gem_create create{.size = 4096, .handle = 0, .pad = 0};
    EXPECT_EQ(driver->ioctl(*of, DRM_IOCTL_I915_GEM_CREATE, reinterpret_cast<uintptr_t>(&create)), 0);
    drm_i915_gem_mmap_offset map{};
    map.handle = create.handle;
    map.flags = local() ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB;
    EXPECT_EQ(driver->ioctl(*of, DRM_IOCTL_I915_GEM_MMAP_OFFSET, reinterpret_cast<uintptr_t>(&map)), 0);
    Mapping mapping;
    EXPECT_EQ(driver->map(*of, map.offset, 4096, mapping), 0);
    ::close(mapping.descriptor);
    return map.offset;
  };
  uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const std::shared_ptr<File> other = driver->open();
    const uint64_t offset = offset_of(other);
    EXPECT_GT(offset, last);
    if (last != 0) {
      Mapping mapping;
      EXPECT_EQ(driver->map(*other, last, 4096, mapping), -EINVAL) << i;
    }
    last = offset;
    driver->close(other);
  }
}

TEST_P(KernelIoctls, HungBatchIsRemovedAndOthersContinue) {
  drm_i915_gem_relocation_entry relocation;
  std::vector<drm_i915_gem_exec_object2> objects{make_endless(relocation)};
  const uint32_t endless = objects[0].handle;
  drm_i915_gem_context_create_ext create_context{};
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create_context), 0);
  ASSERT_EQ(execute(objects, 0, create_context.ctx_id), 0) << "the program continues";
  drm_i915_gem_busy busy{.handle = endless, .busy = 0};
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_BUSY, busy), 0);
  EXPECT_NE(busy.busy, 0u);
  EXPECT_EQ(wait(endless, 1'000'000), -ETIME);
  EXPECT_EQ(wait(endless), 0) << "a reset ends it";
  drm_i915_reset_stats statistics{};
  statistics.ctx_id = create_context.ctx_id;
  ASSERT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
  EXPECT_EQ(statistics.batch_active, 1u);
  statistics = {};
  ASSERT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
  EXPECT_EQ(statistics.batch_active, 0u) << "not of another context";
  const uint32_t plain = create(4096);
  ASSERT_EQ(write(plain, 0, std::vector<uint32_t>{0, 0x0500'0000}), 0);
  objects[0] = {};
  objects[0].handle = plain;
  ASSERT_EQ(execute(objects), 0);
  EXPECT_EQ(wait(plain), 0);
}

TEST_P(KernelIoctls, InvalidArgumentsReturnTheErrnoOfLinux) {
  const uint32_t batch = create(4096);
  ASSERT_EQ(write(batch, 0, std::vector<uint32_t>{0x0500'0000, 0}), 0);
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = batch + 100;
  EXPECT_EQ(execute(objects), -ENOENT);
  objects[0].handle = batch;
  const bool modern = is("icl") || is("tgl") || is("dg1");
  EXPECT_EQ(execute(objects, I915_EXEC_SECURE), modern ? -ENODEV : -EPERM);
  EXPECT_EQ(execute(objects, uint64_t{1} << 40), -EINVAL);
  EXPECT_EQ(execute(objects, 5), -EINVAL) << "unknown engine";
  EXPECT_EQ(execute(objects, 0, 99), -ENOENT) << "unknown context";
  drm_i915_gem_execbuffer2 bad{};
  bad.buffers_ptr = 16;
  bad.buffer_count = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, bad), -EFAULT);
  bad.buffer_count = 0;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, bad), -EINVAL);
  bad.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
  bad.buffer_count = 1;
  bad.batch_start_offset = 4;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, bad), -EINVAL) << "not a multiple of eight";
  bad.batch_start_offset = 8192;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, bad), -EINVAL) << "beyond its end";
  std::vector<drm_i915_gem_exec_object2> twice(2, objects[0]);
  EXPECT_EQ(execute(twice), 0) << "one object, named twice";
  EXPECT_EQ(wait(batch), 0);

  drm_i915_gem_create empty{};
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CREATE, empty), -EINVAL);
  drm_i915_gem_create huge{.size = ~0ull, .handle = 0, .pad = 0};
  EXPECT_NE(call(DRM_IOCTL_I915_GEM_CREATE, huge), 0);
  drm_gem_close close{.handle = batch, .pad = 0};
  EXPECT_EQ(call(DRM_IOCTL_GEM_CLOSE, close), 0);
  EXPECT_EQ(call(DRM_IOCTL_GEM_CLOSE, close), -EINVAL);
  EXPECT_EQ(driver->ioctl(*file, DRM_IOCTL_I915_GEM_CREATE, 16), -EFAULT);
  const std::shared_ptr<File> render = driver->open({.render = true});
  EXPECT_EQ(driver->ioctl(*render, 0x1234, 0), -EACCES) << "only the number is compared, not the type";
  driver->close(render);
}

TEST_P(KernelIoctls, ParametersIdentifyTheChip) {
  int value = 0;
  drm_i915_getparam_t parameter{.param = I915_PARAM_CHIPSET_ID, .value = &value};
  ASSERT_EQ(call(DRM_IOCTL_I915_GETPARAM, parameter), 0);
  EXPECT_EQ(value, model().pci_id);
  parameter.param = 9999;
  EXPECT_EQ(call(DRM_IOCTL_I915_GETPARAM, parameter), -EINVAL);
  char name[8] = {};
  drm_version version{};
  version.name = name;
  version.name_len = sizeof name;
  ASSERT_EQ(call(DRM_IOCTL_VERSION, version), 0);
  EXPECT_STREQ(name, "i915");
  EXPECT_EQ(version.name_len, 4u);
}

std::vector<std::string> chips() {
  std::vector<std::string> all;
  for (const spec::DeviceModel& model : spec::device_models()) all.emplace_back(model.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Chips, KernelIoctls, ::testing::ValuesIn(chips()),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::driver
