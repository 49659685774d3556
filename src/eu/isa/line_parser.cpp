#include "eu/isa/line_parser.h"

#include <fmt/format.h>

#include <cctype>

#include "eu/isa/messages.h"
#include "eu/isa/operand_fields.h"
#include "eu/isa/text.h"
#include "spec/device_model.h"

namespace halogen::eu {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

void LineParser::skip() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool LineParser::at_end() {
  skip();
  return at_ >= text_.size();
}

char LineParser::peek() {
  skip();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool LineParser::take(char c) {
  if (peek() != c) {
    return false;
  }
  ++at_;
  return true;
}

bool LineParser::take(std::string_view word) {
  skip();
  if (text_.substr(at_, word.size()) != word) {
    return false;
  }
  at_ += word.size();
  return true;
}

std::string LineParser::word() {
  skip();
  const size_t start = at_;
  while (at_ < text_.size() && is_word(text_[at_])) {
    ++at_;
  }
  return std::string(text_.substr(start, at_ - start));
}

bool LineParser::fail(std::string message) {
  if (error_.empty()) {
    error_ = std::move(message);
  }
  return false;
}

// Parses a decimal or hexadecimal number with an optional sign.
bool LineParser::number(int64_t& out) {
  const bool negative = take('-');
  if (!negative) {
    take('+');
  }
  const std::string digits = word();
  const bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const std::string body = hex ? digits.substr(2) : digits;
  if (body.empty() || body.size() > 20) {
    return fail(fmt::format("expected a number, not '{}'", digits));
  }
  uint64_t value = 0;
  for (const char c : body) {
    const int digit = std::isdigit(static_cast<unsigned char>(c)) != 0 ? c - '0'
                      : hex && std::isxdigit(static_cast<unsigned char>(c)) != 0
                          ? std::tolower(static_cast<unsigned char>(c)) - 'a' + 10
                          : -1;
    if (digit < 0) {
      return fail(fmt::format("'{}' is not a number", digits));
    }
    value = value * (hex ? 16 : 10) + static_cast<uint64_t>(digit);
  }
  out = static_cast<int64_t>(negative ? uint64_t{0} - value : value);
  return true;
}

Result<ParsedLine> LineParser::run() {
  const bool good = predicate() && mnemonic() && channels() && flag_target() && operands() && options();
  if (good && !at_end()) {
    fail(fmt::format("unexpected '{}'", text_.substr(at_, 20)));
  }
  if (!error_.empty()) {
    return Error{error_};
  }
  return std::move(out_);
}

bool LineParser::predicate() {
  if (!take('(')) {
    return true;
  }
  Instruction& in = out_.instruction;
  if (take('W')) {
    in.no_mask = true;
    if (take(')')) {
      return true;
    }
    if (!take('&')) {
      return fail("expected & or ) after W");
    }
  }
  in.predicate_inverse = take('~');
  in.predicate = Predicate::normal;
  if (!flag()) {
    return false;
  }
  if (take('.')) {
    const std::string how = word();
    const int value = text::value_in(text::kPredicates, how);
    if (value < 0) {
      return fail(fmt::format("unknown predicate control '{}'", how));
    }
    in.predicate = static_cast<Predicate>(value);
  }
  return take(')') || fail("expected ) after the predicate");
}

bool LineParser::flag() {
  int64_t reg = 0;
  int64_t sub = 0;
  if (!take('f') || !number(reg) || !take('.') || !number(sub) || reg < 0 || reg > 1 || sub < 0 || sub > 1) {
    return fail("expected a flag register, f0.0 to f1.1");
  }
  out_.instruction.flag = static_cast<uint8_t>(reg * 2 + sub);
  return true;
}

bool LineParser::mnemonic() {
  const std::string name = word();
  row_ = find_op(gen_, name);
  if (row_ == nullptr) {
    return fail(fmt::format("{} has no instruction '{}'", spec::name_of(gen_), name));
  }
  Instruction& in = out_.instruction;
  in.op = row_->op;
  in.sources = row_->sources;
  in.align16 = row_->kind == Kind::ternary && row_->layout->has(Field::src0_swizzle);
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    return suffix(word());
  }
  function_in_extended_ = row_->kind == Kind::send || row_->kind == Kind::split_send;
  if (row_->kind == Kind::math || row_->kind == Kind::sync) {
    return fail(fmt::format("{} needs a function: {}.NAME", name, name));
  }
  return true;
}

bool LineParser::suffix(std::string_view name) {
  Instruction& in = out_.instruction;
  int value = -1;
  switch (row_->kind) {
    case Kind::math:
      value = text::value_in(text::kMath, name);
      in.math = static_cast<MathFunction>(value);
      in.sources = math_sources(in.math);
      break;
    case Kind::sync:
      value = text::value_in(text::kSync, name);
      in.sync = static_cast<SyncFunction>(value);
      break;
    case Kind::send:
    case Kind::split_send:
      value = function_code(gen_, name);
      if (value < 0 && !name.empty() && name.size() < 3 && std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
        value = std::stoi(std::string(name));
      }
      value = value > 15 ? -1 : value;
      in.send.function = static_cast<uint8_t>(value);
      break;
    default:
      value = row_->allows(Allow::branch_control) && name == "b" ? 1 : -1;
      in.branch_control = true;
  }
  return value >= 0 || fail(fmt::format("{} has no function '{}'", row_->name, name));
}

bool LineParser::channels() {
  const size_t before = at_;
  if (!take('(')) {
    return true;
  }
  if (std::isdigit(static_cast<unsigned char>(peek())) == 0) {
    at_ = before;  // a condition or (sat)
    return true;
  }
  int64_t size = 0;
  int64_t first = 0;
  if (!number(size) || !take('|') || !take('M') || !number(first) || !take(')') || size < 1 || size > 32 || first < 0 ||
      first > 31) {
    return fail("expected the channels, as (8|M0)");
  }
  out_.instruction.exec_size = static_cast<uint8_t>(size);
  out_.instruction.first_channel = static_cast<uint8_t>(first);
  return true;
}

bool LineParser::flag_target() {
  const size_t before = at_;
  if (!take('(')) {
    return true;
  }
  const std::string name = word();
  const int value = text::value_in(text::kConditions, name);
  if (value < 0 && name != "eo") {
    at_ = before;
    return true;
  }
  if (value >= 0) {
    out_.instruction.condition = static_cast<Condition>(value);
  }
  const uint8_t old = out_.instruction.flag;
  if (!take(')') || !flag()) {
    return fail("expected a flag register after the condition");
  }
  if (out_.instruction.predicate != Predicate::none && out_.instruction.flag != old) {
    return fail("predicate and condition must use the same flag register");
  }
  return true;
}

bool LineParser::operands() {
  Instruction& in = out_.instruction;
  switch (row_->kind) {
    case Kind::nothing:
    case Kind::macro:
      return true;
    case Kind::sync:
      return take("null") || immediate(in.src[0]);
    case Kind::branch:
      if (in.condition == Condition::none) {
        in.sources = 0;
      }
      for (unsigned i = 0; i < in.sources; ++i) {
        if (!source(i)) {
          return false;
        }
      }
      return targets();
    case Kind::diverge:
    case Kind::jump: {
      if (row_->allows(Allow::dst)) {
        in.dst.type = Type::d;
        in.dst.region.horizontal = 1;
        if (!location(in.dst)) {
          return false;
        }
        set_sub(in.dst);
      }
      // A register name is followed by a dot; a label is not.
      const size_t before = at_;
      Operand operand;
      operand.type = Type::d;
      if (std::isalpha(static_cast<unsigned char>(peek())) != 0 && register_name(operand) &&
          (peek() == '.' || operand.is_null() || operand.is_arf(Arf::ip))) {
        at_ = before;
        if (!location(operand)) {
          return false;
        }
        set_sub(operand);
        in.src[row_->sources - 1u] = operand;
        return true;
      }
      at_ = before;
      error_.clear();
      in.sources = 0;
      return targets();
    }
    case Kind::send:
    case Kind::split_send:
      return send();
    case Kind::basic:
    case Kind::wide:
    case Kind::math:
    case Kind::ternary:
    case Kind::ternary_macro:
      if (!row_->allows(Allow::no_dst) && !destination()) {
        return false;
      }
      for (unsigned i = 0; i < in.sources; ++i) {
        if (!source(i)) {
          return false;
        }
      }
      return true;
  }
  return true;
}

bool LineParser::targets() {
  Instruction& in = out_.instruction;
  const bool uip = row_->kind == Kind::diverge ? row_->allows(Allow::uip) : row_->layout->has(Field::uip);
  return target(in.has_jip, in.jip, out_.jip_label) && (!uip || target(in.has_uip, in.uip, out_.uip_label));
}

bool LineParser::target(bool& has, int32_t& distance, std::string& label) {
  has = true;
  const char c = peek();
  if (c == '+' || c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0) {
    int64_t value = 0;
    if (!number(value)) {
      return false;
    }
    distance = static_cast<int32_t>(value);
    return true;
  }
  label = word();
  return !label.empty() || fail("expected a label or a distance, as +48");
}

bool LineParser::options() {
  if (!take('{')) {
    return true;
  }
  while (!take('}')) {
    if (!option()) {
      return false;
    }
    if (peek() != '}' && !take(',')) {
      return fail("expected , or } in the options");
    }
  }
  Instruction& in = out_.instruction;
  if (distance_ >= 0 && token_ >= 0) {
    in.scoreboard = static_cast<uint8_t>(0x80 | distance_ << 4 | (token_ & 15));
  } else if (distance_ >= 0 || token_ >= 0) {
    in.scoreboard = static_cast<uint8_t>(distance_ >= 0 ? distance_ : token_);
  }
  return true;
}

bool LineParser::option() {
  Instruction& in = out_.instruction;
  if (peek() == '@' || peek() == '$') {
    return scoreboard_token();
  }
  const std::string name = word();
  int64_t value = 0;
  if (name == "Align16") {
    in.align16 = true;
  } else if (name == "Compacted") {
    in.size = 8;
  } else if (name == "AccWrEn") {
    in.accumulator_write = true;
  } else if (name == "Compr") {
    in.compressed = true;
  } else if (name == "MaskCtrlEx") {
    in.mask_control_extra = true;
  } else if (name == "Atomic") {
    in.thread_control = 1;
  } else if (name == "Switch") {
    in.thread_control = 2;
  } else if (name == "ThreadCtrl3") {
    in.thread_control = 3;
  } else if (name == "NoDDClr") {
    in.no_dd_clear = true;
  } else if (name == "NoDDChk") {
    in.no_dd_check = true;
  } else if (name == "Breakpoint") {
    in.breakpoint = true;
  } else if (name == "Sat") {
    in.saturate = true;
  } else if (name == "EOT") {
    in.send.end_of_thread = true;
  } else if (name == "Pop" && take('=') && number(value)) {
    in.pop_count = static_cast<uint8_t>(value);
  } else if (name == "SWSB" && take('=') && number(value)) {
    in.scoreboard = static_cast<uint8_t>(value);
  } else {
    return fail(fmt::format("unknown option '{}'", name));
  }
  return true;
}

bool LineParser::scoreboard_token() {
  int64_t value = 0;
  if (take('@')) {
    if (!number(value) || value < 1 || value > 7) {
      return fail("expected a distance, @1 to @7");
    }
    distance_ = static_cast<int>(value);
    return true;
  }
  take('$');
  if (!number(value) || value < 0 || value > 15) {
    return fail("expected a token, $0 to $15");
  }
  const int base = take(".dst") ? 0x20 : take(".src") ? 0x30 : 0x40;
  token_ = base | static_cast<int>(value);
  return true;
}

}  // namespace halogen::eu
