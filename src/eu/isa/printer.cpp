#include "eu/isa/printer.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <vector>

#include "eu/ir/op_traits.h"
#include "eu/isa/decoder.h"
#include "eu/isa/message_header.h"
#include "eu/isa/messages.h"
#include "eu/isa/operand_fields.h"
#include "eu/isa/tables.h"
#include "eu/isa/text.h"
#include "eu/isa/validator.h"

namespace halogen::eu {

namespace {

using Labels = std::map<int64_t, std::string>;

class Printing {
 public:
  Printing(spec::GenId gen, const OpRow& row, const Instruction& in, const Labels* labels, int64_t at)
      : gen_(gen), tables_(isa_tables(gen)), row_(row), in_(in), labels_(labels), at_(at) {}

  std::string run(bool describe) {
    if (in_.predicate != Predicate::none || in_.no_mask) {
      predicate();
    }
    out_ += row_.name;
    suffix();
    if (has_channels()) {
      out_ += fmt::format(" ({}|M{})", in_.exec_size, in_.first_channel);
    }
    flag_target();
    operands();
    options();
    if (describe && (row_.kind == Kind::send || row_.kind == Kind::split_send)) {
      const std::string text = describe_message(gen_, in_);
      if (!text.empty()) {
        out_ += "  // " + text;
      }
    }
    return std::move(out_);
  }

 private:
  bool has_channels() const {
    if (row_.kind == Kind::nothing) {
      return row_.allows(Allow::controls);
    }
    const bool scalar = row_.kind == Kind::sync || row_.op == Op::jmpi || row_.op == Op::wait;
    return !scalar || in_.exec_size != 1 || in_.first_channel != 0;
  }

  std::string flag() const { return fmt::format("f{}.{}", in_.flag / 2, in_.flag % 2); }

  void predicate() {
    out_ += '(';
    if (in_.no_mask) {
      out_ += 'W';
    }
    if (in_.predicate != Predicate::none) {
      out_ += fmt::format("{}{}{}", in_.no_mask ? "&" : "", in_.predicate_inverse ? "~" : "", flag());
      const std::string_view how = text::name_in(text::kPredicates, text::number(in_.predicate));
      if (!how.empty()) {
        out_ += fmt::format(".{}", how);
      }
    }
    out_ += ") ";
  }

  void suffix() {
    if (row_.kind == Kind::math) {
      out_ += fmt::format(".{}", text::name_in(text::kMath, text::number(in_.math)));
    } else if (row_.kind == Kind::sync) {
      out_ += fmt::format(".{}", text::name_in(text::kSync, text::number(in_.sync)));
    } else if (row_.kind == Kind::send || row_.kind == Kind::split_send) {
      const std::string_view name = function_name(gen_, in_.send.function);
      out_ += name.empty() ? fmt::format(".{}", in_.send.function) : fmt::format(".{}", name);
    } else if (in_.branch_control) {
      out_ += ".b";
    }
  }

  void flag_target() {
    if (in_.condition != Condition::none) {
      out_ += fmt::format(" ({}){}", text::name_in(text::kConditions, text::number(in_.condition)), flag());
    } else if (is_macro(in_.math)) {
      out_ += fmt::format(" (eo){}", flag());
    }
  }

  void operands() {
    switch (row_.kind) {
      case Kind::nothing:
      case Kind::macro:
        return;
      case Kind::sync:
        out_ += ' ';
        out_ += in_.src[0].file == File::immediate ? immediate(in_.src[0]) : "null";
        return;
      case Kind::branch:
        for (unsigned i = 0; i < in_.sources; ++i) {
          source(in_.src[i]);
        }
        targets();
        return;
      case Kind::diverge:
      case Kind::jump:
        if (row_.allows(Allow::dst)) {
          out_ += ' ' + location(in_.dst);
        }
        if (in_.sources != 0) {
          out_ += ' ' + location(in_.src[in_.sources - 1u]);
        }
        targets();
        return;
      case Kind::send:
      case Kind::split_send:
        send();
        return;
      case Kind::basic:
      case Kind::wide:
      case Kind::math:
      case Kind::ternary:
      case Kind::ternary_macro:
        if (!row_.allows(Allow::no_dst)) {
          destination();
        }
        for (unsigned i = 0; i < in_.sources; ++i) {
          source(in_.src[i]);
        }
        return;
    }
  }

  bool macros() const { return is_macro(in_.math) || row_.kind == Kind::ternary_macro; }

  // Returns the register without region and type.
  std::string location(const Operand& operand) const {
    if (operand.indirect) {
      const char* file = operand.file == File::mrf ? "m" : operand.file == File::arf ? "arf" : "r";
      return operand.address_offset == 0
                 ? fmt::format("{}[a0.{}]", file, operand.address_sub)
                 : fmt::format("{}[a0.{},{}]", file, operand.address_sub, operand.address_offset);
    }
    std::string out;
    if (operand.file == File::arf) {
      const auto high = static_cast<uint8_t>(operand.reg >> 4);
      std::string_view name = text::name_in(text::kArf, high);
      if (tables_.traits.halves != 0 && !text::name_in(text::kOldArf, high).empty()) {
        name = text::name_in(text::kOldArf, high);
      }
      const bool bare = (high == number(Arf::null) || high == number(Arf::ip)) && (operand.reg & 15) == 0;
      out = bare ? std::string(name) : fmt::format("{}{}", name, operand.reg & 15);
      if (bare && operand.sub == 0 && !macros()) {
        return out;
      }
    } else {
      out = fmt::format("{}{}", operand.file == File::mrf ? "m" : "r", operand.reg);
    }
    if (macros()) {
      return out + (operand.macro == Operand::kNoMacro ? ".nomme" : fmt::format(".mme{}", operand.macro));
    }
    const unsigned size = size_of(operand.type);
    return operand.sub % size == 0 ? fmt::format("{}.{}", out, operand.sub / size)
                                   : fmt::format("{}.b{}", out, operand.sub);
  }

  static uint8_t number(Arf arf) { return static_cast<uint8_t>(arf); }

  static std::string letters(uint8_t mask) {
    std::string out;
    for (unsigned i = 0; i < 4; ++i) {
      if ((mask >> i & 1) != 0) {
        out += "xyzw"[i];
      }
    }
    return out.empty() ? "_" : out;
  }

  static std::string type(Type type) { return fmt::format(":{}", text::name_in(text::kTypes, text::number(type))); }

  void destination() {
    out_ += in_.saturate ? " (sat)" : " ";
    out_ += location(in_.dst) + fmt::format("<{}>", in_.dst.region.horizontal);
    if (in_.align16) {
      out_ += "." + letters(in_.dst.write_mask);
    }
    out_ += type(in_.dst.type);
  }

  std::string immediate(const Operand& operand) const {
    const unsigned size = size_of(operand.type);
    const bool word = row_.kind == Kind::ternary || (size == 2 && operand.type != Type::v && operand.type != Type::uv);
    return fmt::format("{:#x}{}", word ? operand.immediate & 0xffff : operand.immediate, type(operand.type));
  }

  bool logic() const { return row_.op == Op::not_ || row_.op == Op::and_ || row_.op == Op::or_ || row_.op == Op::xor_; }

  void source(const Operand& operand) {
    out_ += ' ';
    if (operand.file == File::immediate) {
      out_ += immediate(operand);
      return;
    }
    if (operand.negate) {
      out_ += logic() && tables_.traits.negate_is_not != 0 ? '~' : '-';
    }
    if (operand.absolute) {
      out_ += "(abs)";
    }
    out_ += location(operand) + region(operand) + type(operand.type);
  }

  std::string region(const Operand& operand) const {
    const Region& r = operand.region;
    if (macros()) {
      return "";
    }
    if (in_.align16) {
      if (r.width == 1) {
        return ".r";
      }
      std::string out = r.vertical_by_address ? "<*>." : fmt::format("<{}>.", r.vertical);
      for (const uint8_t channel : operand.swizzle) {
        out += "xyzw"[channel & 3];
      }
      return out;
    }
    if (row_.kind == Kind::ternary) {
      return &operand == &in_.src[2] ? fmt::format("<{}>", r.vertical)
                                     : fmt::format("<{};{}>", r.vertical, r.horizontal);
    }
    if (r.vertical_by_address) {
      return fmt::format("<{},{}>", r.width, r.horizontal);
    }
    return fmt::format("<{};{},{}>", r.vertical, r.width, r.horizontal);
  }

  std::string target(int32_t distance) const {
    if (row_.allows(Allow::absolute)) {
      return fmt::format("{:#x}", static_cast<uint32_t>(distance));
    }
    if (labels_ != nullptr) {
      const auto label = labels_->find(at_ + distance);
      if (label != labels_->end()) {
        return label->second;
      }
    }
    return fmt::format("{:+}", distance);
  }

  void targets() {
    if (in_.has_jip) {
      out_ += ' ' + target(in_.jip);
    }
    if (in_.has_uip) {
      out_ += ' ' + target(in_.uip);
    }
  }

  // Prints whole registers without region and type. Generations with an implied move have full operands, with the
  // message register between them.
  void send() {
    if (tables_.traits.implied_move != 0) {
      destination();
      out_ += fmt::format(" m{}", in_.send.message_register);
      source(in_.src[0]);
    } else {
      out_ += ' ' + whole(in_.dst) + (in_.align16 ? "." + letters(in_.dst.write_mask) : "");
      for (unsigned i = 0; i < in_.sources; ++i) {
        out_ += ' ' + whole(in_.src[i]);
      }
    }
    const SendInfo& send = in_.send;
    out_ += send.extended_in_register ? fmt::format(" a0.{}", send.extended_address_sub)
                                      : fmt::format(" {:#x}", send.extended);
    out_ += send.descriptor_in_register ? " a0.0" : fmt::format(" 0x{:08x}", send.descriptor);
  }

  std::string whole(const Operand& operand) const {
    std::string out = location(operand);
    const size_t dot = out.find('.');
    return dot == std::string::npos ? out : out.substr(0, dot);
  }

  void options() {
    std::string all;
    const auto add = [&all](std::string_view word) {
      all += all.empty() ? "" : ",";
      all += word;
    };
    const std::pair<bool, std::string_view> flags[] = {
        {in_.align16 && row_.kind != Kind::ternary, "Align16"},
        {in_.size == 8, "Compacted"},
        {in_.accumulator_write, "AccWrEn"},
        {in_.compressed, "Compr"},
        {in_.mask_control_extra, "MaskCtrlEx"},
        {in_.thread_control == 1, "Atomic"},
        {in_.thread_control == 2, "Switch"},
        {in_.thread_control == 3, "ThreadCtrl3"},
        {in_.no_dd_clear, "NoDDClr"},
        {in_.no_dd_check, "NoDDChk"},
        {in_.breakpoint, "Breakpoint"},
        {in_.saturate && row_.allows(Allow::no_dst), "Sat"},
        {in_.send.end_of_thread, "EOT"},
    };
    for (const auto& [set, word] : flags) {
      if (set) {
        add(word);
      }
    }
    if (in_.pop_count != 0) {
      add(fmt::format("Pop={}", in_.pop_count));
    }
    if (in_.scoreboard != 0) {
      add(scoreboard());
    }
    if (!all.empty()) {
      out_ += " {" + all + "}";
    }
  }

  std::string scoreboard() const {
    const unsigned code = in_.scoreboard;
    const unsigned token = code & 15;
    if (code < 8) {
      return fmt::format("@{}", code);
    }
    switch (code >> 4) {
      case 2:
        return fmt::format("${}.dst", token);
      case 3:
        return fmt::format("${}.src", token);
      case 4:
        return fmt::format("${}", token);
      default:
        break;
    }
    if (code < 0x90) {
      return fmt::format("SWSB={:#x}", code);
    }
    const bool sets = row_.kind == Kind::split_send || row_.kind == Kind::math;
    return fmt::format("@{},${}{}", code >> 4 & 7, token, sets ? "" : ".dst");
  }

  spec::GenId gen_;
  const IsaTables& tables_;
  const OpRow& row_;
  const Instruction& in_;
  const Labels* labels_;
  int64_t at_;
  std::string out_;
};

std::string print_at(spec::GenId gen, const Instruction& instruction, const Labels* labels, int64_t at, bool describe) {
  const OpRow* row = find_op(gen, instruction.op);
  if (row == nullptr) {
    return fmt::format("// operation {} does not exist on this generation", static_cast<unsigned>(instruction.op));
  }
  return Printing(gen, *row, instruction, labels, at).run(describe);
}

std::string raw(std::span<const std::byte> bytes) {
  std::string out = ".bytes";
  for (const std::byte b : bytes) {
    out += fmt::format(" {:02x}", static_cast<unsigned>(b));
  }
  return out;
}

}  // namespace

std::string print(spec::GenId gen, const Instruction& instruction, bool describe) {
  return print_at(gen, instruction, nullptr, 0, describe);
}

std::string disassemble(spec::GenId gen, std::span<const std::byte> bytes, ListingOptions options) {
  struct Line {
    size_t at;
    size_t size;
    Decoded decoded;
  };
  std::vector<Line> lines;
  std::set<int64_t> starts;
  for (size_t at = 0; at < bytes.size();) {
    const Decoded decoded = decode(gen, bytes.subspan(at));
    const size_t left = bytes.size() - at;
    const size_t size = decoded.fault == DecodeFault::truncated ? left : decoded.instruction.size;
    lines.push_back({at, size, decoded});
    starts.insert(static_cast<int64_t>(at));
    at += size;
  }
  starts.insert(static_cast<int64_t>(bytes.size()));
  Labels labels;
  for (const Line& line : lines) {
    const Instruction& in = line.decoded.instruction;
    if (!line.decoded.ok() || in.op == Op::calla) {
      continue;
    }
    for (const auto& [has, distance] : {std::pair(in.has_jip, in.jip), std::pair(in.has_uip, in.uip)}) {
      const int64_t to = static_cast<int64_t>(line.at) + distance;
      if (has && starts.contains(to)) {
        labels[to] = fmt::format("L{}", to);
      }
    }
  }
  std::string out;
  for (const Line& line : lines) {
    const auto at = static_cast<int64_t>(line.at);
    if (labels.contains(at)) {
      out += labels[at] + ":\n";
    }
    if (line.decoded.ok()) {
      out += "    " + print_at(gen, line.decoded.instruction, &labels, at, true) + "\n";
      for (const Rule rule : options.rules ? validate(gen, line.decoded.instruction) : std::vector<Rule>{}) {
        out += fmt::format("    // breaks {}\n", name_of(rule));
      }
      if (options.headers && is_send(line.decoded.instruction.op)) {
        if (const std::string header = describe_header(gen, line.decoded.instruction); !header.empty()) {
          out += fmt::format("    // {}\n", header);
        }
      }
    } else {
      out += fmt::format("    {}  // {}\n", raw(bytes.subspan(line.at, line.size)), name_of(line.decoded.fault));
    }
  }
  if (labels.contains(static_cast<int64_t>(bytes.size()))) {
    out += labels[static_cast<int64_t>(bytes.size())] + ":\n";
  }
  return out;
}

}  // namespace halogen::eu
