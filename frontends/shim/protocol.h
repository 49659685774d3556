// The messages between the process with the device (the owner) and a process that calls it (a client): see
// docs/client-protocol.md. Both are sequences of bytes in a shared page area (board.h). Decoding is a pure function of
// bytes that do not change meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace halogen::shim {

inline constexpr uint32_t kProtocolVersion = 3;
inline constexpr size_t kMaxRequestBytes = size_t{4} << 20;
inline constexpr size_t kMaxAnswerBytes = size_t{8} << 20;
inline constexpr size_t kMaxPassed = 16;  // descriptors of one call

enum class Ask : uint32_t { ioctl, map, map_buffer, read_stream, stream_ioctl };

// A descriptor that the client passes: its number there, and whether it is open. Open ones are in the message that
// accompanies the call, in this order.
struct PassedNumber {
  int32_t number = -1;
  uint32_t is_open = 0;
};

struct RequestHead {
  Ask ask = Ask::ioctl;
  uint32_t no_wait = 0;   // ioctl: the node has O_NONBLOCK
  uint64_t request = 0;   // ioctls: its number; others: bytes
  uint64_t argument = 0;  // ioctl: the address of its argument; stream_ioctl: the argument; maps: offset; read: address
  uint32_t handle = 0;    // map_buffer
  uint32_t pieces = 0;
  uint32_t passed = 0;
  uint32_t reserved = 0;
  std::array<PassedNumber, kMaxPassed> numbers{};
};
// Precedes the bytes of a piece or a write, which are padded to a multiple of eight.
struct PartHead {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct AnswerHead {
  int64_t result = 0;
  uint64_t offset = 0;  // maps: where the memory lies in the file
  uint32_t writes = 0;
  uint32_t missing = 0;
  uint32_t wanted = 0;  // descriptors that the client must pass
  uint32_t made = 0;    // descriptors in the message that accompanies the answer
};
// Where the client writes the number of a descriptor that the call made. 0: nowhere (maps), or the number is the
// result.
struct MadeHead {
  uint64_t position = 0;
  uint64_t stays_open = 0;  // without FD_CLOEXEC
};

struct Part {
  uint64_t address = 0;
  std::span<std::byte> bytes;
};
struct Request {
  RequestHead head;
  std::vector<Part> pieces;  // in the bytes that were decoded
};
// Decodes a request. No value: the bytes are not a request. `bytes` must be private to this process.
std::optional<Request> decode_request(std::span<std::byte> bytes);

struct Answer {
  AnswerHead head;
  std::vector<MadeHead> made;
  std::vector<int32_t> wanted;
  std::vector<PartHead> missing;
  std::vector<Part> writes;
};
std::optional<Answer> decode_answer(std::span<std::byte> bytes);

// Appends values and parts to an area of memory, in the format of both messages.
class PartWriter {
 public:
  explicit PartWriter(std::span<std::byte> area) : area_(area) {}
  // Returns where the bytes belong. Empty: no room is left.
  std::span<std::byte> add_part(uint64_t address, uint64_t bytes);
  void remove_part(uint64_t bytes) { used_ -= sizeof(PartHead) + padded(bytes); }  // the last one
  template <class T>
  bool add(const T& value) {
    if (sizeof value > area_.size() - used_) return false;
    std::memcpy(area_.data() + used_, &value, sizeof value);
    used_ += sizeof value;
    return true;
  }
  template <class T>
  void set_head(const T& head) {
    std::memcpy(area_.data(), &head, sizeof head);
  }
  size_t used() const { return used_; }
  static constexpr uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

 private:
  std::span<std::byte> area_;
  size_t used_ = 0;
};

}  // namespace halogen::shim
