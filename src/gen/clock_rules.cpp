#include "gen/clock_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

constexpr spec::DeviceMask kEvery = static_cast<spec::DeviceMask>((uint64_t{1} << spec::kDeviceCount) - 1);

// The resets of RPSTAT0, RPSTAT1 and RPSTAT1_GEN12 in spec/registers show the same clock.
constexpr std::array kRules{
    ClockRules{.devices = kEvery, .render_mhz = 750, .max_mhz = 1000},
};
static_assert(one_row_each_device<kRules>);

constexpr bool in_range() {
  for (const ClockRules& rules : kRules) {
    if (rules.render_mhz % 50 != 0 || rules.render_mhz * 5 > rules.max_mhz * 4) {
      return false;
    }
  }
  return true;
}
static_assert(in_range());

}  // namespace

const ClockRules& clock_rules(spec::DeviceId device) {
  return row_of(kRules, device, "clock_rules");
}

}  // namespace halogen
