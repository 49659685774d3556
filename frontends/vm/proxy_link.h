// The connection between QEMU's x-pci-proxy-dev and the device process: messages on a stream socket, with guest memory
// as file descriptors (facts: QEMU hw/remote). Knows the framing only, not the meaning of messages.
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

// Payloads in the layout of the wire.
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
  uint64_t address;  // guest address, not an offset
  uint64_t value;
  uint32_t bytes;
  uint8_t is_memory;  // otherwise an I/O port
  uint8_t padding[3];
};
static_assert(sizeof(MemoryMap) == 192 && sizeof(ConfigAccess) == 12 && sizeof(BarAccess) == 24);

struct ProxyMessage {
  ProxyCommand command{};
  std::vector<std::byte> payload;
  std::vector<File> files;

  // Returns the payload as one of the structures above. False: it has another size.
  template <class T>
  bool as(T& into) const {
    if (payload.size() != sizeof(T)) return false;
    std::copy_n(payload.data(), sizeof(T), reinterpret_cast<std::byte*>(&into));
    return true;
  }
};

// Splits the stream into messages. Descriptors belong to the message whose bytes came last with them, because the host
// ends a read after a part that carries descriptors.
class ProxyParser {
 public:
  static constexpr uint64_t kMaxPayload = 4096;

  // Adds received bytes and the descriptors that came with them. False: no message has that many descriptors.
  bool feed(std::span<const std::byte> bytes, std::vector<File> files);
  // Returns the next message. No value: it is not complete. After an error the stream cannot be parsed any further.
  Result<std::optional<ProxyMessage>> next();

 private:
  struct Piece {
    uint64_t end;  // stream position after the bytes that the files came with
    std::vector<File> files;
  };

  std::vector<std::byte> bytes_;
  uint64_t start_ = 0;  // stream position of the first byte in `bytes_`
  std::deque<Piece> pieces_;
};

class ProxyLink {
 public:
  static constexpr int kPatience_ms = 10'000;  // until the other side reads some bytes of an answer

  explicit ProxyLink(File socket, int patience_ms = kPatience_ms)
      : socket_(std::move(socket)), patience_ms_(patience_ms) {}

  // Sets a descriptor that becomes readable when answer() must stop waiting.
  void stop_at(int descriptor) { stop_ = descriptor; }

  int descriptor() const { return socket_.descriptor(); }
  // Reads available data without waiting. False: the other side is gone.
  Result<bool> fill();
  // Returns a complete message.
  Result<std::optional<ProxyMessage>> next() { return parser_.next(); }
  // Sends an answer. False: the other side is gone, or the server is stopping. An error: the other side does not read
  // answers.
  Result<bool> answer(uint64_t value);

 private:
  File socket_;
  int patience_ms_;
  int stop_ = -1;
  ProxyParser parser_;
};

}  // namespace halogen::vm
