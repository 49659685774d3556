#include "gen/count_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

constexpr std::array kRules{
    CountRules{.gens = from_to(GenId::gen4, GenId::gen7), .pixel_step = 1},
    CountRules{.gens = from_to(GenId::gen7_5, GenId::gen8), .pixel_step = 4},
    CountRules{.gens = from_to(GenId::gen9, GenId::gen12), .pixel_step = 1},
};
static_assert(one_row_each<kRules>);

}  // namespace

const CountRules& count_rules(GenId gen) {
  return row_of(kRules, gen, "count_rules");
}

}  // namespace halogen
