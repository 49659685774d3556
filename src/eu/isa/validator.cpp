#include "eu/isa/validator.h"

#include <algorithm>
#include <array>

#include "eu/isa/operand_fields.h"
#include "eu/isa/tables.h"

namespace halogen::eu {

namespace {

constexpr unsigned kRegisterBytes = 32;
constexpr unsigned kRegisters = 128;

bool is_float(Type type) {
  return type == Type::hf || type == Type::f || type == Type::df || type == Type::nf || type == Type::vf;
}

bool is_byte(Type type) {
  return type == Type::b || type == Type::ub;
}

// Returns the size of an operand's execution type: bytes become words, VF becomes F.
unsigned execution_size(Type type) {
  if (is_byte(type)) {
    return 2;
  }
  return type == Type::vf ? 4 : size_of(type);
}

// The first and the last byte of an operand, counted from the start of its first register.
struct Span {
  unsigned first = 0;
  unsigned last = 0;
  [[nodiscard]] unsigned registers() const { return last / kRegisterBytes - first / kRegisterBytes + 1; }
};

class Validation {
 public:
  Validation(spec::GenId gen, const OpRow& row, const Instruction& in) : tables_(isa_tables(gen)), row_(row), in_(in) {}

  std::vector<Rule> run() {
    channels();
    if (row_.kind == Kind::send || row_.kind == Kind::split_send) {
      message();
    } else if (row_.kind == Kind::basic || row_.kind == Kind::wide || row_.kind == Kind::math ||
               row_.kind == Kind::ternary || row_.kind == Kind::ternary_macro) {
      allowed();
      types();
      operands();
      if (row_.kind == Kind::math) {
        math();
      }
    }
    std::sort(broken_.begin(), broken_.end());
    broken_.erase(std::unique(broken_.begin(), broken_.end()), broken_.end());
    return std::move(broken_);
  }

 private:
  void require(bool holds, Rule rule) {
    if (!holds) {
      broken_.push_back(rule);
    }
  }

  bool has_dst() const { return !row_.allows(Allow::no_dst); }

  void channels() { require(in_.first_channel + in_.exec_size <= 32, Rule::channels_out_of_range); }

  void allowed() {
    require(in_.predicate == Predicate::none || row_.allows(Allow::predicate), Rule::predicate_not_allowed);
    require(in_.condition == Condition::none || row_.allows(Allow::condition), Rule::condition_not_allowed);
    require(!in_.saturate || row_.allows(Allow::saturate), Rule::saturate_not_allowed);
    require(in_.condition == Condition::none || in_.exec_size <= tables_.traits.condition_channels,
            Rule::condition_too_wide);
    for (unsigned i = 0; i < in_.sources; ++i) {
      require((!in_.src[i].negate && !in_.src[i].absolute) || row_.allows(Allow::modifiers),
              Rule::modifier_not_allowed);
    }
  }

  bool type_exists(Type type) const {
    if (size_of(type) == 8 && type != Type::nf && tables_.traits.no_quads != 0) {
      return false;
    }
    const auto has = [type](const auto& codes) {
      return std::find(codes.begin(), codes.end(), static_cast<uint8_t>(type)) != codes.end();
    };
    return has(tables_.register_type) || has(tables_.immediate_type) || has(tables_.ternary_type) ||
           has(tables_.ternary_float_type);
  }

  void types() {
    require(!has_dst() || type_exists(in_.dst.type), Rule::type_not_supported);
    bool any_float = false;
    bool any_integer = false;
    for (unsigned i = 0; i < in_.sources; ++i) {
      const Type type = in_.src[i].type;
      require(type_exists(type), Rule::type_not_supported);
      (is_float(type) ? any_float : any_integer) = true;
    }
    require(!(any_float && any_integer) || tables_.traits.no_mixed_sources == 0, Rule::mixed_sources);
    require(in_.sources < 2 || !is_byte(in_.src[1].type) || tables_.traits.no_byte_second_source == 0,
            Rule::byte_second_source);
    if (!row_.types.empty()) {
      require(std::any_of(row_.types.begin(), row_.types.end(), [this](const TypeRule& rule) { return fits(rule); }),
              Rule::type_combination);
    }
  }

  bool fits(const TypeRule& rule) const {
    const auto in = [](Type type, uint16_t mask) { return (mask >> static_cast<unsigned>(type) & 1) != 0; };
    if (has_dst() && !in(in_.dst.type, rule.dst)) {
      return false;
    }
    for (unsigned i = 0; i < in_.sources; ++i) {
      if (!in(in_.src[i].type, rule.src)) {
        return false;
      }
    }
    return true;
  }

  void register_number(const Operand& operand) {
    if (operand.indirect) {
      return;
    }
    require(operand.file == File::arf || operand.sub % size_of(operand.type) == 0, Rule::element_misaligned);
    if (operand.file == File::grf) {
      require(operand.reg < kRegisters, Rule::register_out_of_range);
    } else if (operand.file == File::mrf) {
      require((operand.reg & 0x7f) < tables_.traits.message_registers, Rule::register_out_of_range);
    }
  }

  void operands() {
    unsigned dst_registers = 1;
    if (has_dst()) {
      register_number(in_.dst);
      dst_registers = destination();
    }
    for (unsigned i = 0; i < in_.sources; ++i) {
      const Operand& operand = in_.src[i];
      if (operand.file == File::immediate) {
        continue;
      }
      register_number(operand);
      require(operand.file != File::mrf, Rule::message_register_read);
      if (row_.kind == Kind::basic || row_.kind == Kind::math) {
        require(i == 0 || !operand.indirect, Rule::second_source_indirect);
        require(!operand.is_arf(Arf::accumulator) || i == 0 || tables_.traits.accumulator_in_second != 0,
                Rule::accumulator_source);
      }
      if (in_.align16) {
        align16(operand);
      } else if (operand.macro == Operand::kNoMacro) {
        region(operand, dst_registers);
      }
    }
  }

  unsigned execution() const {
    unsigned size = 0;
    for (unsigned i = 0; i < in_.sources; ++i) {
      size = std::max(size, execution_size(in_.src[i].type));
    }
    return size;
  }

  // Returns whether bytes are moved without conversion: their destination may be packed.
  bool raw_byte_move() const {
    return in_.op == Op::mov && is_byte(in_.dst.type) && is_byte(in_.src[0].type) && !in_.saturate &&
           !in_.src[0].negate && !in_.src[0].absolute;
  }

  unsigned destination() {
    const Operand& dst = in_.dst;
    const unsigned size = size_of(dst.type);
    const unsigned stride = dst.region.horizontal;
    require(stride != 0, Rule::dst_stride_zero);
    if (dst.is_arf(Arf::accumulator)) {
      require(dst.sub == 0 && stride == 1, Rule::accumulator_misaligned);
    }
    const unsigned work = execution();
    if (work > size && in_.exec_size > 1 && !in_.align16 && !raw_byte_move() && !dst.is_null() && !half_float_mix()) {
      require(stride * size == work, Rule::dst_stride_below_result);
      const unsigned off = dst.sub % work;
      require(dst.indirect || off == 0 || (size == 1 && off == 1) || (size == 2 && off == 2), Rule::dst_misaligned);
    }
    if (dst.indirect || in_.align16 || dst.file == File::arf) {
      return 1;
    }
    const Span span = {dst.sub, dst.sub + (in_.exec_size - 1u) * stride * size + size - 1};
    require(span.registers() <= 2, Rule::dst_spans_too_much);
    // On generations with compression, only compressed instructions may write a second register.
    require(span.registers() == 1 || in_.compressed || tables_.traits.halves == 0, Rule::dst_spans_too_much);
    if (span.registers() == 2 && stride != 0 && tables_.traits.even_writes != 0) {
      const unsigned in_first = (kRegisterBytes - dst.sub + stride * size - 1) / (stride * size);
      require(in_first * 2 == in_.exec_size, Rule::uneven_write);
    }
    return span.registers();
  }

  // Returns whether F is converted to HF: the destination of mixed mode may be packed.
  bool half_float_mix() const {
    return in_.dst.type == Type::hf && std::any_of(in_.src.begin(), in_.src.begin() + in_.sources,
                                                   [](const Operand& s) { return s.type == Type::f; });
  }

  void align16(const Operand& operand) {
    const Region& r = operand.region;
    const bool good = r.width == 1 || r.vertical_by_address || r.vertical == 0 || r.vertical == 4 ||
                      (r.vertical == 2 && tables_.traits.align16_pairs != 0);
    require(good, Rule::align16_stride);
  }

  void region(const Operand& operand, unsigned dst_registers) {
    const Region& r = operand.region;
    const unsigned channels = in_.exec_size;
    if (row_.kind != Kind::ternary) {
      require(channels >= r.width, Rule::width_above_channels);
      require(r.width != 1 || r.horizontal == 0, Rule::row_of_one_with_stride);
      if (!r.vertical_by_address) {
        require(!(channels == 1 && r.width == 1) || (r.vertical == 0 && r.horizontal == 0),
                Rule::one_channel_with_stride);
        require(r.vertical != 0 || r.horizontal != 0 || r.width == 1, Rule::no_strides_with_width);
        require(channels != r.width || r.horizontal == 0 || r.vertical == r.width * r.horizontal,
                Rule::row_stride_mismatch);
      }
    }
    if (operand.indirect || operand.file != File::grf) {
      require(!r.vertical_by_address || operand.address_sub + channels / std::max<unsigned>(r.width, 1) <=
                                            unsigned{tables_.traits.address_words},
              Rule::rows_without_address);
      return;
    }
    Span whole = {operand.sub, 0};
    const unsigned size = size_of(operand.type);
    for (unsigned start = 0; start < channels; start += r.width) {
      const unsigned first = operand.sub + start / r.width * r.vertical * size;
      const unsigned last =
          first + (std::min<unsigned>(r.width, channels - start) - 1) * r.horizontal * size + size - 1;
      require(first / kRegisterBytes == last / kRegisterBytes, Rule::row_crosses_register);
      whole.last = std::max(whole.last, last);
    }
    require(whole.registers() <= 2, Rule::source_spans_too_much);
    const bool scalar = r.vertical == 0 && r.horizontal == 0;
    const bool packed_word =
        size == 2 && size_of(in_.dst.type) == 4 && r.vertical == r.width * r.horizontal && r.horizontal == 1;
    if (dst_registers == 2 && tables_.traits.sources_span_with_dst != 0 && !scalar && !packed_word) {
      require(whole.registers() == 2, Rule::source_spans_less_than_dst);
    }
  }

  void math() {
    const bool integer = in_.math >= MathFunction::int_divide_both && in_.math <= MathFunction::int_remainder;
    bool good = !integer || in_.exec_size <= 8;
    if (tables_.traits.plain_math != 0) {
      good = good && !in_.align16 && in_.dst.region.horizontal == 1 && in_.dst.file == File::grf;
      for (unsigned i = 0; i < in_.sources; ++i) {
        const Operand& s = in_.src[i];
        good = good && !s.negate && !s.absolute && s.file == File::grf;
      }
    }
    require(good, Rule::math_form);
  }

  void payload_end(const Operand& operand, unsigned length) {
    if (operand.file == File::grf && !operand.indirect) {
      require(operand.reg + length <= kRegisters, Rule::payload_out_of_range);
    }
  }

  void message() {
    const SendInfo& send = in_.send;
    const unsigned length = DescriptorBits::kMessageLength.of(send.descriptor);
    const unsigned response = DescriptorBits::kResponseLength.of(send.descriptor);
    const unsigned second = ExtendedBits::kSecondLength.of(send.extended);
    const bool split = in_.sources == 2;
    const bool known = !send.descriptor_in_register;
    if (send.end_of_thread) {
      bool good = in_.dst.is_null() && (!known || response == 0);
      for (unsigned i = 0; i < in_.sources && tables_.traits.implied_move == 0; ++i) {
        good = good && (in_.src[i].file != File::grf || in_.src[i].reg >= tables_.traits.end_in_high_registers);
      }
      require(good, Rule::end_of_thread_form);
    }
    if (known && tables_.traits.implied_move == 0) {
      payload_end(in_.src[0], length);
      payload_end(in_.dst, response);
    }
    if (split && known && !send.extended_in_register) {
      payload_end(in_.src[1], second);
      const unsigned a = in_.src[0].reg;
      const unsigned b = in_.src[1].reg;
      const bool apart = in_.src[1].file != File::grf || second == 0 || a + length <= b || b + second <= a;
      require(apart, Rule::payload_overlap);
    }
  }

  const IsaTables& tables_;
  const OpRow& row_;
  const Instruction& in_;
  std::vector<Rule> broken_;
};

}  // namespace

std::string_view name_of(Rule rule) {
  constexpr std::array<std::string_view, 36> kNames = {"no_such_operation",
                                                       "type_not_supported",
                                                       "type_combination",
                                                       "mixed_sources",
                                                       "byte_second_source",
                                                       "predicate_not_allowed",
                                                       "condition_not_allowed",
                                                       "saturate_not_allowed",
                                                       "modifier_not_allowed",
                                                       "condition_too_wide",
                                                       "channels_out_of_range",
                                                       "register_out_of_range",
                                                       "element_misaligned",
                                                       "dst_stride_zero",
                                                       "dst_stride_below_result",
                                                       "dst_misaligned",
                                                       "width_above_channels",
                                                       "row_of_one_with_stride",
                                                       "one_channel_with_stride",
                                                       "no_strides_with_width",
                                                       "row_stride_mismatch",
                                                       "row_crosses_register",
                                                       "source_spans_too_much",
                                                       "dst_spans_too_much",
                                                       "source_spans_less_than_dst",
                                                       "uneven_write",
                                                       "align16_stride",
                                                       "message_register_read",
                                                       "second_source_indirect",
                                                       "rows_without_address",
                                                       "accumulator_source",
                                                       "accumulator_misaligned",
                                                       "math_form",
                                                       "end_of_thread_form",
                                                       "payload_out_of_range",
                                                       "payload_overlap"};
  return kNames[static_cast<size_t>(rule)];
}

std::vector<Rule> validate(spec::GenId gen, const Instruction& instruction) {
  const OpRow* row = find_op(gen, instruction.op);
  if (row == nullptr) {
    return {Rule::no_such_operation};
  }
  return Validation(gen, *row, instruction).run();
}

}  // namespace halogen::eu
