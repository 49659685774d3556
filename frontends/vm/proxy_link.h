// The wire between QEMU's x-pci-proxy-dev and the process that is the device: messages on a stream socket, guest memory
// as file descriptors beside them (facts: QEMU hw/remote). Knows framing only, not what messages mean.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "file.h"

namespace halogen::vm {

enum class ProxyCommand : int32_t {
  sync_memory = 0,  // the guest's memory map, with a descriptor for each piece; no answer
  answer = 1,
  config_write = 2,
  config_read = 3,
  bar_write = 4,
  bar_read = 5,
  set_irqfd = 6,  // two descriptors; no answer
  reset = 7,
};

// Payloads, as they stand on the wire.
struct MemoryMap {
  static constexpr size_t kPieces = 8;
  std::array<uint64_t, kPieces> address;
  std::array<uint64_t, kPieces> bytes;
  std::array<uint64_t, kPieces> offset;  // in the file
};
struct ConfigAccess {
  uint32_t offset;
  uint32_t value;
  int32_t bytes;
};
struct BarAccess {
  uint64_t address;  // of the guest, not an offset
  uint64_t value;
  uint32_t bytes;
  uint8_t is_memory;  // else an I/O port
  uint8_t padding[3];
};
static_assert(sizeof(MemoryMap) == 192 && sizeof(ConfigAccess) == 12 && sizeof(BarAccess) == 24);

struct ProxyMessage {
  ProxyCommand command{};
  std::vector<std::byte> payload;
  std::vector<File> files;

  // The payload as one of the structures above; false when it has another size.
  template <class T>
  bool as(T& into) const {
    if (payload.size() != sizeof(T)) return false;
    std::copy_n(payload.data(), sizeof(T), reinterpret_cast<std::byte*>(&into));
    return true;
  }
};

// Bytes in, messages out. Descriptors belong to the message whose bytes came last with them: the kernel ends a read
// behind a part that carries some.
class ProxyParser {
 public:
  static constexpr uint64_t kMaxPayload = 4096;

  void feed(std::span<const std::byte> bytes, std::vector<File> files);
  // Nothing: no whole message is there yet. After an error the stream has no meaning any more.
  Result<std::optional<ProxyMessage>> next();

 private:
  struct Piece {
    uint64_t end;  // place in the stream behind the bytes it came with
    std::vector<File> files;
  };

  std::vector<std::byte> bytes_;
  uint64_t start_ = 0;  // place in the stream of the first of them
  std::deque<Piece> pieces_;
};

class ProxyLink {
 public:
  explicit ProxyLink(File socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.descriptor(); }
  // Takes what is there, without waiting; false: the other side has gone.
  Result<bool> fill();
  // A message out of what was taken.
  Result<std::optional<ProxyMessage>> next() { return parser_.next(); }
  // False: the other side has gone.
  Result<bool> answer(uint64_t value);

 private:
  File socket_;
  ProxyParser parser_;
};

}  // namespace halogen::vm
