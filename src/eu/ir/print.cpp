#include "eu/ir/print.h"

#include <fmt/format.h>

#include <array>

#include "eu/isa/text.h"

namespace halogen::eu::ir {

namespace {

constexpr std::array<std::string_view, 15> kTypes{"ub", "b", "uw", "w",  "ud", "d",  "uq", "q",
                                                  "hf", "f", "df", "nf", "v",  "uv", "vf"};
constexpr std::array<std::string_view, 10> kConditions{"none", "zero",       "not_zero", "greater",  "greater_equal",
                                                       "less", "less_equal", "round",    "overflow", "unordered"};
constexpr std::array<std::string_view, kFileCount> kFiles{"none", "imm", "grf",   "mrf", "acc", "a0",  "flag", "sr",
                                                          "cr",   "n",   "tdr",   "sp",  "msg", "dbg", "ce",   "mask",
                                                          "ims",  "lms", "depth", "ip",  "tm",  "fc"};

std::string_view type_name(Type type) {
  return kTypes[static_cast<size_t>(type)];
}

std::string flag_bits(uint8_t flag, uint8_t first_bit) {
  return flag == kNoFlag ? "no flag" : fmt::format("f{}[{}]", flag, first_bit);
}

std::string location(const Lowered& lowered, File file, const Access& access, unsigned lanes) {
  if (file == File::none) {
    return "none";
  }
  const auto in_file = [&](int at) {
    return at == kOutside ? std::string("-") : fmt::format("{}", at - static_cast<int>(file_bytes(file).first));
  };
  std::string out(kFiles[static_cast<size_t>(file)]);
  switch (access.kind) {
    case Access::Kind::scalar:
      return out + fmt::format("[{}]", in_file(access.base));
    case Access::Kind::even:
      return out + fmt::format("[{} +{}]", in_file(access.base), access.step);
    case Access::Kind::rows:
      return out + fmt::format("[{} +{}, {}: +{}]", in_file(access.base), access.step, access.width, access.row);
    case Access::Kind::lanes:
    case Access::Kind::indirect:
      break;
  }
  const LaneTable& table = lowered.table(access);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    out += lane == 0 ? "{" : " ";
    out += access.kind == Access::Kind::indirect ? fmt::format("a0.{}{:+}", table.word[lane], table.offset[lane])
                                                 : in_file(table.offset[lane]);
  }
  return out + "}";
}

std::string source(const Lowered& lowered, const Source& from) {
  std::string out;
  if (from.file != File::immediate) {
    out = location(lowered, from.file, from.access, lowered.exec_size);
  } else if (from.access.table == Access::kNoTable) {
    out = fmt::format("#{:#x}", from.immediate);
  } else {
    for (unsigned lane = 0; lane < lowered.exec_size; ++lane) {
      out += fmt::format("{}{:#x}", lane == 0 ? "#{" : " ", lowered.table(from.access).constant[lane]);
    }
    out += "}";
  }
  if (from.modifier.absolute) {
    out = fmt::format("|{}|", out);
  }
  return fmt::format("{}{}{}:{}", from.modifier.negate ? "-" : "", from.modifier.invert ? "~" : "", out,
                     type_name(from.type));
}

std::string_view end_name(EndKind kind) {
  switch (kind) {
    case EndKind::falls_through:
      return "falls through";
    case EndKind::branch:
      return "branch";
    case EndKind::send:
      return "send";
    case EndKind::end_of_thread:
      return "end of thread";
    case EndKind::wait:
      return "wait";
    case EndKind::mode_change:
      return "mode change";
    case EndKind::illegal:
      return "illegal";
  }
  return "";
}

constexpr std::array kOperations{"none",
                                 "copy",
                                 "copy_indexed",
                                 "copy_scattered",
                                 "convert",
                                 "convert_scattered",
                                 "pass",
                                 "single_to_half",
                                 "half_to_single",
                                 "select",
                                 "select_related",
                                 "select_signed",
                                 "bit_not",
                                 "bit_and",
                                 "bit_or",
                                 "bit_xor",
                                 "shift_left",
                                 "shift_right",
                                 "shift_arithmetic",
                                 "rotate_left",
                                 "rotate_right",
                                 "compare",
                                 "compare_or_nan",
                                 "compare_converted",
                                 "add",
                                 "multiply",
                                 "multiply_low_a",
                                 "multiply_low_b",
                                 "add_product",
                                 "product_add",
                                 "product_low_a_add",
                                 "product_low_b_add",
                                 "multiply_high",
                                 "multiply_high_a",
                                 "multiply_high_low",
                                 "multiply_high_a_low",
                                 "add_carry",
                                 "subtract_borrow",
                                 "average",
                                 "interpolate",
                                 "fraction",
                                 "floor",
                                 "ceiling",
                                 "nearest_even",
                                 "truncate",
                                 "floor_for_ceiling",
                                 "floor_for_nearest",
                                 "floor_for_truncate",
                                 "leading_zeros",
                                 "first_bit_high",
                                 "first_bit_low",
                                 "count_bits",
                                 "reverse_bits",
                                 "extract_bits",
                                 "insert_mask",
                                 "insert_bits",
                                 "dot_bytes",
                                 "function",
                                 "quotient",
                                 "integer_remainder",
                                 "dot2",
                                 "dot3",
                                 "dot4",
                                 "dot_homogeneous",
                                 "line",
                                 "plane",
                                 "differences",
                                 "differences_add",
                                 "macro_inverse",
                                 "macro_inverse_root",
                                 "macro_add_product"};
static_assert(kOperations.size() == static_cast<size_t>(Operation::macro_add_product) + 1);

}  // namespace

std::string_view file_name(File file) {
  return kFiles[static_cast<size_t>(file)];
}

std::string_view operation_name(Operation operation) {
  return kOperations[static_cast<size_t>(operation)];
}

std::string print(const Lowered& lowered) {
  std::string out;
  const MaskRule& mask = lowered.mask;
  if (mask.predicate != Predicate::none) {
    out += fmt::format("({}{}) ", mask.inverse ? "not " : "", flag_bits(mask.flag, mask.first_bit));
  }
  out += fmt::format("{}.{}", operation_name(lowered.compute.operation), type_name(lowered.compute.type));
  if (lowered.compute.operation == Operation::function) {
    out += fmt::format(".{}", text::name_in(text::kMath, text::number(lowered.compute.function)));
  }
  if (lowered.compute.relation != Condition::none) {
    out += fmt::format(".{}", kConditions[static_cast<size_t>(lowered.compute.relation)]);
  }
  out += fmt::format(" {}:{} <-", location(lowered, lowered.target.file, lowered.target.access, lowered.exec_size),
                     type_name(lowered.target.type));
  for (unsigned i = 0; i < lowered.sources; ++i) {
    out += fmt::format("{} {}", i == 0 ? "" : ",", source(lowered, lowered.source[i]));
  }
  out += fmt::format("  x{} at {}{}", lowered.exec_size, mask.first_channel, mask.all_channels ? " unmasked" : "");
  if (lowered.target.saturate) {
    out += "  sat";
  }
  switch (lowered.flag.kind) {
    case FlagEffect::Kind::none:
      break;
    case FlagEffect::Kind::decided:
      out += fmt::format("  {} <- decision", flag_bits(lowered.flag.flag, lowered.flag.first_bit));
      break;
    case FlagEffect::Kind::result:
    case FlagEffect::Kind::overflow:
      out += fmt::format("  {} <- {}", flag_bits(lowered.flag.flag, lowered.flag.first_bit),
                         kConditions[static_cast<size_t>(lowered.flag.condition)]);
      break;
  }
  switch (lowered.accumulator.kind) {
    case AccumulatorEffect::Kind::none:
      break;
    case AccumulatorEffect::Kind::result:
      out += fmt::format("  acc[{}]:{} <- result", lowered.accumulator.base, type_name(lowered.accumulator.type));
      break;
    case AccumulatorEffect::Kind::result_unless_disabled:
      out += fmt::format("  acc[{}]:{} <- result unless disabled", lowered.accumulator.base,
                         type_name(lowered.accumulator.type));
      break;
    case AccumulatorEffect::Kind::own:
      out +=
          fmt::format("  acc[{}]:{} <- second result", lowered.accumulator.base, type_name(lowered.accumulator.type));
      break;
  }
  return out;
}

std::string print(const BlockList& list) {
  std::string out;
  for (const Block& block : list.blocks()) {
    out += fmt::format("block {:#x}\n", block.offset);
    for (const Lowered& lowered : block.body) {
      out += fmt::format("  {}\n", print(lowered));
    }
    out += fmt::format("  {}", end_name(block.end.kind));
    for (const uint32_t target : block.end.targets) {
      out += fmt::format(" to {:#x}", target);
    }
    out += block.end.continues ? fmt::format(", next {:#x}\n", block.end.next) : "\n";
  }
  return out;
}

}  // namespace halogen::eu::ir
