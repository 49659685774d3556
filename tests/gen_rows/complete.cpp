#include <array>

#include "gen/rows.h"

namespace halogen {

using spec::DeviceId;
using spec::GenId;

struct Row {
  spec::GenMask gens;
};
constexpr std::array kRows{Row{from_to(GenId::gen4, GenId::gen6)}, Row{from_to(GenId::gen7, GenId::gen12)}};
static_assert(one_row_each<kRows>);

}  // namespace halogen
