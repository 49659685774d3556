#include "gen/count_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

struct Row {
  spec::GenMask gens;
  CountRules rules;
};

using spec::GenId;
constexpr std::array<Row, 3> kRows{{
    {from_to(GenId::gen4, GenId::gen7), {.pixel_step = 1}},
    {from_to(GenId::gen7_5, GenId::gen8), {.pixel_step = 4}},
    {from_to(GenId::gen9, GenId::gen12), {.pixel_step = 1}},
}};
static_assert(one_row_each<kRows>);

}  // namespace

const CountRules& count_rules(spec::GenId gen) {
  return row_of(kRows, gen, "count_rules").rules;
}

}  // namespace halogen
