#include <array>

#include "gen/rows.h"

namespace halogen {

using spec::DeviceId;
using spec::GenId;

struct Row {
  spec::GenMask gens;
};
// A row of Gen6 must not hold for Gen7, which has no device.
constexpr std::array kRows{Row{from_to(GenId::gen4, GenId::gen4_5)}, Row{from_to(GenId::gen6, GenId::gen7)},
                           Row{from_to(GenId::gen8, GenId::gen12)}};
static_assert(one_row_each<kRows, spec::kGensWithDevice>);

}  // namespace halogen
