// A hostile client: requests with any bytes, performed by a device that the input selects, while another thread writes
// into the shared page. The owner copies a request before it looks at it, so a change during the call has no effect
// beyond what another request would have.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>

#include "board.h"
#include "protocol.h"
#include "serve_call.h"

namespace halogen::fuzz {

class AnyProcess final : public driver::ForeignCaller {
 public:
  pid_t process() const override { return 1; }
  bool may_administrate() const override { return false; }
};

// The first byte selects the device and whether a thread races. Then come requests: two bytes of length each, then
// their bytes. A request that starts with a small number instead of an Ask gets a head: its number selects the ioctl.
class ClientCalls {
 public:
  explicit ClientCalls(std::span<const uint8_t> data) : data_(data) {}
  unsigned performed() const { return performed_; }

  void run() {
    if (data_.empty()) return;
    decode_only();
    const uint8_t first = data_[0];
    const auto devices = spec::device_models();
    driver::DriverOptions options;
    options.hardware.memory_bytes = uint64_t{1} << 30;
    options.hang_after = std::chrono::milliseconds(10);
    auto booted = driver::Driver::start(devices[(first & 0x7f) % devices.size()], options);
    if (!booted) return;
    int page = -1;
    const std::unique_ptr<shim::Board> board = shim::Board::create(page);
    if (!board) return;
    std::atomic<bool> stop = false;
    std::thread racer;
    if ((first & 0x80) != 0) {
      racer = std::thread([&] {
        for (size_t i = 0; !stop; ++i) {
          reinterpret_cast<volatile uint8_t&>(board->request_area()[i * 7 % 512]) = data_[i % data_.size()];
        }
      });
    }
    perform(**booted, *board);
    stop = true;
    if (racer.joinable()) racer.join();
    close(page);
  }

 private:
  void decode_only() const {
    std::vector<std::byte> copy(data_.size());
    std::memcpy(copy.data(), data_.data(), copy.size());
    static_cast<void>(shim::decode_request(copy));
    static_cast<void>(shim::decode_answer(copy));
  }

  void perform(driver::Driver& driver, shim::Board& board) {
    constexpr size_t kMaxCalls = 64;
    const std::shared_ptr<driver::File> file = driver.open();
    std::span<const uint8_t> rest = data_.subspan(1);
    for (size_t calls = 0; calls < kMaxCalls && rest.size() > 2; ++calls) {
      const size_t length = std::min<size_t>(rest[0] + size_t{256} * rest[1], rest.size() - 2);
      const size_t descriptors = put(board.request_area(), rest.subspan(2, length));
      rest = rest.subspan(2 + length);
      const auto from = board.request_area().first(sizeof(shim::RequestHead) + length);
      std::vector<std::byte> request(from.begin(), from.end());
      shim::ServedCall call;
      performed_ +=
          call.perform(driver, *file, caller_, request, std::span(kPassed).first(descriptors), board.answer_area())
              ? 1u
              : 0u;
      const auto answer = shim::decode_answer(board.answer_area().first(call.answer_bytes()));
      if (call.answer_bytes() != 0 && !answer) std::abort();
    }
    driver.close(file);
  }

  // Writes a plausible head, then the input. Returns the number of descriptors that belong to it.
  static size_t put(std::span<std::byte> area, std::span<const uint8_t> bytes) {
    constexpr unsigned long kCalls[] = {
        DRM_IOCTL_I915_GEM_CREATE,      DRM_IOCTL_I915_GEM_PWRITE,    DRM_IOCTL_I915_GEM_PREAD,
        DRM_IOCTL_I915_GEM_EXECBUFFER2, DRM_IOCTL_I915_QUERY,         DRM_IOCTL_PRIME_HANDLE_TO_FD,
        DRM_IOCTL_PRIME_FD_TO_HANDLE,   DRM_IOCTL_SYNCOBJ_CREATE,     DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD,
        DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, DRM_IOCTL_SYNCOBJ_WAIT,       DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL,
        DRM_IOCTL_MODE_ATOMIC,          DRM_IOCTL_SET_CLIENT_CAP,     DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT,
        DRM_IOCTL_I915_GEM_MMAP_OFFSET, DRM_IOCTL_I915_GEM_USERPTR,   DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM,
        DRM_IOCTL_I915_GEM_CREATE_EXT,  DRM_IOCTL_MODE_CREATEPROPBLOB};
    shim::RequestHead head;
    const uint8_t kind = bytes.empty() ? 0 : bytes[0];
    constexpr std::array kAsks{shim::Ask::ioctl, shim::Ask::ioctl,       shim::Ask::ioctl, shim::Ask::ioctl,
                               shim::Ask::ioctl, shim::Ask::read_stream, shim::Ask::map,   shim::Ask::map_buffer};
    head.ask = kind == 0xfd ? shim::Ask::stream_ioctl : kAsks[kind % kAsks.size()];
    head.request = kind % 8 >= 5 ? 4096 : kCalls[kind / 8 % std::size(kCalls)];
    head.argument = 0x1000;
    head.handle = kind / 8;
    head.pieces = kind % 4 + 1;
    head.passed = kind % 3;
    for (auto& each : head.numbers) each = {kind % 5, kind % 2u};
    std::memcpy(area.data(), &head, sizeof head);
    if (!bytes.empty()) std::memcpy(area.data() + sizeof head, bytes.data() + 1, bytes.size() - 1);
    return kind % 2 != 0 ? head.passed : 0;
  }

  std::span<const uint8_t> data_;
  AnyProcess caller_;
  unsigned performed_ = 0;
  static constexpr std::array<int, shim::kMaxPassed> kPassed{};  // the standard input
};

// Returns the number of requests that were performed.
inline unsigned client(std::span<const uint8_t> data) {
  ClientCalls calls(data);
  calls.run();
  return calls.performed();
}

}  // namespace halogen::fuzz
