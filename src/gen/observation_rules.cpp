#include "gen/observation_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::DeviceId;
using spec::GenId;

// Reports of Gen9 to Gen11 show clocks in units of 16.67 MHz (Mesa, intel_perf_query.c).
constexpr uint32_t kReportClock = 16'666'667;

constexpr std::array kRules{
    ObservationRules{.gens = gens_of(GenId::gen4, GenId::gen4_5, GenId::gen6), .exists = false},
    ObservationRules{.gens = from_to(GenId::gen8, GenId::gen8), .exists = true, .high_address = true},
    ObservationRules{.gens = from_to(GenId::gen9, GenId::gen9),
                     .exists = true,
                     .report_clock_hz = kReportClock,
                     .high_address = true,
                     .frequency_reports = true},
    ObservationRules{.gens = from_to(GenId::gen11, GenId::gen11),
                     .exists = true,
                     .report_clock_hz = kReportClock,
                     .network_enable_in_power_unit = true,
                     .high_address = true,
                     .frequency_reports = true},
    ObservationRules{.gens = from_to(GenId::gen12, GenId::gen12),
                     .exists = true,
                     .split = true,
                     .busy_counts_all = true,
                     .counts_fused_threads = true,
                     .network_enable_in_power_unit = true,
                     .frequency_reports = true},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

constexpr NetworkWrite select(uint32_t value) {
  return {NetworkWrite::Port::select, value};
}
constexpr NetworkWrite word(uint32_t value) {
  return {NetworkWrite::Port::word, value};
}

// The network is not documented. These are the writes of the metric set "TestOa" of each chip (Mesa, OA metrics). It
// routes one signal that is always asserted, or two on Gen12: one for each unit.
constexpr std::array kChv{word(0x5980'0000), word(0x5980'0001), word(0x338b'0000), word(0x258b'0066),
                          word(0x058b'0000), word(0x038b'0000), word(0x0384'4000), word(0x4780'0080),
                          word(0x5780'0000), word(0x5980'0000)};
constexpr std::array kBdw{word(0x198b'0000), word(0x078b'0066), word(0x118b'0000), word(0x258b'0000),
                          word(0x2185'0008), word(0x0d83'4000), word(0x0784'4000), word(0x1780'4000),
                          word(0x2180'0000), word(0x4f80'0000), word(0x4180'0000), word(0x3180'0000)};
constexpr std::array kSkl{word(0x1181'0000), word(0x0781'0016), word(0x1f81'0000), word(0x1d81'0000),
                          word(0x1b93'0040), word(0x07e5'4000), word(0x1f90'8000), word(0x1190'0000),
                          word(0x3790'0000), word(0x5390'0000), word(0x4590'0000), word(0x3390'0000)};
constexpr std::array kIcl{select(3),         word(0x1613'0000), word(0x2400'0001), word(0x0e13'0056),
                          word(0x1013'0000), word(0x1a13'0000), word(0x541f'0001), word(0x181f'0000),
                          word(0x4c1f'0000), word(0x301f'0000)};
constexpr std::array kTglGt2{
    select(0),         word(0x280e'0000), word(0x1e0e'0147), word(0x180e'0000), word(0x160e'0000), word(0x1e0f'1000),
    word(0x1e10'4000), word(0x2e02'0100), word(0x2c03'0004), word(0x3800'3000), word(0x1e0a'8000), select(3),
    word(0x4911'0000), word(0x5d10'1400), word(0x1d14'0020), word(0x1d11'03a3), word(0x0111'0000), word(0x6111'1000),
    word(0x1f12'8000), word(0x1710'0000), word(0x5510'0630), word(0x5710'0000), word(0x3110'0000), select(3),
    word(0x6510'0002), select(0),         word(0x4200'0001)};
constexpr std::array kTglGt1{
    select(0),         word(0x040f'0000), word(0x1e0f'0017), word(0x200f'0000), word(0x3600'0001), word(0x1a01'2000),
    select(3),         word(0x4911'0000), word(0x5d10'1400), word(0x1d14'0020), word(0x1d11'03a3), word(0x0111'0000),
    word(0x6111'1000), word(0x1f12'8000), word(0x1710'0000), word(0x5510'0210), word(0x5710'0000), word(0x3110'0000),
    select(3),         word(0x6510'0002), select(0),         word(0x4200'0001)};
constexpr std::array kDg1{select(0),         word(0x0410'0000), word(0x3600'0001), word(0x2c01'0004), word(0x2605'0003),
                          word(0x2606'0040), word(0x1c09'0200), word(0x0e0c'8000), word(0x200d'8000), word(0x1e0f'8000),
                          word(0x1e10'0017), word(0x0010'0000), word(0x1e0b'4000), select(3),         word(0x4911'0000),
                          word(0x5d10'1400), word(0x1d14'0020), word(0x1d11'03a3), word(0x0111'0000), word(0x6111'2000),
                          word(0x1710'0000), word(0x5510'0230), word(0x5710'0000), word(0x3110'0000), select(3),
                          word(0x6510'0002), select(0),         word(0x4200'0001)};

constexpr uint64_t hash_of(std::span<const NetworkWrite> writes) {
  uint64_t hash = kNetworkHashStart;
  for (const NetworkWrite& write : writes) {
    hash = network_hash(hash, write);
  }
  return hash;
}

constexpr uint16_t lane(unsigned number) {
  return static_cast<uint16_t>(1u << number);
}

constexpr std::array kNetworks{
    NetworkLanes{devices_of(DeviceId::chv), hash_of(kChv), lane(15), 0},
    NetworkLanes{devices_of(DeviceId::bdw), hash_of(kBdw), lane(15), 0},
    NetworkLanes{devices_of(DeviceId::skl), hash_of(kSkl), lane(15), 0},
    NetworkLanes{devices_of(DeviceId::icl), hash_of(kIcl), lane(8), 0},
    NetworkLanes{devices_of(DeviceId::tgl), hash_of(kTglGt1), lane(8), lane(9)},
    NetworkLanes{devices_of(DeviceId::tgl), hash_of(kTglGt2), lane(8), lane(9)},
    NetworkLanes{devices_of(DeviceId::dg1), hash_of(kDg1), lane(8), lane(9)},
};

}  // namespace

const ObservationRules& observation_rules(GenId gen) {
  return row_of(kRules, gen, "observation_rules");
}

const NetworkLanes* find_network(DeviceId device, uint64_t hash) {
  for (const NetworkLanes& network : kNetworks) {
    if ((network.devices & spec::mask_of(device)) != 0 && network.hash == hash) {
      return &network;
    }
  }
  return nullptr;
}

}  // namespace halogen
