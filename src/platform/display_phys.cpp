#include "platform/display_phys.h"

#include "spec/packing.h"

namespace halogen::platform {
namespace {

constexpr uint8_t kOn = 0;  // state of a power well
constexpr uint8_t kFourLanes = 0xf, kLanes01 = 0x3, kLanes23 = 0xc;

// Without an override an unused channel is powered down.
uint8_t lanes_down(bool is_overridden, uint8_t asked) {
  return is_overridden ? asked : kFourLanes;
}

bool all_of(uint8_t lanes, uint8_t mask) {
  return (lanes & mask) == mask;
}

}  // namespace

DisplayPhys::DisplayPhys(const spec::DeviceModel& model, mmio::MmioSpace& mmio, const Sideband& sideband)
    : gen_(model.gen), sideband_(sideband), control_(mmio.bank()), clock_b_(mmio.bank(), {}, 1) {
  if (!control_.exists()) return;
  for (const char* name : {"DISPLAY_PHY_STATUS", "DPLL_CHV", "DPLL_CHV_C"}) {
    mmio.bank().attach(name, *this);
  }
}

uint32_t DisplayPhys::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  if (slot.desc->name == "DISPLAY_PHY_STATUS") return status();
  auto clock = spec::unpack_register<hw::DPLL_CHV_C>(gen_, stored);
  clock.lock = clock.vco_enable;
  return spec::packed32(clock, gen_);
}

uint32_t DisplayPhys::status() const {
  const hw::DISPLAY_PHY_CONTROL control = control_.get();
  const hw::PUNIT_PWRGT wells = sideband_.power_wells();
  hw::DISPLAY_PHY_STATUS status{};
  if (wells.dpio_common_bc == kOn) {
    const uint8_t first = lanes_down(control.override_0_0, control.lanes_down_0_0);
    const uint8_t second = lanes_down(control.override_0_1, control.lanes_down_0_1);
    status.power_good_0 = true;
    status.lanes_01_down_0_0 = all_of(first, kLanes01);
    status.lanes_23_down_0_0 = all_of(first, kLanes23);
    status.lanes_01_down_0_1 = all_of(second, kLanes01);
    status.lanes_23_down_0_1 = all_of(second, kLanes23);
    // The common lane of the first channel serves both; that of the second also carries the clock of pipe B.
    status.common_down_0_0 = all_of(first & second, kFourLanes);
    status.common_down_0_1 = all_of(second, kFourLanes) && !clock_b_.get().vco_enable;
  }
  if (wells.dpio_common_d == kOn) {
    const uint8_t lanes = lanes_down(control.override_1_0, control.lanes_down_1_0);
    status.power_good_1 = true;
    status.lanes_01_down_1_0 = all_of(lanes, kLanes01);
    status.lanes_23_down_1_0 = all_of(lanes, kLanes23);
    status.common_down_1_0 = all_of(lanes, kFourLanes);
  }
  return spec::packed32(status, gen_);
}

}  // namespace halogen::platform
