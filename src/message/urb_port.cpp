// URB messages: SIMD8 reads and writes of Gen8 and later, writes and FF_SYNC of Gen4 to Gen6. Not modelled: the
// half-register forms of Gen7 and later, and atomics.
#include <algorithm>
#include <bit>

#include "message/call.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;
using Type = eu::MessageControl::Type;
using Swizzle = eu::MessageControl::Swizzle;

constexpr unsigned kWidth = 8;
constexpr uint64_t kSlotDwords = 4;
constexpr uint64_t kRowDwords = 8;      // offsets of old writes count 32 bytes
constexpr unsigned kFirstMaskBit = 16;  // first bit of a lane's channel mask

size_t registers_sent(const Call& call) {
  return (call.message.first.size() + call.message.second.size()) / eu::kGrfBytes;
}

void store(std::span<uint32_t> entry, uint64_t at, uint32_t value) {
  if (at < entry.size()) {
    entry[at] = value;
  }
}

// Handles SIMD8 messages: handles, then per-lane offsets and channel masks if the descriptor says so, then data.
SendOutcome simd8(Call& call, Direction direction) {
  Urb& urb = *call.context.environment.urb;
  size_t next = 1;
  const size_t offsets = call.control.per_slot_offset ? next++ : 0;
  const size_t masks = call.control.channel_mask && direction == Direction::write ? next++ : 0;
  const size_t sent = registers_sent(call);
  const size_t count = direction == Direction::write ? (sent > next ? sent - next : 0) : call.response.registers();
  for (uint32_t rest = call.lanes(kWidth); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::span<uint32_t> entry = urb.entry(call.thread, call.payload.dword(0, lane));
    const uint64_t slot =
        uint64_t{call.control.offset} + (offsets != 0 ? uint64_t{call.payload.dword(offsets, lane)} : 0);
    const uint32_t on = masks != 0 ? call.payload.dword(masks, lane) >> kFirstMaskBit & 0xff : 0xff;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t at = slot * kSlotDwords + i;
      if (direction == Direction::read) {
        call.response.put_dword(i, lane, at < entry.size() ? entry[at] : 0);
      } else if ((on >> (i % 8) & 1) != 0) {
        store(entry, at, call.payload.dword(next + i, lane));
      }
    }
  }
  return SendOutcome::done;
}

// The destination of dword `index` of register `reg`.
struct Goal {
  unsigned entry = 0;  // 0 or 1: first or second handle
  uint64_t at = 0;
};

Goal goal_of(Swizzle swizzle, size_t reg, unsigned index) {
  switch (swizzle) {
    case Swizzle::interleave:  // one slot of each of two vertices
      return {index / 4, reg * kSlotDwords + index % 4};
    case Swizzle::transpose:  // registers hold the first, second and last components of eight vectors of four
      return {0, index * kSlotDwords + (reg < 2 ? reg : reg + 1)};
    case Swizzle::none:
    case Swizzle::other:
      break;
  }
  return {0, reg * kRowDwords + index};
}

SendOutcome old_write(Call& call) {
  Urb& urb = *call.context.environment.urb;
  const auto header = call.header<hw::URB_WRITE_HEADER>();
  const std::array<std::span<uint32_t>, 2> entries{urb.entry(call.thread, header.first_handle),
                                                   call.control.swizzle == Swizzle::interleave
                                                       ? urb.entry(call.thread, header.second_handle)
                                                       : std::span<uint32_t>()};
  const uint64_t first = uint64_t{call.control.offset} * kRowDwords;
  const size_t sent = registers_sent(call);
  // A vertex without enabled channels is not written.
  const uint32_t lanes = call.lanes(kWidth);
  const uint32_t halves = ((lanes & 0x0f) != 0 ? 1u : 0u) | ((lanes & 0xf0) != 0 ? 2u : 0u);
  const size_t most = call.control.swizzle == Swizzle::transpose ? 4 : sent;  // header and three registers
  for (size_t reg = 1; reg < std::min(sent, most); ++reg) {
    for (unsigned index = 0; index < kWidth; ++index) {
      const Goal goal = goal_of(call.control.swizzle, reg - 1, index);
      if (call.control.swizzle == Swizzle::interleave && (halves >> goal.entry & 1) == 0) {
        continue;
      }
      store(entries[goal.entry], first + goal.at, call.payload.dword(reg, index));
    }
  }
  urb.written(call.thread, {.header = header,
                            .used = call.control.used,
                            .complete = call.control.complete,
                            .end_of_thread = call.message.end_of_thread});
  if (call.control.allocate) {
    call.response.clear();
    call.response.put_dword(0, 0, urb.allocate(call.thread, 0));
  }
  return SendOutcome::done;
}

}  // namespace

SendOutcome urb_port(Call& call) {
  if (call.context.environment.urb == nullptr) {
    return call.unsupported("URB message from a thread without URB entries");
  }
  switch (call.control.type) {
    case Type::urb_simd8_write:
      return simd8(call, Direction::write);
    case Type::urb_simd8_read:
      return simd8(call, Direction::read);
    case Type::urb_write:
      return old_write(call);
    case Type::ff_sync: {
      Urb& urb = *call.context.environment.urb;
      const auto header = call.header<hw::FF_SYNC_HEADER>();
      const std::array<uint32_t, 4> streams = urb.synchronise(call.thread, header);
      call.response.clear();
      call.response.put_dword(0, 0, urb.allocate(call.thread, header.primitives));
      for (unsigned i = 0; i < streams.size(); ++i) {
        call.response.put_dword(0, i + 1, streams[i]);
      }
      return SendOutcome::done;
    }
    default:
      return call.unsupported("message type not implemented");
  }
}

}  // namespace halogen::message
