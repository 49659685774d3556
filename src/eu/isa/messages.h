// Names of shared functions and fields of message descriptors, from spec/eu/messages*.toml: as text, and as
// MessageControl for the executor.
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

// A field without bits: its word follows from the layout.
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

// Returns the name of a shared function. Empty: the generation has no such function.
std::string_view function_name(spec::GenId gen, uint8_t code);
// Returns the code of a shared function. -1: the generation has no such function.
int function_code(spec::GenId gen, std::string_view name);

// Returns the layout of a descriptor's bits 18:0. Null: the generation has no such function.
const MessageLayout* find_message(spec::GenId gen, uint8_t function, uint32_t descriptor);
// Returns the fields of a descriptor. SharedFunction::none: the generation has no such function.
MessageControl unpack_control(spec::GenId gen, uint8_t function, uint32_t descriptor);
uint32_t field_value(const MessageField& field, uint32_t descriptor);

// Returns a text as "len=1+0 ret=2 header type=untyped_read simd=simd16 ...". Empty: the descriptor is in a register.
std::string describe_message(spec::GenId gen, const Instruction& instruction);

}  // namespace halogen::eu
