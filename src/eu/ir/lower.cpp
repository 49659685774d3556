#include "eu/ir/lower.h"

#include <algorithm>

#include "eu/ir/access.h"
#include "eu/ir/op_traits.h"
#include "eu/isa/type_traits.h"

namespace halogen::eu::ir {

namespace {

constexpr auto kRegister = static_cast<int32_t>(kGrfBytes);

Type value_type(Type type) {
  switch (type) {
    case Type::v:
      return Type::w;
    case Type::uv:
      return Type::uw;
    case Type::vf:
    case Type::nf:
      return Type::f;
    default:
      return type;
  }
}

bool is_dword(Type type) {
  return type == Type::d || type == Type::ud;
}

bool is_plain_move(Op op) {
  return op == Op::mov || op == Op::dim || op == Op::smov;
}

Operation rounding(Op op, bool only_floor) {
  switch (op) {
    case Op::rndu:
      return only_floor ? Operation::floor_for_ceiling : Operation::ceiling;
    case Op::rnde:
      return only_floor ? Operation::floor_for_nearest : Operation::nearest_even;
    case Op::rndz:
      return only_floor ? Operation::floor_for_truncate : Operation::truncate;
    default:
      return Operation::floor;
  }
}

class Lowering {
 public:
  Lowering(const Instruction& in, const EuRules& rules) : in_(in), rules_(rules), traits_(op_traits(in.op)) {
    out_.exec_size = static_cast<uint8_t>(std::min<unsigned>(in.exec_size, kMaxLanes));
  }

  Lowered run() {
    lower_mask();
    if (runs_by_lanes(in_.op)) {
      out_.compute.type = execution_type(in_);
      out_.compute.operation = operation();
      out_.compute.function = in_.op == Op::math ? in_.math : MathFunction::none;
      const bool relates = traits_.group == OpClass::compare || traits_.group == OpClass::select;
      out_.compute.relation = relates ? in_.condition : Condition::none;
      out_.compute.fused = rules_.fused_mad || out_.compute.type == Type::df;
      lower_sources();
      lower_target();
      lower_flag();
      lower_accumulator();
    }
    if (traits_.group == OpClass::branch) {
      lower_branch();
    }
    if (!tables_.empty()) {
      out_.tables = std::make_shared<const std::vector<LaneTable>>(std::move(tables_));
    }
    return std::move(out_);
  }

 private:
  // Lowers targets in registers, comparisons of Gen6 and the return address of a call.
  void lower_branch() {
    out_.compute.relation = in_.condition;
    add(source_of(in_.src[0]));
    add(source_of(in_.src[1]));
    if (in_.dst.is_null() || in_.dst.file == eu::File::immediate) {
      return;
    }
    // The return address, followed by the mask of channels.
    Operand to = in_.dst;
    to.type = out_.target.type = Type::ud;
    Elements elements = elements_of(in_, to, rules_, true, 2);
    elements.offset[1] = elements.offset[0] + 4;
    elements.word[1] = elements.word[0];
    out_.target.file = elements.file;
    out_.target.access = access_of(elements, tables_);
  }

  // Mask.
  [[nodiscard]] uint8_t flag_register(unsigned flag) const {
    const unsigned number = flag >> 1;
    return number < rules_.flag_registers ? static_cast<uint8_t>(number & 1) : kNoFlag;
  }
  // Returns the bit of lane 0 in the flag register.
  [[nodiscard]] uint8_t first_flag_bit() const {
    const unsigned half = (in_.flag & 1u) * 16;
    return static_cast<uint8_t>(rules_.flag_by_channel ? (half + in_.first_channel) & 31
                                                       : half + (in_.first_channel & 15u));
  }

  void lower_mask() {
    MaskRule& mask = out_.mask;
    const unsigned lanes = out_.exec_size;
    mask.lanes = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    mask.first_channel = in_.first_channel & 31;
    mask.all_channels = in_.no_mask;
    mask.predicate_selects = in_.op == Op::sel;
    mask.predicate = in_.predicate;
    mask.inverse = in_.predicate_inverse;
    mask.flag = flag_register(in_.flag);
    mask.other_flag = rules_.vertical_flag_is_next_register ? flag_register(in_.flag ^ 2u) : mask.flag;
    mask.first_bit = first_flag_bit();
  }

  // Operation.
  [[nodiscard]] Operation operation() const {
    const bool is_float = traits(out_.compute.type).is_float;
    switch (in_.op) {
      case Op::mov:
      case Op::dim:
        return passes_bits() ? Operation::copy : Operation::convert;
      case Op::smov:
        return passes_bits() ? Operation::copy_scattered : Operation::convert_scattered;
      case Op::movi:
        return in_.src[0].indirect ? Operation::copy_indexed : Operation::convert;
      case Op::f32to16:
        return Operation::single_to_half;
      case Op::f16to32:
        return Operation::half_to_single;
      case Op::sel:
        return in_.condition == Condition::none ? Operation::select : Operation::select_related;
      case Op::csel:
        return Operation::select_signed;
      case Op::not_:
        return Operation::bit_not;
      case Op::and_:
        return Operation::bit_and;
      case Op::or_:
        return Operation::bit_or;
      case Op::xor_:
        return Operation::bit_xor;
      case Op::shl:
        return Operation::shift_left;
      case Op::shr:
        return Operation::shift_right;
      case Op::asr:
        return Operation::shift_arithmetic;
      case Op::rol:
        return Operation::rotate_left;
      case Op::ror:
        return Operation::rotate_right;
      case Op::cmp:
      case Op::cmpn:
        if (is_float && rules_.convert_before_compare && !traits(in_.dst.type).is_float && !in_.dst.is_null()) {
          return Operation::compare_converted;
        }
        return in_.op == Op::cmpn ? Operation::compare_or_nan : Operation::compare;
      case Op::bfrev:
        return Operation::reverse_bits;
      case Op::bfe:
        return Operation::extract_bits;
      case Op::bfi1:
        return Operation::insert_mask;
      case Op::bfi2:
        return Operation::insert_bits;
      case Op::lzd:
        return Operation::leading_zeros;
      case Op::fbh:
        return Operation::first_bit_high;
      case Op::fbl:
        return Operation::first_bit_low;
      case Op::cbit:
        return Operation::count_bits;
      case Op::add:
        return Operation::add;
      case Op::mul:
        return product(Operation::multiply, Operation::multiply_low_a, Operation::multiply_low_b);
      case Op::mac:
        return product(Operation::product_add, Operation::product_low_a_add, Operation::product_low_b_add);
      case Op::mach:
        return high_product();
      case Op::mad:
        return Operation::add_product;
      case Op::addc:
        return Operation::add_carry;
      case Op::subb:
        return Operation::subtract_borrow;
      case Op::avg:
        return Operation::average;
      case Op::frc:
        return Operation::fraction;
      case Op::rndd:
      case Op::rndu:
      case Op::rnde:
      case Op::rndz:
        return rounding(in_.op, rules_.rounding_needs_increment);
      case Op::lrp:
        return Operation::interpolate;
      case Op::dp4a:
        return Operation::dot_bytes;
      case Op::math:
        return function(is_float);
      case Op::dp2:
        return Operation::dot2;
      case Op::dp3:
        return Operation::dot3;
      case Op::dp4:
        return Operation::dot4;
      case Op::dph:
        return Operation::dot_homogeneous;
      case Op::line:
        return Operation::line;
      case Op::pln:
        return Operation::plane;
      case Op::sad2:
        return Operation::differences;
      case Op::sada2:
        return Operation::differences_add;
      case Op::madm:
        return Operation::macro_add_product;
      default:
        return Operation::pass;  // moves of mask registers
    }
  }

  // Returns whether a move copies bits without conversion. Integers in an accumulator have bits above their element, so
  // they are converted.
  [[nodiscard]] bool passes_bits() const {
    const Operand& from = in_.src[0];
    return is_plain_move(in_.op) && value_type(from.type) == in_.dst.type && !in_.saturate &&
           !from.is_arf(Arf::accumulator) && (from.file == eu::File::immediate || (!from.negate && !from.absolute));
  }

  // Chooses the form of a product of two dwords: a 16-bit multiplier uses the low word of one of them.
  [[nodiscard]] Operation product(Operation full, Operation low_a, Operation low_b) const {
    if (traits(out_.compute.type).is_float || !is_dword(in_.src[0].type) || !is_dword(in_.src[1].type)) {
      return full;
    }
    switch (rules_.dword_multiply) {
      case DwordMultiply::low_word_of_src0:
        return low_a;
      case DwordMultiply::low_word_of_src1:
        return low_b;
      case DwordMultiply::full:
        break;
    }
    return full;
  }

  // Chooses the form of MACH, the second step of a 32 by 32 bit multiplication: it splits the source whose low word MUL
  // uses.
  [[nodiscard]] Operation high_product() const {
    const bool splits_a = rules_.dword_multiply == DwordMultiply::low_word_of_src0;
    const bool low = rules_.mach == MachResult::low_without_accumulator && !in_.accumulator_write;
    return splits_a ? (low ? Operation::multiply_high_a_low : Operation::multiply_high_a)
                    : (low ? Operation::multiply_high_low : Operation::multiply_high);
  }

  [[nodiscard]] Operation function(bool is_float) const {
    if (in_.math == MathFunction::inverse_macro) {
      return Operation::macro_inverse;
    }
    if (in_.math == MathFunction::rsqrt_macro) {
      return Operation::macro_inverse_root;
    }
    if (is_float) {
      return Operation::function;
    }
    return in_.math == MathFunction::int_remainder ? Operation::integer_remainder : Operation::quotient;
  }

  // Sources.
  [[nodiscard]] bool flushes(const Source& source) const {
    switch (out_.compute.operation) {
      case Operation::select:
      case Operation::select_related:
      case Operation::select_signed:
      case Operation::copy:
      case Operation::copy_indexed:
      case Operation::copy_scattered:
        return false;
      case Operation::convert:
      case Operation::convert_scattered:
        return source.type != in_.dst.type;
      default:
        return true;
    }
  }

  Modifier modifier_of(const Operand& operand) const {
    const bool honoured = in_.op == Op::math ? rules_.math_modifiers : !traits_.ignores_modifiers;
    if (operand.file == eu::File::immediate || !honoured) {
      return {};
    }
    if (is_logic(in_.op) && rules_.logic_negate_is_not && !traits(operand.type).is_float) {
      return {.invert = operand.negate};
    }
    return {.absolute = operand.absolute, .negate = operand.negate};
  }

  // Returns the number of lanes that are read. Operations over groups of lanes read whole groups, including lanes
  // beyond the execution size.
  [[nodiscard]] unsigned lanes_read() const {
    const unsigned group = traits_.group != OpClass::group ? 1 : in_.op == Op::sad2 || in_.op == Op::sada2 ? 2 : 4;
    return std::clamp((out_.exec_size + group - 1) / group * group, 1u, kMaxLanes);
  }

  Source source_of(const Operand& operand) {
    Source source;
    source.type = element_type(operand);
    source.modifier = modifier_of(operand);
    source.macro = operand.macro;
    if (operand.file == eu::File::immediate) {
      source.file = File::immediate;
      source.immediate = immediate_element(in_, operand, 0);
      if (operand.type != source.type) {
        LaneTable table;
        for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
          table.constant[lane] = immediate_element(in_, operand, lane);
        }
        source.access.kind = Access::Kind::lanes;
        source.access.table = static_cast<uint8_t>(tables_.size());
        tables_.push_back(table);
      }
    } else {
      const Elements elements = elements_of(in_, operand, rules_, false, lanes_read());
      source.file = elements.file;
      source.access = access_of(elements, tables_);
    }
    source.flush = flushes(source);
    return source;
  }

  // Returns the element `bytes` after the operand's first one, for all lanes.
  Source coefficient(const Operand& operand, int32_t bytes) {
    return moved(operand, [&](unsigned) { return bytes; });
  }

  // Returns elements at a distance from the operand's first one that depends on the lane. An immediate reads zero.
  template <class Distance>
  Source moved(const Operand& operand, Distance distance) {
    Source source;
    source.type = element_type(operand);
    source.flush = true;
    if (operand.file == eu::File::immediate) {
      return source;
    }
    source.modifier = modifier_of(operand);
    Elements elements = elements_of(in_, operand, rules_, false, std::max<unsigned>(out_.exec_size, 1));
    const int32_t first = elements.offset[0];
    const uint8_t word = elements.word[0];
    for (unsigned lane = 0; lane < elements.count; ++lane) {
      elements.offset[lane] = first + distance(lane);
      elements.word[lane] = word;
    }
    source.file = elements.file;
    source.access = access_of(elements, tables_);
    return source;
  }

  // Returns the accumulator as an implied source. Its denormals are not flushed.
  Source implied_accumulator(Type type) {
    Elements elements;
    elements.file = File::accumulator;
    elements.limit = static_cast<int32_t>(file_bytes(File::accumulator).bytes);
    elements.size = traits(type).bytes;
    elements.count = std::max<unsigned>(out_.exec_size, 1);
    for (unsigned lane = 0; lane < elements.count; ++lane) {
      elements.offset[lane] = implied_base(type) + static_cast<int32_t>(lane) * elements.size;
    }
    Source source;
    source.file = File::accumulator;
    source.type = type;
    source.access = access_of(elements, tables_);
    return source;
  }

  void add(const Source& source) { out_.source[out_.sources++] = source; }

  void lower_sources() {
    constexpr int32_t kFloat = 4;
    switch (in_.op) {
      case Op::line:
        // Coefficients are contiguous floats at src0, whatever its region.
        add(coefficient(in_.src[0], 0));
        add(source_of(in_.src[1]));
        add(coefficient(in_.src[0], 3 * kFloat));
        return;
      case Op::pln: {
        // Registers of src1: u and v of lanes 0 to 7, then u and v of lanes 8 to 15.
        const auto across = [](int32_t first) {
          return [first](unsigned lane) {
            return first + static_cast<int32_t>(lane / 8) * 2 * kRegister + static_cast<int32_t>(lane % 8) * kFloat;
          };
        };
        add(coefficient(in_.src[0], 0));
        add(moved(in_.src[1], across(0)));
        add(coefficient(in_.src[0], kFloat));
        add(moved(in_.src[1], across(kRegister)));
        add(coefficient(in_.src[0], 3 * kFloat));
        return;
      }
      case Op::movi:
        add(out_.compute.operation == Operation::copy_indexed ? indexed(in_.src[0]) : source_of(in_.src[0]));
        return;
      case Op::smov:
        add(source_of(in_.src[0]));
        add(source_of(in_.src[1]));
        return;
      default:
        break;
    }
    for (unsigned i = 0; i < value_count(in_); ++i) {
      add(source_of(in_.src[i]));
    }
    if (traits_.reads_accumulator) {
      add(implied_accumulator(in_.op == Op::sada2 ? Type::w : implied_type()));
    }
  }

  // Returns the source of MOVI: each lane has its own word of a0.
  Source indexed(const Operand& operand) {
    Elements elements = elements_of(in_, operand, rules_, false, std::max<unsigned>(out_.exec_size, 1));
    for (unsigned lane = 0; lane < elements.count; ++lane) {
      elements.offset[lane] = operand.address_offset;
      elements.word[lane] = static_cast<uint8_t>((operand.address_sub + lane) & 15);
    }
    Source source;
    source.type = operand.type;
    source.file = File::grf;
    source.access = access_of(elements, tables_);
    return source;
  }

  // Target.
  void lower_target() {
    Target& target = out_.target;
    target.type = in_.dst.type;
    target.saturate = in_.saturate;
    target.macro = in_.dst.macro;
    target.remainder = in_.op == Op::math && in_.math == MathFunction::int_divide_both;
    if (in_.align16) {
      target.lanes = 0;
      for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
        const unsigned component = traits(in_.dst.type).bytes == 8 ? (lane % 2) * 2 : lane % 4;
        target.lanes |= ((in_.dst.write_mask >> component) & 1u) << lane;
      }
    }
    if (in_.dst.is_null() || in_.dst.file == eu::File::immediate) {
      return;
    }
    Elements elements = elements_of(in_, in_.dst, rules_, true, std::max<unsigned>(out_.exec_size, 1));
    target.file = elements.file;
    if (target.file == File::none) {
      return;
    }
    target.access = access_of(elements, tables_);
    if (target.remainder) {
      for (int32_t& offset : elements.offset) {
        offset += kRegister;
      }
      target.remainders = access_of(elements, tables_);
    }
  }

  // Flag.
  void lower_flag() {
    FlagEffect& flag = out_.flag;
    flag.flag = flag_register(in_.flag);
    flag.first_bit = first_flag_bit();
    flag.condition = in_.condition;
    switch (traits_.group) {
      case OpClass::function:
        flag.kind = is_macro(in_) ? FlagEffect::Kind::decided : FlagEffect::Kind::none;
        flag.condition = Condition::none;
        return;
      case OpClass::select:
        if (in_.op == Op::sel && in_.condition != Condition::none && rules_.select_writes_flag) {
          flag.kind = FlagEffect::Kind::decided;
        }
        return;
      case OpClass::compare:
        flag.kind = in_.condition == Condition::none ? FlagEffect::Kind::none : FlagEffect::Kind::decided;
        return;
      default:
        break;
    }
    const bool rounds = in_.op == Op::rndu || in_.op == Op::rndd || in_.op == Op::rnde || in_.op == Op::rndz;
    if (in_.condition == Condition::none) {
      flag.kind = FlagEffect::Kind::none;
    } else if (rounds && in_.condition == Condition::round && traits(out_.compute.type).is_float) {
      flag.kind = FlagEffect::Kind::decided;
    } else {
      flag.kind = in_.condition == Condition::overflow ? FlagEffect::Kind::overflow : FlagEffect::Kind::result;
    }
  }

  // Accumulator.
  [[nodiscard]] Type implied_type() const {
    if (traits_.own_accumulator) {
      return traits(in_.src[0].type).is_signed ? Type::d : Type::ud;
    }
    const Type exec = out_.compute.type;
    const TypeTraits of = traits(exec);
    if (of.is_float) {
      return exec;
    }
    return of.bytes >= 4 ? (of.is_signed ? Type::d : Type::ud) : (of.is_signed ? Type::w : Type::uw);
  }
  // Returns the byte of lane 0 in the accumulators. 16 channels of words fill one accumulator, of dwords two.
  [[nodiscard]] int32_t implied_base(Type type) const {
    const bool from_first = !traits(type).is_float && rules_.implied_integer == ImpliedAccumulator::first;
    return from_first ? 0 : static_cast<int32_t>(in_.first_channel % 16u) * traits(type).bytes;
  }

  void lower_accumulator() {
    AccumulatorEffect& effect = out_.accumulator;
    effect.type = implied_type();
    effect.base = static_cast<int16_t>(implied_base(effect.type));
    const bool implicit = rules_.implicit_accumulator_write && traits_.implicit_accumulator;
    if (traits_.own_accumulator) {
      const bool always = in_.op != Op::mach;
      effect.kind = always || in_.accumulator_write || rules_.implicit_accumulator_write
                        ? AccumulatorEffect::Kind::own
                        : AccumulatorEffect::Kind::none;
    } else if (in_.dst.is_arf(Arf::accumulator) && !in_.dst.indirect) {
      effect.kind = AccumulatorEffect::Kind::none;
    } else if (in_.accumulator_write) {
      effect.kind = AccumulatorEffect::Kind::result;
    } else if (implicit) {
      effect.kind = AccumulatorEffect::Kind::result_unless_disabled;
    }
  }

  const Instruction& in_;
  const EuRules& rules_;
  const OpTraits traits_;
  Lowered out_;
  std::vector<LaneTable> tables_;
};

}  // namespace

Type execution_type(const Instruction& in) {
  bool has_double = false;
  bool has_single = false;
  bool has_half = false;
  bool has_signed = false;
  unsigned widest = 2;
  for (unsigned i = 0; i < value_count(in); ++i) {
    const Type type = value_type(in.src[i].type);
    has_double |= type == Type::df;
    has_single |= type == Type::f;
    has_half |= type == Type::hf;
    if (!traits(type).is_float) {
      has_signed |= traits(type).is_signed;
      widest = std::max<unsigned>(widest, traits(type).bytes);
    }
  }
  if (has_double) {
    return Type::df;
  }
  if (has_single) {
    return Type::f;
  }
  if (has_half) {
    // Mixed mode: with a destination of F the execution type is F.
    return in.dst.type == Type::f ? Type::f : Type::hf;
  }
  if (widest == 8) {
    return has_signed ? Type::q : Type::uq;
  }
  if (widest == 4) {
    return has_signed ? Type::d : Type::ud;
  }
  return has_signed ? Type::w : Type::uw;
}

Lowered lower(const Instruction& in, const EuRules& rules) {
  return Lowering(in, rules).run();
}

}  // namespace halogen::eu::ir
