// Shared functions by name, and what the bits of a message descriptor mean, from spec/eu/messages*.toml: as text, and
// as MessageControl for what executes messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "eu/isa/tables.h"
#include "eu/message_fields.h"

namespace halogen::eu {

struct FunctionName {
  std::string_view name;
  SharedFunction function;
  uint8_t code;
  spec::GenMask gens;
};

struct MessageWord {
  std::string_view name;
  uint32_t value;
};

struct MessageField {
  std::string_view name;
  Piece at;
  std::span<const MessageWord> words;
};

struct MessageMatch {
  Piece at;
  uint32_t value;
};

// A field that has no bits: the layout says its word.
struct MessageFixed {
  std::string_view name;
  std::string_view word;
};

struct MessageLayout {
  std::string_view name;
  uint8_t function;
  spec::GenMask gens;
  std::span<const MessageMatch> when;
  std::span<const MessageField> fields;
  std::span<const MessageFixed> fixed;
  void (*unpack)(uint32_t descriptor, MessageControl& control);
};

std::span<const FunctionName> function_names();
std::span<const MessageLayout> message_layouts();

// Empty when the generation has no such function.
std::string_view function_name(spec::GenId gen, uint8_t code);
// -1 when the generation has no such function.
int function_code(spec::GenId gen, std::string_view name);

// How a descriptor's bits 18:0 are laid out; null when the generation has no such function.
const MessageLayout* find_message(spec::GenId gen, uint8_t function, uint32_t descriptor);
// What a descriptor asks of a function; SharedFunction::none when the generation has no such function.
MessageControl unpack_control(spec::GenId gen, uint8_t function, uint32_t descriptor);
uint32_t field_value(const MessageField& field, uint32_t descriptor);

// "len=1+0 ret=2 header type=untyped_read simd=simd16 ..."; empty when the descriptor is in a register.
std::string describe_message(spec::GenId gen, const Instruction& instruction);

}  // namespace halogen::eu
