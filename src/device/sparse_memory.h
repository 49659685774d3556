// The content of memory in a snapshot. Only written pages take host memory, and copies share pages until one of them is
// written. The memory in use is device/own_frames.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halogen::device {

class SparseMemory {
 public:
  static constexpr uint64_t kPageBytes = uint64_t{64} * 1024;

  explicit SparseMemory(uint64_t bytes = 0);

  uint64_t size() const { return bytes_; }
  // Access ranges, clipped at the end: bytes beyond it read zero and are not written.
  void read(uint64_t address, std::span<std::byte> out) const;
  void write(uint64_t address, std::span<const std::byte> data);
  void clear();
  uint64_t resident_bytes() const;
  bool has_page(uint64_t number) const { return pages_[number] != nullptr; }  // false: zeros
  bool operator==(const SparseMemory& other) const;                           // by content

 private:
  using Page = std::array<std::byte, kPageBytes>;

  uint64_t bytes_;
  std::vector<std::shared_ptr<Page>> pages_;  // null: zero
};

}  // namespace halogen::device
