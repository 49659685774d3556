#include "pipe3d/urb_messages.h"

#include <bit>

#include "base/bits.h"
#include "message/payload.h"

namespace halogen::pipe3d {
namespace {

using Type = eu::MessageControl::Type;

constexpr unsigned kLanes = 8;

std::span<Urb::Slot> entry_of(uint32_t handle, Urb* input, Urb& output) {
  if ((handle & kInputHandles) != 0) {
    return input != nullptr ? input->entry(handle & ~kInputHandles) : std::span<Urb::Slot>();
  }
  return output.entry(handle);
}

void send_simd8(const eu::Message& message, const eu::MessageControl& control, Urb* input, Urb& output) {
  const message::Payload payload(message);
  message::Response response(message.response);
  const bool write = control.type == Type::urb_simd8_write;
  size_t next = 1;
  const size_t offsets = control.per_slot_offset ? next++ : 0;
  const size_t masks = write && control.channel_mask ? next++ : 0;
  const size_t registers = (message.first.size() + message.second.size()) / eu::kGrfBytes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!bit(message.channels, lane)) {
      continue;
    }
    const std::span<Urb::Slot> entry = entry_of(payload.dword(0, lane), input, output);
    const uint64_t first = control.offset + (offsets != 0 ? uint64_t{payload.dword(offsets, lane)} : 0);
    if (write) {
      const uint32_t mask = masks != 0 ? payload.dword(masks, lane) >> 16 & 0xff : 0xff;
      for (size_t k = 0; next + k < registers; ++k) {
        const uint64_t slot = first + k / 4;
        if (slot < entry.size() && (mask >> k % 8 & 1) != 0) {
          entry[slot][k % 4] = payload.dword(next + k, lane);
        }
      }
    } else {
      for (size_t k = 0; k < response.registers(); ++k) {
        const uint64_t slot = first + k / 4;
        response.put_dword(k, lane, slot < entry.size() ? entry[slot][k % 4] : 0);
      }
    }
  }
}

}  // namespace

bool send_to_urb(const eu::Message& message, const eu::MessageControl& control, Urb* input, Urb& output) {
  switch (control.type) {
    case Type::urb_simd8_write:
    case Type::urb_simd8_read:
      send_simd8(message, control, input, output);
      return true;
    default:
      return false;
  }
}

}  // namespace halogen::pipe3d
