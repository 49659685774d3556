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

// Values of Linux. The other bits concern memory, which is freed automatically here.
constexpr uint64_t kRetire = 0x4, kActive = 0x8, kIdle = 0x40, kResetActive = 0x80;
constexpr std::chrono::milliseconds kStallTimeout{200}, kPollTime{1};
constexpr unsigned kMaxResets = 1000;

bool is_idle(driver::Driver& driver) {
  bool idle = false;
  driver.with_lock([&] { idle = driver.gpu().idle(); });
  return idle;
}

bool wait_idle(driver::Driver& driver, std::chrono::steady_clock::time_point end) {
  while (!is_idle(driver)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPollTime);  // a thread of the driver runs the device
  }
  return true;
}

// On chips that can only reset all engines together, all engines restart their work.
void recover(driver::Driver& driver, driver::EngineQueue& hung) {
  hung.recover(-EIO);
  if (spec::interface_of(driver.model().id).engine_reset) return;
  for (const auto& other : driver.gpu().queues()) {
    if (other.get() != &hung) other->replay();
  }
}

// Fails the current work of the engines, request by request, until nothing is left.
void stop_all(driver::Driver& driver) {
  for (unsigned round = 0; round < kMaxResets && !is_idle(driver); ++round) {
    driver.with_lock([&] {
      for (const auto& queue : driver.gpu().queues()) {
        if (queue->working()) recover(driver, *queue);
      }
      driver.gpu().update();
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
  Door* const door = Door::to_notify();
  if (door == nullptr) return static_cast<ssize_t>(bytes);  // there is no device yet
  driver::Driver& driver = door->driver();
  const auto now = std::chrono::steady_clock::now();
  if ((what & kResetActive) != 0 && !wait_idle(driver, now + kStallTimeout)) stop_all(driver);
  if ((what & (kRetire | kActive | kIdle)) != 0) wait_idle(driver, std::chrono::steady_clock::time_point::max());
  return static_cast<ssize_t>(bytes);
}

}  // namespace halogen::shim
