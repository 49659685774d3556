// Checks restrictions that an encoding could violate: regions, types, modifiers, messages. They are the restrictions of
// the manuals as public compilers check them (docs/sources.md). The behaviour of hardware for a violation is undefined;
// the model may execute the instruction. Not checked: rules between instructions, and rules of single steppings.
#pragma once

#include <string_view>
#include <vector>

#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

enum class Rule : uint8_t {
  no_such_operation,        // not on this generation
  type_not_supported,       // not on this generation
  type_combination,         // not allowed for the operation
  mixed_sources,            // integer and float sources
  byte_second_source,       //
  predicate_not_allowed,    // for the operation
  condition_not_allowed,    //
  saturate_not_allowed,     //
  modifier_not_allowed,     //
  condition_too_wide,       // more channels than a condition may have
  channels_out_of_range,    // beyond channel 31
  register_out_of_range,    // r128 and above, or a message register that does not exist
  element_misaligned,       // the operand starts inside an element of its type
  dst_stride_zero,          //
  dst_stride_below_result,  // execution type wider than the destination: stride and execution type must have one size
  dst_misaligned,           // execution type wider than the destination: it must start at such an element
  width_above_channels,     // ExecSize < Width
  row_of_one_with_stride,   // Width = 1 needs HorzStride = 0
  one_channel_with_stride,  // ExecSize = Width = 1 needs VertStride = HorzStride = 0
  no_strides_with_width,    // VertStride = HorzStride = 0 needs Width = 1
  row_stride_mismatch,      // ExecSize = Width needs VertStride = Width * HorzStride
  row_crosses_register,     //
  source_spans_too_much,    // more than two registers
  dst_spans_too_much,       //
  source_spans_less_than_dst,
  uneven_write,
  align16_stride,
  message_register_read,
  second_source_indirect,
  rows_without_address,    // more rows with their own address than the address register has words
  accumulator_source,      // not allowed as the second source on this generation
  accumulator_misaligned,  // as a destination it needs subregister 0 and stride 1
  math_form,               // not supported by the math box
  end_of_thread_form,      // payload in low registers, or with a response
  payload_out_of_range,
  payload_overlap,
};

std::string_view name_of(Rule rule);

// Returns the broken rules, each once, in the order above.
std::vector<Rule> validate(spec::GenId gen, const Instruction& instruction);

}  // namespace halogen::eu
