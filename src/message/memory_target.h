// The memory that a data port message accesses: a buffer with bounds, memory without bounds, or the shared local memory
// of the thread's group. Reads outside the bounds return zero, writes outside are dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/address_space.h"
#include "message/environment.h"

namespace halogen::message {

inline constexpr unsigned kLanes = 16;  // maximum number of lanes of a message

class MemoryTarget {
 public:
  static MemoryTarget memory(memory::AddressSpace& space, uint64_t base) { return {&space, base, kNoLimit, {}}; }
  static MemoryTarget buffer(memory::AddressSpace& space, uint64_t base, uint64_t bytes) {
    return {&space, base, bytes, {}};
  }
  static MemoryTarget local(std::span<std::byte> bytes) { return {nullptr, 0, bytes.size(), bytes}; }
  static MemoryTarget none() { return {nullptr, 0, 0, {}}; }

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

  MemoryTarget(memory::AddressSpace* space, uint64_t base, uint64_t limit, std::span<std::byte> local)
      : space_(space), base_(base), limit_(limit), local_(local) {}

  bool inside(uint64_t offset, uint64_t bytes) const {
    return limit_ == kNoLimit || (offset < limit_ && bytes <= limit_ - offset);
  }

  memory::AddressSpace* space_;
  uint64_t base_;
  uint64_t limit_;
  std::span<std::byte> local_;
};

}  // namespace halogen::message
