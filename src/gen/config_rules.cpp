#include "gen/config_rules.h"

#include <array>
#include <bit>

#include "gen/rows.h"
#include "hw/pci_graphics.h"

namespace halogen {

namespace {

using spec::DeviceId;

constexpr uint64_t kMiB = 1024 * 1024;

// How GGC encodes the sizes of stolen memory and of the global table.
enum class SizeCodes : uint8_t {
  by_table,           // a table of sizes; global tables of 1 MiB and 2 MiB
  count_of_mib,       // units of 32 MiB; MiB of the global table
  log2_of_mib,        // units of 32 MiB; power of two of MiB
  log2_of_mib_early,  // the same in the bits of `count_of_mib`
};

struct ConfigRules {
  spec::DeviceMask devices;
  SizeCodes codes;
  ConfigReset reset;
};

constexpr std::array kRules{
    ConfigRules{devices_of(DeviceId::i965, DeviceId::gm965), SizeCodes::by_table, ConfigReset::held},
    ConfigRules{devices_of(DeviceId::g45, DeviceId::gm45), SizeCodes::by_table, ConfigReset::clears_itself},
    ConfigRules{devices_of(DeviceId::snb), SizeCodes::count_of_mib, ConfigReset::none},
    ConfigRules{devices_of(DeviceId::chv), SizeCodes::log2_of_mib_early, ConfigReset::none},
    ConfigRules{devices_of(DeviceId::bdw, DeviceId::skl, DeviceId::icl, DeviceId::tgl, DeviceId::dg1),
                SizeCodes::log2_of_mib, ConfigReset::none},
};
static_assert(one_row_each_device<kRules>);

const ConfigRules& rules_of(const spec::DeviceModel& model) {
  return row_of(kRules, model.id, "config_rules");
}

// Stolen sizes of the first chips in MiB, by code.
constexpr std::array<uint16_t, 14> kStolenSizes{0, 1, 4, 8, 16, 32, 48, 64, 128, 256, 96, 160, 224, 352};

uint8_t stolen_code(uint64_t bytes) {
  size_t best = 0;
  for (size_t code = 0; code < kStolenSizes.size(); ++code) {
    if (kStolenSizes[code] * kMiB <= bytes && kStolenSizes[code] > kStolenSizes[best]) {
      best = code;
    }
  }
  return static_cast<uint8_t>(best);
}

// The size of the table is 1 MiB or 2 MiB; only PGTBL_CTL names a table of 512 KiB.
uint8_t table_code(uint64_t bytes) {
  return bytes >= 2 * kMiB ? 3 : bytes >= kMiB ? 1 : 0;
}

uint8_t log2_mib(uint64_t bytes) {
  return bytes < 2 * kMiB ? uint8_t{0} : static_cast<uint8_t>(std::bit_width(bytes / kMiB) - 1);
}

}  // namespace

ConfigReset config_reset(const spec::DeviceModel& model) {
  return rules_of(model).reset;
}

spec::PciWrite graphics_control(const spec::DeviceModel& model, uint64_t stolen_bytes, uint64_t gtt_bytes) {
  const auto stolen_32mib = static_cast<uint8_t>(stolen_bytes / (32 * kMiB));
  switch (rules_of(model).codes) {
    case SizeCodes::by_table:
      return spec::pci_write(model,
                             hw::PCI_GGC{.stolen = stolen_code(stolen_bytes), .gtt_size = table_code(gtt_bytes)});
    case SizeCodes::count_of_mib:
      return spec::pci_write(model,
                             hw::PCI_GGC{.stolen = stolen_32mib, .gtt_size = static_cast<uint8_t>(gtt_bytes / kMiB)});
    case SizeCodes::log2_of_mib:
      return spec::pci_write(model, hw::PCI_GGC{.stolen = stolen_32mib, .gtt_size = log2_mib(gtt_bytes)});
    case SizeCodes::log2_of_mib_early:
      return spec::pci_write(model, hw::PCI_GGC_CHV{.stolen = stolen_32mib, .gtt_size = log2_mib(gtt_bytes)});
  }
  return {};
}

}  // namespace halogen
