#include "gen/config_layout.h"

#include <array>
#include <bit>

#include "gen/rows.h"

namespace halogen {

namespace {

using spec::DeviceId;

constexpr uint64_t kMiB = 1024 * 1024;

constexpr uint16_t kCommandConventional = 0x0407;  // I/O, memory, bus master, INTx disable
constexpr uint16_t kCommandExpress = 0x0547;       // and parity, SERR
constexpr uint16_t kStatusConventional = 0x0090;   // capability list, fast back-to-back
constexpr uint16_t kStatusExpress = 0x0010;

constexpr std::array kGen4Capabilities{
    CapabilityPlace{CapabilityKind::msi, 0x90},
    CapabilityPlace{CapabilityKind::power, 0xd0},
};
constexpr std::array kGen6Capabilities{
    CapabilityPlace{CapabilityKind::msi, 0x90},
    CapabilityPlace{CapabilityKind::power, 0xd0},
    CapabilityPlace{CapabilityKind::advanced_features, 0xa4},
};
constexpr std::array kChvCapabilities{
    CapabilityPlace{CapabilityKind::power, 0xd0},
    CapabilityPlace{CapabilityKind::msi, 0x90},
    CapabilityPlace{CapabilityKind::vendor, 0xb0},
};
constexpr std::array kGen9Capabilities{
    CapabilityPlace{CapabilityKind::vendor, 0x40},
    CapabilityPlace{CapabilityKind::express_integrated, 0x70},
    CapabilityPlace{CapabilityKind::msi, 0xac},
    CapabilityPlace{CapabilityKind::power, 0xd0},
};
constexpr std::array kDiscreteCapabilities{
    CapabilityPlace{CapabilityKind::vendor, 0x40},
    CapabilityPlace{CapabilityKind::express_endpoint, 0x70},
    CapabilityPlace{CapabilityKind::msi_64_maskable, 0xac},
    CapabilityPlace{CapabilityKind::power, 0xd0},
};

constexpr std::array kGen4Registers{
    ConfigRegister{"GGC", 0x52, 2, 0, ConfigSource::ggc},
    ConfigRegister{"BSM", 0x5c, 4, 0, ConfigSource::stolen_base},
    ConfigRegister{"MSAC", 0x62, 1, 0x06, ConfigSource::zero},
    ConfigRegister{"GDRST", kConfigGdrst, 1, 0x0d, ConfigSource::zero},
    ConfigRegister{"SWSMI", 0xe0, 2, 0xffff, ConfigSource::zero},
    ConfigRegister{"ASLE", 0xe4, 4, 0xffff'ffff, ConfigSource::zero},
    ConfigRegister{"GCFGC", 0xf0, 2, 0xffff, ConfigSource::zero},
    ConfigRegister{"LBPC", 0xf4, 1, 0xff, ConfigSource::zero},
    ConfigRegister{"ASLS", 0xfc, 4, 0xffff'ffff, ConfigSource::zero},
};
constexpr std::array kGen6Registers{
    ConfigRegister{"GGC", 0x50, 2, 0, ConfigSource::ggc},
    ConfigRegister{"BDSM", 0x5c, 4, 0, ConfigSource::stolen_base},
    ConfigRegister{"MSAC", 0x62, 1, 0x06, ConfigSource::zero},
    ConfigRegister{"ASLE", 0xe4, 4, 0xffff'ffff, ConfigSource::zero},
    ConfigRegister{"SWSCI", 0xe8, 2, 0xffff, ConfigSource::zero},
    ConfigRegister{"ASLS", 0xfc, 4, 0xffff'ffff, ConfigSource::zero},
};
constexpr std::array kGen11Registers{
    ConfigRegister{"GGC", 0x50, 2, 0, ConfigSource::ggc},
    ConfigRegister{"BDSM", 0xc0, 4, 0, ConfigSource::stolen_base},
    ConfigRegister{"BDSM_UPPER", 0xc4, 4, 0, ConfigSource::stolen_base_high},
    ConfigRegister{"ASLE", 0xe4, 4, 0xffff'ffff, ConfigSource::zero},
    ConfigRegister{"SWSCI", 0xe8, 2, 0xffff, ConfigSource::zero},
    ConfigRegister{"ASLS", 0xfc, 4, 0xffff'ffff, ConfigSource::zero},
};

// Stolen memory lies in local memory, and MMIO registers say where.
constexpr std::array kDiscreteRegisters{
    ConfigRegister{"GGC", 0x50, 2, 0, ConfigSource::ggc},
    ConfigRegister{"ASLE", 0xe4, 4, 0xffff'ffff, ConfigSource::zero},
    ConfigRegister{"SWSCI", 0xe8, 2, 0xffff, ConfigSource::zero},
    ConfigRegister{"ASLS", 0xfc, 4, 0xffff'ffff, ConfigSource::zero},
};

constexpr std::array kLayouts{
    ConfigLayout{devices_of(DeviceId::i965, DeviceId::gm965), kCommandConventional, kStatusConventional,
                 GgcFormat::gen4, kGen4Capabilities, kGen4Registers, ConfigReset::held},
    ConfigLayout{devices_of(DeviceId::g45, DeviceId::gm45), kCommandConventional, kStatusConventional, GgcFormat::gen4,
                 kGen4Capabilities, kGen4Registers, ConfigReset::clears_itself},
    ConfigLayout{devices_of(DeviceId::snb), kCommandConventional, kStatusConventional, GgcFormat::gen6,
                 kGen6Capabilities, kGen6Registers, ConfigReset::none},
    ConfigLayout{devices_of(DeviceId::bdw), kCommandConventional, kStatusConventional, GgcFormat::gen8,
                 kGen6Capabilities, kGen6Registers, ConfigReset::none},
    ConfigLayout{devices_of(DeviceId::chv), kCommandConventional, kStatusExpress, GgcFormat::chv, kChvCapabilities,
                 kGen6Registers, ConfigReset::none},
    ConfigLayout{devices_of(DeviceId::skl), kCommandConventional, kStatusExpress, GgcFormat::gen8, kGen9Capabilities,
                 kGen6Registers, ConfigReset::none},
    ConfigLayout{devices_of(DeviceId::icl, DeviceId::tgl), kCommandConventional, kStatusExpress, GgcFormat::gen8,
                 kGen9Capabilities, kGen11Registers, ConfigReset::none},
    ConfigLayout{devices_of(DeviceId::dg1), kCommandExpress, kStatusExpress, GgcFormat::gen8, kDiscreteCapabilities,
                 kDiscreteRegisters, ConfigReset::none},
};
static_assert(one_row_each_device<kLayouts>);

// Stolen sizes of Gen4 in MB, by code.
constexpr std::array<uint16_t, 14> kGen4Stolen{0, 1, 4, 8, 16, 32, 48, 64, 128, 256, 96, 160, 224, 352};

uint16_t gen4_stolen_code(uint64_t bytes) {
  uint16_t best = 0;
  for (uint16_t code = 0; code < kGen4Stolen.size(); ++code) {
    if (kGen4Stolen[code] * kMiB <= bytes && kGen4Stolen[code] > kGen4Stolen[best]) {
      best = code;
    }
  }
  return best;
}

uint16_t log2_mib(uint64_t bytes) {
  return bytes < 2 * kMiB ? uint16_t{0} : static_cast<uint16_t>(std::bit_width(bytes / kMiB) - 1);
}

}  // namespace

const ConfigLayout& config_layout(const spec::DeviceModel& model) {
  return row_of(kLayouts, model.id, "config_layout");
}

uint16_t encode_ggc(GgcFormat format, uint64_t stolen_bytes, uint64_t gtt_bytes) {
  const auto stolen_32mib = static_cast<uint16_t>(stolen_bytes / (32 * kMiB));
  switch (format) {
    case GgcFormat::gen4:
      // The size of the table in 11:8 is 1 MB or 2 MB; only PGTBL_CTL names a table of 512 KB.
      return static_cast<uint16_t>(gen4_stolen_code(stolen_bytes) << 4 | (gtt_bytes >= 2 * kMiB ? 0x300
                                                                          : gtt_bytes >= kMiB   ? 0x100
                                                                                                : 0));
    case GgcFormat::gen6:
      return static_cast<uint16_t>((stolen_32mib & 0x1fu) << 3 | ((gtt_bytes / kMiB) & 3) << 8);
    case GgcFormat::chv:
      return static_cast<uint16_t>((stolen_32mib & 0x1fu) << 3 | (log2_mib(gtt_bytes) & 3u) << 8);
    case GgcFormat::gen8:
      return static_cast<uint16_t>((stolen_32mib & 0xff) << 8 | (log2_mib(gtt_bytes) & 3) << 6);
  }
  return 0;
}

}  // namespace halogen
