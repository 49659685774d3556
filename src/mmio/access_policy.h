// The effect of a write on one dword of a register, as data: which bits take the value, which are cleared by ones,
// which are locked. The names are those of docs/spec-language.md, Registers. Other effects (starting a ring, raising an
// interrupt) are implemented by a RegisterHandler.
#pragma once

#include <cstdint>

namespace halogen::mmio {

struct AccessPolicy {
  uint32_t rw = 0;
  uint32_t ro = 0;
  uint32_t wo = 0;             // stored for the handler, reads zero
  uint32_t w1c = 0;            // writing one clears
  uint32_t self_clearing = 0;  // the handler sees the one; stored as zero, read from the handler
  uint32_t w_once = 0;         // only the first write since reset has an effect
  uint32_t ones = 0;           // reads one
  uint32_t reserved = 0;       // must be written as zero
  bool masked = false;         // bits 31:16 of a write enable bits 15:0

  constexpr uint32_t writable() const { return rw | wo | w1c | self_clearing | w_once; }
  constexpr uint32_t readable() const { return rw | ro | w1c | self_clearing | w_once; }
  constexpr bool operator==(const AccessPolicy&) const = default;
};

inline constexpr uint32_t kAllLanes = 0xffff'ffff;

// Returns the byte lanes of an access of `bytes` bytes at byte `first` of a dword, as a bit mask.
constexpr uint32_t byte_lanes(unsigned first, unsigned bytes) {
  const uint64_t mask = ((uint64_t{1} << (8 * bytes)) - 1) << (8 * first);
  return static_cast<uint32_t>(mask);
}

// Returns the bits that a write affects. A masked register needs its upper half in the same access, so a byte or word
// write affects nothing.
constexpr uint32_t addressed_bits(const AccessPolicy& policy, uint32_t value, uint32_t lanes = kAllLanes) {
  return policy.masked ? ((value & lanes) >> 16) & lanes & 0xffff : lanes;
}

// Returns the value stored after a write. `locked` holds the write-once bits that were written since reset.
constexpr uint32_t apply_write(const AccessPolicy& policy, uint32_t old, uint32_t value, uint32_t locked = 0,
                               uint32_t lanes = kAllLanes) {
  const uint32_t addressed = addressed_bits(policy, value, lanes);
  const uint32_t stored = addressed & (policy.rw | policy.wo | (policy.w_once & ~locked));
  uint32_t next = (old & ~stored) | (value & stored);
  next &= ~(value & addressed & policy.w1c);
  return next & ~policy.self_clearing;
}

constexpr uint32_t apply_lock(const AccessPolicy& policy, uint32_t locked, uint32_t value, uint32_t lanes = kAllLanes) {
  return locked | (policy.w_once & addressed_bits(policy, value, lanes));
}

constexpr uint32_t apply_read(const AccessPolicy& policy, uint32_t stored) {
  return (stored & policy.readable()) | policy.ones;
}

// Returns the bits of a write that the description says must be zero.
constexpr uint32_t reserved_violation(const AccessPolicy& policy, uint32_t value, uint32_t lanes = kAllLanes) {
  return value & lanes & policy.reserved;
}

}  // namespace halogen::mmio
