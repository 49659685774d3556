#include "gen/driver_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

// Sources: G45 PRM vol. 1b 4.6 (seed 003) and Linux i915 for Gen4; Linux i915 for the others.
constexpr std::array kRules{
    DriverRules{.gens = from_to(GenId::gen4, GenId::gen4_5), .ggtt_enable_bit = true, .reset_covers_all_engines = true},
    DriverRules{.gens = gens_of(GenId::gen6) | from_to(GenId::gen8, GenId::gen12),
                .ggtt_enable_bit = false,
                .reset_covers_all_engines = false},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const DriverRules& driver_rules(GenId gen) {
  return row_of(kRules, gen, "driver_rules");
}

}  // namespace halogen
