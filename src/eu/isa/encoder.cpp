#include "eu/isa/encoder.h"

#include <fmt/format.h>

#include <cstring>

#include "eu/isa/compaction.h"
#include "eu/isa/form_visitor.h"
#include "eu/isa/operand_encoding.h"
#include "eu/isa/tables.h"
#include "spec/device_model.h"

namespace halogen::eu {

namespace {

// Encodes the fields of each kind of operation.
class Encoding : private OperandEncoding {
 public:
  using OperandEncoding::OperandEncoding;

  Result<Bits128> run() {
    choose_layout();
    for (const FixedBits& fixed : layout_->fixed) {
      bits_.set(fixed.bits, fixed.value);
    }
    put(Field::opcode, row_.code, "opcode");
    if (row_.kind == Kind::nothing && !row_.allows(Allow::controls)) {
      put(Field::breakpoint, in_.breakpoint, "breakpoint");
      put(Field::scoreboard, in_.scoreboard, "scoreboard");
      return finish();
    }
    controls();
    visit_form(row_.kind, *this);
    return finish();
  }

 private:
  Result<Bits128> finish() const {
    if (!error_.empty()) {
      return Error{fmt::format("{} on {}: {}", row_.name, spec::name_of(gen_), error_)};
    }
    return bits_;
  }

  void choose_layout() {
    if (row_.kind == Kind::math && is_macro(in_.math)) {
      layout_ = tables_.macro;
    } else if (row_.kind == Kind::basic && in_.sources == 1 && in_.src[0].file == File::immediate &&
               size_of(in_.src[0].type) == 8) {
      layout_ = tables_.wide;
    }
    if (layout_ == nullptr) {
      fail("form not supported");
      layout_ = row_.layout;
    }
  }

  template <class Forms>
  friend void ::halogen::eu::visit_form(Kind kind, Forms& forms);

  void condition() { put(Field::condition, static_cast<uint64_t>(in_.condition), "condition"); }

  void two_sources() {
    condition();
    expect_sources(row_.sources);
    basic();
  }

  void wide_immediate() {
    condition();
    destination();
    put(Field::src0_file, code_of(tables_.file, File::immediate, "file"), "file");
    put(Field::src0_type, code_of(tables_.register_type, Type::df, "type"), "type");
    put(Field::immediate, in_.src[0].immediate, "immediate");
  }

  void math() {
    put(Field::condition, static_cast<uint64_t>(in_.math), "function");
    expect_sources(math_sources(in_.math));
    if (is_macro(in_.math)) {
      macro();
    } else {
      basic();
    }
  }

  void sync() {
    put(Field::condition, static_cast<uint64_t>(in_.sync), "function");
    put(Field::dst_horizontal, 1, "stride");
    if (in_.src[0].file == File::immediate) {
      source(0);
    }
  }

  void three_sources() {
    condition();
    expect_sources(3);
    ternary();
  }

  void basic() {
    if (!row_.allows(Allow::no_dst)) {
      destination();
    }
    for (unsigned i = 0; i < in_.sources && i < 2; ++i) {
      source(i);
    }
  }

  void macro_operand(const Operand& operand, const OperandFields& fields, Field number) {
    put(fields.file, code_of(tables_.file, operand.file, "file"), "file");
    put(fields.type, code_of(tables_.register_type, operand.type, "type"), "type");
    put(fields.reg, operand.reg, "register");
    put(number, operand.macro, "macro register");
  }

  void macro() {
    macro_operand(in_.dst, kDst, Field::dst_macro);
    put(Field::dst_horizontal, code_of(kHorizontals, in_.dst.region.horizontal, "stride"), "stride");
    for (unsigned i = 0; i < in_.sources && i < 2; ++i) {
      const SourceFields& fields = kSources[i];
      const Operand& operand = in_.src[i];
      macro_operand(operand, fields.common, i == 0 ? Field::src0_macro : Field::src1_macro);
      put(fields.negate, operand.negate, "negate");
      put(fields.absolute, operand.absolute, "abs");
      put(fields.vertical, layout_->has(fields.width) ? 1 : 3, "vertical stride");
    }
  }

  // Returns the code of a three-source type.
  uint64_t ternary_type(Type type) {
    const bool is_float = type == Type::hf || type == Type::f || type == Type::df || type == Type::nf;
    return layout_->has(Field::exec_float) && is_float ? code_of(tables_.ternary_float_type, type, "type")
                                                       : code_of(tables_.ternary_type, type, "type");
  }

  bool has(Field field) const { return field != kNoField && layout_->has(field); }

  void ternary_file(const Operand& operand, Field field) {
    if (has(field)) {
      put(field, code_of(tables_.ternary_file, operand.file, "file"), "file");
    } else if (operand.file != File::grf) {
      fail("the operand must be a general register");
    }
  }

  void ternary() {
    const bool macro = row_.kind == Kind::ternary_macro;
    const bool groups = layout_->has(Field::src0_swizzle);
    const Operand& dst = in_.dst;
    if (in_.align16 != groups) {
      fail(groups ? "must be align16" : "must be align1");
    }
    const Type type = dst.type;
    put(Field::exec_float,
        layout_->has(Field::exec_float) &&
            (type == Type::hf || type == Type::f || type == Type::df || type == Type::nf),
        "type");
    ternary_file(dst, Field::dst_file);
    put(Field::dst_type, ternary_type(type), "type");
    put(Field::dst_reg, dst.reg, "register");
    if (macro) {
      put(Field::dst_macro, dst.macro, "macro register");
    } else if (groups) {
      put(Field::dst_mask, dst.write_mask, "write mask");
      put_sub(Field::dst_sub4, dst.sub, 4);
    } else {
      put_sub(Field::dst_sub8, dst.sub, 8);
      put(Field::dst_wide, dst.region.horizontal == 2, "stride");
    }
    if (dst.region.horizontal != 1 && (groups || macro || dst.region.horizontal != 2)) {
      fail("destination stride not supported");
    }
    for (unsigned i = 0; i < 3; ++i) {
      ternary_source(i, groups, macro);
    }
  }

  void put_sub(Field field, uint8_t sub, uint8_t unit) {
    if (sub % unit != 0) {
      fail(fmt::format("the subregister must be a multiple of {} bytes", unit));
    }
    put(field, sub / unit, "subregister");
  }

  void ternary_source(unsigned index, bool groups, bool macro) {
    const TernaryFields& fields = kTernary[index];
    const Operand& operand = in_.src[index];
    ternary_source_type(fields, operand);
    if (operand.file == File::immediate) {
      if (!has(fields.immediate) || macro) {
        fail("this source cannot be an immediate");
        return;
      }
      put(fields.immediate, 1, "immediate");
      put(fields.value, operand.immediate & 0xffff, "immediate");
      return;
    }
    ternary_file(operand, fields.file);
    if (operand.indirect) {
      fail("this source cannot be indirect");
    }
    put(fields.negate, operand.negate, "negate");
    put(fields.absolute, operand.absolute, "abs");
    put(fields.reg, operand.reg, "register");
    if (macro) {
      put(fields.macro, operand.macro, "macro register");
    } else if (groups) {
      put_sub(fields.sub4, operand.sub, 4);
      const bool scalar = operand.region.width == 1;
      if (!scalar && operand.region != Region{4, 4, 1, false}) {
        fail("a source must be a group of four channels or a scalar");
      }
      put(fields.replicate, scalar, "replicate");
      put(fields.swizzle, scalar ? 0 : swizzle_code(operand), "swizzle");
    } else {
      put(fields.sub, operand.sub, "subregister");
      ternary_region(fields, operand.region);
    }
  }

  void ternary_source_type(const TernaryFields& fields, const Operand& operand) {
    if (layout_->has(fields.type)) {
      put(fields.type, ternary_type(operand.type), "type");
    } else if (has(fields.half) && operand.type == Type::hf && in_.src[0].type != Type::hf) {
      put(fields.half, 1, "half float");
    } else {
      if (operand.type != in_.src[0].type) {
        fail("sources must have the same type");
      }
      put(Field::src_type, ternary_type(operand.type), "type");
    }
  }

  void ternary_region(const TernaryFields& fields, const Region& region) {
    if (!has(fields.vertical)) {
      // <h;1,0>, or a region with a constant stride
      const uint8_t stride = region.width == 1 ? region.vertical : region.horizontal;
      if (region.width != 1 && region.vertical != region.width * region.horizontal) {
        fail("the third source must have a constant stride");
      }
      put(fields.horizontal, code_of(kHorizontals, stride, "stride"), "stride");
      return;
    }
    put(fields.vertical, code_of(tables_.ternary_vertical, region.vertical, "vertical stride"), "vertical stride");
    put(fields.horizontal, code_of(kHorizontals, region.horizontal, "horizontal stride"), "horizontal stride");
    const bool rows = region.horizontal != 0 && region.vertical > region.horizontal;
    if (region.width != (rows ? region.vertical / region.horizontal : 1)) {
      fail("the width must be the quotient of the strides");
    }
  }

  void target(Field field, int32_t bytes, int64_t base) {
    const int64_t distance = int64_t{bytes} - base;
    if (distance % layout_->unit != 0) {
      fail(fmt::format("a target must be a multiple of {} bytes away", layout_->unit));
    }
    put_signed(layout_->at(field), distance / layout_->unit, "target");
  }

  void targets(bool uip) {
    if (!in_.has_jip || in_.has_uip != uip) {
      fail(uip ? "needs two targets" : "needs one target");
      return;
    }
    target(Field::jip, in_.jip, 0);
    if (uip) {
      target(Field::uip, in_.uip, 0);
    }
  }

  void branch() {
    put(Field::pop_count, in_.pop_count, "pop count");
    put(Field::condition, static_cast<uint64_t>(in_.condition), "condition");
    targets(layout_->has(Field::uip));
    if (in_.sources != 0) {
      expect_sources(row_.sources);
      if (error_.empty()) {
        source(0);
        source(1);
      }
    }
  }

  void number() {
    if (layout_->has(Field::src0_immediate)) {
      put(Field::src0_immediate, 1, "immediate");
    } else {
      put(Field::src0_file, code_of(tables_.file, File::immediate, "file"), "file");
      put(Field::src0_type, code_of(tables_.immediate_type, Type::d, "type"), "type");
    }
  }

  void target_register(unsigned index) {
    const OperandFields& fields = kSources[index].common;
    const Operand& operand = in_.src[index];
    put(fields.file, code_of(tables_.file, operand.file, "file"), "file");
    put(fields.reg, operand.reg, "register");
    put(fields.sub, operand.sub, "subregister");
    put(fields.type, code_of(tables_.register_type, Type::d, "type"), "type");
  }

  void diverge() {
    if (in_.sources == 0) {
      number();
      put(Field::src1_immediate, layout_->has(Field::src1_immediate) && row_.allows(Allow::uip), "immediate");
      targets(row_.allows(Allow::uip));
      return;
    }
    expect_sources(1);
    target_register(0);
  }

  void jump() {
    if (row_.allows(Allow::dst)) {
      put(Field::dst_file, code_of(tables_.file, in_.dst.file, "file"), "file");
      put(Field::dst_reg, in_.dst.reg, "register");
      put(Field::dst_sub, in_.dst.sub, "subregister");
      put(Field::dst_type, code_of(tables_.register_type, Type::d, "type"), "type");
      put(Field::dst_horizontal, 1, "stride");
    } else if (row_.sources == 2) {
      // Destination and first source are the instruction pointer; the second source is added to it.
      put(Field::dst_reg, 0xa0, "register");
      put(Field::dst_horizontal, 1, "stride");
      put(Field::src0_reg, 0xa0, "register");
    }
    const unsigned at = row_.sources - 1u;
    if (in_.sources != 0) {
      expect_sources(row_.sources);
      target_register(at);
      return;
    }
    const bool next = row_.op == Op::jmpi && tables_.traits.jump_from_next != 0;
    if (!in_.has_jip) {
      fail("needs a target");
    }
    if (layout_->has(Field::jip)) {
      number();
      target(Field::jip, in_.jip, 0);
    } else {
      const OperandFields& fields = kSources[at].common;
      put(fields.file, code_of(tables_.file, File::immediate, "file"), "file");
      put(fields.type, code_of(tables_.immediate_type, Type::d, "type"), "type");
      target(Field::immediate, in_.jip, next ? in_.size : 0);
    }
  }

  void payload(const Operand& operand, Field file, Field reg) {
    if (width_of(layout_->at(file)) == 1) {
      put(file, operand.file == File::grf, "file");
    } else if (layout_->has(file)) {
      put(file, code_of(tables_.file, operand.file, "file"), "file");
    } else if (operand.file != File::grf) {
      fail("a payload must be in general registers");
    }
    put(reg, operand.reg, "register");
  }

  void send() {
    expect_sources(1);
    const SendInfo& send = in_.send;
    if (tables_.traits.implied_move != 0) {
      destination();
      if (in_.src[0].file == File::immediate) {
        fail("a payload cannot be an immediate");
      } else {
        source(0);
      }
    } else {
      payload(in_.dst, Field::dst_file, Field::dst_reg);
      payload(in_.src[0], Field::src0_file, Field::src0_reg);
      if (in_.align16 && layout_->has(Field::dst_mask)) {
        put(Field::dst_mask, in_.dst.write_mask, "write mask");
      }
    }
    put(Field::message_register, send.message_register, "message register");
    put(Field::end_of_thread, send.end_of_thread, "EOT");
    if (send.extended_in_register) {
      fail("the extended descriptor cannot be in a register");
    }
    if ((send.extended & 0xffff) != 0 || (send.descriptor_in_register && send.extended != 0)) {
      fail("the extended descriptor has bits that cannot be encoded");
    }
    put(Field::extended31, send.extended >> 16, "extended descriptor");
    if (!send.descriptor_in_register) {
      put(Field::src1_file, code_of(tables_.file, File::immediate, "file"), "file");
    } else {
      put(Field::src1_reg, 0x10, "register");
    }
    if (layout_->has(Field::descriptor)) {
      put(Field::function, send.function, "function");
      put(Field::descriptor, send.descriptor, "descriptor");
    } else if (!send.descriptor_in_register) {
      put(Field::function, send.function, "function");
      put(Field::function_control, DescriptorBits::kFunctionControl.of(send.descriptor), "function control");
      put(Field::response_length, DescriptorBits::kResponseLength.of(send.descriptor), "response length");
      put(Field::message_length, send.descriptor >> DescriptorBits::kMessageLength.low, "message length");
    }
  }

  void split_send() {
    expect_sources(2);
    payload(in_.dst, Field::dst_file, Field::dst_reg);
    payload(in_.src[0], Field::src0_file, Field::src0_reg);
    payload(in_.src[1], Field::src1_file, Field::src1_reg);
    const SendInfo& send = in_.send;
    put(Field::function, send.function, "function");
    put(Field::end_of_thread, send.end_of_thread, "EOT");
    put(Field::descriptor_register, send.descriptor_in_register, "descriptor");
    if (!send.descriptor_in_register) {
      put(Field::descriptor, send.descriptor, "descriptor");
    }
    put(Field::extended_register, send.extended_in_register, "extended descriptor");
    if (send.extended_in_register) {
      put(Field::extended_address, send.extended_address_sub, "address register");
    } else if (layout_->has(Field::extended6)) {
      put(Field::extended6, send.extended >> 6, "extended descriptor");
    } else {
      put(Field::extended16, send.extended >> 16, "extended descriptor");
      put(Field::extended9_6, send.extended >> 6 & 0x3ff, "extended descriptor");
    }
  }
};

}  // namespace

Result<Bits128> encode(spec::GenId gen, const Instruction& instruction) {
  const OpRow* row = find_op(gen, instruction.op);
  if (row == nullptr) {
    return Error{
        fmt::format("operation {} does not exist on {}", static_cast<unsigned>(instruction.op), spec::name_of(gen))};
  }
  return Encoding(gen, *row, instruction).run();
}

Result<std::vector<std::byte>> encode(spec::GenId gen, std::span<const Instruction> program) {
  std::vector<std::byte> out;
  for (const Instruction& instruction : program) {
    const Result<Bits128> bits = encode(gen, instruction);
    if (!bits) {
      return bits.error();
    }
    Bits128 words = *bits;
    if (instruction.size == 8) {
      const auto small = compact(gen, words);
      if (!small) {
        return Error{fmt::format("{} at byte {} has no compact form", find_op(gen, instruction.op)->name, out.size())};
      }
      words.word[0] = *small;
    }
    const size_t at = out.size();
    out.resize(at + instruction.size);
    std::memcpy(out.data() + at, words.word, instruction.size);
  }
  return out;
}

}  // namespace halogen::eu
