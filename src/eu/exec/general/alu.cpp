#include "eu/exec/general/alu.h"

#include <array>
#include <cmath>

#include "eu/exec/control/groups.h"
#include "eu/exec/control/masks.h"
#include "eu/exec/general/macro.h"
#include "eu/exec/general/math.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

// Floats meet their operation flushed, if the mode says so; moves and selections pass bits on.
constexpr bool flushes_sources(const Prepared& prepared) {
  switch (prepared.in.op) {
    case Op::mov:
    case Op::movi:
    case Op::smov:
    case Op::dim:
      return prepared.in.src[0].type != prepared.in.dst.type;
    case Op::sel:
    case Op::csel:
      return false;
    default:
      return true;
  }
}

Value to_execution_type(const Frame& frame, const Prepared& prepared, const Source& source, const Value& value,
                        bool flush_it) {
  if (!traits(prepared.exec).is_float) {
    return source.is_float() ? Value{float_to_int(prepared.exec, value.real), 0.0} : value;
  }
  if (!source.is_float()) {
    return Value{0, int_to_float(prepared.exec, value.integer, frame.mode.rounding)};
  }
  Value out = value;
  if (flush_it && flushes(source.type(), frame.mode)) {
    out.real = flush(source.type(), out.real);
  }
  return out;
}

Result move_lane(const Frame& frame, const Prepared& prepared, const Source& source, unsigned lane) {
  Result result;
  result.type = source.type();
  if (prepared.raw_move) {
    result.raw = true;
    result.bits = source.bits(lane);
    return result;
  }
  result.value = source.value(lane);
  if (source.is_float() && source.type() != prepared.in.dst.type && flushes(source.type(), frame.mode)) {
    result.value.real = flush(source.type(), result.value.real);
  }
  return result;
}

Result half_move(const Frame& frame, const Prepared& prepared, const Source& source, unsigned lane) {
  Result result;
  if (prepared.in.op == Op::f32to16) {
    result.raw = true;
    double value = source.value(lane).real;
    value = std::isnan(value) ? quiet(value) : flush(Type::f, value);
    result.bits = double_to_half(value, frame.mode.rounding);
  } else {
    result.type = Type::f;
    const double value = half_to_double(static_cast<uint16_t>(source.bits(lane)));
    result.value.real = std::isnan(value) ? quiet(value) : value;
  }
  return result;
}

bool write_enabled(const Prepared& prepared, unsigned lane) {
  if (!prepared.in.align16) {
    return true;
  }
  const unsigned component = traits(prepared.in.dst.type).bytes == 8 ? (lane % 2) * 2 : lane % 4;
  return ((prepared.in.dst.write_mask >> component) & 1) != 0;
}

bool condition_of(const Instruction& in, const Result& result, const Converted& converted) {
  if (result.compared) {
    return result.truth;
  }
  if (in.condition == Condition::overflow) {
    return converted.overflow;
  }
  return converted.is_float ? holds(in.condition, converted.tested_real)
                            : holds(in.condition, converted.tested_integer);
}

void write_accumulator(Frame& frame, const Prepared& prepared, const Result& result, const Converted& converted,
                       unsigned lane) {
  const Type type = implied_accumulator_type(prepared.in, prepared.exec);
  const int32_t offset = implied_accumulator_offset(frame, prepared, type, lane);
  if (result.has_accumulator) {
    set_accumulator_integer(frame.thread, offset, type, result.accumulator);
  } else if (traits(type).is_float) {
    const double value = traits(result.type).is_float ? result.value.real : converted.tested_real;
    set_accumulator_bits(frame.thread, offset, traits(type).bytes,
                         result.raw ? result.bits : float_to_bits(type, value, frame.mode.rounding));
  } else if (!traits(result.type).is_float) {
    set_accumulator_integer(frame.thread, offset, type,
                            result.raw ? static_cast<Wide>(result.bits) : result.value.integer);
  }
}

class AluRun {
 public:
  AluRun(Frame& frame, const Prepared& prepared)
      : frame_(frame),
        prepared_(prepared),
        in_(prepared.in),
        sources_{Source(frame, prepared, 0), Source(frame, prepared, 1), Source(frame, prepared, 2)} {}

  Step run() {
    const uint32_t enabled = enabled_lanes(frame_, prepared_);
    const uint32_t predicate = predicate_lanes(frame_, prepared_);
    chosen_ = predicate;
    mask_ = in_.op == Op::sel ? enabled : enabled & predicate;
    if (in_.op == Op::smov) {
      mask_ &= static_cast<uint32_t>(sources_[1].value(0).integer) & 0xffff;  // a bit for each channel
    }
    for (unsigned lane = 0; lane < in_.exec_size && lane < kChannels; ++lane) {
      if (((mask_ >> lane) & 1) != 0) {
        results_[lane] = evaluate(lane);
      }
    }
    return write();
  }

 private:
  Result evaluate(unsigned lane) const {
    switch (in_.op) {
      case Op::mov:
      case Op::dim:
      case Op::smov:
        return move_lane(frame_, prepared_, sources_[0], lane);
      case Op::movi:
        return in_.src[0].indirect ? indexed_move_lane(frame_, prepared_, lane)
                                   : move_lane(frame_, prepared_, sources_[0], lane);
      case Op::f32to16:
      case Op::f16to32:
        return half_move(frame_, prepared_, sources_[0], lane);
      case Op::dp4:
      case Op::dph:
      case Op::dp3:
      case Op::dp2:
      case Op::line:
      case Op::pln:
      case Op::sad2:
      case Op::sada2:
        return group_lane(frame_, prepared_, sources_, lane);
      case Op::madm:
        return macro_lane(frame_, prepared_, sources_, lane);
      default:
        break;
    }
    if (in_.op == Op::math && (in_.math == MathFunction::inverse_macro || in_.math == MathFunction::rsqrt_macro)) {
      return macro_lane(frame_, prepared_, sources_, lane);
    }
    LaneInput input;
    input.lane = lane;
    input.chosen = ((chosen_ >> lane) & 1) != 0;
    const bool flush_it = flushes_sources(prepared_);
    for (unsigned i = 0; i < prepared_.source_count; ++i) {
      input.source[i] = sources_[i].value(lane);
      input.value[i] = to_execution_type(frame_, prepared_, sources_[i], input.source[i], flush_it);
    }
    if (op_traits(in_.op).reads_accumulator) {
      const Type type = implied_accumulator_type(in_, prepared_.exec);
      const int32_t offset = implied_accumulator_offset(frame_, prepared_, type, lane);
      if (traits(type).is_float) {
        uint64_t bits = 0;
        Storage storage;
        storage.data = frame_.thread.accumulator.data();
        storage.bytes = static_cast<int32_t>(frame_.thread.accumulator.size());
        bits = load_bits(storage, offset, traits(type).bytes);
        input.accumulator_real = float_from_bits(type, bits);
      } else {
        input.accumulator = accumulator_integer(frame_.thread, offset, type);
      }
    }
    switch (in_.op) {
      case Op::cmp:
      case Op::cmpn:
        return compare_lane(frame_, prepared_, input);
      case Op::sel:
      case Op::csel:
        return select_lane(frame_, prepared_, input);
      default:
        return traits(prepared_.exec).is_float ? float_lane(frame_, prepared_, input)
                                               : integer_lane(frame_, prepared_, input);
    }
  }

  Step write() {
    Storage storage;
    const bool has_destination = !in_.dst.is_null() && in_.dst.file != File::immediate;
    if (has_destination) {
      locate(frame_, prepared_, in_.dst, storage);
    }
    const unsigned bytes = traits(in_.dst.type).bytes;
    const bool to_accumulator = in_.dst.is_arf(Arf::accumulator) && !in_.dst.indirect;
    const bool accumulates = writes_accumulator() && !to_accumulator;
    uint32_t truths = 0;
    uint32_t touched = 0;
    const bool divides = in_.math == MathFunction::int_divide_both && in_.op == Op::math;
    std::array<uint64_t, kChannels> remainders{};  // before a quotient lies where a source was
    for (unsigned lane = 0; divides && lane < in_.exec_size && lane < kChannels; ++lane) {
      remainders[lane] = remainder(lane);
    }
    for (unsigned lane = 0; lane < in_.exec_size && lane < kChannels; ++lane) {
      if (((mask_ >> lane) & 1) == 0 || !write_enabled(prepared_, lane)) {
        continue;
      }
      const Result& result = results_[lane];
      const Converted converted = convert(result, in_.dst.type, in_.saturate, frame_.mode);
      touched |= 1u << lane;
      truths |= condition_of(in_, result, converted) ? 1u << lane : 0;
      if (accumulates || result.has_accumulator) {
        write_accumulator(frame_, prepared_, result, converted, lane);
      }
      if (!has_destination) {
        continue;
      }
      const int32_t offset = destination_offset(storage, lane);
      if (to_accumulator && offset + static_cast<int32_t>(bytes) > storage.bytes) {
        continue;  // this generation has fewer
      }
      // A word that is written by name is a word; only implied results are wider.
      const bool keeps_more = !converted.is_float && !result.raw && !in_.saturate && bytes == 4;
      if (to_accumulator && keeps_more && !traits(result.type).is_float) {
        set_accumulator_integer(frame_.thread, offset, in_.dst.type, result.value.integer);
      } else if (to_accumulator) {
        set_accumulator_bits(frame_.thread, offset, bytes, converted.bits);
      } else {
        store_bits(storage, offset, bytes, converted.bits);
      }
      if (divides) {
        store_bits(storage, offset + static_cast<int32_t>(kGrfBytes), bytes, remainders[lane]);
      }
    }
    if (writes_flag()) {
      write_flag(frame_, prepared_, touched, truths);
    }
    return has_destination && touched != 0 && commit(frame_, in_.dst, storage) ? Step::jumped : Step::next;
  }

  [[nodiscard]] int32_t destination_offset(const Storage& storage, unsigned lane) const {
    return element_offset(frame_.thread, prepared_, in_.dst, storage, lane, true);
  }

  [[nodiscard]] uint64_t remainder(unsigned lane) const {
    return static_cast<uint64_t>(integer_math(MathFunction::int_remainder, sources_[0].value(lane).integer,
                                              sources_[1].value(lane).integer, in_.dst.type));
  }

  [[nodiscard]] bool writes_accumulator() const {
    if (op_traits(in_.op).own_accumulator) {
      return false;  // they say it in their results
    }
    const bool disabled = (frame_.thread.control[0] & ControlBits::kAccumulatorDisable) != 0;
    return in_.accumulator_write ||
           (frame_.rules.implicit_accumulator_write && op_traits(in_.op).implicit_accumulator && !disabled);
  }

  [[nodiscard]] bool writes_flag() const {
    if (in_.op == Op::math) {
      return in_.math == MathFunction::inverse_macro || in_.math == MathFunction::rsqrt_macro;
    }
    if (in_.condition == Condition::none || in_.op == Op::csel) {
      return false;
    }
    return in_.op != Op::sel || frame_.rules.select_writes_flag;
  }

  Frame& frame_;
  const Prepared& prepared_;
  const Instruction& in_;
  SourceSet sources_;
  uint32_t mask_ = 0;
  uint32_t chosen_ = 0;
  std::array<Result, kChannels> results_;
};

}  // namespace

Step execute_alu(Frame& frame, const Prepared& prepared) {
  return AluRun(frame, prepared).run();
}

}  // namespace halogen::eu
