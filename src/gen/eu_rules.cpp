#include "gen/eu_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {

namespace {

using spec::GenId;

// Gen4 is the base; each later row says what changed.
constexpr EuRules gen4() {
  return EuRules{.gens = from_to(GenId::gen4, GenId::gen4),
                 .flow = FlowModel::mask_stacks,
                 .dword_multiply = DwordMultiply::low_word_of_src0,
                 .mach = MachResult::high_always,
                 .implied_integer = ImpliedAccumulator::by_quarter,
                 .implicit_accumulator_write = true,
                 .fused_mad = false,
                 .float_denormals = false,
                 .half_denormals = false,
                 .logic_negate_is_not = false,
                 .rounding_needs_increment = true,
                 .convert_before_compare = true,
                 .select_writes_flag = true,
                 .flag_by_channel = false,
                 .vertical_flag_is_next_register = false,
                 .message_registers = true,
                 .implied_move = true,
                 .short_descriptor = true,
                 .math_modifiers = false,
                 .channel_enable_register = false,
                 .ip_writes_jump = true,
                 .register_jump_from_next = true,
                 .register_jump_unit = 16,
                 .break_names_while = false,
                 .goto_leaves_on_false = false,
                 .address_words = 8,
                 .flag_registers = 1,
                 .accumulators = 2};
}

constexpr EuRules gen4_5() {
  EuRules rules = gen4();
  rules.gens = from_to(GenId::gen4_5, GenId::gen4_5);
  rules.convert_before_compare = false;
  return rules;
}

constexpr EuRules gen5() {
  EuRules rules = gen4_5();
  rules.gens = from_to(GenId::gen5, GenId::gen5);
  rules.register_jump_unit = 8;
  rules.short_descriptor = false;
  return rules;
}

constexpr EuRules gen6() {
  EuRules rules = gen5();
  rules.gens = from_to(GenId::gen6, GenId::gen6);
  rules.flow = FlowModel::channel_ip;
  rules.implicit_accumulator_write = false;
  rules.rounding_needs_increment = false;
  rules.select_writes_flag = false;
  rules.implied_move = false;
  rules.ip_writes_jump = false;
  return rules;
}

constexpr EuRules gen7() {
  EuRules rules = gen6();
  rules.gens = from_to(GenId::gen7, GenId::gen7);
  rules.dword_multiply = DwordMultiply::low_word_of_src1;
  rules.flag_by_channel = true;
  rules.vertical_flag_is_next_register = true;
  rules.message_registers = false;
  rules.math_modifiers = true;
  rules.break_names_while = true;
  rules.flag_registers = 2;
  return rules;
}

constexpr EuRules gen7_5() {
  EuRules rules = gen7();
  rules.gens = from_to(GenId::gen7_5, GenId::gen7_5);
  rules.implied_integer = ImpliedAccumulator::first;
  rules.channel_enable_register = true;
  rules.register_jump_unit = 1;
  return rules;
}

constexpr EuRules gen8() {
  EuRules rules = gen7_5();
  rules.gens = from_to(GenId::gen8, GenId::gen8);
  rules.dword_multiply = DwordMultiply::full;
  rules.fused_mad = true;
  rules.float_denormals = true;
  rules.half_denormals = true;  // Intel's compiler enables them, and its library relies on that
  rules.logic_negate_is_not = true;
  rules.goto_leaves_on_false = true;  // Intel's compiler inverts the predicates of forward jumps for Gen8 and Gen9 only
  rules.address_words = 16;
  rules.accumulators = 10;
  return rules;
}

constexpr EuRules gen9() {
  EuRules rules = gen8();
  rules.gens = from_to(GenId::gen9, GenId::gen9);
  return rules;
}

constexpr EuRules gen11() {
  EuRules rules = gen9();
  rules.gens = from_to(GenId::gen11, GenId::gen11);
  rules.mach = MachResult::low_without_accumulator;
  rules.goto_leaves_on_false = false;
  return rules;
}

constexpr EuRules gen12() {
  EuRules rules = gen11();
  rules.gens = from_to(GenId::gen12, GenId::gen12);
  rules.register_jump_from_next = false;
  return rules;
}

constexpr std::array kRules{gen4(), gen4_5(), gen5(), gen6(), gen7(), gen7_5(), gen8(), gen9(), gen11(), gen12()};

static_assert(one_row_each<kRules>);

}  // namespace

const EuRules& eu_rules(GenId gen) {
  return row_of(kRules, gen, "eu_rules");
}

}  // namespace halogen
