// Untyped messages of two vectors of four (SIMD4x2, up to Gen11). Byte addresses are in dwords 0 and 4 of a register,
// vectors in its halves. The operands of an atomic operation are the first two components. A disabled channel is
// neither read nor written. The layout follows Mesa's vec4 back end. Not modelled: messages with 64-bit addresses and
// float atomics.
#include <array>

#include "message/atomic_op.h"
#include "message/call.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

constexpr unsigned kVectors = 2;
constexpr unsigned kComponents = 4;
constexpr uint32_t kDwordMask = ~uint32_t{3};

uint64_t address_of(const Call& call, unsigned vector) {
  constexpr uint32_t kLocalMask = 0xffff;
  const bool local = call.binding(call.control.surface) == Binding::local_memory;
  return call.payload.dword(call.data, vector * kComponents) & kDwordMask & (local ? kLocalMask : ~uint32_t{0});
}

bool is_on(const Call& call, unsigned channel) {
  return (call.lanes(kVectors * kComponents) >> channel & 1) != 0;
}

}  // namespace

SendOutcome untyped_pair(Call& call, Direction direction) {
  const std::optional<MemoryTarget> target = target_of(call, call.control.surface, HeaderBase::ignored);
  if (!target) {
    return SendOutcome::fault;
  }
  for (unsigned channel = 0; channel < kVectors * kComponents; ++channel) {
    const unsigned component = channel % kComponents;
    if (!is_on(call, channel) || (call.control.mask_off >> component & 1) != 0) {
      continue;
    }
    const uint64_t at = address_of(call, channel / kComponents) + component * sizeof(uint32_t);
    uint32_t value = direction == Direction::write ? call.payload.dword(call.data + 1, channel) : 0;
    const auto bytes = std::as_writable_bytes(std::span(&value, 1));
    if (!ok(direction == Direction::write ? target->write(at, bytes) : target->read(at, bytes))) {
      return SendOutcome::fault;
    }
    if (direction == Direction::read) {
      call.response.put_dword(0, channel, value);
    }
  }
  return SendOutcome::done;
}

SendOutcome untyped_atomic_pair(Call& call) {
  const std::optional<MemoryTarget> target = target_of(call, call.control.surface, HeaderBase::ignored);
  if (!target) {
    return SendOutcome::fault;
  }
  const Operation operation = call.control.operation;
  if (operation == Operation::cmpwr_16b) {
    return call.unsupported("compare and write of two values not implemented");
  }
  std::array<std::byte*, kVectors> places{};  // translated before any value changes
  for (unsigned vector = 0; vector < kVectors; ++vector) {
    if (is_on(call, vector * kComponents)) {
      const MemoryTarget::Spot spot = target->spot(address_of(call, vector), sizeof(uint32_t));
      if (!ok(spot.result)) {
        return SendOutcome::fault;
      }
      places[vector] = spot.bytes;
    }
  }
  call.count_atomic();
  for (unsigned vector = 0; vector < kVectors; ++vector) {
    const unsigned channel = vector * kComponents;
    if (!is_on(call, channel)) {
      continue;
    }
    const uint32_t first = call.payload.dword(call.data + 1, channel);
    const uint32_t second = call.payload.dword(call.data + 1, channel + 1);
    uint32_t result = 0;  // returned for an address outside the surface
    if (places[vector] != nullptr) {
      const uint32_t old = update<uint32_t>(
          places[vector], [&](uint32_t was) { return apply<uint32_t>(operation, was, first, second); });
      result = operation == Operation::predec ? old - 1 : old;
    }
    if (call.control.returns) {
      call.response.put_dword(0, channel, result);
    }
  }
  return SendOutcome::done;
}

}  // namespace halogen::message
