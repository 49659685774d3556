// Decides whether an instruction can be run over arrays of lanes, and how.
#include <bit>
#include <memory>
#include <optional>

#include "eu/exec/general/alu.h"
#include "eu/exec/general/operands.h"
#include "eu/exec/vector/lane_plan.h"
#include "eu/exec/vector/lanes.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

constexpr auto kRegister = static_cast<int32_t>(kGrfBytes);

struct Place {
  LaneFile file;
  int32_t base;
  int32_t bytes;  // of the file
};

std::optional<Place> place_of(const Operand& operand, const EuRules& rules, bool is_destination) {
  if (operand.indirect) {
    return operand.file == File::mrf ? std::nullopt
                                     : std::optional(Place{LaneFile::grf, 0, static_cast<int32_t>(kGrfs) * kRegister});
  }
  switch (operand.file) {
    case File::grf:
      return Place{LaneFile::grf, operand.reg * kRegister + operand.sub, static_cast<int32_t>(kGrfs) * kRegister};
    case File::mrf:
      return is_destination ? std::optional(Place{LaneFile::mrf, (operand.reg & 0x7f) * kRegister + operand.sub,
                                                  static_cast<int32_t>(kMrfs) * kRegister})
                            : std::nullopt;
    case File::immediate:
      return std::nullopt;
    case File::arf:
      break;
  }
  const int32_t number = operand.reg & 15;
  if (operand.is_arf(Arf::accumulator)) {
    // Integers have bits above their register that only the general path reads.
    if (!is_destination && !traits(operand.type).is_float) {
      return std::nullopt;
    }
    return Place{LaneFile::accumulator, number * kRegister + operand.sub, rules.accumulators * kRegister};
  }
  if (operand.is_arf(Arf::address)) {
    return Place{LaneFile::address, operand.sub, rules.address_words * 2};
  }
  if (operand.is_arf(Arf::flag)) {
    return Place{LaneFile::flag, number * 4 + operand.sub, rules.flag_registers * 4};
  }
  return std::nullopt;
}

bool place_lanes(const Prepared& prepared, const Operand& operand, const EuRules& rules, bool is_destination,
                 LaneOperand& out) {
  const auto place = place_of(operand, rules, is_destination);
  if (!place || operand.type == Type::nf) {
    return false;
  }
  out.file = place->file;
  out.type = operand.type;
  out.indirect = operand.indirect;
  Storage storage;
  storage.base = place->base;
  const Thread nowhere;  // whose addresses are zero: what is left is the way from the address
  const int32_t size = traits(operand.type).bytes;
  const unsigned width = operand.region.width == 0 ? 1 : operand.region.width;
  out.even = true;
  for (unsigned lane = 0; lane < prepared.in.exec_size; ++lane) {
    const int32_t offset = element_offset(nowhere, prepared, operand, storage, lane, is_destination);
    if (offset < INT16_MIN || offset > INT16_MAX ||
        (!operand.indirect && (offset < 0 || offset + size > place->bytes))) {
      return false;
    }
    out.offset[lane] = static_cast<int16_t>(offset);
    out.even = out.even && offset == out.offset[0] + static_cast<int32_t>(lane) * size;
    const unsigned row = !is_destination && operand.region.vertical_by_address ? lane / width : 0;
    out.word[lane] = static_cast<uint8_t>((operand.address_sub + row) & 15);
  }
  return true;
}

bool plan_source(const Prepared& prepared, unsigned which, const EuRules& rules, LaneOperand& out) {
  const Instruction& in = prepared.in;
  const Operand& operand = in.src[which];
  if (operand.file == File::immediate) {
    out.file = LaneFile::immediate;
    switch (operand.type) {
      case Type::v:
        out.type = Type::w;
        break;
      case Type::uv:
        out.type = Type::uw;
        break;
      case Type::vf:
        out.type = Type::f;
        break;
      default:
        out.type = operand.type;
        break;
    }
    for (unsigned lane = 0; lane < in.exec_size; ++lane) {
      out.constant[lane] = immediate_for_lane(in, operand, lane);
    }
    return true;
  }
  if (!place_lanes(prepared, operand, rules, false, out)) {
    return false;
  }
  if (obeys_modifiers(in, operand, rules)) {
    if (is_logic(in.op) && rules.logic_negate_is_not) {
      out.invert = operand.negate;
    } else {
      out.negate = operand.negate;
      out.absolute = operand.absolute;
    }
  }
  return true;
}

// Coefficients lie in a row at src0, whatever its region; the coordinates of PLN in pairs of registers at src1.
bool plan_plane(const Prepared& prepared, const EuRules& rules, LanePlan& plan) {
  const Instruction& in = prepared.in;
  constexpr int32_t kFloat = 4;
  if (in.src[0].type != Type::f || in.src[1].type != Type::f || in.src[0].indirect || in.src[1].indirect ||
      in.src[0].file != File::grf || in.src[1].file != File::grf || in.align16) {
    return false;
  }
  LaneOperand start;
  LaneOperand across;
  if (!plan_source(prepared, 0, rules, start) || !plan_source(prepared, 1, rules, across)) {
    return false;
  }
  const auto end = static_cast<int32_t>(kGrfs) * kRegister;
  const auto coefficient = [&](LaneOperand& to, int32_t element) {
    const int32_t place = start.offset[0] + element * kFloat;
    to = start;
    to.even = false;
    to.offset.fill(static_cast<int16_t>(place));
    return place + kFloat <= end;
  };
  if (in.op == Op::line) {
    plan.loads = 3;
    plan.source[1] = across;
    return coefficient(plan.source[0], 0) && coefficient(plan.source[2], 3);
  }
  plan.loads = 5;
  plan.source[1] = plan.source[3] = across;
  for (unsigned lane = 0; lane < in.exec_size; ++lane) {
    const int32_t u =
        across.offset[0] + static_cast<int32_t>(lane / 8) * 2 * kRegister + static_cast<int32_t>(lane % 8) * kFloat;
    if (u + kRegister + kFloat > end) {
      return false;
    }
    plan.source[1].offset[lane] = static_cast<int16_t>(u);
    plan.source[3].offset[lane] = static_cast<int16_t>(u + kRegister);
  }
  plan.source[1].even = plan.source[3].even = in.exec_size <= 8;
  return coefficient(plan.source[0], 0) && coefficient(plan.source[2], 1) && coefficient(plan.source[4], 3);
}

// MAC adds the accumulator of its channels, as it is.
bool plan_implied(const Prepared& prepared, const EuRules& rules, LanePlan& plan) {
  const Instruction& in = prepared.in;
  if (prepared.exec != Type::f) {
    return false;
  }
  plan.source[2] = plan.source[1];
  plan.source[1] = plan.source[0];
  LaneOperand& implied = plan.source[0];
  implied = LaneOperand{};
  implied.file = LaneFile::accumulator;
  implied.type = Type::f;
  implied.even = true;
  implied.keeps_denormals = true;
  for (unsigned lane = 0; lane < in.exec_size; ++lane) {
    const unsigned place = (in.first_channel % 16u + lane) * 4;
    if (place + 4 > rules.accumulators * kGrfBytes) {
      return false;
    }
    implied.offset[lane] = static_cast<int16_t>(place);
  }
  plan.loads = 3;
  return true;
}

// Numbers of 64 bits are taken modulo 2^64: nothing may look above.
bool wide_fits(const Instruction& in, const LanePlan& plan, unsigned sources) {
  const bool compares = in.op == Op::cmp || in.op == Op::cmpn || in.op == Op::sel;
  if (in.saturate || plan.accumulates || plan.carries || plan.divides || in.op == Op::avg || in.op == Op::csel ||
      in.op == Op::math || (in.condition != Condition::none && !compares)) {
    return false;
  }
  unsigned unsigned_wide = 0;
  for (unsigned i = 0; i < sources; ++i) {
    if (plan.source[i].type == Type::uq) {
      ++unsigned_wide;
      if (plan.source[i].negate) {
        return false;
      }
    }
  }
  if (traits(in.dst.type).is_float && (unsigned_wide != 0 || in.dst.type == Type::hf || in.op != Op::mov)) {
    return false;
  }
  return !compares || unsigned_wide == 0 || unsigned_wide == 2;
}

// Products of two full unsigned dwords do not fit an int64_t: where more than the low bits count, they must not come.
bool products_fit(const Instruction& in, const LanePlan& plan) {
  const bool exact = in.saturate || plan.accumulates || traits(in.dst.type).is_float ||
                     (plan.keeps && plan.destination.file == LaneFile::accumulator);
  if (!exact || (in.op != Op::mul && in.op != Op::mad)) {
    return true;
  }
  const Type first = plan.source[in.op == Op::mad ? 1 : 0].type;
  const Type second = plan.source[in.op == Op::mad ? 2 : 1].type;
  const bool first_full = first == Type::ud && traits(second).bytes > 2;
  const bool second_full = second == Type::ud && traits(first).bytes > 2;
  return !first_full && !second_full;
}

uint32_t written_lanes(const Instruction& in) {
  if (!in.align16) {
    return ~0u;
  }
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < kMostLanes; ++lane) {
    const unsigned component = traits(in.dst.type).bytes == 8 ? (lane % 2) * 2 : lane % 4;
    mask |= ((in.dst.write_mask >> component) & 1u) << lane;
  }
  return mask;
}

bool plan_lanes(const Prepared& prepared, const EuRules& rules, LanePlan& plan) {
  const Instruction& in = prepared.in;
  unsigned floats = 0;
  bool wide = traits(in.dst.type).bytes == 8 && !traits(in.dst.type).is_float;
  const bool plane = in.op == Op::line || in.op == Op::pln;
  const bool sums = in.op == Op::dp2 || in.op == Op::dp3 || in.op == Op::dp4 || in.op == Op::dph;
  if ((sums || plane) && (in.dst.type != Type::f || in.src[0].type != Type::f || in.src[1].type != Type::f)) {
    return false;
  }
  // A group also reads the elements of channels that do not run.
  if (sums && (in.exec_size % 4 != 0 || in.src[0].indirect || in.src[1].indirect)) {
    return false;
  }
  plan.loads = prepared.source_count;
  if (plane && !plan_plane(prepared, rules, plan)) {
    return false;
  }
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    if (!plane && !plan_source(prepared, i, rules, plan.source[i])) {
      return false;
    }
    const TypeTraits of = traits(plan.source[i].type);
    floats += of.is_float ? 1 : 0;
    wide |= of.bytes == 8 && !of.is_float;
  }
  if (floats != 0 && floats != prepared.source_count) {
    return false;
  }
  if (in.op == Op::mac && !plan_implied(prepared, rules, plan)) {
    return false;
  }
  plan.keeps = !in.dst.is_null() && in.dst.file != File::immediate;
  if (plan.keeps && !place_lanes(prepared, in.dst, rules, true, plan.destination)) {
    return false;
  }
  plan.write_mask = written_lanes(in);
  plan.chooses = in.op == Op::sel;
  const bool compares = in.op == Op::cmp || in.op == Op::cmpn;
  const bool passes = in.op == Op::mov || in.op == Op::sel || in.op == Op::csel;
  plan.writes_flag = in.op != Op::math && in.op != Op::csel && in.condition != Condition::none &&
                     (in.op != Op::sel || rules.select_writes_flag);
  plan.decides = compares || in.op == Op::sel;
  plan.carries = in.op == Op::addc || in.op == Op::subb;
  plan.divides = in.op == Op::math && in.math == MathFunction::int_divide_both;
  const bool implicit = rules.implicit_accumulator_write && op_traits(in.op).implicit_accumulator;
  const bool names_it = in.dst.is_arf(Arf::accumulator) && !in.dst.indirect;
  plan.accumulates = !plan.carries && !names_it && (in.accumulator_write || implicit);
  plan.unless_disabled = !plan.carries && !in.accumulator_write;
  if (plan.carries && names_it) {
    return false;  // sum and carry go to one place
  }
  plan.accumulator = implied_accumulator_type(in, prepared.exec);
  if (prepared.raw_move || compares) {
    plan.raw = true;
    if (plan.accumulates || (prepared.raw_move && in.condition != Condition::none)) {
      return false;
    }
  }
  if (prepared.raw_move) {
    // Bits of any type pass as unsigned numbers.
    static constexpr Type kUnsigned[]{Type::ub, Type::uw, Type::ud, Type::uq};
    plan.source[0].type = kUnsigned[std::countr_zero(static_cast<unsigned>(traits(plan.source[0].type).bytes))];
    plan.compute = integer_lanes(in, rules);
    return plan.compute != nullptr;
  }
  plan.floats = floats != 0;
  plan.result = in.op == Op::mov ? plan.source[0].type : prepared.exec;
  plan.modal = plan.floats || traits(in.dst.type).is_float;
  plan.rounds = plan.floats && !passes && !compares;
  plan.flushes = plan.floats && (in.op == Op::mov ? plan.source[0].type != in.dst.type : !passes);
  if (plan.divides) {
    // Quotients in one register, remainders in the next: where the two would meet, order counts.
    const int32_t first = plan.destination.offset[0];
    const int32_t last = plan.destination.offset[in.exec_size - 1u];
    if (!plan.keeps || plan.destination.file != LaneFile::grf || plan.destination.indirect ||
        last - first >= kRegister || last + kRegister + 8 > static_cast<int32_t>(kGrfs) * kRegister) {
      return false;
    }
  }
  if (!plan.floats && ((wide && !wide_fits(in, plan, prepared.source_count)) || !products_fit(in, plan))) {
    return false;
  }
  if (wide && plan.keeps && plan.destination.file == LaneFile::accumulator) {
    return false;
  }
  plan.compute = plan.floats ? float_lanes(in, rules, prepared.exec) : integer_lanes(in, rules);
  return plan.compute != nullptr;
}

}  // namespace

void choose_lanes(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  const bool plain_condition = in.condition <= Condition::less_equal;
  if (in.exec_size == 0 || in.exec_size > kMostLanes || (in.op != Op::math && !plain_condition)) {
    return;
  }
  LanePlan plan;
  if (plan_lanes(prepared, rules, plan)) {
    prepared.lane_plan = std::make_shared<const LanePlan>(plan);
    prepared.fast = run_lanes;
  }
}

}  // namespace halogen::eu
