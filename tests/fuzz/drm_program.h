// The parts of a call sequence: bytes become numbers, handles from small pools, descriptors and calls. One call in
// eight has a changed field.
#pragma once

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <libdrm/drm.h>
#include <libdrm/drm_fourcc.h>
#include <libdrm/drm_mode.h>
#include <libdrm/i915_drm.h>

#include "base/check.h"
#include "driver/core/driver.h"
#include "fuzz/input.h"

namespace halogen::fuzz {

// Memory of the program that calls may fill; an inaccessible page follows it.
class DrmScratch {
 public:
  explicit DrmScratch(size_t pages) : bytes_(pages * kPage) {
    void* const memory = mmap(nullptr, bytes_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED && mprotect(static_cast<char*>(memory) + bytes_, kPage, PROT_NONE) == 0, "scratch");
    memory_ = static_cast<uint64_t*>(memory);
  }
  ~DrmScratch() { munmap(memory_, bytes_ + kPage); }
  DrmScratch(const DrmScratch&) = delete;
  DrmScratch& operator=(const DrmScratch&) = delete;
  uint64_t* data() { return memory_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t bytes_;
  uint64_t* memory_;
};

class DrmProgram {
 public:
  DrmProgram(driver::Driver& driver, Input data) : driver_(driver), data_(data), scratch_(kScratchPages) {}
  ~DrmProgram() {
    for (const int each : fds_) close(each);
  }
  DrmProgram(const DrmProgram&) = delete;
  DrmProgram& operator=(const DrmProgram&) = delete;

  unsigned calls() const { return calls_; }

 protected:
  static constexpr size_t kScratchPages = 4;
  struct Place {
    void* at;
    size_t bytes;
  };

  template <class T>
  static uint64_t address(const T* pointer) {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer));
  }
  uint8_t next() { return data_.take<uint8_t>(); }
  uint32_t one_of(uint32_t count) { return next() % count; }
  uint32_t handle() { return 1 + one_of(6); }
  uint32_t context() { return one_of(4); }
  int descriptor() {
    if (fds_.empty() || next() % 16 == 0) return static_cast<int>(next()) - 1;
    return fds_[next() % fds_.size()];
  }
  uint64_t wild() {
    constexpr uint64_t kNumbers[] = {0,
                                     1,
                                     2,
                                     0xff,
                                     4095,
                                     4096,
                                     1 << 20,
                                     0x7fff'ffff,
                                     0x8000'0000,
                                     0xffff'ffff,
                                     ~uint64_t{0},
                                     uint64_t{1} << 63,
                                     16,
                                     0xdead'0000,
                                     uint64_t{1} << 31,
                                     uint64_t{1} << 32,
                                     ~uint64_t{4095}};
    const uint8_t kind = next();
    return kind < 200 ? kNumbers[kind % std::size(kNumbers)] : address(scratch_.data()) + kind % 64 * 8;
  }
  void keep(int fd) {
    if (fd < 0) return;
    fds_.push_back(fd);
    if (fds_.size() <= 12) return;
    close(fds_.front());
    fds_.pop_front();
  }
  // Returns a deadline in the past (0) or the near future, so that waits end by themselves.
  int64_t soon() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return next() % 4 == 0 ? 0 : now.tv_sec * 1'000'000'000 + now.tv_nsec + next() * 1000;
  }

  template <class T>
  int plain(unsigned long request, T& argument) {
    ++calls_;
    return driver_.ioctl(*file_, request, address(&argument));
  }
  // Changes whole qwords, because half of an address could point to other memory of this process.
  template <class T>
  int call(unsigned long request, T& argument) {
    if (sizeof argument >= 8 && next() % 8 == 0) {
      const uint64_t value = wild();
      std::memcpy(reinterpret_cast<char*>(&argument) + one_of(sizeof argument / 8) * 8, &value, 8);
    }
    if (next() == 0xff) request ^= uint64_t{next()} << 16;  // another argument length
    const size_t size = _IOC_SIZE(request);
    if (size <= sizeof argument) return plain(request, argument);
    std::vector<std::byte> longer(size);
    std::memcpy(longer.data(), &argument, sizeof argument);
    const int result = plain(request, *longer.data());
    std::memcpy(&argument, longer.data(), sizeof argument);
    return result;
  }

  void unmap(const Place& place) {
    auto kept = driver_.forget_memory(address(place.at), place.bytes);
    munmap(place.at, place.bytes);
    driver_.release(std::move(kept));
  }

  driver::Driver& driver_;
  Input data_;
  DrmScratch scratch_;
  driver::File* file_ = nullptr;  // the file of the current call
  std::deque<int> fds_;
  std::deque<Place> places_;
  unsigned calls_ = 0;
};

}  // namespace halogen::fuzz
