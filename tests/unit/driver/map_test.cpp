// Memory shared by program and device: all kinds of mappings, tiled buffers through the aperture, and buffers over the
// program's own memory.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "door.h"

namespace halogen::driver {
namespace {

class Maps : public Door {
 protected:
  int64_t offset_of(uint32_t handle, uint64_t kind) {
    drm_i915_gem_mmap_offset map{};
    map.handle = handle;
    map.flags = kind;
    const int result = call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, map);
    return result != 0 ? result : static_cast<int64_t>(map.offset);
  }
  uint8_t* map(uint32_t handle, uint64_t kind, uint64_t bytes) {
    const int64_t offset = offset_of(handle, kind);
    EXPECT_GT(offset, 0);
    void* const place =
        driver->map_here(*file, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<uint64_t>(offset));
    EXPECT_NE(place, MAP_FAILED);
    return static_cast<uint8_t*>(place);
  }
  int set_domain(uint32_t handle, uint32_t read, uint32_t write) {
    drm_i915_gem_set_domain domain{.handle = handle, .read_domains = read, .write_domain = write};
    return call(DRM_IOCTL_I915_GEM_SET_DOMAIN, domain);
  }
  int adopt(const void* address, uint64_t bytes, uint32_t flags, uint32_t& handle) {
    drm_i915_gem_userptr user{};
    user.user_ptr = reinterpret_cast<uintptr_t>(address);
    user.user_size = bytes;
    user.flags = flags;
    const int result = call(DRM_IOCTL_I915_GEM_USERPTR, user);
    handle = user.handle;
    return result;
  }
};

TEST_P(Maps, MmapTypesDependOnTheChip) {
  const uint32_t buffer = create(8192);
  constexpr uint64_t kKinds[] = {I915_MMAP_OFFSET_GTT, I915_MMAP_OFFSET_WC, I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_UC};
  for (const uint64_t kind : kKinds) {
    if (local()) {
      EXPECT_EQ(offset_of(buffer, kind), -ENODEV) << kind;
    } else {
      EXPECT_GT(offset_of(buffer, kind), 0) << kind;
    }
  }
  if (local()) {
    EXPECT_GT(offset_of(buffer, I915_MMAP_OFFSET_FIXED), 0);
  } else {
    EXPECT_EQ(offset_of(buffer, I915_MMAP_OFFSET_FIXED), -ENODEV);
  }
  EXPECT_EQ(offset_of(buffer, 77), -EINVAL);
  EXPECT_EQ(offset_of(buffer + 1, local() ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB), -ENOENT);
}

TEST_P(Maps, GemMmapMapsDirectly) {
  const uint32_t buffer = create(8192);
  drm_i915_gem_mmap map{};
  map.handle = buffer;
  map.size = 4096;
  map.offset = 4096;
  if (local()) {
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MMAP, map), -EOPNOTSUPP);
    return;
  }
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_MMAP, map), 0);
  auto* const place = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(map.addr_ptr));
  place[5] = 9;
  EXPECT_EQ(content(buffer)[4096 + 5], std::byte{9});
  unmap(place, 4096);
  map.offset = 8192;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MMAP, map), -EINVAL);
  map.offset = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MMAP, map), -EINVAL);
  map.offset = 0;
  map.flags = 4;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MMAP, map), -EINVAL);
  map.flags = 0;
  map.handle = 99;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MMAP, map), -ENOENT);
}

// Compares with the manual's formulas for X tiles (8 rows of 512 bytes) and Y tiles (columns of 16 bytes, 32 rows
// high).
// A child could enlarge a mapping of a file that holds all buffers over the memory of the others.
TEST_P(Maps, ChildrenInheritOnlyMappingsOfFilesWithOneBuffer) {
  const uint64_t kind = local() ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB;
  const uint32_t handle = create(8192);
  volatile uint8_t* const shown = map(handle, kind, 8192);
  shown[0] = 1;
  const auto child_finds = [](const auto& look) {
    const pid_t child = fork();
    if (child == 0) _exit(look() ? 1 : 0);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
  };
  const auto is_mapped = [&] {
    unsigned char pages[2];
    return mincore(const_cast<uint8_t*>(shown), 8192, pages) == 0;
  };
  EXPECT_TRUE(is_mapped());
  EXPECT_FALSE(child_finds(is_mapped)) << "a fork without notice";

  driver->separate_mapped();
  const BufferRef buffer = file->buffers.find(handle);
  EXPECT_EQ(lseek(buffer->descriptor(), 0, SEEK_END), 8192 + static_cast<off_t>(Buffer::kBehind));
  EXPECT_EQ(buffer->offset(), 0u);
  EXPECT_EQ(shown[0], 1) << "the content moves too";
  EXPECT_TRUE(child_finds([&] {
    shown[4097] = 5;
    return shown[0] == 1;
  }));
  EXPECT_EQ(shown[4097], 5);
  shown[1] = 2;
  EXPECT_EQ(std::to_integer<int>(content(handle)[4097]), 5) << "and the device sees it";
  EXPECT_EQ(std::to_integer<int>(content(handle)[1]), 2);
  driver->separate_mapped();  // has no further effect
  EXPECT_EQ(shown[1], 2);
  unmap(const_cast<uint8_t*>(shown), 8192);
}

TEST_P(Maps, TiledBuffersLookLinearThroughTheAperture) {
  if (local()) GTEST_SKIP() << "no aperture";
  constexpr uint32_t kStride = 1024, kRows = 64;
  constexpr uint32_t kModes[] = {I915_TILING_X, I915_TILING_Y};
  for (const uint32_t mode : kModes) {
    const uint32_t buffer = create(kStride * kRows);
    drm_i915_gem_set_tiling tiling{};
    tiling.handle = buffer;
    tiling.tiling_mode = mode;
    tiling.stride = kStride;
    ASSERT_EQ(call(DRM_IOCTL_I915_GEM_SET_TILING, tiling), 0);
    const auto place_of = [&](uint32_t x, uint32_t y) {
      return mode == I915_TILING_X
                 ? (y / 8 * (kStride / 512) + x / 512) * 4096 + y % 8 * 512 + x % 512
                 : (y / 32 * (kStride / 128) + x / 128) * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16;
    };
    uint8_t* const view = map(buffer, I915_MMAP_OFFSET_GTT, kStride * kRows);
    ASSERT_NE(view, nullptr);
    ASSERT_EQ(set_domain(buffer, I915_GEM_DOMAIN_GTT, I915_GEM_DOMAIN_GTT), 0);
    const auto value = [](uint32_t x, uint32_t y) { return static_cast<uint8_t>(x * 7 + y * 13 + 1); };
    for (uint32_t y = 0; y < kRows; ++y) {
      for (uint32_t x = 0; x < kStride; ++x) view[y * kStride + x] = value(x, y);
    }
    // A batch that uses the buffer sees the writes.
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = buffer;
    objects[1].handle = make_empty();
    ASSERT_EQ(execute(objects), 0);
    ASSERT_EQ(wait(buffer), 0);
    const std::span<std::byte> bytes = content(buffer);
    size_t wrong = 0;
    for (uint32_t y = 0; y < kRows; ++y) {
      for (uint32_t x = 0; x < kStride; ++x) wrong += bytes[place_of(x, y)] != std::byte{value(x, y)};
    }
    EXPECT_EQ(wrong, 0u) << "mode " << mode;
    // Writes of the device are visible after a call that synchronises; concurrent writes of the program are kept.
    bytes[place_of(700, 33)] = std::byte{0xaa};
    view[2 * kStride + 3] = 0xbb;
    ASSERT_EQ(set_domain(buffer, I915_GEM_DOMAIN_GTT, 0), 0);
    EXPECT_EQ(view[33 * kStride + 700], 0xaa);
    EXPECT_EQ(bytes[place_of(3, 2)], std::byte{0xbb});
    // Other kinds of mappings show the tiled layout.
    uint8_t* const plain = map(buffer, I915_MMAP_OFFSET_WB, kStride * kRows);
    EXPECT_EQ(plain[place_of(700, 33)], 0xaa);
    unmap(plain, kStride * kRows);
    unmap(view, kStride * kRows);
  }
}

TEST_P(Maps, UserMemoryIsUsedInPlace) {
  // Far from the host's automatic mappings: no thread stack can fill the hole made below.
  void* const far = reinterpret_cast<void*>(uintptr_t{0x2000'0000'0000});
  void* const memory =
      mmap(far, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  uint32_t handle = 0;
  if (is("i965") || is("gm965")) {
    EXPECT_EQ(adopt(memory, 8192, 0, handle), -ENODEV) << "the chip cannot snoop";
    munmap(memory, 8192);
    return;
  }
  EXPECT_EQ(adopt(memory, 0, 0, handle), -EINVAL);
  EXPECT_EQ(adopt(memory, 100, 0, handle), -EINVAL);
  EXPECT_EQ(adopt(static_cast<char*>(memory) + 1, 4096, 0, handle), -EINVAL);
  EXPECT_EQ(adopt(memory, 8192, 0x10, handle), -EINVAL);
  EXPECT_EQ(adopt(memory, 8192, I915_USERPTR_UNSYNCHRONIZED, handle), -ENODEV);
  EXPECT_EQ(adopt(memory, uint64_t{1} << 47, 0, handle), -E2BIG);
  EXPECT_EQ(adopt(memory, uint64_t{1} << 30, 0, handle), 0) << "missing memory is detected at the first use";
  EXPECT_EQ(adopt(reinterpret_cast<void*>(uintptr_t{1} << 47), 4096, 0, handle), -EFAULT);
  const bool guards = is("bdw") || is("chv") || is("skl");
  EXPECT_EQ(adopt(memory, 8192, I915_USERPTR_READ_ONLY, handle), guards ? 0 : -ENODEV);
  ASSERT_EQ(adopt(memory, 8192, I915_USERPTR_PROBE, handle), 0);
  drm_i915_gem_pwrite write{};
  write.handle = handle;
  write.size = 4;
  write.data_ptr = reinterpret_cast<uintptr_t>(&write);
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_PWRITE, write), local() ? -EOPNOTSUPP : -EINVAL);
  EXPECT_EQ(offset_of(handle, local() ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB), -ENODEV);

  // The batch itself is in the program's memory.
  auto* const dwords = static_cast<uint32_t*>(memory);
  const bool stores = execlists();
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = handle;
  if (stores) {  // MI_STORE_DATA_IMM into its own second page
    objects[0].flags = EXEC_OBJECT_PINNED;
    objects[0].offset = 0x40'0000;
    const uint32_t commands[] = {0x1000'0002, 0x40'1010, 0, 0x1234'5678, 0x0500'0000, 0};
    std::memcpy(dwords, commands, sizeof commands);
  } else {
    dwords[0] = 0x0500'0000;
  }
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(wait(handle), 0);
  if (stores) {
    EXPECT_EQ(dwords[0x1010 / 4], 0x1234'5678u);
  }
  // The memory is unmapped, and mapped again.
  driver->release(driver->forget_memory(reinterpret_cast<uintptr_t>(memory), 8192));
  munmap(memory, 8192);
  EXPECT_EQ(execute(objects), -EFAULT);
  if (!local()) {
    EXPECT_EQ(set_domain(handle, I915_GEM_DOMAIN_CPU, 0), -EFAULT);
  }
  EXPECT_EQ(adopt(memory, 8192, I915_USERPTR_PROBE, handle), -EFAULT);
  void* const again =
      mmap(memory, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (again == memory) {
    dwords[0] = 0x0500'0000;
    EXPECT_EQ(execute(objects), 0);
    EXPECT_EQ(wait(objects[0].handle), 0);
    EXPECT_EQ(close(objects[0].handle), 0);
    munmap(memory, 8192);
  }
}

TEST_P(Maps, CachingAndDomainsMatchTheChip) {
  drm_i915_gem_caching caching{.handle = create(4096), .caching = I915_CACHING_CACHED};
  if (local()) {
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_CACHING, caching), -ENODEV);
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_GET_CACHING, caching), -ENODEV);
    EXPECT_EQ(set_domain(caching.handle, I915_GEM_DOMAIN_CPU, 0), -ENODEV);
    return;
  }
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_GET_CACHING, caching), 0);
  const bool shared = is("snb") || is("bdw") || is("skl") || is("icl") || is("tgl");
  EXPECT_EQ(caching.caching, shared ? I915_CACHING_CACHED : I915_CACHING_NONE);
  caching.caching = I915_CACHING_CACHED;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_CACHING, caching), is("i965") || is("gm965") ? -ENODEV : 0);
  caching.caching = I915_CACHING_DISPLAY;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_CACHING, caching), 0);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_GET_CACHING, caching), 0);
  EXPECT_EQ(caching.caching, uint32_t{I915_CACHING_NONE});
  caching.caching = 7;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_CACHING, caching), -EINVAL);
  EXPECT_EQ(set_domain(caching.handle, I915_GEM_DOMAIN_RENDER, 0), -EINVAL);
  EXPECT_EQ(set_domain(caching.handle, I915_GEM_DOMAIN_CPU, I915_GEM_DOMAIN_GTT), -EINVAL);
}

INSTANTIATE_TEST_SUITE_P(Chips, Maps, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
