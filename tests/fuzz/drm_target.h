// Calls of the driver in any order with any arguments, on any chip, from two files; or mostly valid call sequences
// (drm_call_sequence.h). In the first byte the highest bit grants administrator rights, and values from 66 on of the
// other bits select call sequences.
#pragma once

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>

#include "driver/core/driver.h"
#include "fuzz/drm_call_sequence.h"

namespace halogen::fuzz {

class DrmRandomCalls {
 public:
  explicit DrmRandomCalls(std::span<const uint8_t> data) : data_(data), scratch_(kScratch / 4096) {}

  unsigned calls() const { return calls_; }

  void run() {
    const auto devices = spec::device_models();
    driver::DriverOptions options;
    options.hardware.memory_bytes = uint64_t{1} << 30;
    options.hang_after = std::chrono::milliseconds(10);
    const uint8_t first = next();
    options.privileged = (first & 0x80) != 0;
    auto booted = driver::Driver::start(devices[(first & 0x7f) % devices.size()], options);
    if (!booted) return;
    driver::Driver& driver = **booted;
    if ((first & 0x7f) >= kFirstSequence) {
      DrmCallSequence sequence(driver, data_);
      sequence.run();
      calls_ = sequence.calls();
      return;
    }
    std::array files{driver.open(), driver.open()};
    fill_scratch();
    for (int i = 0; i < 48 && !data_.empty(); ++i) call(driver, *files[next() % 2]);
    for (const auto& file : files) driver.close(file);
  }

 private:
  static constexpr uint8_t kFirstSequence = 66;  // six times eleven chips
  static constexpr size_t kScratch = 1 << 18;
  static constexpr unsigned long kRequests[] = {DRM_IOCTL_VERSION,
                                                DRM_IOCTL_GEM_CLOSE,
                                                DRM_IOCTL_GET_CAP,
                                                DRM_IOCTL_I915_GETPARAM,
                                                DRM_IOCTL_I915_QUERY,
                                                DRM_IOCTL_I915_GEM_GET_APERTURE,
                                                DRM_IOCTL_I915_REG_READ,
                                                DRM_IOCTL_I915_GEM_CREATE,
                                                DRM_IOCTL_I915_GEM_CREATE,
                                                DRM_IOCTL_I915_GEM_CREATE_EXT,
                                                DRM_IOCTL_I915_GEM_PREAD,
                                                DRM_IOCTL_I915_GEM_PWRITE,
                                                DRM_IOCTL_I915_GEM_PWRITE,
                                                DRM_IOCTL_I915_GEM_MMAP,
                                                DRM_IOCTL_I915_GEM_MMAP_OFFSET,
                                                DRM_IOCTL_I915_GEM_USERPTR,
                                                DRM_IOCTL_I915_GEM_SET_DOMAIN,
                                                DRM_IOCTL_I915_GEM_SW_FINISH,
                                                DRM_IOCTL_I915_GEM_SET_TILING,
                                                DRM_IOCTL_I915_GEM_GET_TILING,
                                                DRM_IOCTL_I915_GEM_SET_CACHING,
                                                DRM_IOCTL_I915_GEM_GET_CACHING,
                                                DRM_IOCTL_I915_GEM_MADVISE,
                                                DRM_IOCTL_I915_GEM_BUSY,
                                                DRM_IOCTL_I915_GEM_WAIT,
                                                DRM_IOCTL_I915_GEM_THROTTLE,
                                                DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT,
                                                DRM_IOCTL_I915_GEM_CONTEXT_DESTROY,
                                                DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM,
                                                DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM,
                                                DRM_IOCTL_I915_GET_RESET_STATS,
                                                DRM_IOCTL_I915_GEM_VM_CREATE,
                                                DRM_IOCTL_I915_GEM_VM_DESTROY,
                                                DRM_IOCTL_I915_GEM_EXECBUFFER2,
                                                DRM_IOCTL_I915_GEM_EXECBUFFER2,
                                                DRM_IOCTL_I915_GEM_EXECBUFFER2,
                                                DRM_IOCTL_I915_PERF_OPEN};

  uint8_t next() { return data_.take<uint8_t>(); }
  // Returns a number as programs (and mistakes) use them: small, a valid pointer, an invalid pointer, huge.
  uint64_t number() {
    const uint8_t kind = next();
    switch (kind % 12) {
      case 0:
      case 1:
        return 0;
      case 2:
      case 3:
      case 4:
        return next() % 8;
      case 5:
        return uint64_t{next()} * 4096;
      case 6:
      case 7:
        return reinterpret_cast<uintptr_t>(scratch_.data()) + uint64_t{next()} * 64;
      case 8:  // whole pages
        return reinterpret_cast<uintptr_t>(scratch_.data()) + uint64_t{next()} % 16 * 4096;
      case 9: {
        constexpr uint64_t kNowhere[] = {16, 0xdead'0000, ~uint64_t{0}, 0x7fff'ffff'f000, uint64_t{1} << 63};
        return kNowhere[next() % std::size(kNowhere)];
      }
      case 10:
        return uint64_t{1} << next() % 64;
      default:
        return next() | uint64_t{next()} << 8;
    }
  }
  // Fills the targets of pointers with numbers and ends of batches.
  void fill_scratch() {
    for (size_t at = 0; at + 8 <= 4096 && !data_.empty(); at += 8) {
      const uint64_t value = number();
      scratch_.data()[at / 8] = value;
      if (at > data_.left() / 4 * 8) break;
    }
  }
  void call(driver::Driver& driver, driver::File& file) {
    unsigned long request = kRequests[next() % std::size(kRequests)];
    if (next() == 0xff) request ^= uint64_t{next()} << 16;  // another argument length
    std::array<uint64_t, 64> argument{};
    const size_t bytes = std::min<size_t>(_IOC_SIZE(request), sizeof argument / 2);
    for (size_t at = 0; at < bytes; at += 4) {
      const uint64_t value = number();
      if (at % 8 == 0 && value >> 32 != 0) {
        std::memcpy(reinterpret_cast<char*>(argument.data()) + at, &value, 8);
        at += 4;
      } else {
        std::memcpy(reinterpret_cast<char*>(argument.data()) + at, &value, 4);
      }
    }
    if (_IOC_NR(request) == _IOC_NR(DRM_IOCTL_I915_GEM_EXECBUFFER2)) {
      auto& execute = *reinterpret_cast<drm_i915_gem_execbuffer2*>(argument.data());
      execute.flags &= ~uint64_t{I915_EXEC_FENCE_OUT};  // would create descriptors that are never closed
      execute.buffer_count %= 8;
    }
    // Waits are short.
    if (_IOC_NR(request) == _IOC_NR(DRM_IOCTL_I915_GEM_WAIT)) argument[1] %= 1'000'000;
    ++calls_;
    const int result = driver.ioctl(file, request, reinterpret_cast<uintptr_t>(argument.data()));
    if (result == 0 && _IOC_NR(request) == _IOC_NR(DRM_IOCTL_I915_GEM_MMAP)) {
      const auto& map = *reinterpret_cast<drm_i915_gem_mmap*>(argument.data());
      auto kept = driver.forget_memory(map.addr_ptr, map.size);
      munmap(reinterpret_cast<void*>(static_cast<uintptr_t>(map.addr_ptr)), map.size);
      driver.release(std::move(kept));
    }
    if (result == 0 && _IOC_NR(request) == _IOC_NR(DRM_IOCTL_I915_GEM_MMAP_OFFSET)) {
      driver::Mapping mapping;
      if (driver.map(file, argument[1], 4096, mapping) == 0) close(mapping.descriptor);
    }
    if (next() == 7) {
      driver.release(driver.forget_memory(reinterpret_cast<uintptr_t>(scratch_.data()), kScratch));
    }
  }

  Input data_;
  DrmScratch scratch_;  // buffers over it cannot reach other memory
  unsigned calls_ = 0;
};

// Runs one input. Returns the number of calls.
inline unsigned drm(std::span<const uint8_t> data) {
  DrmRandomCalls random_calls(data);
  random_calls.run();
  return random_calls.calls();
}

}  // namespace halogen::fuzz
