#include <array>

#include "gen/rows.h"

namespace halogen {

using spec::DeviceId;
using spec::GenId;

struct Row {
  spec::GenMask gens;
};
// Gen7 may be missing: it has no device.
constexpr std::array kRows{Row{from_to(GenId::gen4, GenId::gen6)}, Row{from_to(GenId::gen9, GenId::gen12)}};
static_assert(one_row_each<kRows, spec::kGensWithDevice>);

}  // namespace halogen
