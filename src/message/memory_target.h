// What a data port message reads or writes: a buffer with bounds, memory without, or the shared local memory of the
// thread's group. Reads outside give zero, writes outside do nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/address_space.h"
#include "message/environment.h"

namespace halogen::message {

inline constexpr unsigned kLanes = 16;  // of a message

class MemoryTarget {
 public:
  static MemoryTarget memory(memory::AddressSpace& space, uint64_t base) { return {&space, base, kNoLimit, {}}; }
  static MemoryTarget buffer(memory::AddressSpace& space, uint64_t base, uint64_t bytes) {
    return {&space, base, bytes, {}};
  }
  static MemoryTarget local(std::span<std::byte> bytes) { return {nullptr, 0, bytes.size(), bytes}; }
  static MemoryTarget none() { return {nullptr, 0, 0, {}}; }

  // One element of `bytes` (up to 16) for each lane of the mask, at its offset; those of lane i are at i * bytes.
  memory::AccessResult read_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets, unsigned bytes,
                                  std::byte* into) const;
  memory::AccessResult write_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets, unsigned bytes,
                                   const std::byte* from) const;

  // Bytes in a row.
  memory::AccessResult read(uint64_t offset, std::span<std::byte> into) const;
  memory::AccessResult write(uint64_t offset, std::span<const std::byte> from) const;

  struct Spot {
    std::byte* bytes = nullptr;  // null: outside, or nothing there
    memory::AccessResult result = memory::AccessResult::ok;
  };
  // Where an atomic operation of so many bytes works.
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
