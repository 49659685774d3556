// Semantics of EU instructions that differ between generations, as data for the lowering, the preparation of SENDs,
// float modes and flow control. The positions of fields in an instruction are in spec/eu. Sources: public compilers
// for these chips and their documents (docs/sources.md). A row that rests on a probable reading says so.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

enum class FlowModel : uint8_t {
  mask_stacks,  // one IP for all channels; IF and LOOP stacks of masks
  channel_ip    // each channel has its own IP
};

// The part of a source that a multiplication of two dwords reads.
enum class DwordMultiply : uint8_t { low_word_of_src0, low_word_of_src1, full };

// The result of MACH when it does not write the accumulator.
enum class MachResult : uint8_t { high_always, low_without_accumulator };

// The implied accumulator of an integer instruction.
enum class ImpliedAccumulator : uint8_t { by_quarter, first };

struct EuRules {
  spec::GenMask gens;
  FlowModel flow;
  DwordMultiply dword_multiply;
  MachResult mach;
  ImpliedAccumulator implied_integer;
  bool implicit_accumulator_write;  // every arithmetic instruction writes it, unless cr0.0 bit 1 is set
  bool fused_mad;                   // one rounding; else the product keeps double precision
  bool float_denormals;             // cr0.0 bit 7 can keep denormals of F; else they are always flushed
  bool half_denormals;              // cr0.0 bit 10 can keep those of HF
  bool logic_negate_is_not;
  bool rounding_needs_increment;        // rnde, rndz and rndu give the floor; .r flags channels that need an increment
  bool convert_before_compare;          // cmp converts float sources to the destination's type first
  bool select_writes_flag;              // sel with a condition modifier also updates the flag
  bool flag_by_channel;                 // quarter control moves the flag bits too
  bool vertical_flag_is_next_register;  // anyv and allv combine f1 with f0; else f0.1 with f0.0
  bool message_registers;               // sends take their payload from the MRF
  bool implied_move;                    // send first moves src0 to the message register
  bool short_descriptor;                // a descriptor in a register names the function and has no header bit
  bool math_modifiers;                  // MATH obeys source modifiers
  bool channel_enable_register;         // ARF 4 is ce0; else the mask register
  bool ip_writes_jump;                  // ip as an ordinary destination
  bool register_jump_from_next;         // JMPI with a register is relative to the next instruction
  uint8_t register_jump_unit;           // bytes in a unit of that count
  bool break_names_while;               // UIP of BREAK is the WHILE; else the instruction after it
  bool goto_leaves_on_false;            // a forward GOTO takes the channels whose predicate is false
  uint8_t address_words;                // words in a0
  uint8_t flag_registers;
  uint8_t accumulators;
};

const EuRules& eu_rules(spec::GenId gen);

}  // namespace halogen
