#include "pipe3d/urb_messages.h"

#include <bit>

#include "base/bits.h"
#include "message/payload.h"

namespace halogen::pipe3d {
namespace {

constexpr unsigned kLanes = 8;
constexpr uint32_t kSimd8Write = 7;
constexpr uint32_t kSimd8Read = 8;

// Fields of the descriptor, Gen8 and later.
struct Fields {
  uint32_t operation;
  uint32_t offset;
  bool masks;
  bool offsets;
};

Fields fields_of(uint32_t descriptor) {
  return {descriptor & 0xf, descriptor >> 4 & 0x7ff, (descriptor >> 15 & 1) != 0, (descriptor >> 17 & 1) != 0};
}

std::span<Urb::Slot> entry_of(uint32_t handle, Urb* input, Urb& output) {
  if ((handle & kInputHandles) != 0) {
    return input != nullptr ? input->entry(handle & ~kInputHandles) : std::span<Urb::Slot>();
  }
  return output.entry(handle);
}

}  // namespace

eu::SendOutcome send_to_urb(eu::Thread& /*thread*/, const eu::Message& message, Urb* input, Urb& output) {
  const Fields fields = fields_of(message.descriptor);
  const message::Payload payload(message);
  message::Response response(message.response);
  size_t next = 1;
  const size_t offsets = fields.offsets ? next++ : 0;
  const size_t masks = fields.operation == kSimd8Write && fields.masks ? next++ : 0;
  const size_t registers = (message.first.size() + message.second.size()) / eu::kGrfBytes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!bit(message.channels, lane)) {
      continue;
    }
    const std::span<Urb::Slot> entry = entry_of(payload.dword(0, lane), input, output);
    const uint64_t first = fields.offset + (offsets != 0 ? uint64_t{payload.dword(offsets, lane)} : 0);
    if (fields.operation == kSimd8Write) {
      const uint32_t mask = masks != 0 ? payload.dword(masks, lane) >> 16 & 0xff : 0xff;
      for (size_t k = 0; next + k < registers; ++k) {
        const uint64_t slot = first + k / 4;
        if (slot < entry.size() && bit(mask, k % 8)) {
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
  return eu::SendOutcome::done;
}

}  // namespace halogen::pipe3d
