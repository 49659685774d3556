#include "gen/media_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::GenId;

// Sources: G45 PRM vol. 2a, media (seed 003) for Gen4; Mesa's drivers for the others.
constexpr std::array kRules{
    MediaRules{.gens = from_to(GenId::gen4, GenId::gen4_5),
               .state = MediaStateForm::unit,
               .general_base = true,
               .descriptor_in_payload = true},
    MediaRules{.gens = gens_of(GenId::gen6) | from_to(GenId::gen8, GenId::gen12),
               .state = MediaStateForm::commands,
               .general_base = false,
               .descriptor_in_payload = false},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const MediaRules& media_rules(GenId gen) {
  return row_of(kRules, gen, "media_rules");
}

}  // namespace halogen
