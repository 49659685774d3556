#include "gen/hull_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

constexpr spec::GenMask kGensWithHull = spec::kGensWithDevice & from_to(GenId::gen7, GenId::gen12);

constexpr std::array kRules{
    HullRules{.gens = from_to(GenId::gen8, GenId::gen9), .instance_shift = 17},
    HullRules{.gens = from_to(GenId::gen11, GenId::gen12), .instance_shift = 16},
};
static_assert(one_row_each<kRules, kGensWithHull>);

}  // namespace

const HullRules& hull_rules(GenId gen) {
  return row_of(kRules, gen, "hull_rules");
}

}  // namespace halogen
