#include "gen/port_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

constexpr std::array kRules{
    PortRules{.gens = from_to(GenId::gen4, GenId::gen4_5), .graphics_6_and_misc = true},
    PortRules{.gens = gens_of(GenId::gen6) | from_to(GenId::gen8, GenId::gen12), .graphics_6_and_misc = false},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const PortRules& port_rules(spec::GenId gen) {
  return row_of(kRules, gen, "port_rules");
}

}  // namespace halogen
