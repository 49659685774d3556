// Decodes the controls and operands that all kinds of operations share. Part of the decoder.
#pragma once

#include "eu/isa/bits128.h"
#include "eu/isa/decoder.h"
#include "eu/isa/operand_fields.h"
#include "eu/isa/tables.h"

namespace halogen::eu {

// The decoding of one instruction. `fault_` is the first reserved code that was found.
class OperandDecoding {
 public:
  OperandDecoding(const IsaTables& tables, const OpRow& row, const Bits128& bits, Instruction& out)
      : tables_(tables), row_(row), layout_(row.layout), bits_(bits), out_(out) {}

 protected:
  uint64_t get(Field field) const { return bits_.get(layout_->at(field)); }
  bool flag(Field field) const { return get(field) != 0; }
  uint8_t byte(Field field) const { return static_cast<uint8_t>(get(field)); }

  void fail(DecodeFault fault) {
    if (fault_ == DecodeFault::none) {
      fault_ = fault;
    }
  }

  template <class E, size_t N>
  E look_up(const std::array<uint8_t, N>& codes, uint64_t code, DecodeFault fault) {
    const uint8_t value = codes[code & (N - 1)];
    if (value == kNone) {
      fail(fault);
      return E{};
    }
    return static_cast<E>(value);
  }

  void controls() {
    const uint64_t size = get(Field::exec_size);
    if (size > 5) {
      fail(DecodeFault::reserved_exec_size);
    } else {
      out_.exec_size = static_cast<uint8_t>(1u << size);
    }
    const uint64_t quarter = get(Field::quarter);
    if (tables_.traits.halves != 0) {
      out_.compressed = (quarter & 2) != 0;
      out_.first_channel = (quarter & 1) != 0 ? 8 : 0;
    } else {
      out_.first_channel = static_cast<uint8_t>(quarter * 8 + get(Field::nibble) * 4);
    }
    out_.align16 = is_align16();
    out_.no_mask = flag(Field::no_mask);
    if (row_.kind == Kind::basic || row_.kind == Kind::wide || row_.kind == Kind::math || row_.kind == Kind::ternary ||
        row_.kind == Kind::ternary_macro) {
      out_.saturate = flag(Field::saturate);
    }
    (row_.allows(Allow::branch_control) ? out_.branch_control : out_.accumulator_write) =
        flag(Field::accumulator_write);
    out_.breakpoint = flag(Field::breakpoint);
    out_.no_dd_clear = flag(Field::no_dd_clear);
    out_.no_dd_check = flag(Field::no_dd_check);
    out_.mask_control_extra = flag(Field::mask_control_extra);
    out_.thread_control = byte(Field::thread_control);
    out_.scoreboard = byte(Field::scoreboard);
    out_.predicate = look_up<Predicate>(out_.align16 ? tables_.predicate16 : tables_.predicate, get(Field::predicate),
                                        DecodeFault::reserved_predicate);
    out_.predicate_inverse = flag(Field::predicate_inverse);
    out_.flag = static_cast<uint8_t>(get(Field::flag_reg) * 2 + get(Field::flag_sub));
  }

  // Returns whether the access mode is align16. For macros the bit has another meaning.
  bool is_align16() const {
    switch (row_.kind) {
      case Kind::ternary:
        return layout_->has(Field::src0_swizzle);
      case Kind::math:
        return flag(Field::access_mode) && !is_macro(static_cast<MathFunction>(get(Field::condition)));
      case Kind::basic:
      case Kind::wide:
      case Kind::branch:
      case Kind::diverge:
      case Kind::send:
        return flag(Field::access_mode);
      default:
        return false;
    }
  }

  // Clears fields that the instruction does not use, so that equal instructions compare equal.
  void clear_unused() {
    if (out_.predicate == Predicate::none) {
      out_.predicate_inverse = false;
      if (out_.condition == Condition::none && !is_macro(out_.math)) {
        out_.flag = 0;
      }
    }
  }

  void condition() {
    const uint64_t code = get(Field::condition);
    if (code > static_cast<uint64_t>(Condition::unordered)) {
      fail(DecodeFault::reserved_condition);
    } else {
      out_.condition = static_cast<Condition>(code);
    }
  }

  void address(Operand& operand, const OperandFields& fields) {
    operand.indirect = true;
    operand.address_sub = byte(fields.address_sub);
    if (out_.align16) {
      const unsigned width = width_of(layout_->at(fields.address_offset16));
      operand.address_offset = static_cast<int16_t>(sign_extend(get(fields.address_offset16), width) * 16);
    } else {
      const unsigned width = width_of(layout_->at(fields.address_offset));
      operand.address_offset = static_cast<int16_t>(sign_extend(get(fields.address_offset), width));
    }
  }

  // Decodes file and register, or address, of an operand that is not an immediate.
  void location(Operand& operand, const OperandFields& fields) {
    operand.type = look_up<Type>(tables_.register_type, get(fields.type), DecodeFault::reserved_type);
    if (flag(fields.address_mode)) {
      operand.file = tables_.traits.indirect_is_grf != 0 ? File::grf : file(fields.file);
      address(operand, fields);
      return;
    }
    operand.file = file(fields.file);
    operand.reg = byte(fields.reg);
    operand.sub = static_cast<uint8_t>(out_.align16 ? get(fields.sub16) * 16 : get(fields.sub));
  }

  File file(Field field) {
    const File value = look_up<File>(tables_.file, get(field), DecodeFault::reserved_file);
    if (value == File::immediate) {
      fail(DecodeFault::reserved_file);
    }
    return value;
  }

  void destination() {
    location(out_.dst, kDst);
    out_.dst.region.horizontal = kHorizontals[get(Field::dst_horizontal)];
    if (out_.align16) {
      out_.dst.write_mask = byte(Field::dst_mask);
    }
  }

  bool is_immediate(const SourceFields& fields) const {
    if (layout_->has(fields.immediate)) {
      return flag(fields.immediate);
    }
    return tables_.file[get(fields.common.file) & 3] == static_cast<uint8_t>(File::immediate);
  }

  void vertical(Operand& operand, uint64_t code) {
    if (code == kVerticalByAddress && operand.indirect) {
      operand.region.vertical_by_address = true;
    } else if (kVerticals[code] == kNone) {
      fail(DecodeFault::reserved_region);
    } else {
      operand.region.vertical = kVerticals[code];
    }
  }

  void source(unsigned index) {
    const SourceFields& fields = kSources[index];
    Operand& operand = out_.src[index];
    if (is_immediate(fields)) {
      immediate(operand, fields, index + 1 == out_.sources);
      return;
    }
    location(operand, fields.common);
    operand.negate = flag(fields.negate);
    operand.absolute = flag(fields.absolute);
    vertical(operand, get(fields.vertical));
    if (out_.align16) {
      swizzle(operand, get(fields.swizzle));
      return;
    }
    operand.region.width = look_up<uint8_t>(kWidths, get(fields.width), DecodeFault::reserved_region);
    operand.region.horizontal = kHorizontals[get(fields.common.horizontal)];
  }

  static void swizzle(Operand& operand, uint64_t code) {
    operand.region.width = 4;
    operand.region.horizontal = 1;
    for (unsigned i = 0; i < 4; ++i) {
      operand.swizzle[i] = static_cast<uint8_t>(code >> (2 * i) & 3);
    }
  }

  void immediate(Operand& operand, const SourceFields& fields, bool last) {
    operand.file = File::immediate;
    operand.type = look_up<Type>(tables_.immediate_type, get(fields.common.type), DecodeFault::reserved_type);
    if (!last) {
      fail(DecodeFault::reserved_file);
    } else if (size_of(operand.type) < 8) {
      operand.immediate = get(Field::immediate);
      if (size_of(operand.type) == 2 && operand.type != Type::v && operand.type != Type::uv) {
        operand.immediate = (operand.immediate & 0xffff) * 0x10001;
      }
    } else if (row_.kind == Kind::basic && out_.sources == 1 && tables_.wide != nullptr) {
      operand.immediate = bits_.get(tables_.wide->at(Field::immediate));
      // The condition shares bits with the immediate.
      if (!tables_.wide->has(Field::condition)) {
        out_.condition = Condition::none;
      }
    } else {
      fail(DecodeFault::reserved_type);
    }
  }

  const IsaTables& tables_;
  const OpRow& row_;
  const Layout* layout_;
  const Bits128& bits_;
  Instruction& out_;
  DecodeFault fault_ = DecodeFault::none;
};

}  // namespace halogen::eu
