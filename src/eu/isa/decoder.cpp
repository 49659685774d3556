#include "eu/isa/decoder.h"

#include <cstring>

#include "eu/isa/bits128.h"
#include "eu/isa/compaction.h"
#include "eu/isa/form_visitor.h"
#include "eu/isa/operand_decoding.h"
#include "eu/isa/tables.h"

namespace halogen::eu {

namespace {

// Decodes the fields of each kind of operation.
class Decoding : private OperandDecoding {
 public:
  using OperandDecoding::OperandDecoding;

  DecodeFault run() {
    if (row_.kind == Kind::nothing && !row_.allows(Allow::controls)) {
      out_.breakpoint = get(Field::breakpoint) != 0;
      out_.scoreboard = static_cast<uint8_t>(get(Field::scoreboard));
      return DecodeFault::none;
    }
    controls();
    visit_form(row_.kind, *this);
    clear_unused();
    return fault_;
  }

 private:
  template <class Forms>
  friend void ::halogen::eu::visit_form(Kind kind, Forms& forms);

  void two_sources() {
    condition();
    basic(row_.sources);
  }

  void wide_immediate() {
    condition();
    out_.sources = row_.sources;
    destination();
    out_.src[0].file = File::immediate;
    out_.src[0].type = Type::df;
    out_.src[0].immediate = get(Field::immediate);
  }

  void three_sources() {
    condition();
    ternary();
  }

  void basic(uint8_t sources) {
    out_.sources = sources;
    if (!row_.allows(Allow::no_dst)) {
      destination();
    }
    for (unsigned i = 0; i < sources; ++i) {
      source(i);
    }
  }

  void math() {
    const auto function = static_cast<MathFunction>(get(Field::condition));
    out_.math = function;
    if (function == MathFunction::none) {
      fail(DecodeFault::reserved_function);
    }
    if (!is_macro(function)) {
      basic(math_sources(function));
      return;
    }
    if (tables_.macro == nullptr) {
      fail(DecodeFault::reserved_function);
      return;
    }
    layout_ = tables_.macro;
    out_.sources = math_sources(function);
    macro_operand(out_.dst, kDst, Field::dst_macro);
    out_.dst.region.horizontal = kHorizontals[get(Field::dst_horizontal)];
    for (unsigned i = 0; i < out_.sources; ++i) {
      const SourceFields& fields = kSources[i];
      macro_operand(out_.src[i], fields.common, i == 0 ? Field::src0_macro : Field::src1_macro);
      if (is_immediate(fields)) {
        fail(DecodeFault::reserved_file);
      }
      out_.src[i].negate = flag(fields.negate);
      out_.src[i].absolute = flag(fields.absolute);
      out_.src[i].region = {1, 1, 0, false};
    }
  }

  void macro_operand(Operand& operand, const OperandFields& fields, Field number) {
    operand.file = file(fields.file);
    operand.type = look_up<Type>(tables_.register_type, get(fields.type), DecodeFault::reserved_type);
    operand.reg = byte(fields.reg);
    macro_number(operand, number);
  }

  void macro_number(Operand& operand, Field number) {
    operand.macro = byte(number);
    if (operand.macro > Operand::kNoMacro) {
      fail(DecodeFault::reserved_region);
    }
  }

  void sync() {
    const auto function = static_cast<SyncFunction>(get(Field::condition));
    out_.sync = function;
    if (function != SyncFunction::nop && function != SyncFunction::allrd && function != SyncFunction::allwr &&
        function != SyncFunction::bar && function != SyncFunction::host) {
      fail(DecodeFault::reserved_function);
    }
    out_.sources = 1;
    if (is_immediate(kSources[0])) {
      source(0);
    }
  }

  Type ternary_type(uint64_t code) {
    return flag(Field::exec_float) ? look_up<Type>(tables_.ternary_float_type, code, DecodeFault::reserved_type)
                                   : look_up<Type>(tables_.ternary_type, code, DecodeFault::reserved_type);
  }

  void ternary() {
    const bool groups = layout_->has(Field::src0_swizzle);
    const bool macro = row_.kind == Kind::ternary_macro;
    out_.sources = 3;
    Operand& dst = out_.dst;
    dst.file = ternary_file(Field::dst_file);
    dst.type = ternary_type(get(Field::dst_type));
    dst.reg = byte(Field::dst_reg);
    dst.sub = static_cast<uint8_t>(get(Field::dst_sub4) * 4 + get(Field::dst_sub8) * 8);
    dst.region.horizontal = flag(Field::dst_wide) ? 2 : 1;
    if (macro) {
      dst.region.horizontal = 1;
      macro_number(dst, Field::dst_macro);
    } else if (groups) {
      dst.write_mask = byte(Field::dst_mask);
    }
    for (unsigned i = 0; i < 3; ++i) {
      ternary_source(i, groups, macro);
    }
  }

  File ternary_file(Field field) {
    if (field == kNoField || !layout_->has(field)) {
      return File::grf;
    }
    return look_up<File>(tables_.ternary_file, get(field), DecodeFault::reserved_file);
  }

  bool has(Field field) const { return field != kNoField && layout_->has(field); }

  void ternary_source(unsigned index, bool groups, bool macro) {
    const TernaryFields& fields = kTernary[index];
    Operand& operand = out_.src[index];
    operand.type = ternary_type(get(layout_->has(fields.type) ? fields.type : Field::src_type));
    if (has(fields.half) && flag(fields.half)) {
      operand.type = Type::hf;
    }
    if (has(fields.immediate) && flag(fields.immediate)) {
      operand.file = File::immediate;
      operand.immediate = macro ? 0 : get(fields.value) * 0x10001;
      if (macro) {
        fail(DecodeFault::reserved_file);
      }
      return;
    }
    operand.file = ternary_file(fields.file);
    operand.negate = flag(fields.negate);
    operand.absolute = flag(fields.absolute);
    operand.reg = byte(fields.reg);
    if (macro) {
      operand.region = {1, 1, 0, false};
      macro_number(operand, fields.macro);
    } else if (groups) {
      operand.sub = static_cast<uint8_t>(get(fields.sub4) * 4);
      if (!flag(fields.replicate)) {
        operand.region.vertical = 4;
        swizzle(operand, get(fields.swizzle));
      }
    } else {
      operand.sub = byte(fields.sub);
      ternary_region(operand, fields);
    }
  }

  // Derives the region from two strides: the width is their quotient. The third source has a horizontal stride only.
  void ternary_region(Operand& operand, const TernaryFields& fields) {
    const uint8_t horizontal = kHorizontals[get(fields.horizontal)];
    if (!has(fields.vertical)) {
      operand.region = {horizontal, 1, 0, false};
      return;
    }
    operand.region.vertical = tables_.ternary_vertical[get(fields.vertical)];
    operand.region.horizontal = horizontal;
    if (horizontal != 0 && operand.region.vertical > horizontal) {
      operand.region.width = static_cast<uint8_t>(operand.region.vertical / horizontal);
    }
  }

  int32_t target(const FieldBits& field, int64_t extra) const {
    const int64_t value = sign_extend(bits_.get(field), width_of(field));
    return static_cast<int32_t>(value * layout_->unit + extra);
  }

  void targets(bool uip) {
    out_.has_jip = true;
    out_.jip = target(layout_->at(Field::jip), 0);
    if (uip) {
      out_.has_uip = true;
      out_.uip = target(layout_->at(Field::uip), 0);
    }
  }

  void branch() {
    out_.pop_count = byte(Field::pop_count);
    targets(layout_->has(Field::uip));
    if (row_.sources != 0) {
      condition();
      if (out_.condition != Condition::none) {
        out_.sources = row_.sources;
        source(0);
        source(1);
      }
    }
  }

  void diverge() {
    const bool number = is_immediate(kSources[0]) || (layout_->has(Field::src1_file) && is_immediate(kSources[1]));
    if (number) {
      targets(row_.allows(Allow::uip));
      return;
    }
    out_.sources = 1;
    target_register(0);
  }

  // Decodes a register that holds a target. Its type and region have no meaning.
  void target_register(unsigned index) {
    const OperandFields& fields = kSources[index].common;
    Operand& operand = out_.src[index];
    operand.file = file(fields.file);
    operand.reg = byte(fields.reg);
    operand.sub = byte(fields.sub);
    operand.type = Type::d;
  }

  void jump() {
    if (row_.allows(Allow::dst)) {
      out_.dst.file = file(Field::dst_file);
      out_.dst.reg = byte(Field::dst_reg);
      out_.dst.sub = byte(Field::dst_sub);
      out_.dst.type = Type::d;
      out_.dst.region.horizontal = 1;
    }
    const unsigned at = row_.sources - 1u;
    if (!is_immediate(kSources[at])) {
      out_.sources = row_.sources;
      target_register(at);
      return;
    }
    if (at == 0 && !layout_->has(Field::jip)) {
      fail(DecodeFault::reserved_file);  // ret takes a register only
      return;
    }
    const bool next = row_.op == Op::jmpi && tables_.traits.jump_from_next != 0;
    out_.has_jip = true;
    out_.jip = target(layout_->at(layout_->has(Field::jip) ? Field::jip : Field::immediate), next ? out_.size : 0);
  }

  void send() {
    out_.sources = 1;
    SendInfo& send = out_.send;
    if (tables_.traits.implied_move != 0) {
      destination();
      source(0);
      if (out_.src[0].file == File::immediate) {
        fail(DecodeFault::reserved_file);
      }
      send.message_register = byte(Field::message_register);
    } else {
      payload(out_.dst, file(Field::dst_file), Field::dst_reg);
      payload(out_.src[0], file(Field::src0_file), Field::src0_reg);
      if (out_.align16 && layout_->has(Field::dst_mask)) {
        out_.dst.write_mask = byte(Field::dst_mask);
      }
    }
    send.end_of_thread = flag(Field::end_of_thread);
    send.descriptor_in_register = !is_immediate(kSources[1]);
    if (!send.descriptor_in_register) {
      send.extended = static_cast<uint32_t>(get(Field::extended31) << 16);
    }
    if (!layout_->has(Field::descriptor)) {
      if (!send.descriptor_in_register) {
        send.function = byte(Field::function);
        send.descriptor = DescriptorBits::kFunctionControl.put(static_cast<uint32_t>(get(Field::function_control))) |
                          DescriptorBits::kHeaderPresent |
                          DescriptorBits::kResponseLength.put(static_cast<uint32_t>(get(Field::response_length))) |
                          DescriptorBits::kMessageLength.put(static_cast<uint32_t>(get(Field::message_length)));
      }
      return;
    }
    send.function = byte(Field::function);
    if (!send.descriptor_in_register) {
      send.descriptor = static_cast<uint32_t>(get(Field::descriptor));
    }
  }

  // Decodes the registers of a message: whole registers in order. Types and regions in the instruction have no meaning.
  void payload(Operand& operand, File file, Field reg) const {
    operand.file = file;
    operand.reg = byte(reg);
    operand.region = &operand == &out_.dst ? Region{0, 1, 1, false} : Region{8, 8, 1, false};
  }

  File one_bit_file(Field field) const { return !layout_->has(field) || flag(field) ? File::grf : File::arf; }

  void split_send() {
    out_.sources = 2;
    payload(out_.dst, one_bit_file(Field::dst_file), Field::dst_reg);
    payload(out_.src[0], one_bit_file(Field::src0_file), Field::src0_reg);
    payload(out_.src[1], one_bit_file(Field::src1_file), Field::src1_reg);
    SendInfo& send = out_.send;
    send.function = byte(Field::function);
    send.end_of_thread = flag(Field::end_of_thread);
    send.descriptor_in_register = flag(Field::descriptor_register);
    if (!send.descriptor_in_register) {
      send.descriptor = static_cast<uint32_t>(get(Field::descriptor));
    }
    send.extended_in_register = flag(Field::extended_register);
    if (send.extended_in_register) {
      send.extended_address_sub = byte(Field::extended_address);
    } else {
      send.extended = static_cast<uint32_t>(get(Field::extended16) << 16 | get(Field::extended9_6) << 6 |
                                            get(Field::extended6) << 6);
    }
  }
};

}  // namespace

std::string_view name_of(DecodeFault fault) {
  switch (fault) {
    case DecodeFault::none:
      return "none";
    case DecodeFault::truncated:
      return "truncated";
    case DecodeFault::unknown_opcode:
      return "unknown opcode";
    case DecodeFault::not_compactable:
      return "no compact form";
    case DecodeFault::reserved_exec_size:
      return "reserved execution size";
    case DecodeFault::reserved_file:
      return "reserved register file";
    case DecodeFault::reserved_type:
      return "reserved type";
    case DecodeFault::reserved_region:
      return "reserved region";
    case DecodeFault::reserved_predicate:
      return "reserved predicate";
    case DecodeFault::reserved_condition:
      return "reserved condition";
    case DecodeFault::reserved_function:
      return "reserved function";
  }
  return "?";
}

Decoded decode(spec::GenId gen, std::span<const std::byte> bytes) {
  Decoded out;
  Bits128 bits;
  constexpr uint32_t kCompact = 1u << 29;
  if (bytes.size() < 8) {
    out.instruction.size = 0;
    out.fault = DecodeFault::truncated;
    return out;
  }
  std::memcpy(&bits.word[0], bytes.data(), 8);
  const IsaTables& tables = isa_tables(gen);
  if ((bits.word[0] & kCompact) != 0) {
    out.instruction.size = 8;
    const std::optional<Bits128> whole = expand(gen, bits.word[0]);
    if (!whole) {
      out.fault = DecodeFault::not_compactable;
      return out;
    }
    bits = *whole;
  } else if (bytes.size() < 16) {
    out.fault = DecodeFault::truncated;
    return out;
  } else {
    std::memcpy(&bits.word[1], bytes.data() + 8, 8);
  }
  const uint16_t index = tables.rows[bits.word[0] & 0x7f];
  if (index == kNoRow) {
    out.fault = DecodeFault::unknown_opcode;
    return out;
  }
  const OpRow& row = op_rows()[index];
  out.instruction.op = row.op;
  out.fault = Decoding(tables, row, bits, out.instruction).run();
  return out;
}

const OpRow* find_op(spec::GenId gen, Op op) {
  for (const uint16_t index : isa_tables(gen).rows) {
    if (index != kNoRow && op_rows()[index].op == op) {
      return &op_rows()[index];
    }
  }
  return nullptr;
}

const OpRow* find_op(spec::GenId gen, std::string_view name) {
  for (const uint16_t index : isa_tables(gen).rows) {
    if (index != kNoRow && op_rows()[index].name == name) {
      return &op_rows()[index];
    }
  }
  return nullptr;
}

}  // namespace halogen::eu
