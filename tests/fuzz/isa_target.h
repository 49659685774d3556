// Decodes any word of any generation: decoder, encoder, printer and assembler must agree with each other. Assembles any
// text. The first byte chooses the generation, the second whether the rest is code or text.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/check.h"
#include "eu/isa/assembler.h"
#include "eu/isa/decoder.h"
#include "eu/isa/encoder.h"
#include "eu/isa/printer.h"
#include "eu/isa/validator.h"

namespace halogen::fuzz {

inline void isa_words(spec::GenId gen, std::span<const std::byte> code) {
  const eu::Decoded first = eu::decode(gen, code);
  if (!first.ok()) return;
  static_cast<void>(eu::validate(gen, first.instruction));
  eu::Instruction native = first.instruction;
  native.size = 16;
  const auto bits = eu::encode(gen, native);
  halogen::check(bits.ok(), "a decoded instruction can be encoded");
  std::byte bytes[16];
  std::memcpy(bytes, bits->word, 16);
  const eu::Decoded second = eu::decode(gen, bytes);
  halogen::check(second.ok() && second.instruction == native, "encoding keeps the meaning");
  const auto read = eu::assemble_line(gen, eu::print(gen, first.instruction, true));
  halogen::check(read.ok() && *read == first.instruction, "the text keeps the meaning");
}

inline void isa(std::span<const uint8_t> data) {
  if (data.size() < 2) return;
  const auto gen = static_cast<spec::GenId>(data[0] % spec::kGenCount);
  const auto rest = std::as_bytes(data.subspan(2));
  if (data[1] % 2 == 0) {
    isa_words(gen, rest);
    static_cast<void>(eu::disassemble(gen, rest, {.rules = true, .headers = true}));
    return;
  }
  const auto code = eu::assemble(gen, {reinterpret_cast<const char*>(rest.data()), rest.size()});
  if (code.ok()) static_cast<void>(eu::disassemble(gen, *code));
}

}  // namespace halogen::fuzz
