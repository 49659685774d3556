#include <array>

#include "gen/rows.h"

namespace halogen {

using spec::DeviceId;
using spec::GenId;

struct Row {
  spec::DeviceMask devices;
};
constexpr std::array kRows{
    Row{devices_of(DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45, DeviceId::snb, DeviceId::bdw)},
    Row{devices_of(DeviceId::chv, DeviceId::skl, DeviceId::tgl, DeviceId::dg1)}};
static_assert(one_row_each_device<kRows>);

}  // namespace halogen
