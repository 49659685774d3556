// The bytes of a fuzzer's input, taken from the front. Reads past the end return zeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace halogen::fuzz {

class Input {
 public:
  Input() = default;
  explicit Input(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  void start(std::span<const uint8_t> bytes) { bytes_ = bytes; }

  template <class T>
  T take() {
    T value{};
    take_to(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  // Returns the next value without consuming it.
  template <class T>
  T ahead() const {
    return Input(*this).take<T>();
  }
  // Copies as many bytes as remain.
  void take_to(std::span<std::byte> into) {
    const size_t size = std::min(bytes_.size(), into.size());
    if (size != 0) {
      std::memcpy(into.data(), bytes_.data(), size);
      bytes_ = bytes_.subspan(size);
    }
  }
  bool flag() { return (take<uint8_t>() & 1) != 0; }
  bool empty() const { return bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace halogen::fuzz
