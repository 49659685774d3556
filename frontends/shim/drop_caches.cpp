#include "drop_caches.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "door.h"
#include "spec/interface_model.h"

namespace halogen::shim {
namespace {

// Linux's numbers; the others are about memory, which goes by itself here.
constexpr uint64_t kRetire = 0x4, kActive = 0x8, kIdle = 0x40, kResetActive = 0x80;
constexpr std::chrono::milliseconds kPatience{200}, kLook{1};
constexpr unsigned kMostResets = 1000;

bool is_idle(driver::Kernel& kernel) {
  bool idle = false;
  kernel.while_still([&] { idle = kernel.gpu().idle(); });
  return idle;
}

bool wait_idle(driver::Kernel& kernel, std::chrono::steady_clock::time_point end) {
  while (!is_idle(kernel)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kLook);  // a thread of the driver's lets the device work
  }
  return true;
}

// Where single engines cannot be reset all were, and start anew.
void recover(driver::Kernel& kernel, driver::EngineQueue& hung) {
  hung.recover(-EIO);
  if (spec::interface_of(kernel.model().id).engine_reset) return;
  for (const auto& other : kernel.gpu().queues()) {
    if (other.get() != &hung) other->replay();
  }
}

// What engines work on fails, one after the other, until nothing is left.
void stop_all(driver::Kernel& kernel) {
  for (unsigned round = 0; round < kMostResets && !is_idle(kernel); ++round) {
    kernel.while_still([&] {
      for (const auto& queue : kernel.gpu().queues()) {
        if (queue->working()) recover(kernel, *queue);
      }
      kernel.gpu().update();
    });
  }
}

}  // namespace

ssize_t drop_caches(const void* text, size_t bytes) {
  constexpr size_t kLongest = 31;
  const std::string number(static_cast<const char*>(text), std::min(bytes, kLongest));
  char* end = nullptr;
  errno = 0;
  const uint64_t what = std::strtoull(number.c_str(), &end, 0);
  if (errno != 0 || end == number.c_str() || (*end != '\0' && *end != '\n')) {
    errno = EINVAL;
    return -1;
  }
  Door* const door = Door::to_tell();
  if (door == nullptr) return static_cast<ssize_t>(bytes);  // there is no device yet
  driver::Kernel& kernel = door->kernel();
  const auto now = std::chrono::steady_clock::now();
  if ((what & kResetActive) != 0 && !wait_idle(kernel, now + kPatience)) stop_all(kernel);
  if ((what & (kRetire | kActive | kIdle)) != 0) wait_idle(kernel, std::chrono::steady_clock::time_point::max());
  return static_cast<ssize_t>(bytes);
}

}  // namespace halogen::shim
