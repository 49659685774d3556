#include "eu/exec/analysis/counts.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "eu/exec/analysis/fidelity_class.h"
#include "eu/exec/general/math.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

constexpr std::array<std::string_view, 15> kTypes{"ub", "b", "uw", "w",  "ud", "d",  "uq", "q",
                                                  "hf", "f", "df", "nf", "v",  "uv", "vf"};

std::string_view type_name(Type type) {
  return kTypes[static_cast<size_t>(type) % kTypes.size()];
}

}  // namespace

std::string instruction_name(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  std::string name(op_traits(in.op).name);
  if (is_send(in.op)) {
    return fmt::format("{} {}", name, in.send.function);
  }
  if (in.op == Op::math) {
    for (const MathBound& bound : math_bounds()) {
      if (bound.function == in.math) {
        name += fmt::format(".{}", bound.name);
      }
    }
    if (in.math == MathFunction::int_quotient) {
      name += ".iqot";
    } else if (in.math == MathFunction::int_remainder) {
      name += ".irem";
    } else if (in.math == MathFunction::int_divide_both) {
      name += ".idiv";
    }
  }
  if (!computes(in.op)) {
    return name;
  }
  name += ' ';
  for (unsigned i = 0; i < value_count(in); ++i) {
    name += fmt::format("{}{}", i == 0 ? "" : ",", type_name(in.src[i].type));
  }
  name += fmt::format("->{}", type_name(in.dst.type));
  // The name tells apart instructions whose fidelity class differs.
  for (unsigned i = 0; i < value_count(in); ++i) {
    if (in.src[i].is_arf(Arf::accumulator) && traits(in.src[i].type).is_float) {
      return name + " of an accumulator";
    }
    if (in.src[i].is_arf(Arf::timestamp)) {
      return name + " of tm0";
    }
  }
  return in.saturate && in.condition != Condition::none ? name + " saturated and tested" : name;
}

void KernelCounts::report(FidelityReport& report) const {
  for (size_t i = 0; i < counters_.size(); ++i) {
    if (counters_[i] != 0) {
      const InstructionClass of = class_of(kernel_.list()[i]);
      report.touch(FidelityKind::instruction, instruction_name(kernel_.list()[i]), of.fidelity, of.reason,
                   counters_[i]);
    }
  }
}

void KernelCounts::add_first(size_t instructions, uint64_t times) {
  for (size_t i = 0; i < std::min(instructions, counters_.size()); ++i) {
    counters_[i] += times;
  }
}

void KernelCounts::take(ExecutionCounts& other) {
  std::vector<uint64_t>& theirs = static_cast<KernelCounts&>(other).counters_;
  for (size_t i = 0; i < counters_.size() && i < theirs.size(); ++i) {
    counters_[i] += theirs[i];
  }
  other.clear();
}

}  // namespace halogen::eu
