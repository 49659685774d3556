// Memory that costs only what was written: local memory before the memory room takes over. Copies share pages until one
// of them writes, so that a snapshot is cheap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halogen {

class SparseMemory {
 public:
  explicit SparseMemory(uint64_t bytes = 0);

  uint64_t size() const { return bytes_; }
  // Ranges are clipped at the end: what lies beyond reads zero and is not written.
  void read(uint64_t address, std::span<std::byte> out) const;
  void write(uint64_t address, std::span<const std::byte> data);
  void clear();
  uint64_t resident_bytes() const;
  bool operator==(const SparseMemory& other) const;  // by content

 private:
  static constexpr uint64_t kPageBytes = 64 * 1024;
  using Page = std::array<std::byte, kPageBytes>;

  uint64_t bytes_;
  std::vector<std::shared_ptr<Page>> pages_;  // null: zero
};

}  // namespace halogen
