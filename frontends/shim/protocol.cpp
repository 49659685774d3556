#include "protocol.h"

#include <utility>

namespace halogen::shim {
namespace {

// Reads values and parts from the front of a message.
class PartReader {
 public:
  explicit PartReader(std::span<std::byte> bytes) : rest_(bytes) {}

  template <class T>
  bool read(T& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return true;
  }
  // The number of values comes from the other process: it is checked before memory is allocated.
  template <class T>
  bool read(std::vector<T>& values, uint64_t count) {
    if (count > rest_.size() / sizeof(T)) return false;
    values.resize(count);
    for (T& value : values) {
      if (!read(value)) return false;
    }
    return true;
  }
  bool read_parts(std::vector<Part>& parts, uint64_t count) {
    if (count > rest_.size() / sizeof(PartHead)) return false;
    parts.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      PartHead head;
      if (!read(head) || head.bytes > rest_.size() || PartWriter::padded(head.bytes) > rest_.size()) return false;
      if (head.bytes > ~head.address) return false;  // wraps around
      parts.push_back({head.address, rest_.first(head.bytes)});
      rest_ = rest_.subspan(PartWriter::padded(head.bytes));
    }
    return true;
  }

 private:
  std::span<std::byte> rest_;
};

}  // namespace

std::span<std::byte> PartWriter::add_part(uint64_t address, uint64_t bytes) {
  const size_t room = area_.size() - used_;
  if (bytes > room || sizeof(PartHead) + padded(bytes) > room) return {};
  add(PartHead{address, bytes});
  const std::span<std::byte> place = area_.subspan(used_, bytes);
  used_ += padded(bytes);
  return place;
}

std::optional<Request> decode_request(std::span<std::byte> bytes) {
  PartReader reader(bytes);
  Request request;
  if (!reader.read(request.head) || request.head.passed > kMaxPassed) return std::nullopt;
  if (request.head.ask > Ask::stream_ioctl) return std::nullopt;
  if (!reader.read_parts(request.pieces, request.head.pieces)) return std::nullopt;
  return request;
}

std::optional<Answer> decode_answer(std::span<std::byte> bytes) {
  PartReader reader(bytes);
  Answer answer;
  if (!reader.read(answer.head)) return std::nullopt;
  if (!reader.read(answer.made, answer.head.made) || !reader.read(answer.wanted, answer.head.wanted)) {
    return std::nullopt;
  }
  // An odd number of 32-bit values leaves the rest unaligned, which copies do not need.
  if (!reader.read(answer.missing, answer.head.missing)) return std::nullopt;
  if (!reader.read_parts(answer.writes, answer.head.writes)) return std::nullopt;
  return answer;
}

}  // namespace halogen::shim
