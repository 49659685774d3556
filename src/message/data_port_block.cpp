// Messages that move consecutive bytes: OWord blocks by binding table, at 64-bit addresses, and scratch; and two blocks
// for the two halves of registers. Reads ignore the channel enables. Writes apply them dword by dword: register k of
// the data belongs to channels 8k to 8k+7.
#include <array>

#include "message/call.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

constexpr size_t kOword = 16;
constexpr size_t kMaxBytes = 8 * eu::kGrfBytes;
constexpr unsigned kRegisterDwords = 8;
constexpr uint64_t kLocalMask = 0xffff;  // addresses in shared local memory have 16 bits

struct Block {
  size_t bytes = 0;
  size_t at = 0;  // offset in the first register: 16 for a single OWord in the high half
};

std::optional<Block> block_of(const Call& call) {
  using Owords = eu::MessageControl::Owords;
  switch (call.control.owords) {
    case Owords::n1_low:
      return Block{kOword, 0};
    case Owords::n1_high:
      return Block{kOword, kOword};
    case Owords::n2:
      return Block{2 * kOword, 0};
    case Owords::n4:
      return Block{4 * kOword, 0};
    case Owords::n8:
      return Block{8 * kOword, 0};
    case Owords::n16:
      return Block{16 * kOword, 0};
    case Owords::other:
      break;
  }
  return std::nullopt;
}

// Returns whether dword `index` of the data is written. For fewer than eight channels, channel 0 decides for all
// dwords.
bool writes(const Call& call, size_t index) {
  const unsigned width = call.message.exec_size < kRegisterDwords ? 1 : call.message.exec_size;
  return (call.message.channels >> (index % width) & 1) != 0;
}

// Returns a byte offset. The message counts OWords, or bytes on the first generations.
uint64_t oword_offset(const Call& call, uint64_t given) {
  return call.context.rules->block_offset_bytes ? given & ~uint64_t{kOword - 1} : given * kOword;
}

SendOutcome move(Call& call, const MemoryTarget& target, uint64_t offset, const Block& block, Direction direction,
                 bool by_channel) {
  if (direction == Direction::read) {
    std::array<std::byte, kMaxBytes> bytes;
    const std::span into = std::span(bytes).first(block.bytes);
    if (!ok(target.read(offset, into))) {
      return SendOutcome::fault;
    }
    call.response.put_bytes(block.at, into);
    return SendOutcome::done;
  }
  const std::span<const std::byte> data = call.payload.from(call.data);
  const size_t first = block.at / 4;
  const size_t count = block.bytes / 4;
  for (size_t i = 0; i < count;) {
    if (by_channel && !writes(call, first + i)) {
      ++i;
      continue;
    }
    size_t run = 1;
    while (i + run < count && (!by_channel || writes(call, first + i + run))) {
      ++run;
    }
    const size_t at = (first + i) * 4;
    if (at + run * 4 > data.size()) {
      break;  // the message is too short; the hardware result is not published
    }
    if (!ok(target.write(offset + i * 4, data.subspan(at, run * 4)))) {
      return SendOutcome::fault;
    }
    i += run;
  }
  return SendOutcome::done;
}

}  // namespace

SendOutcome oword_block(Call& call, Direction direction, bool unaligned) {
  const std::optional<Block> block = block_of(call);
  if (!block) {
    return call.unsupported("undefined block size");
  }
  const uint8_t index = call.control.surface;
  const std::optional<MemoryTarget> target = target_of(call, index, HeaderBase::added);
  if (!target) {
    return SendOutcome::fault;
  }
  // Unaligned reads count bytes.
  const uint64_t given = call.header<hw::DATA_PORT_HEADER>().offset;
  const uint64_t offset = unaligned ? given & ~uint64_t{3} : oword_offset(call, given);
  const bool local = call.binding(index) == Binding::local_memory;
  return move(call, *target, local ? offset & kLocalMask : offset, *block, direction, true);
}

// Moves two blocks: the low halves of the registers belong to the first block, the high halves to the second. Disabled
// channels are written neither to memory nor to the response.
SendOutcome dual_block(Call& call, Direction direction) {
  using Count = eu::MessageControl::DualOwords;
  if (call.control.dual_owords == Count::other) {
    return call.unsupported("undefined block size");
  }
  const std::optional<MemoryTarget> target = target_of(call, call.control.surface, HeaderBase::added);
  if (!target) {
    return SendOutcome::fault;
  }
  const size_t registers = call.control.dual_owords == Count::n4 ? 4 : 1;
  const std::span<const std::byte> data = call.payload.from(call.data + 1);
  for (size_t half = 0; half < 2; ++half) {
    const uint64_t first = oword_offset(call, call.payload.dword(call.data, half * 4));
    for (size_t reg = 0; reg < registers; ++reg) {
      for (size_t dword = 0; dword < 4; ++dword) {
        if (!writes(call, half * 4 + dword)) {
          continue;
        }
        const uint64_t offset = first + reg * kOword + dword * 4;
        const size_t at = reg * eu::kGrfBytes + half * kOword + dword * 4;
        std::array<std::byte, 4> bytes{};
        if (direction == Direction::write) {
          if (at + 4 <= data.size() && !ok(target->write(offset, data.subspan(at, 4)))) {
            return SendOutcome::fault;
          }
        } else {
          if (!ok(target->read(offset, bytes))) {
            return SendOutcome::fault;
          }
          call.response.put_bytes(at, bytes);
        }
      }
    }
  }
  return SendOutcome::done;
}

SendOutcome a64_block(Call& call, Direction direction) {
  const std::optional<Block> block = block_of(call);
  if (!block) {
    return call.unsupported("undefined block size");
  }
  const uint64_t address = call.payload.qword(0, 0);
  const MemoryTarget target = MemoryTarget::memory(*call.context.environment.space, 0, call.touched);
  return move(call, target, address & ~uint64_t{3}, *block, direction, true);
}

SendOutcome scratch_block(Call& call, Direction direction) {
  using Size = eu::MessageControl::Size;
  using Mode = eu::MessageControl::ChannelMode;
  const MemoryTarget target = stateless_memory(call, HeaderBase::added);
  const Size size = call.control.size;
  const size_t registers = size == Size::n8 ? 8 : size == Size::n4 ? 4 : size == Size::n2 ? 2 : 1;
  return move(call, target, uint64_t{call.control.offset} * eu::kGrfBytes, {registers * eu::kGrfBytes, 0}, direction,
              call.control.channel_mode == Mode::dword);
}

}  // namespace halogen::message
