#include "gen/perf_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {
namespace {

using spec::DeviceId;

constexpr RegisterRange kMuxGen8[] = {
    {0x91b8, 0x91cc}, {0x9800, 0x9888}, {0xe180, 0xe180}, {0x0d00, 0x0d2c}, {0x20cc, 0x20cc}};
constexpr RegisterRange kMuxChv[] = {{0x91b8, 0x91cc}, {0x9800, 0x9888}, {0xe180, 0xe180}, {0x182300, 0x1823a4}};
constexpr RegisterRange kMuxGen11[] = {{0x91b8, 0x91cc}, {0x91c8, 0x91dc}, {0x9800, 0x9888},
                                       {0xe180, 0xe180}, {0x0d00, 0x0d2c}, {0x20cc, 0x20cc}};
constexpr RegisterRange kMuxGen12[] = {
    {0x0d00, 0x0d04}, {0x0d0c, 0x0d2c}, {0x9840, 0x9840}, {0x9884, 0x9888}, {0x20cc, 0x20cc}};
constexpr RegisterRange kBooleanGen8[] = {{0x2710, 0x272c}, {0x2740, 0x275c}, {0x2770, 0x27ac}};
constexpr RegisterRange kBooleanGen12[] = {{0x2b2c, 0x2b2c}, {0xd900, 0xd91c}, {0xd920, 0xd93c}, {0xd940, 0xd97c},
                                           {0xdc00, 0xdc3c}, {0xdc40, 0xdc40}, {0xdc44, 0xdc44}};
constexpr RegisterRange kFlexible[] = {{0xe458, 0xe458}, {0xe558, 0xe558}, {0xe658, 0xe658}, {0xe758, 0xe758},
                                       {0xe45c, 0xe45c}, {0xe55c, 0xe55c}, {0xe65c, 0xe65c}};

constexpr std::array kRules{
    PerfRules{.devices = devices_of(DeviceId::bdw),
              .mux = kMuxGen8,
              .boolean = kBooleanGen8,
              .flexible = kFlexible,
              .configures_debug = false,
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::chv),
              .mux = kMuxChv,
              .boolean = kBooleanGen8,
              .flexible = kFlexible,
              .configures_debug = false,
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::skl),
              .mux = kMuxGen8,
              .boolean = kBooleanGen8,
              .flexible = kFlexible,
              .configures_debug = true,
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::icl),
              .mux = kMuxGen11,
              .boolean = kBooleanGen8,
              .flexible = kFlexible,
              .configures_debug = true,
              .hides_idle = true},
    PerfRules{.devices = devices_of(DeviceId::tgl, DeviceId::dg1),
              .mux = kMuxGen12,
              .boolean = kBooleanGen12,
              .flexible = kFlexible,
              .configures_debug = true,
              .hides_idle = false},
};

// Bits of masked registers that stay, with their mask bits.
struct KeptBits {
  uint32_t offset;
  uint32_t bits;
};
constexpr KeptBits kKept[] = {{0xe180, 0x2000'2000}, {0x20cc, 0x0001'0001}};

}  // namespace

const PerfRules* perf_rules(spec::DeviceId device) {
  for (const PerfRules& row : kRules) {
    if ((row.devices & spec::mask_of(device)) != 0) return &row;
  }
  return nullptr;
}

uint32_t allowed_perf_value(uint32_t offset, uint32_t value) {
  for (const KeptBits& kept : kKept) {
    if (kept.offset == offset) value &= ~kept.bits;
  }
  return value;
}

}  // namespace halogen
