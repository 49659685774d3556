#include "gen/perf_rules.h"

#include <array>

#include "base/check.h"
#include "gen/rows.h"
#include "hw/chicken.h"
#include "hw/mode.h"
#include "hw/oa_counters.h"
#include "spec/domain_tables.h"
#include "spec/packed.h"

namespace halogen {
namespace {

using spec::DeviceId;

constexpr std::array kRules{
    PerfRules{.devices = devices_of(DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45, DeviceId::snb),
              .exists = false},
    PerfRules{.devices = devices_of(DeviceId::bdw),
              .exists = true,
              .mux = "gen8_perf_mux",
              .boolean = "gen8_perf_boolean",
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::chv),
              .exists = true,
              .mux = "chv_perf_mux",
              .boolean = "gen8_perf_boolean",
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::skl),
              .exists = true,
              .mux = "gen8_perf_mux",
              .boolean = "gen8_perf_boolean",
              .configures_debug = true,
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::icl),
              .exists = true,
              .mux = "gen11_perf_mux",
              .boolean = "gen8_perf_boolean",
              .configures_debug = true,
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::tgl, DeviceId::dg1),
              .exists = true,
              .mux = "gen12_perf_mux",
              .boolean = "gen12_perf_boolean",
              .configures_debug = true},
};
static_assert(one_row_each_device<kRules>);

constexpr std::array<const spec::RegisterDesc*, 7> kFlexible{&hw::EU_PERF_CNT_CTL0::kDesc, &hw::EU_PERF_CNT_CTL1::kDesc,
                                                             &hw::EU_PERF_CNT_CTL2::kDesc, &hw::EU_PERF_CNT_CTL3::kDesc,
                                                             &hw::EU_PERF_CNT_CTL4::kDesc, &hw::EU_PERF_CNT_CTL5::kDesc,
                                                             &hw::EU_PERF_CNT_CTL6::kDesc};

constexpr unsigned kMaskShift = 16;  // from a bit of a masked register to its mask bit

// Returns the bits of a value of this masked register, with their mask bits.
template <class Register>
uint32_t with_mask_bits(const Register& value) {
  const uint32_t bits = spec::packed32(value, spec::GenId::gen8);
  return bits | bits << kMaskShift;
}

// A masked register of Gen8. Drivers treat its offset in the same way on every chip.
struct KeptBits {
  uint32_t offset;
  uint32_t bits;  // that stay, with their mask bits
};

std::array<KeptBits, 2> kept_bits() {
  hw::HALF_SLICE_CHICKEN2 power;
  power.st_power_optimization_disable = true;
  hw::WAIT_FOR_RC6_EXIT_RCS wait;
  wait.wait_for_rc6_exit_enable = true;
  return {{{hw::HALF_SLICE_CHICKEN2::kDesc.offset(DeviceId::bdw), with_mask_bits(power)},
           {hw::WAIT_FOR_RC6_EXIT_RCS::kDesc.offset(DeviceId::bdw), with_mask_bits(wait)}}};
}

}  // namespace

const PerfRules& perf_rules(spec::DeviceId device) {
  return row_of(kRules, device, "perf_rules");
}

std::span<const spec::RegisterDesc* const> flexible_registers() {
  return kFlexible;
}

bool is_perf_register(std::string_view table, uint32_t offset) {
  const spec::RangeTable* const ranges = spec::find_range_table(table);
  check(ranges != nullptr, table);
  const spec::MmioRange* const range = ranges->find(offset);
  return range != nullptr && range->end - offset >= sizeof(uint32_t) - 1;
}

uint32_t allowed_perf_value(uint32_t offset, uint32_t value) {
  static const std::array<KeptBits, 2> kKept = kept_bits();
  for (const KeptBits& kept : kKept) {
    if (kept.offset == offset) value &= ~kept.bits;
  }
  return value;
}

}  // namespace halogen
