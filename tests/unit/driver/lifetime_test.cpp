// Lifetime of content: mappings keep it, DONTNEED frees it; and behaviour when memory or addresses are short.
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "door.h"

namespace halogen::driver {
namespace {

class Lifetime : public Door {
 protected:
  uint64_t kind() const { return local() ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB; }
  uint64_t offset_of(uint32_t handle) {
    drm_i915_gem_mmap_offset map{};
    map.handle = handle;
    map.flags = kind();
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, map), 0);
    return map.offset;
  }
  uint32_t* map_on(File& on, uint64_t offset, uint64_t bytes) {
    return static_cast<uint32_t*>(driver->map_here(on, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, offset));
  }
  bool advise(uint32_t handle, uint32_t advice) {
    drm_i915_gem_madvise call_it{.handle = handle, .madv = advice, .retained = 77};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MADVISE, call_it), 0);
    return call_it.retained != 0;
  }
  // Free bytes of system memory.
  uint64_t free_bytes() { return driver->gpu().hardware().pages(false).free_bytes(); }
  int execute_with(uint32_t handle) {
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = make_empty();
    objects[1].handle = handle;
    const int result = execute(objects, I915_EXEC_BATCH_FIRST);
    if (result == 0) {
      EXPECT_EQ(wait(objects[0].handle), 0);
    }
    close(objects[0].handle);
    return result;
  }
};

TEST_P(Lifetime, MappingKeepsContentUntilLastPageIsUnmapped) {
  constexpr uint64_t kPages = 4;
  const uint64_t before = free_bytes();
  const uint32_t handle = create(kPages * 4096);
  uint32_t* const memory = map_on(*file, offset_of(handle), kPages * 4096);
  ASSERT_NE(memory, MAP_FAILED);
  for (uint32_t page = 0; page < kPages; ++page) memory[1024 * page] = 100 + page;
  EXPECT_EQ(close(handle), 0);
  // The next buffer gets other pages.
  const uint32_t next = create(kPages * 4096);
  std::memset(content(next).data(), 0xff, kPages * 4096);
  for (uint32_t page = 0; page < kPages; ++page) EXPECT_EQ(memory[1024 * page], 100 + page);
  EXPECT_EQ(close(next), 0);
  unmap(memory + 1024, 4096);  // leaves a hole
  unmap(memory, 4096);
  EXPECT_EQ(memory[2048], 102u);
  EXPECT_EQ(memory[3072], 103u);
  EXPECT_EQ(free_bytes(), before - kPages * 4096) << "kept as a whole";
  unmap(memory + 2048, 2 * 4096);
  EXPECT_EQ(free_bytes(), before);
}

TEST_P(Lifetime, MappingsSurviveClosedFile) {
  const std::shared_ptr<File> other = driver->open();
  drm_i915_gem_create create{.size = 4096, .handle = 0, .pad = 0};
  ASSERT_EQ(call_on(*other, DRM_IOCTL_I915_GEM_CREATE, create), 0);
  drm_i915_gem_mmap_offset map{};
  map.handle = create.handle;
  map.flags = kind();
  ASSERT_EQ(call_on(*other, DRM_IOCTL_I915_GEM_MMAP_OFFSET, map), 0);
  uint32_t* const memory = map_on(*other, map.offset, 4096);
  ASSERT_NE(memory, MAP_FAILED);
  memory[3] = 33;
  EXPECT_EQ(map_on(*file, map.offset, 4096), MAP_FAILED);
  EXPECT_EQ(errno, EACCES) << "needs a handle";
  driver->close(other);
  EXPECT_EQ(memory[3], 33u);
  unmap(memory, 4096);
}

TEST_P(Lifetime, UnusedPurgeableBufferIsPurgedAtOnce) {
  const uint32_t handle = create(8192);
  EXPECT_TRUE(advise(handle, I915_MADV_WILLNEED));
  EXPECT_FALSE(advise(handle, I915_MADV_DONTNEED));
  EXPECT_FALSE(advise(handle, I915_MADV_WILLNEED)) << "the content is lost";
  EXPECT_EQ(execute_with(handle), -EFAULT);
  if (!local()) {
    drm_i915_gem_set_domain domain{.handle = handle, .read_domains = I915_GEM_DOMAIN_CPU, .write_domain = 0};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_DOMAIN, domain), -EFAULT);
    uint64_t word = 0;
    drm_i915_gem_pread read{
        .handle = handle, .pad = 0, .offset = 0, .size = 8, .data_ptr = reinterpret_cast<uintptr_t>(&word)};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_PREAD, read), -EFAULT);
  }
  const uint32_t used = create(8192);
  ASSERT_EQ(execute_with(used), 0);
  EXPECT_TRUE(advise(used, I915_MADV_DONTNEED)) << "its pages stay until memory is short";
  EXPECT_EQ(execute_with(used), 0);
  EXPECT_TRUE(advise(used, I915_MADV_WILLNEED));
}

TEST_P(Lifetime, PurgeableBuffersArePurgedWhenMemoryIsShort) {
  if (model().has(spec::Feature::local_memory)) GTEST_SKIP() << "only batches allocate pages with local memory";
  constexpr uint64_t kPart = uint64_t{96} << 20;
  drm_i915_gem_set_domain domain{.handle = 0, .read_domains = I915_GEM_DOMAIN_CPU, .write_domain = 0};
  std::vector<uint32_t> all;
  int result = 0;
  while (result == 0 && all.size() < 64) {
    all.push_back(create(kPart));
    domain.handle = all.back();
    result = call(DRM_IOCTL_I915_GEM_SET_DOMAIN, domain);
  }
  ASSERT_EQ(result, -ENOMEM);
  EXPECT_TRUE(advise(all[0], I915_MADV_DONTNEED));
  EXPECT_TRUE(advise(all[1], I915_MADV_DONTNEED));
  EXPECT_TRUE(advise(all[1], I915_MADV_WILLNEED));
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_DOMAIN, domain), 0) << "purges the first";
  EXPECT_FALSE(advise(all[0], I915_MADV_WILLNEED));
  EXPECT_TRUE(advise(all[1], I915_MADV_WILLNEED)) << "WILLNEED keeps it";
}

TEST_P(Lifetime, BuffersMayBeLargerThanMemory) {
  constexpr uint64_t kHuge = uint64_t{1} << 36;
  const uint32_t huge = create(kHuge);
  EXPECT_EQ(execute_with(huge), driver->shared_space() || is("chv") ? -E2BIG : -ENOMEM);
  if (!local()) {
    uint64_t word = 0x1122'3344'5566'7788;
    drm_i915_gem_pwrite write{
        .handle = huge, .pad = 0, .offset = kHuge - 8, .size = 8, .data_ptr = reinterpret_cast<uintptr_t>(&word)};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_PWRITE, write), 0);
    drm_i915_gem_set_domain domain{.handle = huge, .read_domains = I915_GEM_DOMAIN_CPU, .write_domain = 0};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_DOMAIN, domain), -ENOMEM);
  }
  EXPECT_EQ(close(huge), 0);
  drm_i915_gem_create create{.size = uint64_t{1} << 43, .handle = 0, .pad = 0};
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CREATE, create), -E2BIG);
  create.size = uint64_t{1} << 40;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CREATE, create), local() ? -ENXIO : 0);
}

// Uses more than the address space of the first chips, buffer by buffer: idle buffers are evicted.
TEST_P(Lifetime, FullAddressSpaceEvictsIdleBuffers) {
  if (!driver->shared_space()) GTEST_SKIP() << "larger than memory";
  constexpr uint64_t kPart = uint64_t{64} << 20;
  const uint64_t space = driver->shared_space()->size();
  std::vector<uint32_t> all;
  for (uint64_t used = 0; used <= space; used += kPart) {
    all.push_back(create(kPart));
    ASSERT_EQ(execute_with(all.back()), 0) << used;
    if (all.size() > 6) {  // memory is short, too
      EXPECT_TRUE(advise(all[all.size() - 7], I915_MADV_DONTNEED));
    }
  }
  EXPECT_EQ(execute_with(all.back()), 0);
}

// THROTTLE waits for older work; the test sets the age limit.
TEST_P(Lifetime, ThrottleWaitsForOldWork) {
  const auto throttle = [&] { return driver->ioctl(*file, DRM_IOCTL_I915_GEM_THROTTLE, 0); };
  for (const int hours : {1, 0}) {
    boot({.throttle_after = std::chrono::hours(hours)});
    EXPECT_EQ(throttle(), 0);
    drm_i915_gem_relocation_entry relocation;
    std::vector<drm_i915_gem_exec_object2> objects{make_endless(relocation)};
    ASSERT_EQ(execute(objects), 0);
    EXPECT_EQ(throttle(), 0);
    drm_i915_gem_busy busy{.handle = objects[0].handle, .busy = 0};
    ASSERT_EQ(call(DRM_IOCTL_I915_GEM_BUSY, busy), 0);
    EXPECT_EQ(busy.busy != 0, hours != 0) << "a reset had to end it";
    EXPECT_EQ(wait(objects[0].handle), 0);
  }
}

TEST_P(Lifetime, InvalidPerfStreamsReturnI915Errors) {
  drm_i915_perf_open_param open{};
  drm_i915_perf_oa_config config{};
  uint64_t number = 1;
  if (!execlists()) {
    EXPECT_EQ(call(DRM_IOCTL_I915_PERF_OPEN, open), -524);
    EXPECT_EQ(call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config), -524);
    EXPECT_EQ(call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, number), -524);
    return;
  }
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_OPEN, open), -EINVAL) << "no property";
  open.num_properties = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_OPEN, open), -EFAULT);
  uint64_t property[2] = {DRM_I915_PERF_PROP_SAMPLE_OA, 1};
  open.properties_ptr = reinterpret_cast<uintptr_t>(property);
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_OPEN, open), -EACCES) << "needs privilege";
  property[0] = 1000;
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_OPEN, open), -EINVAL);
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config), -EACCES);
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, number), -EACCES);
}

INSTANTIATE_TEST_SUITE_P(Chips, Lifetime, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
