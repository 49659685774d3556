// Parses the operands of a line of EU assembly.
#include <fmt/format.h>

#include <cctype>
#include <cstring>

#include "eu/isa/line_parser.h"
#include "eu/isa/operand_fields.h"
#include "eu/isa/text.h"

namespace halogen::eu {

namespace {

int channel_of(char c) {
  const std::string_view letters = "xyzw";
  const size_t at = letters.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

bool sign_fits(int64_t value, unsigned bits) {
  return value < 0 && value >= -(int64_t{1} << (bits - 1));
}

bool is_word_type(Type type) {
  return size_of(type) == 2 && type != Type::v && type != Type::uv;
}

}  // namespace

bool LineParser::type(Type& out) {
  if (!take(':')) {
    return fail("expected a type, as :f");
  }
  const std::string name = word();
  const int value = text::value_in(text::kTypes, name);
  if (value < 0) {
    return fail(fmt::format("unknown type '{}'", name));
  }
  out = static_cast<Type>(value);
  return true;
}

bool LineParser::register_name(Operand& operand) {
  const std::string name = word();
  size_t split = name.size();
  while (split > 0 && std::isdigit(static_cast<unsigned char>(name[split - 1])) != 0) {
    --split;
  }
  const std::string letters = name.substr(0, split);
  const std::string digits = name.substr(split);
  if (letters.empty() || digits.size() > 3) {
    return fail(fmt::format("expected a register, not '{}'", name));
  }
  const int number = digits.empty() ? 0 : std::stoi(digits);
  if ((letters == "r" || letters == "m") && !digits.empty() && number < 256) {
    operand.file = letters == "r" ? File::grf : File::mrf;
    operand.reg = static_cast<uint8_t>(number);
    return true;
  }
  int high = text::value_in(text::kArf, letters);
  if (high < 0) {
    high = text::value_in(text::kOldArf, letters);
  }
  if (high < 0 || number > 15) {
    return fail(fmt::format("unknown register '{}'", name));
  }
  operand.file = File::arf;
  operand.reg = static_cast<uint8_t>(high << 4 | number);
  return true;
}

bool LineParser::address(Operand& operand) {
  int64_t sub = 0;
  int64_t offset = 0;
  if (!take("a0.") || !number(sub) || sub < 0 || sub > 15) {
    return fail("expected an address register, a0.0 to a0.15");
  }
  if (take(',') && !number(offset)) {
    return false;
  }
  if (!take(']') || offset < -512 || offset > 511) {
    return fail("expected ] after an offset from -512 to 511");
  }
  operand.indirect = true;
  operand.address_sub = static_cast<uint8_t>(sub);
  operand.address_offset = static_cast<int16_t>(offset);
  return true;
}

bool LineParser::location(Operand& operand) {
  sub_elements_ = 0;
  for (const auto& [name, file] :
       {std::pair("r[", File::grf), std::pair("m[", File::mrf), std::pair("arf[", File::arf)}) {
    if (take(std::string_view(name))) {
      operand.file = file;
      return address(operand);
    }
  }
  return register_name(operand) && subregister(operand);
}

// Parses the subregister: ".3" counts elements of the type that follows, ".b5" counts bytes, ".mme2" is a macro
// register.
bool LineParser::subregister(Operand& operand) {
  if (at_ >= text_.size() || text_[at_] != '.') {
    return true;
  }
  const size_t before = at_;
  ++at_;
  if (take("nomme")) {
    operand.macro = Operand::kNoMacro;
    return true;
  }
  int64_t value = 0;
  if (take("mme")) {
    if (!number(value) || value < 0 || value > 7) {
      return fail("expected a macro register, mme0 to mme7");
    }
    operand.macro = static_cast<uint8_t>(value);
    return true;
  }
  if (at_ + 1 < text_.size() && text_[at_] == 'b' && std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0) {
    ++at_;
    if (!number(value) || value < 0 || value > 255) {
      return fail("expected a byte of a register, b0 to b255");
    }
    sub_elements_ = -1;
    operand.sub = static_cast<uint8_t>(value);
    return true;
  }
  if (at_ >= text_.size() || std::isdigit(static_cast<unsigned char>(text_[at_])) == 0) {
    at_ = before;  // a swizzle or write mask
    return true;
  }
  if (!number(value) || value < 0 || value > 31) {
    return fail("expected a subregister, 0 to 31");
  }
  sub_elements_ = static_cast<int>(value);
  return true;
}

// Sets Operand::sub, once the type is known.
void LineParser::set_sub(Operand& operand) const {
  if (sub_elements_ >= 0 && !operand.indirect) {
    operand.sub = static_cast<uint8_t>(static_cast<unsigned>(sub_elements_) * size_of(operand.type));
  }
}

void LineParser::write_mask() {
  if (!take('.')) {
    return;
  }
  Operand& dst = out_.instruction.dst;
  out_.instruction.align16 = true;
  dst.write_mask = 0;
  while (channel_of(peek()) >= 0) {
    dst.write_mask = static_cast<uint8_t>(dst.write_mask | 1u << channel_of(peek()));
    ++at_;
  }
  take('_');
}

bool LineParser::destination() {
  Instruction& in = out_.instruction;
  in.saturate = take("(sat)");
  Operand& dst = in.dst;
  if (!location(dst)) {
    return false;
  }
  dst.region.horizontal = 1;
  int64_t stride = 0;
  if (take('<')) {
    if (!number(stride) || !take('>') || stride < 0 || stride > 4) {
      return fail("expected the destination's stride, as <1>");
    }
    dst.region.horizontal = static_cast<uint8_t>(stride);
  }
  write_mask();
  if (!type(dst.type)) {
    return false;
  }
  set_sub(dst);
  return true;
}

bool LineParser::source(unsigned index) {
  Operand& operand = out_.instruction.src[index];
  const char first = peek();
  const size_t before = at_;
  if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
    return immediate(operand);
  }
  if (take('-')) {
    if (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      at_ = before;
      return immediate(operand);
    }
    operand.negate = true;
  } else if (take('~')) {
    operand.negate = true;
  }
  operand.absolute = take("(abs)");
  if (!location(operand) || !region(operand, index) || !type(operand.type)) {
    return false;
  }
  set_sub(operand);
  return true;
}

// Parses a region: <V;W,H>, <W,H> (addresses in registers), <V;H> and <H> (three sources), <V>.xyzw and .r (align16).
bool LineParser::region(Operand& operand, unsigned index) {
  Region& r = operand.region;
  if (row_->kind == Kind::ternary_macro || is_macro(out_.instruction.math)) {
    r = {1, 1, 0, false};
    return true;
  }
  if (!take('<')) {
    return peek() != '.' || swizzle(operand);
  }
  if (take('*')) {
    r.vertical_by_address = true;
    return take('>') && swizzle(operand);
  }
  std::array<int64_t, 3> value{};
  unsigned count = 0;
  char separators[3] = {};
  do {
    if (!number(value[count]) || value[count] < 0 || value[count] > 32) {
      return fail("expected numbers from 0 to 32 in the region");
    }
    ++count;
    separators[count - 1] = count < 3 ? (take(';') ? ';' : take(',') ? ',' : '\0') : '\0';
  } while (count < 3 && separators[count - 1] != '\0');
  if (!take('>')) {
    return fail("expected > after the region");
  }
  const auto small = [&value](unsigned i) { return static_cast<uint8_t>(value[i]); };
  if (count == 3) {
    r = {small(0), small(1), small(2), false};
  } else if (count == 2 && separators[0] == ',') {
    r = {0, small(0), small(1), true};
  } else if (count == 2) {
    r = {small(0), 1, small(1), false};
    if (r.horizontal != 0 && r.vertical > r.horizontal) {
      r.width = static_cast<uint8_t>(r.vertical / r.horizontal);
    }
  } else if (peek() == '.') {
    r.vertical = small(0);
    return swizzle(operand);
  } else if (index == 2) {
    r = {small(0), 1, 0, false};
  } else {
    return fail("expected a region of the form <V;W,H>");
  }
  return true;
}

bool LineParser::swizzle(Operand& operand) {
  if (!take('.')) {
    return fail("expected channels, as .xyzw");
  }
  out_.instruction.align16 = true;
  if (peek() == 'r') {
    ++at_;
    operand.region = {0, 1, 0, false};
    return true;
  }
  operand.region.width = 4;
  operand.region.horizontal = 1;
  for (uint8_t& channel : operand.swizzle) {
    const int value = channel_of(peek());
    if (value < 0) {
      return fail("expected four channels, as .xyzw");
    }
    channel = static_cast<uint8_t>(value);
    ++at_;
  }
  return true;
}

// Parses an immediate. A number gives the bits; with a dot or an exponent it is the value of a float.
bool LineParser::immediate(Operand& operand) {
  operand.file = File::immediate;
  skip();
  const size_t colon = text_.find(':', at_);
  const std::string body(text_.substr(at_, colon == std::string_view::npos ? 0 : colon - at_));
  const bool hex = body.find('x') != std::string::npos;
  if (!hex && body.find_first_of(".e") != std::string::npos) {
    char* end = nullptr;
    const double value = std::strtod(body.c_str(), &end);
    if (end == body.c_str() || *end != '\0') {
      return fail(fmt::format("'{}' is not a number", body));
    }
    at_ = colon;
    if (!type(operand.type)) {
      return false;
    }
    const auto single = static_cast<float>(value);
    if (operand.type == Type::f) {
      uint32_t bits = 0;
      std::memcpy(&bits, &single, 4);
      operand.immediate = bits;
    } else if (operand.type == Type::df) {
      std::memcpy(&operand.immediate, &value, 8);
    } else {
      return fail("a number with a dot or an exponent must have type f or df");
    }
    return true;
  }
  int64_t value = 0;
  if (!number(value) || !type(operand.type)) {
    return false;
  }
  const auto bits = static_cast<uint64_t>(value);
  if (row_->kind == Kind::ternary) {  // 16 bits, whatever the type
    if (bits > 0xffff && !sign_fits(value, 16)) {
      return fail("an immediate of an instruction with three sources must fit 16 bits");
    }
    operand.immediate = (bits & 0xffff) * 0x10001;
    return true;
  }
  const unsigned size = size_of(operand.type) == 2 && !is_word_type(operand.type) ? 4 : size_of(operand.type);
  if (size < 8 && bits >> (8 * size) != 0 && !sign_fits(value, 8 * size)) {
    return fail(fmt::format("the number {:#x} does not fit its type", bits));
  }
  operand.immediate = size == 8 ? bits : bits & ((uint64_t{1} << (8 * size)) - 1);
  if (is_word_type(operand.type)) {
    operand.immediate *= 0x10001;
  }
  return true;
}

bool LineParser::whole(Operand& operand, bool dst) {
  operand.region = dst ? Region{0, 1, 1, false} : Region{8, 8, 1, false};
  if (!register_name(operand)) {
    return false;
  }
  if (dst) {
    write_mask();
  }
  // IGA writes a type here, which has no meaning.
  Type ignored{};
  return peek() != ':' || type(ignored);
}

bool LineParser::descriptor(bool& in_register, uint32_t& value, uint8_t& sub) {
  int64_t bits = 0;
  if (take("a0.")) {
    in_register = true;
    if (!number(bits) || bits < 0 || bits > 7) {
      return fail("expected a dword of the address register, a0.0 to a0.7");
    }
    sub = static_cast<uint8_t>(bits);
    return true;
  }
  if (!number(bits) || bits < 0 || bits > 0xffffffff) {
    return fail("expected a descriptor of 32 bits or a0.0");
  }
  value = static_cast<uint32_t>(bits);
  return true;
}

bool LineParser::send() {
  Instruction& in = out_.instruction;
  if (tables_.traits.implied_move != 0) {
    int64_t base = 0;
    if (!destination() || !take('m') || !number(base) || base < 0 || base > 15 || !source(0)) {
      return fail("expected a destination, a message register m0 to m15 and a source");
    }
    in.send.message_register = static_cast<uint8_t>(base);
  } else {
    if (!whole(in.dst, true)) {
      return false;
    }
    for (unsigned i = 0; i < in.sources; ++i) {
      if (!whole(in.src[i], false)) {
        return false;
      }
    }
  }
  uint8_t sub = 0;
  if (!descriptor(in.send.extended_in_register, in.send.extended, in.send.extended_address_sub) ||
      !descriptor(in.send.descriptor_in_register, in.send.descriptor, sub)) {
    return false;
  }
  if (function_in_extended_) {
    if (in.send.extended_in_register) {
      return fail(fmt::format("{} needs a function: {}.NAME", row_->name, row_->name));
    }
    in.send.function = static_cast<uint8_t>(ExtendedBits::kFunction.of(in.send.extended));
    in.send.end_of_thread = (in.send.extended & ExtendedBits::kEndOfThread) != 0;
    in.send.extended &= ~uint32_t{0x3f};  // function and EOT; bit 4 is not a field
  }
  if (sub != 0) {
    return fail("a descriptor in a register must be in a0.0");
  }
  if (tables_.traits.header_always != 0 && !in.send.descriptor_in_register) {
    in.send.descriptor |= DescriptorBits::kHeaderPresent;
  }
  return true;
}

}  // namespace halogen::eu
