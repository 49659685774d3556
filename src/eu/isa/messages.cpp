#include "eu/isa/messages.h"

#include <fmt/format.h>

#include "eu/isa/instruction.h"

namespace halogen::eu {

std::string_view function_name(spec::GenId gen, uint8_t code) {
  for (const FunctionName& function : function_names()) {
    if (function.code == code && (function.gens & spec::mask_of(gen)) != 0) {
      return function.name;
    }
  }
  return {};
}

int function_code(spec::GenId gen, std::string_view name) {
  for (const FunctionName& function : function_names()) {
    if (function.name == name && (function.gens & spec::mask_of(gen)) != 0) {
      return function.code;
    }
  }
  return -1;
}

namespace {

uint32_t bits(Piece piece, uint32_t descriptor) {
  return descriptor >> piece.low & static_cast<uint32_t>((uint64_t{1} << piece.width) - 1);
}

bool matches(const MessageLayout& layout, uint32_t descriptor) {
  for (const MessageMatch& match : layout.when) {
    if (bits(match.at, descriptor) != match.value) {
      return false;
    }
  }
  return true;
}

}  // namespace

uint32_t field_value(const MessageField& field, uint32_t descriptor) {
  return bits(field.at, descriptor);
}

const MessageLayout* find_message(spec::GenId gen, uint8_t function, uint32_t descriptor) {
  for (const MessageLayout& layout : message_layouts()) {
    if (layout.function == function && (layout.gens & spec::mask_of(gen)) != 0 && matches(layout, descriptor)) {
      return &layout;
    }
  }
  return nullptr;
}

MessageControl unpack_control(spec::GenId gen, uint8_t function, uint32_t descriptor) {
  MessageControl control;
  if (const MessageLayout* const layout = find_message(gen, function, descriptor)) {
    layout->unpack(descriptor, control);
  }
  return control;
}

std::string describe_message(spec::GenId gen, const Instruction& instruction) {
  const SendInfo& send = instruction.send;
  if (send.descriptor_in_register) {
    return "";
  }
  const uint32_t descriptor = send.descriptor;
  std::string out = fmt::format("len={}", DescriptorBits::kMessageLength.of(descriptor));
  if (instruction.sources == 2 && !send.extended_in_register) {
    out += fmt::format("+{}", ExtendedBits::kSecondLength.of(send.extended));
  }
  out += fmt::format(" ret={}", DescriptorBits::kResponseLength.of(descriptor));
  if ((descriptor & DescriptorBits::kHeaderPresent) != 0) {
    out += " header";
  }
  const MessageLayout* layout = find_message(gen, send.function, descriptor);
  if (layout == nullptr) {
    return out;
  }
  for (const MessageField& field : layout->fields) {
    const uint32_t value = field_value(field, descriptor);
    std::string_view word;
    for (const MessageWord& candidate : field.words) {
      if (candidate.value == value) {
        word = candidate.name;
      }
    }
    if (!word.empty()) {
      out += fmt::format(" {}={}", field.name, word);
    } else if (value != 0 || field.at.width > 1) {
      out += fmt::format(" {}={:#x}", field.name, value);
    }
  }
  for (const MessageFixed& fixed : layout->fixed) {
    out += fmt::format(" {}={}", fixed.name, fixed.word);
  }
  return out;
}

}  // namespace halogen::eu
