// The memory that a data port message accesses: a buffer with bounds, memory without bounds, or the shared local memory
// of the thread's group. Reads outside the bounds return zero, writes outside are dropped.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/address_space.h"
#include "message/environment.h"
#include "message/work_tally.h"

namespace halogen::message {

inline constexpr unsigned kLanes = 16;  // maximum number of lanes of a message

class MemoryTarget {
 public:
  // `touched` receives what the accesses touch. Null: they are not counted.
  static MemoryTarget memory(memory::AddressSpace& space, uint64_t base, Touched* touched = nullptr) {
    return {&space, base, kNoLimit, {}, touched};
  }
  static MemoryTarget buffer(memory::AddressSpace& space, uint64_t base, uint64_t bytes, Touched* touched = nullptr) {
    return {&space, base, bytes, {}, touched};
  }
  static MemoryTarget local(std::span<std::byte> bytes, Touched* touched = nullptr) {
    return {nullptr, 0, bytes.size(), bytes, touched};
  }
  static MemoryTarget none() { return {nullptr, 0, 0, {}, nullptr}; }

  // Access one element of `bytes` bytes (up to 16) per lane of the mask, at the lane's offset. The element of lane i is
  // at i * bytes of the buffer.
  memory::AccessResult read_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets, unsigned bytes,
                                  std::byte* into) const;
  memory::AccessResult write_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets, unsigned bytes,
                                   const std::byte* from) const;

  // Access consecutive bytes.
  memory::AccessResult read(uint64_t offset, std::span<std::byte> into) const;
  memory::AccessResult write(uint64_t offset, std::span<const std::byte> from) const;

  struct Spot {
    std::byte* bytes = nullptr;  // null: outside the bounds, or unmapped
    memory::AccessResult result = memory::AccessResult::ok;
  };
  // Returns the host bytes for an atomic operation of `bytes` bytes.
  Spot spot(uint64_t offset, unsigned bytes) const;

 private:
  static constexpr uint64_t kNoLimit = ~uint64_t{0};

  enum class Use : uint8_t { read, write, both };

  MemoryTarget(memory::AddressSpace* space, uint64_t base, uint64_t limit, std::span<std::byte> local, Touched* touched)
      : space_(space), base_(base), limit_(limit), local_(local), touched_(touched) {}

  void touch(uint64_t offset, uint64_t bytes, Use use) const;
  void touch_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets, unsigned bytes, Use use) const;

  bool inside(uint64_t offset, uint64_t bytes) const {
    return limit_ == kNoLimit || (offset < limit_ && bytes <= limit_ - offset);
  }

  // Returns how many of the bytes at `offset` are inside the bounds.
  uint64_t bytes_inside(uint64_t offset, uint64_t bytes) const {
    return limit_ == kNoLimit ? bytes : offset < limit_ ? std::min(bytes, limit_ - offset) : 0;
  }

  memory::AddressSpace* space_;
  uint64_t base_;
  uint64_t limit_;
  std::span<std::byte> local_;
  Touched* touched_;
};

}  // namespace halogen::message
