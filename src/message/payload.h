// The registers of a message: its payload as one contiguous range, however the message splits it, and its response,
// written lane by lane. Reads past the end return zero and writes past it are dropped, because a guest chooses the
// lengths.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "eu/exec/message.h"
#include "eu/thread.h"

namespace halogen::message {

class Payload {
 public:
  // Copies the payload, because the response may overlap it.
  explicit Payload(const eu::Message& message) {
    const size_t first = std::min(message.first.size(), bytes_.size());
    const size_t second = std::min(message.second.size(), bytes_.size() - first);
    if (first != 0) {
      std::memcpy(bytes_.data(), message.first.data(), first);
    }
    if (second != 0) {
      std::memcpy(bytes_.data() + first, message.second.data(), second);
    }
    used_ = first + second;
  }

  // Returns the value at byte `at`.
  template <class T>
  T value(size_t at) const {
    T value{};
    if (at + sizeof(T) <= used_) {
      std::memcpy(&value, bytes_.data() + at, sizeof(T));
    }
    return value;
  }
  uint32_t dword(size_t grf, size_t index) const { return value<uint32_t>(grf * eu::kGrfBytes + index * 4); }
  uint64_t qword(size_t grf, size_t index) const { return value<uint64_t>(grf * eu::kGrfBytes + index * 8); }
  // Copies `count` values from register `grf` on.
  template <class T>
  void copy(size_t grf, T* out, size_t count) const {
    const size_t at = std::min(grf * eu::kGrfBytes, used_);
    const size_t bytes = std::min(count * sizeof(T), used_ - at);
    std::memcpy(out, bytes_.data() + at, bytes);
    std::memset(reinterpret_cast<std::byte*>(out) + bytes, 0, count * sizeof(T) - bytes);
  }
  std::span<const std::byte> from(size_t grf) const {
    return std::span(bytes_).first(used_).subspan(std::min(grf * eu::kGrfBytes, used_));
  }

 private:
  static constexpr size_t kMax = 32;  // 15 registers from each of two sources, rounded up
  alignas(64) std::array<std::byte, kMax * eu::kGrfBytes> bytes_;
  size_t used_ = 0;
};

// The same without a copy, for messages whose response does not overlap the payload.
class PayloadView {
 public:
  explicit PayloadView(const eu::Message& message) : first_(message.first), second_(message.second) {}

  template <class T>
  T value(size_t at) const {
    T value{};
    copy_bytes(at, &value, sizeof(T));
    return value;
  }
  uint32_t dword(size_t grf, size_t index) const { return value<uint32_t>(grf * eu::kGrfBytes + index * 4); }
  // Copies `count` values of register `grf`.
  template <class T>
  void copy(size_t grf, T* out, size_t count) const {
    if (!copy_bytes(grf * eu::kGrfBytes, out, count * sizeof(T))) {
      std::memset(out, 0, count * sizeof(T));
    }
  }

 private:
  // Copies bytes of one register. A register never crosses the two parts, because both consist of whole registers.
  bool copy_bytes(size_t at, void* out, size_t bytes) const {
    if (at + bytes <= first_.size()) {
      std::memcpy(out, first_.data() + at, bytes);
      return true;
    }
    if (at >= first_.size() && at - first_.size() + bytes <= second_.size()) {
      std::memcpy(out, second_.data() + (at - first_.size()), bytes);
      return true;
    }
    return false;
  }

  std::span<const std::byte> first_;
  std::span<const std::byte> second_;
};

class Response {
 public:
  explicit Response(std::span<std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void put(size_t at, T value) {
    if (at + sizeof(T) <= bytes_.size()) {
      std::memcpy(bytes_.data() + at, &value, sizeof(T));
    }
  }
  void put_dword(size_t grf, size_t index, uint32_t value) { put(grf * eu::kGrfBytes + index * 4, value); }
  void put_bytes(size_t at, std::span<const std::byte> from) {
    if (at < bytes_.size()) {
      std::memcpy(bytes_.data() + at, from.data(), std::min(from.size(), bytes_.size() - at));
    }
  }
  void clear() { std::fill(bytes_.begin(), bytes_.end(), std::byte{0}); }
  bool empty() const { return bytes_.empty(); }
  size_t registers() const { return bytes_.size() / eu::kGrfBytes; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace halogen::message
