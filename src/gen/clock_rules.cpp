#include "gen/clock_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::DeviceId;

// The resets of RPSTAT0, RPSTAT1 and RPSTAT1_GEN12 in spec/registers show the same clock.
constexpr std::array kRules{
    ClockRules{
        .devices = devices_of(DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45, DeviceId::snb,
                              DeviceId::bdw, DeviceId::chv, DeviceId::skl, DeviceId::icl, DeviceId::tgl, DeviceId::dg1),
        .render_mhz = 450,
        .max_mhz = 1000},
};
static_assert(one_row_each_device<kRules>);

// Returns whether no driver can measure a frequency above the maximum. A time of n ticks of TIMESTAMP is shorter than n
// + 1 ticks, and its clocks are counted to one clock: at worst, with n = 1, twice the clock and one clock in a tick.
constexpr bool in_range() {
  constexpr uint32_t kHighestTimestampMhz = 20;
  for (const ClockRules& rules : kRules) {
    if (rules.render_mhz % 50 != 0 || 2 * rules.render_mhz + kHighestTimestampMhz > rules.max_mhz) {
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
