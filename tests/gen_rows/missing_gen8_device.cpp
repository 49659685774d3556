#include <array>

#include "gen/rows.h"

namespace halogen {

using spec::DeviceId;
using spec::GenId;

struct Row {
  spec::GenMask gens;
};
// Gen5, Gen7 and Gen7.5 are missing, because they have no device.
constexpr std::array kRows{Row{gens_of(GenId::gen4, GenId::gen4_5, GenId::gen6)},
                           Row{from_to(GenId::gen9, GenId::gen12)}};
static_assert(one_row_each<kRows, spec::kGensWithDevice>);

}  // namespace halogen
