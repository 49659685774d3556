#include "eu/isa/message_header.h"

#include <fmt/format.h>

#include "eu/isa/messages.h"
#include "eu/isa/tables.h"
#include "spec/register_layout.h"

namespace halogen::eu {

const spec::MessageHeaderDesc* message_header(spec::GenId gen, uint8_t function, uint32_t descriptor) {
  if ((descriptor & DescriptorBits::kHeaderPresent) == 0) {
    return nullptr;
  }
  const MessageControl control = unpack_control(gen, function, descriptor);
  return spec::find_message_header(gen, function_name(gen, function), type_name(static_cast<unsigned>(control.type)));
}

std::string describe_header(spec::GenId gen, const Instruction& instruction) {
  const SendInfo& send = instruction.send;
  const Operand& source = instruction.src[0];
  const bool moved = isa_tables(gen).traits.implied_move != 0;  // the message is in message registers
  if (send.descriptor_in_register || (!moved && source.indirect)) {
    return {};
  }
  const spec::MessageHeaderDesc* const header = message_header(gen, send.function, send.descriptor);
  if (header == nullptr) {
    return {};
  }
  const bool in_message_registers = moved || source.file == File::mrf;
  const unsigned first = moved ? send.message_register : source.reg & (in_message_registers ? 0x7fu : 0xffu);
  std::string out = fmt::format("{}:", header->name);
  const unsigned dwords = header->dwords_of_gen[static_cast<size_t>(gen)];
  for (const spec::RegisterField& field :
       spec::register_fields(*header, gen, dwords, in_message_registers ? 'm' : 'r', first * spec::kRegisterDwords)) {
    out += fmt::format("{} {} {}", out.back() == ':' ? "" : ",", field.at, field.name);
  }
  return out;
}

}  // namespace halogen::eu
