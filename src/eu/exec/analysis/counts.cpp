#include "eu/exec/analysis/counts.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "eu/exec/analysis/fidelity_class.h"
#include "eu/exec/general/math.h"

namespace halogen::eu {

namespace {

// By the order of Op.
constexpr std::array<std::string_view, 84> kNames{
    "illegal", "sync", "mov",   "sel",   "movi",   "not",   "and",  "or",      "xor",     "shr",   "shl",   "dim",
    "smov",    "asr",  "ror",   "rol",   "cmp",    "cmpn",  "csel", "f32to16", "f16to32", "bfrev", "bfe",   "bfi1",
    "bfi2",    "jmpi", "brd",   "if",    "brc",    "iff",   "else", "endif",   "do",      "case",  "while", "break",
    "cont",    "halt", "calla", "msave", "call",   "mrest", "ret",  "push",    "fork",    "goto",  "pop",   "join",
    "wait",    "send", "sendc", "sends", "sendsc", "math",  "add",  "mul",     "avg",     "frc",   "rndu",  "rndd",
    "rnde",    "rndz", "mac",   "mach",  "lzd",    "fbh",   "fbl",  "cbit",    "addc",    "subb",  "sad2",  "sada2",
    "dp4",     "dph",  "dp3",   "dp2",   "dp4a",   "line",  "pln",  "mad",     "lrp",     "madm",  "nenop", "nop"};
static_assert(static_cast<size_t>(Op::nop) + 1 == kNames.size());

constexpr std::array<std::string_view, 15> kTypes{"ub", "b", "uw", "w",  "ud", "d",  "uq", "q",
                                                  "hf", "f", "df", "nf", "v",  "uv", "vf"};

std::string_view type_name(Type type) {
  return kTypes[static_cast<size_t>(type) % kTypes.size()];
}

}  // namespace

std::string instruction_name(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  std::string name(kNames[static_cast<size_t>(in.op) % kNames.size()]);
  switch (in.op) {
    case Op::send:
    case Op::sendc:
    case Op::sends:
    case Op::sendsc:
      return fmt::format("{} {}", name, in.send.function);
    case Op::math:
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
      break;
    default:
      break;
  }
  const bool computes = in.op == Op::mov || (in.op > Op::mov && in.op < Op::jmpi) || in.op >= Op::math;
  if (!computes || in.op >= Op::nenop) {
    return name;
  }
  name += ' ';
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    name += fmt::format("{}{}", i == 0 ? "" : ",", type_name(in.src[i].type));
  }
  name += fmt::format("->{}", type_name(in.dst.type));
  // What changes the class stands in the name.
  for (unsigned i = 0; i < prepared.source_count; ++i) {
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
      const InstructionClass of = class_of(kernel_.list()[i], kernel_.rules());
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
