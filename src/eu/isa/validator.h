// Rules that an instruction must keep though its encoding could say otherwise: regions, types, modifiers, messages.
// From the manuals' restrictions as public compilers check them (docs/sources.md). What hardware then does is not
// defined; a model may run it all the same. Left out: rules between instructions, and those that only some steppings
// have.
#pragma once

#include <string_view>
#include <vector>

#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

enum class Rule : uint8_t {
  no_such_operation,        // the generation lacks it
  type_not_there,           // the generation lacks the type
  types_not_together,       // the operation does not take these types
  mixed_sources,            // integer and float
  byte_second_source,       //
  predicate_not_allowed,    // by the operation
  condition_not_allowed,    //
  saturate_not_allowed,     //
  modifier_not_allowed,     //
  condition_too_wide,       // more channels than the flag serves
  channels_out_of_range,    // beyond channel 31
  register_out_of_range,    // r128 and above, or a message register that is not there
  element_misaligned,       // starts inside an element of its type
  dst_stride_zero,          //
  dst_stride_below_result,  // execution type wider than the destination: the stride must make up for it
  dst_misaligned,           // the same for where it starts
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
  rows_without_address,    // more rows with addresses of their own than the address register has words
  accumulator_place,       // not where this generation takes it
  accumulator_misaligned,  // as a destination: from its start, stride one
  math_form,               // what the math box does not take
  end_of_thread_place,     // low registers, or with an answer
  payload_out_of_range,
  payload_overlap,
};

std::string_view name_of(Rule rule);

// Every rule that is broken, each once, in the order above. Empty: none.
std::vector<Rule> validate(spec::GenId gen, const Instruction& instruction);

}  // namespace halogen::eu
