// A driver with one open file on a chip, and the calls that most tests make.
#pragma once

#include <gtest/gtest.h>
#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/core/driver.h"

namespace halogen::driver {

// Returns a clock for DriverOptions::run_time that passes only when the driver reads it.
inline RunTime time_of_calls(std::chrono::nanoseconds per_call) {
  return [per_call, calls = std::make_shared<std::atomic<int64_t>>(0)] { return per_call * ++*calls; };
}

class Door : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { boot({}); }
  void boot(DriverOptions options) {
    options.hardware.memory_bytes = uint64_t{1} << 30;
    if (options.hang_after == DriverOptions{}.hang_after) options.hang_after = std::chrono::milliseconds(300);
    if (file) driver->close(file);
    file.reset();
    driver.reset();
    auto booted = Driver::start(model(), options);
    ASSERT_TRUE(booted.ok()) << booted.message();
    driver = std::move(booted).value();
    file = driver->open();
  }
  void TearDown() override {
    if (file) driver->close(file);
  }

  const spec::DeviceModel& model() const { return *spec::find_device(GetParam()); }
  bool is(std::string_view name) const { return GetParam() == name; }
  bool narrow() const { return Generation(model()).ggtt_entry_bytes() == 4; }
  bool local() const { return model().has(spec::Feature::local_memory); }
  bool execlists() const { return Generation(model()).has_execlists(); }

  template <class T>
  int call(unsigned long request, T& argument) {
    return call_on(*file, request, argument);
  }
  template <class T>
  int call_on(File& on, unsigned long request, T& argument) {
    return driver->ioctl(on, request, reinterpret_cast<uintptr_t>(&argument));
  }
  uint32_t create(uint64_t bytes) {
    drm_i915_gem_create create{.size = bytes, .handle = 0, .pad = 0};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CREATE, create), 0);
    return create.handle;
  }
  int close(uint32_t handle) {
    drm_gem_close close{.handle = handle, .pad = 0};
    return call(DRM_IOCTL_GEM_CLOSE, close);
  }
  // Returns the device's view of a buffer, whatever kinds of mapping the chip offers.
  std::span<std::byte> content(uint32_t handle) {
    const BufferRef buffer = file->buffers.find(handle);
    EXPECT_TRUE(buffer && buffer->need_pages());
    return buffer->bytes();
  }
  void fill(uint32_t handle, const std::vector<uint32_t>& dwords) {
    std::memcpy(content(handle).data(), dwords.data(), dwords.size() * 4);
  }
  int execute(std::vector<drm_i915_gem_exec_object2>& objects, uint64_t flags = 0, uint32_t context = 0) {
    drm_i915_gem_execbuffer2 execute{};
    execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
    execute.buffer_count = static_cast<uint32_t>(objects.size());
    execute.flags = flags;
    execute.rsvd1 = context;
    return call(DRM_IOCTL_I915_GEM_EXECBUFFER2, execute);
  }
  int wait(uint32_t handle, int64_t timeout = -1) {
    drm_i915_gem_wait wait{.bo_handle = handle, .flags = 0, .timeout_ns = timeout};
    return call(DRM_IOCTL_I915_GEM_WAIT, wait);
  }
  // Unmaps memory as a front end does.
  void unmap(void* place, size_t bytes) {
    auto kept = driver->forget_memory(reinterpret_cast<uintptr_t>(place), bytes);
    EXPECT_EQ(munmap(place, bytes), 0);
    driver->release(std::move(kept));
  }
  // Creates a batch that does nothing.
  uint32_t make_empty() {
    const uint32_t batch = create(4096);
    fill(batch, {0, 0x0500'0000});
    return batch;
  }

  // Creates a batch that jumps to its own start forever. The address is a relocation, or a pinned one if each context
  // has its own space. `relocation` must live until the batch is executed.
  drm_i915_gem_exec_object2 make_endless(drm_i915_gem_relocation_entry& relocation) {
    drm_i915_gem_exec_object2 object{};
    object.handle = create(4096);
    if (driver->shared_space()) {
      fill(object.handle, {0x1880'0180, 0});
      relocation = {};
      relocation.target_handle = object.handle;
      relocation.offset = 4;
      relocation.presumed_offset = ~uint64_t{0};
      object.relocation_count = 1;
      object.relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
      return object;
    }
    const uint32_t place = 0x10'0000 * object.handle;
    fill(object.handle, {0x1880'0101, place, 0});
    object.offset = place;
    object.flags = EXEC_OBJECT_PINNED;
    return object;
  }

  std::unique_ptr<Driver> driver;
  std::shared_ptr<File> file;
};

inline std::vector<std::string> all_chips() {
  std::vector<std::string> all;
  for (const spec::DeviceModel& model : spec::device_models()) all.emplace_back(model.name);
  return all;
}
inline std::string chip_name(const ::testing::TestParamInfo<std::string>& chip) {
  return chip.param;
}

}  // namespace halogen::driver
