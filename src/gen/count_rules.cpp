#include "gen/count_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

constexpr std::array kRules{
    CountRules{.gens = gens_of(GenId::gen4, GenId::gen4_5, GenId::gen6), .pixel_step = 1},
    CountRules{.gens = gens_of(GenId::gen8), .pixel_step = 4},
    CountRules{.gens = from_to(GenId::gen9, GenId::gen12), .pixel_step = 1},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const CountRules& count_rules(GenId gen) {
  return row_of(kRules, gen, "count_rules");
}

}  // namespace halogen
