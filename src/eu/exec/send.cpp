#include "eu/exec/send.h"

#include <algorithm>
#include <optional>

#include "eu/exec/control/flow.h"
#include "eu/exec/control/masks.h"
#include "eu/exec/general/alu.h"
#include "eu/exec/general/math.h"
#include "eu/isa/messages.h"
#include "eu/isa/operand_fields.h"

namespace halogen::eu {

namespace {

constexpr uint32_t kNotSent = ExtendedBits::kFunction.mask() | ExtendedBits::kEndOfThread;

uint32_t address_dword(const Thread& thread, unsigned dword) {
  const size_t word = (dword & 7) * 2;
  return thread.address[word] | (static_cast<uint32_t>(thread.address[word + 1]) << 16);
}

// Converts a descriptor of Gen4 and Gen4.5 to the later layout. It names the shared function too, and a header is
// always present.
void convert_short_descriptor(Message& message) {
  const uint32_t given = message.descriptor;
  message.function = static_cast<uint8_t>(Descriptor4Bits::kFunction.of(given));
  message.end_of_thread |= (given & Descriptor4Bits::kEndOfThread) != 0;
  message.descriptor = DescriptorBits::kFunctionControl.put(Descriptor4Bits::kFunctionControl.of(given)) |
                       DescriptorBits::kHeaderPresent |
                       DescriptorBits::kResponseLength.put(Descriptor4Bits::kResponseLength.of(given)) |
                       DescriptorBits::kMessageLength.put(Descriptor4Bits::kMessageLength.of(given));
}

// Returns the bytes of whole registers. No value: the file has fewer registers.
std::optional<std::span<std::byte>> registers_of(Thread& thread, File file, unsigned first, unsigned count) {
  const std::span<std::byte> bytes =
      file == File::mrf ? std::span<std::byte>(thread.mrf) : std::span<std::byte>(thread.grf);
  if ((first + count) * kGrfBytes > bytes.size()) {
    return std::nullopt;
  }
  return bytes.subspan(first * kGrfBytes, count * kGrfBytes);
}

unsigned first_register(const Thread& thread, const Operand& operand) {
  if (!operand.indirect) {
    return operand.file == File::mrf ? operand.reg & 0x7fu : operand.reg;
  }
  const int32_t address = thread.address[operand.address_sub & 15] + operand.address_offset;
  return address < 0 ? kGrfs : static_cast<unsigned>(address) / static_cast<unsigned>(kGrfBytes);
}

// Sends the second half of a compressed message to the math box (Gen4.5): the other eight channels use the next
// registers. False: those registers do not exist.
bool second_half(Thread& thread, const Instruction& in, const Message& first, const MessageControl& control,
                 const FloatMode& mode) {
  constexpr unsigned kHalf = 8;
  Message message = first;
  message.channels >>= kHalf;
  message.first_channel = static_cast<uint8_t>(first.first_channel + kHalf);
  const auto count = [](std::span<const std::byte> bytes) {
    return static_cast<unsigned>((bytes.size() + kGrfBytes - 1) / kGrfBytes);
  };
  const auto payload = registers_of(thread, File::mrf, in.send.message_register + 1u, count(first.first));
  const auto response = first.response.empty()
                            ? std::optional(std::span<std::byte>())
                            : registers_of(thread, in.dst.file == File::mrf ? File::mrf : File::grf,
                                           first_register(thread, in.dst) + 1, count(first.response));
  if (!payload || !response) {
    return false;
  }
  message.first = *payload;
  message.response = *response;
  math_box(control, message, mode);
  return true;
}

}  // namespace

Instruction implied_move_of(const Instruction& send) {
  Instruction move = send;
  move.op = Op::mov;
  move.sources = 1;
  move.saturate = false;
  if (!send.compressed) {
    const unsigned lanes_of_register = static_cast<unsigned>(kGrfBytes) / size_of(send.src[0].type);
    move.exec_size = static_cast<uint8_t>(std::min<unsigned>(move.exec_size, lanes_of_register));
  }
  move.condition = Condition::none;
  move.dst = Operand{};
  move.dst.file = File::mrf;
  move.dst.reg = send.send.message_register;
  move.dst.type = send.src[0].type;
  move.dst.region.horizontal = 1;
  return move;
}

Step execute_send(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const Instruction& in = prepared.in;
  const SendInfo& info = in.send;
  Message message;
  message.descriptor = info.descriptor_in_register ? address_dword(thread, 0) : info.descriptor;
  const uint32_t extended =
      info.extended_in_register ? address_dword(thread, info.extended_address_sub) : info.extended;
  message.function = info.function;
  message.end_of_thread = info.end_of_thread;
  if (info.extended_in_register) {
    message.function = info.function != 0 ? info.function : static_cast<uint8_t>(ExtendedBits::kFunction.of(extended));
    message.end_of_thread |= (extended & ExtendedBits::kEndOfThread) != 0;
  }
  if (info.descriptor_in_register && prepared.short_descriptor) {
    convert_short_descriptor(message);
  }
  message.extended = extended & ~kNotSent;
  message.channels = enabled_lanes(frame, prepared.lowered.mask) & predicate_lanes(thread, prepared.lowered.mask);
  message.first_channel = in.first_channel;
  message.exec_size = in.exec_size;
  if (message.channels == 0 && !message.end_of_thread) {
    return Step::next;
  }

  if (prepared.implied_move != nullptr) {
    execute_alu(frame, *prepared.implied_move);
  }
  const unsigned length = DescriptorBits::kMessageLength.of(message.descriptor);
  const unsigned response_length = DescriptorBits::kResponseLength.of(message.descriptor);
  const bool moves = prepared.sends_message_registers;
  const bool from_message_registers = moves || in.src[0].file == File::mrf;
  const unsigned first = moves ? info.message_register : first_register(thread, in.src[0]);
  const auto payload = in.src[0].is_null() && !moves
                           ? std::optional(std::span<std::byte>())
                           : registers_of(thread, from_message_registers ? File::mrf : File::grf, first, length);
  std::optional<std::span<std::byte>> second = std::span<std::byte>();
  if (in.sources >= 2 && in.src[1].file == File::grf) {
    second =
        registers_of(thread, File::grf, first_register(thread, in.src[1]), ExtendedBits::kSecondLength.of(extended));
  }
  std::optional<std::span<std::byte>> response = std::span<std::byte>();
  if (!in.dst.is_null() && response_length != 0) {
    response = registers_of(thread, in.dst.file == File::mrf ? File::mrf : File::grf, first_register(thread, in.dst),
                            response_length);
  }
  if (!payload || !second || !response) {
    return illegal_instruction(frame, prepared);
  }
  message.first = *payload;
  message.second = *second;
  message.response = *response;

  const MessageControl control =
      moves ? unpack_control(frame.gen, message.function, message.descriptor) : MessageControl{};
  const bool math = control.function == SharedFunction::math;
  // An align16 write mask also disables components of messages that write memory (scratch, for example) and of
  // responses of the math box.
  if (in.align16 && !message.end_of_thread &&
      (response_length == 0 || control.function == SharedFunction::dpwr || math)) {
    constexpr uint32_t kEveryVector = 0x1111'1111;
    message.channels &= in.dst.write_mask * kEveryVector;
  }
  if (math && !in.align16 && !in.dst.indirect && in.dst.sub < message.response.size()) {
    message.response = message.response.subspan(in.dst.sub);
  }
  if (math && in.compressed && !second_half(thread, in, message, control, frame.mode)) {
    return illegal_instruction(frame, prepared);
  }
  const SendOutcome outcome = math ? math_box(control, message, frame.mode) : frame.target.send(thread, message);
  switch (outcome) {
    case SendOutcome::done:
      break;
    case SendOutcome::blocked:
      thread.status = ThreadStatus::blocked;
      return Step::stop;
    case SendOutcome::fault:
      thread.status = ThreadStatus::faulted;
      return Step::stop;
  }
  if (message.end_of_thread) {
    thread.status = ThreadStatus::ended;
    return Step::stop;
  }
  return Step::next;
}

namespace {

Step take_notification(Thread& thread, size_t which) {
  uint32_t& count = thread.notification[which % 3];
  if (count == 0) {
    thread.status = ThreadStatus::blocked;
    return Step::stop;
  }
  --count;
  return Step::next;
}

}  // namespace

Step execute_wait(Frame& frame, const Prepared& prepared) {
  // Compilers name the notification register as destination and as source.
  const Operand& named = prepared.in.src[0].is_arf(Arf::notification) ? prepared.in.src[0] : prepared.in.dst;
  return take_notification(frame.thread, named.sub / 4);
}

Step execute_sync(Frame& frame, const Prepared& prepared) {
  switch (prepared.in.sync) {
    case SyncFunction::bar:
      return take_notification(frame.thread, 0);
    case SyncFunction::host:
      return take_notification(frame.thread, 1);
    case SyncFunction::nop:
    case SyncFunction::allrd:
    case SyncFunction::allwr:
      break;  // instructions execute in order, so every dependency is met
  }
  return Step::next;
}

}  // namespace halogen::eu
