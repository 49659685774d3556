#include "eu/exec/general/alu.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "eu/exec/control/masks.h"
#include "eu/exec/general/groups.h"
#include "eu/exec/general/macro.h"
#include "eu/exec/general/math.h"

namespace halogen::eu {

namespace {

using ir::Operation;

Value to_execution_type(const Frame& frame, Type exec, const SourceReader& source, const Value& value) {
  if (!traits(exec).is_float) {
    return source.is_float() ? Value{float_to_int(exec, value.real), 0.0} : value;
  }
  if (!source.is_float()) {
    return Value{0, int_to_float(exec, value.integer, frame.mode.rounding)};
  }
  Value out = value;
  if (source.source().flush && flushes(source.type(), frame.mode)) {
    out.real = flush(source.type(), out.real);
  }
  return out;
}

Result copy_lane(const SourceReader& source, unsigned lane) {
  Result result;
  result.type = source.type();
  result.raw = true;
  result.bits = source.bits(lane);
  return result;
}

Result convert_lane(const Frame& frame, const SourceReader& source, unsigned lane) {
  Result result;
  result.type = source.type();
  result.value = source.value(lane);
  if (source.is_float() && source.source().flush && flushes(source.type(), frame.mode)) {
    result.value.real = flush(source.type(), result.value.real);
  }
  return result;
}

Result single_to_half(const Frame& frame, const SourceReader& source, unsigned lane) {
  Result result;
  result.raw = true;
  double value = source.value(lane).real;
  value = std::isnan(value) ? quiet(value) : flush(Type::f, value);
  result.bits = double_to_half(value, frame.mode.rounding);
  return result;
}

Result half_to_single(const SourceReader& source, unsigned lane) {
  Result result;
  result.type = Type::f;
  const double value = half_to_double(static_cast<uint16_t>(source.bits(lane)));
  result.value.real = std::isnan(value) ? quiet(value) : value;
  return result;
}

bool condition_of(const ir::FlagEffect& flag, const Result& result, const Converted& converted) {
  switch (flag.kind) {
    case ir::FlagEffect::Kind::decided:
      return result.truth;
    case ir::FlagEffect::Kind::overflow:
      return converted.overflow;
    case ir::FlagEffect::Kind::none:
    case ir::FlagEffect::Kind::result:
      break;
  }
  return converted.is_float ? holds(flag.condition, converted.tested_real)
                            : holds(flag.condition, converted.tested_integer);
}

void write_accumulator(Frame& frame, const ir::AccumulatorEffect& effect, const Result& result,
                       const Converted& converted, unsigned lane) {
  const Type type = effect.type;
  const int32_t offset = effect.base + static_cast<int32_t>(lane) * traits(type).bytes;
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
  AluRun(Frame& frame, const Prepared& prepared) : frame_(frame), prepared_(prepared), lowered_(prepared.lowered) {
    for (unsigned i = 0; i < lowered_.sources; ++i) {
      sources_[i].open(frame, prepared, lowered_.source[i]);
    }
  }

  Step run() {
    const uint32_t enabled = enabled_lanes(frame_, lowered_.mask);
    chosen_ = predicate_lanes(frame_.thread, lowered_.mask);
    mask_ = lowered_.mask.predicate_selects ? enabled : enabled & chosen_;
    if (operation() == Operation::copy_scattered || operation() == Operation::convert_scattered) {
      mask_ &= static_cast<uint32_t>(sources_[1].value(0).integer) & 0xffff;  // a bit for each lane
    }
    for (unsigned lane = 0; lane < lowered_.exec_size; ++lane) {
      if (((mask_ >> lane) & 1) != 0) {
        results_[lane] = evaluate(lane);
      }
    }
    return write();
  }

 private:
  [[nodiscard]] Operation operation() const { return lowered_.compute.operation; }

  [[nodiscard]] Result evaluate(unsigned lane) const {
    switch (operation()) {
      case Operation::copy:
      case Operation::copy_scattered:
        return copy_lane(sources_[0], lane);
      case Operation::copy_indexed:
        return indexed_copy_lane(frame_, prepared_, lane);
      case Operation::convert:
      case Operation::convert_scattered:
        return convert_lane(frame_, sources_[0], lane);
      case Operation::single_to_half:
        return single_to_half(frame_, sources_[0], lane);
      case Operation::half_to_single:
        return half_to_single(sources_[0], lane);
      case Operation::dot2:
      case Operation::dot3:
      case Operation::dot4:
      case Operation::dot_homogeneous:
      case Operation::line:
      case Operation::plane:
      case Operation::differences:
      case Operation::differences_add:
        return group_lane(frame_, prepared_, sources_, lane);
      case Operation::macro_inverse:
      case Operation::macro_inverse_root:
      case Operation::macro_add_product:
        return macro_lane(frame_, prepared_, sources_, lane);
      default:
        break;
    }
    const Type exec = lowered_.compute.type;
    LaneInput input;
    input.chosen = ((chosen_ >> lane) & 1) != 0;
    for (unsigned i = 0; i < std::min<unsigned>(lowered_.sources, 3); ++i) {
      input.source[i] = sources_[i].value(lane);
      input.value[i] = to_execution_type(frame_, exec, sources_[i], input.source[i]);
    }
    switch (operation()) {
      case Operation::compare:
      case Operation::compare_or_nan:
      case Operation::compare_converted:
        return compare_lane(prepared_, input);
      case Operation::select:
      case Operation::select_related:
      case Operation::select_signed:
        return select_lane(frame_, prepared_, input);
      default:
        return traits(exec).is_float ? float_lane(frame_, prepared_, input) : integer_lane(prepared_, input);
    }
  }

  Step write() {
    const ir::Target& target = lowered_.target;
    const bool has_target = target.file != ir::File::none;
    if (has_target) {
      view_.open(frame_, prepared_, target.file, target.access, target.type);
    }
    if (has_target && target.remainder) {
      remainder_view_.open(frame_, prepared_, target.file, target.remainders, target.type);
    }
    const unsigned bytes = traits(target.type).bytes;
    const bool to_accumulator = target.file == ir::File::accumulator;
    const bool accumulates = writes_accumulator();
    uint32_t truths = 0;
    std::array<uint64_t, kChannels> remainders{};  // computed first: quotients may overwrite the sources
    for (unsigned lane = 0; target.remainder && lane < lowered_.exec_size; ++lane) {
      remainders[lane] = remainder(lane);
    }
    const uint32_t touched = mask_ & target.lanes;
    for (unsigned lane = 0; lane < lowered_.exec_size; ++lane) {
      if (((touched >> lane) & 1) == 0) {
        continue;
      }
      const Result& result = results_[lane];
      const Converted converted = convert(result, target.type, target.saturate, frame_.mode);
      truths |= condition_of(lowered_.flag, result, converted) ? 1u << lane : 0;
      if (accumulates || result.has_accumulator) {
        write_accumulator(frame_, lowered_.accumulator, result, converted, lane);
      }
      if (!has_target) {
        continue;
      }
      // A word in an explicit accumulator target keeps 16 bits; only implied results keep more.
      const bool keeps_more = !converted.is_float && !result.raw && !target.saturate && bytes == 4;
      if (!to_accumulator) {
        view_.store(lane, converted.bits);
      } else if (const int32_t offset = view_.offset(lane); offset < 0) {
        continue;  // this generation has fewer accumulators
      } else if (keeps_more && !traits(result.type).is_float) {
        set_accumulator_integer(frame_.thread, offset, target.type, result.value.integer);
      } else {
        set_accumulator_bits(frame_.thread, offset, bytes, converted.bits);
      }
      if (target.remainder) {
        remainder_view_.store(lane, remainders[lane]);
      }
    }
    if (lowered_.flag.kind != ir::FlagEffect::Kind::none) {
      write_flag(frame_.thread, lowered_, touched, truths);
    }
    return has_target && touched != 0 && commit(frame_, target, view_) ? Step::jumped : Step::next;
  }

  [[nodiscard]] uint64_t remainder(unsigned lane) const {
    return static_cast<uint64_t>(integer_math(MathFunction::int_remainder, sources_[0].value(lane).integer,
                                              sources_[1].value(lane).integer, lowered_.target.type));
  }

  // Returns whether the result is written to the accumulator too. For Kind::own, Result::has_accumulator decides.
  [[nodiscard]] bool writes_accumulator() const {
    switch (lowered_.accumulator.kind) {
      case ir::AccumulatorEffect::Kind::result:
        return true;
      case ir::AccumulatorEffect::Kind::result_unless_disabled:
        return (frame_.thread.control[0] & ControlBits::kAccumulatorDisable) == 0;
      case ir::AccumulatorEffect::Kind::none:
      case ir::AccumulatorEffect::Kind::own:
        break;
    }
    return false;
  }

  Frame& frame_;
  const Prepared& prepared_;
  const ir::Lowered& lowered_;
  SourceSet sources_;
  FileView view_;
  FileView remainder_view_;
  uint32_t mask_ = 0;
  uint32_t chosen_ = 0;
  std::array<Result, kChannels> results_;
};

}  // namespace

Step execute_alu(Frame& frame, const Prepared& prepared) {
  return AluRun(frame, prepared).run();
}

}  // namespace halogen::eu
