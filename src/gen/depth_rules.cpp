#include "gen/depth_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

constexpr std::array kRules{
    DepthRules{.gens = from_to(GenId::gen4, GenId::gen4_5),
               .depth = {4, 2},
               .depth16 = {4, 2},
               .depth16_odd = {4, 2},
               .stencil = {4, 2},
               .stencil_in_w_tiles = true},
    DepthRules{.gens = from_to(GenId::gen6, GenId::gen6),
               .depth = {4, 4},
               .depth16 = {4, 4},
               .depth16_odd = {4, 4},
               .stencil = {4, 2},
               .stencil_in_w_tiles = true},
    DepthRules{.gens = from_to(GenId::gen8, GenId::gen11),
               .depth = {4, 4},
               .depth16 = {8, 4},
               .depth16_odd = {8, 4},
               .stencil = {8, 8},
               .stencil_in_w_tiles = true},
    DepthRules{.gens = from_to(GenId::gen12, GenId::gen12),
               .depth = {8, 4},
               .depth16 = {8, 8},
               .depth16_odd = {16, 4},
               .stencil = {16, 8},
               .stencil_in_w_tiles = false},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const DepthRules& depth_rules(GenId gen) {
  return row_of(kRules, gen, "depth_rules");
}

}  // namespace halogen
