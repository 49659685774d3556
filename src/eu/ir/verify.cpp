#include "eu/ir/verify.h"

#include <fmt/format.h>

#include "eu/ir/print.h"
#include "eu/isa/type_traits.h"

namespace halogen::eu::ir {

namespace {

// The number of sources of an operation.
struct Arity {
  unsigned min;
  unsigned max;
};

Arity arity_of(Operation operation) {
  switch (operation) {
    case Operation::none:
      return {0, 2};
    case Operation::copy:
    case Operation::copy_indexed:
    case Operation::convert:
    case Operation::pass:
    case Operation::single_to_half:
    case Operation::half_to_single:
    case Operation::bit_not:
    case Operation::fraction:
    case Operation::floor:
    case Operation::ceiling:
    case Operation::nearest_even:
    case Operation::truncate:
    case Operation::floor_for_ceiling:
    case Operation::floor_for_nearest:
    case Operation::floor_for_truncate:
    case Operation::leading_zeros:
    case Operation::first_bit_high:
    case Operation::first_bit_low:
    case Operation::count_bits:
    case Operation::reverse_bits:
    case Operation::macro_inverse_root:
      return {1, 1};
    case Operation::function:
    case Operation::quotient:
    case Operation::integer_remainder:
      return {1, 2};
    case Operation::select_signed:
    case Operation::add_product:
    case Operation::product_add:
    case Operation::product_low_a_add:
    case Operation::product_low_b_add:
    case Operation::multiply_high:
    case Operation::multiply_high_a:
    case Operation::multiply_high_low:
    case Operation::multiply_high_a_low:
    case Operation::interpolate:
    case Operation::extract_bits:
    case Operation::insert_bits:
    case Operation::dot_bytes:
    case Operation::line:
    case Operation::differences_add:
    case Operation::macro_add_product:
      return {3, 3};
    case Operation::plane:
      return {5, 5};
    default:
      return {2, 2};
  }
}

bool is_element_type(Type type) {
  return type <= Type::nf;
}

// Returns whether an operation itself yields flag bits.
bool decides(Operation operation) {
  switch (operation) {
    case Operation::compare:
    case Operation::compare_or_nan:
    case Operation::compare_converted:
    case Operation::select_related:
    case Operation::floor:
    case Operation::ceiling:
    case Operation::nearest_even:
    case Operation::truncate:
    case Operation::floor_for_ceiling:
    case Operation::floor_for_nearest:
    case Operation::floor_for_truncate:
    case Operation::macro_inverse:
    case Operation::macro_inverse_root:
      return true;
    default:
      return false;
  }
}

bool has_second_result(Operation operation) {
  switch (operation) {
    case Operation::add_carry:
    case Operation::subtract_borrow:
    case Operation::multiply_high:
    case Operation::multiply_high_a:
    case Operation::multiply_high_low:
    case Operation::multiply_high_a_low:
      return true;
    default:
      return false;
  }
}

std::string verify_access(const Lowered& lowered, File file, const Access& access, Type type, unsigned lanes) {
  if (access.table != Access::kNoTable && (lowered.tables == nullptr || access.table >= lowered.tables->size())) {
    return "names a table that does not exist";
  }
  if (access.kind >= Access::Kind::lanes && access.table == Access::kNoTable) {
    return "needs a table";
  }
  if (file == File::immediate || file == File::none || access.kind == Access::Kind::indirect) {
    return "";
  }
  if (access.width == 0) {
    return "has rows without lanes";
  }
  const FileBytes bytes = file_bytes(file);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const int at = lane_offset(lowered, access, lane);
    if (at == kOutside) {
      if (access.inside) {
        return fmt::format("is marked as inside its file, but lane {} is outside", lane);
      }
      continue;
    }
    const auto first = static_cast<int>(bytes.first);
    if (at < first || at + traits(type).bytes > first + static_cast<int>(bytes.bytes)) {
      return fmt::format("is outside {} in lane {}", file_name(file), lane);
    }
  }
  return "";
}

std::string verify_target(const Lowered& lowered) {
  const Target& target = lowered.target;
  switch (target.file) {
    case File::immediate:
    case File::channel_enable:
    case File::timestamp:
    case File::flow_control:
      return fmt::format("the target is in {}, which is read-only", file_name(target.file));
    default:
      break;
  }
  if (!is_element_type(target.type)) {
    return "the target has the type of a vector immediate";
  }
  const unsigned lanes = lowered.compute.operation == Operation::none ? 1 : lowered.exec_size;
  if (const std::string fault = verify_access(lowered, target.file, target.access, target.type, lanes);
      !fault.empty()) {
    return "the target " + fault;
  }
  return "";
}

}  // namespace

std::string verify(const Lowered& lowered) {
  const Operation operation = lowered.compute.operation;
  if (lowered.exec_size > kMaxLanes) {
    return fmt::format("{} lanes exceed the maximum of {}", lowered.exec_size, kMaxLanes);
  }
  const uint32_t lanes = lowered.exec_size >= 32 ? ~0u : (1u << lowered.exec_size) - 1;
  if (lowered.mask.lanes != lanes) {
    return "the lanes of the mask are not those of the instruction";
  }
  if (lowered.mask.flag != kNoFlag && lowered.mask.flag > 1) {
    return "the predicate reads a flag register that no generation has";
  }
  const Arity arity = arity_of(operation);
  if (lowered.sources < arity.min || lowered.sources > arity.max) {
    return fmt::format("{} has {} sources", operation_name(operation), lowered.sources);
  }
  for (unsigned i = 0; i < lowered.sources; ++i) {
    const Source& source = lowered.source[i];
    if (!is_element_type(source.type)) {
      return fmt::format("source {} has the type of a vector immediate", i);
    }
    if (source.modifier.invert && (source.modifier.absolute || source.modifier.negate)) {
      return fmt::format("source {} is inverted and negated", i);
    }
    const std::string fault = verify_access(lowered, source.file, source.access, source.type, lowered.exec_size);
    if (!fault.empty()) {
      return fmt::format("source {} {}", i, fault);
    }
  }
  if (std::string fault = verify_target(lowered); !fault.empty()) {
    return fault;
  }
  if (operation == Operation::select_related && lowered.compute.relation == Condition::none) {
    return fmt::format("{} has no relation", operation_name(operation));
  }
  const FlagEffect& flag = lowered.flag;
  if (flag.kind == FlagEffect::Kind::decided && !decides(operation)) {
    return fmt::format("{} does not yield flag bits", operation_name(operation));
  }
  if (flag.kind == FlagEffect::Kind::result && flag.condition == Condition::none) {
    return "the flag tests the result, but no condition is set";
  }
  if (lowered.accumulator.kind == AccumulatorEffect::Kind::own && !has_second_result(operation)) {
    return fmt::format("{} has no second result for the accumulator", operation_name(operation));
  }
  return "";
}

std::string verify(const BlockList& list) {
  const std::span<const Block> blocks = list.blocks();
  if (!blocks.empty() && list.find(list.entry()) == nullptr) {
    return "no block begins at the entry";
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    // A branch may lead into the middle of an instruction, so blocks may overlap.
    if (block.end.next <= block.offset || (i + 1 < blocks.size() && blocks[i + 1].offset <= block.offset)) {
      return fmt::format("block {:#x} is out of order", block.offset);
    }
    for (const Lowered& lowered : block.body) {
      if (lowered.compute.operation == Operation::none) {
        return fmt::format("block {:#x} has flow control in its body", block.offset);
      }
      if (const std::string fault = verify(lowered); !fault.empty()) {
        return fmt::format("block {:#x}: {}", block.offset, fault);
      }
    }
    if (const std::string fault = verify(block.end.lowered);
        block.end.kind != EndKind::falls_through && !fault.empty()) {
      return fmt::format("end of block {:#x}: {}", block.offset, fault);
    }
  }
  return "";
}

}  // namespace halogen::eu::ir
