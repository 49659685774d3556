#include "gen/translation_rules.h"

namespace halogen {
namespace {

using enum TlbClient;
using spec::DeviceId;
using spec::GenId;

constexpr TlbRange whole(TlbClient client, unsigned entries) {
  return {client, 0, static_cast<uint16_t>(entries - 1)};
}

// "MFX: 512 entries, split 256/256 between two media engines."
constexpr TlbRange kSizes[] = {
    whole(mfx0, 256), whole(mfx1, 256), whole(blt, 32), whole(z, 512),   whole(c, 256),
    whole(ff, 128),   whole(vlf, 32),   whole(gav, 64), whole(widi, 64),
};
constexpr TlbRange kSizesSkl[] = {
    whole(mfx0, 256), whole(mfx1, 256), whole(blt, 32), whole(z, 448),   whole(c, 448),
    whole(ff, 128),   whole(vlf, 32),   whole(gav, 64), whole(widi, 64),
};

constexpr TlbRange kL3[] = {whole(l3, 768)};
constexpr TlbRange kL3SklGraphics[] = {{l3, 0, 79}, {dc, 80, 179}, {tx, 180, 623}, {gatr, 624, 639}};
constexpr TlbRange kL3SklGpgpu[] = {{l3, 0, 79}, {dc, 80, 539}, {tx, 540, 639}};
constexpr TlbRange kL3SklGraphicsShared[] = {{l3, 0, 79}, {dc, 80, 623}, {tx, 80, 623}, {gatr, 624, 639}};
constexpr TlbRange kL3SklGpgpuShared[] = {{l3, 0, 79}, {dc, 80, 639}, {tx, 80, 639}};

}  // namespace

std::string_view name_of(TlbClient client) {
  constexpr std::string_view kNames[kTlbClients] = {"L3", "DC", "TX", "GATR", "MFX0", "MFX1", "BLT",
                                                    "Z",  "C",  "FF", "VLF",  "GAV",  "WiDi"};
  return kNames[static_cast<size_t>(client)];
}

std::span<const TlbRange> tlb_sizes(const spec::DeviceModel& model) {
  return model.id == DeviceId::skl ? std::span<const TlbRange>(kSizesSkl) : std::span<const TlbRange>(kSizes);
}

std::span<const TlbRange> l3_tlb_parts(const spec::DeviceModel& model, L3TlbSplit split) {
  if (model.id != DeviceId::skl) {
    return kL3;
  }
  switch (split) {
    case L3TlbSplit::graphics:
      return kL3SklGraphics;
    case L3TlbSplit::gpgpu:
      return kL3SklGpgpu;
    case L3TlbSplit::graphics_shared:
      return kL3SklGraphicsShared;
    case L3TlbSplit::gpgpu_shared:
      return kL3SklGpgpuShared;
  }
  return kL3;
}

// Linux i915: Gen8 has no 64 KB pages, Gen9 needs GAMW_ECO_DEV_RW_IA, later parts look at the directory entry alone.
MediumPages medium_pages(const spec::DeviceModel& model) {
  if (model.gen < GenId::gen9) {
    return MediumPages::none;
  }
  return model.gen < GenId::gen11 ? MediumPages::by_register : MediumPages::always;
}

}  // namespace halogen
