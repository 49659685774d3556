#include "gen/compression_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

constexpr std::array kRules{
    CompressionRules{.gens = from_to(GenId::gen4, GenId::gen4_5),
                     .control = ControlForm::none,
                     .control_pad_x = 1,
                     .control_pad_y = 1,
                     .conversion = ClearConversion::never,
                     .hierarchical_depth = false,
                     .hierarchical_level_base = false,
                     .hierarchical_by_sample = true,
                     .hierarchical_pad_blocks = 1,
                     .hierarchical_pad_rows = 1},
    CompressionRules{.gens = from_to(GenId::gen6, GenId::gen6),
                     .control = ControlForm::none,
                     .control_pad_x = 1,
                     .control_pad_y = 1,
                     .conversion = ClearConversion::never,
                     .hierarchical_depth = true,
                     .hierarchical_level_base = true,
                     .hierarchical_by_sample = true,
                     .hierarchical_pad_blocks = 2,
                     .hierarchical_pad_rows = 2},
    CompressionRules{.gens = from_to(GenId::gen8, GenId::gen8),
                     .control = ControlForm::one_bit,
                     .control_pad_x = 256,
                     .control_pad_y = 128,
                     .conversion = ClearConversion::never,
                     .hierarchical_depth = true,
                     .hierarchical_level_base = false,
                     .hierarchical_by_sample = true,
                     .hierarchical_pad_blocks = 2,
                     .hierarchical_pad_rows = 2},
    CompressionRules{.gens = from_to(GenId::gen9, GenId::gen11),
                     .control = ControlForm::two_bits,
                     .control_pad_x = 128,
                     .control_pad_y = 64,
                     .conversion = ClearConversion::if_enabled,
                     .hierarchical_depth = true,
                     .hierarchical_level_base = false,
                     .hierarchical_by_sample = false,
                     .hierarchical_pad_blocks = 2,
                     .hierarchical_pad_rows = 2},
    CompressionRules{.gens = from_to(GenId::gen12, GenId::gen12),
                     .control = ControlForm::mapped,
                     .control_pad_x = 1,
                     .control_pad_y = 1,
                     .conversion = ClearConversion::always,
                     .hierarchical_depth = true,
                     .hierarchical_level_base = false,
                     .hierarchical_by_sample = false,
                     .hierarchical_pad_blocks = 2,
                     .hierarchical_pad_rows = 4},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const CompressionRules& compression_rules(GenId gen) {
  return row_of(kRules, gen, "compression_rules");
}

}  // namespace halogen
