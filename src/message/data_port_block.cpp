// Messages that move bytes in a row: OWord blocks by binding table, at 64-bit addresses, and scratch. Reads ignore the
// channel enables; writes follow them dword by dword, register k of the data belonging to channels 8k to 8k+7.
#include <array>

#include "message/parts.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

constexpr size_t kOword = 16;
constexpr size_t kMostBytes = 8 * eu::kGrfBytes;
constexpr unsigned kRegisterDwords = 8;
constexpr uint64_t kLocalMask = 0xffff;  // shared local memory has addresses of 16 bits

struct Block {
  size_t bytes = 0;
  size_t at = 0;  // in the first register: the high half for one of the two single OWords
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

// Whether dword `index` of the data is written. A send of a few channels stands for all.
bool writes(const Call& call, size_t index) {
  const unsigned width = call.message.exec_size < kRegisterDwords ? 1 : call.message.exec_size;
  return (call.message.channels >> (index % width) & 1) != 0;
}

SendOutcome move(Call& call, const MemoryTarget& target, uint64_t offset, const Block& block, bool write,
                 bool by_channel) {
  if (!write) {
    std::array<std::byte, kMostBytes> bytes;
    const std::span into = std::span(bytes).first(block.bytes);
    if (!target.read(offset, into)) {
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
      break;  // the message is too short: nobody knows what hardware writes
    }
    if (!target.write(offset + i * 4, data.subspan(at, run * 4))) {
      return SendOutcome::fault;
    }
    i += run;
  }
  return SendOutcome::done;
}

}  // namespace

SendOutcome oword_block(Call& call, bool write, bool unaligned) {
  const std::optional<Block> block = block_of(call);
  if (!block) {
    return call.unsupported("no such block size");
  }
  const uint8_t index = call.control.surface;
  const std::optional<MemoryTarget> target = target_of(call, index, HeaderBase::added);
  if (!target) {
    return SendOutcome::fault;
  }
  // The offset counts OWords, of unaligned reads bytes.
  const uint64_t given = call.header(2);
  const uint64_t offset = unaligned ? given & ~uint64_t{3} : given * kOword;
  return move(call, *target, index == kLocalMemory ? offset & kLocalMask : offset, *block, write, true);
}

SendOutcome a64_block(Call& call, bool write) {
  const std::optional<Block> block = block_of(call);
  if (!block) {
    return call.unsupported("no such block size");
  }
  const uint64_t address = call.payload.qword(0, 0);
  const MemoryTarget target = MemoryTarget::memory(*call.context.environment.space, 0);
  return move(call, target, address & ~uint64_t{3}, *block, write, true);
}

SendOutcome scratch_block(Call& call, bool write) {
  using Size = eu::MessageControl::Size;
  using Mode = eu::MessageControl::ChannelMode;
  const std::optional<MemoryTarget> target = target_of(call, kStateless, HeaderBase::added);
  const Size size = call.control.size;
  const size_t registers = size == Size::n8 ? 8 : size == Size::n4 ? 4 : size == Size::n2 ? 2 : 1;
  return move(call, *target, uint64_t{call.control.offset} * eu::kGrfBytes, {registers * eu::kGrfBytes, 0}, write,
              call.control.channel_mode == Mode::dword);
}

}  // namespace halogen::message
