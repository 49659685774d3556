// Encodes the controls and operands that all kinds of operations share. Part of the encoder.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>
#include <string_view>

#include "eu/isa/bits128.h"
#include "eu/isa/operand_fields.h"
#include "eu/isa/tables.h"

namespace halogen::eu {

// The encoding of one instruction. After an error the bits are not valid; the first error is kept.
class OperandEncoding {
 public:
  OperandEncoding(spec::GenId gen, const OpRow& row, const Instruction& in)
      : gen_(gen), tables_(isa_tables(gen)), row_(row), layout_(row.layout), in_(in) {}

 protected:
  void fail(std::string text) {
    if (error_.empty()) {
      error_ = std::move(text);
    }
  }

  void put(Field field, uint64_t value, std::string_view what) {
    const FieldBits& bits = layout_->at(field);
    const unsigned width = width_of(bits);
    if (width < 64 && value >> width != 0) {
      fail(fmt::format("{} {:#x} does not fit {} bits", what, value, width));
      return;
    }
    bits_.set(bits, value);
  }

  void put_signed(const FieldBits& bits, int64_t value, std::string_view what) {
    const unsigned width = width_of(bits);
    if (width == 0 || (width < 64 && sign_extend(static_cast<uint64_t>(value), width) != value)) {
      fail(fmt::format("{} {} does not fit {} bits", what, value, width));
      return;
    }
    bits_.set(bits, static_cast<uint64_t>(value));
  }

  template <size_t N, class E>
  uint64_t code_of(const std::array<uint8_t, N>& codes, E value, std::string_view what) {
    for (size_t i = 0; i < N; ++i) {
      if (codes[i] != kNone && codes[i] == static_cast<uint8_t>(value)) {
        return i;
      }
    }
    fail(fmt::format("{} {} cannot be encoded", what, static_cast<unsigned>(value)));
    return 0;
  }

  void controls() {
    switch (in_.exec_size) {
      case 1:
      case 2:
      case 4:
      case 8:
      case 16:
      case 32:
        put(Field::exec_size, static_cast<uint64_t>(std::countr_zero(in_.exec_size)), "execution size");
        break;
      default:
        fail(fmt::format("execution size {} is not a power of two from 1 to 32", in_.exec_size));
    }
    if (tables_.traits.halves != 0) {
      if (in_.first_channel % 8 != 0 || in_.first_channel > 8) {
        fail(fmt::format("first channel {} is not 0 or 8", in_.first_channel));
      }
      put(Field::quarter, (in_.first_channel != 0 ? 1u : 0u) | (in_.compressed ? 2u : 0u), "half");
    } else {
      if (in_.first_channel % 4 != 0) {
        fail(fmt::format("first channel {} is not a multiple of 4", in_.first_channel));
      }
      put(Field::quarter, in_.first_channel / 8, "quarter");
      put(Field::nibble, in_.first_channel / 4 % 2, "nibble");
      if (in_.compressed) {
        fail("compression not supported");
      }
    }
    const bool macro = (row_.kind == Kind::math && is_macro(in_.math)) || row_.kind == Kind::ternary_macro;
    put(Field::access_mode, in_.align16 || (macro && tables_.traits.macro_align16 != 0), "align16");
    put(Field::no_mask, in_.no_mask, "NoMask");
    put(Field::saturate, in_.saturate, "saturate");
    const bool branch = row_.allows(Allow::branch_control);
    put(Field::accumulator_write, branch ? in_.branch_control : in_.accumulator_write, "accumulator write");
    if (branch ? in_.accumulator_write : in_.branch_control) {
      fail("branch control and accumulator write share a bit");
    }
    put(Field::breakpoint, in_.breakpoint, "breakpoint");
    put(Field::no_dd_clear, in_.no_dd_clear, "NoDDClr");
    put(Field::no_dd_check, in_.no_dd_check, "NoDDChk");
    put(Field::mask_control_extra, in_.mask_control_extra, "MaskCtrlEx");
    put(Field::thread_control, in_.thread_control, "thread control");
    put(Field::scoreboard, in_.scoreboard, "scoreboard");
    put(Field::predicate, code_of(in_.align16 ? tables_.predicate16 : tables_.predicate, in_.predicate, "predicate"),
        "predicate");
    put(Field::predicate_inverse, in_.predicate_inverse, "inverse");
    if (in_.predicate != Predicate::none || in_.condition != Condition::none || is_macro(in_.math)) {
      put(Field::flag_reg, in_.flag / 2, "flag register");
      put(Field::flag_sub, in_.flag % 2, "flag register");
    }
  }

  void expect_sources(unsigned count) {
    if (in_.sources != count) {
      fail(fmt::format("needs {} sources, not {}", count, in_.sources));
    }
  }

  void address(const Operand& operand, const OperandFields& fields) {
    put(fields.address_sub, operand.address_sub, "address register");
    if (in_.align16) {
      if (operand.address_offset % 16 != 0) {
        fail("the offset of an align16 operand must be a multiple of 16");
      }
      put_signed(layout_->at(fields.address_offset16), operand.address_offset / 16, "offset");
    } else {
      put_signed(layout_->at(fields.address_offset), operand.address_offset, "offset");
    }
  }

  void location(const Operand& operand, const OperandFields& fields) {
    put(fields.type, code_of(tables_.register_type, operand.type, "type"), "type");
    put(fields.address_mode, operand.indirect, "indirect");
    if (operand.indirect) {
      if (tables_.traits.indirect_is_grf == 0) {
        put(fields.file, code_of(tables_.file, operand.file, "file"), "file");
      } else if (operand.file != File::grf) {
        fail("an indirect operand must be a general register");
      }
      address(operand, fields);
      return;
    }
    put(fields.file, code_of(tables_.file, operand.file, "file"), "file");
    put(fields.reg, operand.reg, "register");
    if (in_.align16) {
      if (operand.sub % 16 != 0) {
        fail("an align16 operand must start at a multiple of 16 bytes");
      }
      put(fields.sub16, operand.sub / 16, "subregister");
    } else {
      put(fields.sub, operand.sub, "subregister");
    }
  }

  void destination() {
    if (in_.dst.file == File::immediate) {
      fail("a destination cannot be an immediate");
      return;
    }
    location(in_.dst, kDst);
    put(Field::dst_horizontal, code_of(kHorizontals, in_.dst.region.horizontal, "stride"), "stride");
    if (in_.align16) {
      put(Field::dst_mask, in_.dst.write_mask, "write mask");
    }
  }

  static uint64_t swizzle_code(const Operand& operand) {
    uint64_t code = 0;
    for (unsigned i = 0; i < 4; ++i) {
      code |= uint64_t{operand.swizzle[i] & 3u} << (2 * i);
    }
    return code;
  }

  void source(unsigned index) {
    const SourceFields& fields = kSources[index];
    const Operand& operand = in_.src[index];
    if (operand.file == File::immediate) {
      immediate(operand, fields, index);
      return;
    }
    location(operand, fields.common);
    put(fields.negate, operand.negate, "negate");
    put(fields.absolute, operand.absolute, "abs");
    if (operand.region.vertical_by_address) {
      if (!operand.indirect) {
        fail("a region with address registers needs an indirect operand");
      }
      put(fields.vertical, kVerticalByAddress, "vertical stride");
    } else {
      put(fields.vertical, code_of(kVerticals, operand.region.vertical, "vertical stride"), "vertical stride");
    }
    if (in_.align16) {
      if (operand.region.width != 4 || operand.region.horizontal != 1) {
        fail("an align16 operand must be a group of four channels");
      }
      put(fields.swizzle, swizzle_code(operand), "swizzle");
      return;
    }
    put(fields.width, code_of(kWidths, operand.region.width, "width"), "width");
    put(fields.common.horizontal, code_of(kHorizontals, operand.region.horizontal, "horizontal stride"),
        "horizontal stride");
  }

  void immediate(const Operand& operand, const SourceFields& fields, unsigned index) {
    if (index + 1u != in_.sources) {
      fail("only the last source may be an immediate");
    }
    if (layout_->has(fields.immediate)) {
      put(fields.immediate, 1, "immediate");
    } else {
      put(fields.common.file, code_of(tables_.file, File::immediate, "file"), "file");
    }
    put(fields.common.type, code_of(tables_.immediate_type, operand.type, "immediate type"), "type");
    if (size_of(operand.type) == 8 && layout_ != tables_.wide) {
      fail("a 64-bit immediate needs an instruction with one source");
    }
    put(Field::immediate, operand.immediate, "immediate");
  }

  spec::GenId gen_;
  const IsaTables& tables_;
  const OpRow& row_;
  const Layout* layout_;
  const Instruction& in_;
  Bits128 bits_;
  std::string error_;
};

}  // namespace halogen::eu
