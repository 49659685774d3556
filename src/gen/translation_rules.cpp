#include "gen/translation_rules.h"

#include <array>

#include "gen/rows.h"

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

// How the L3 TLB is divided, for each L3TlbSplit.
using L3Parts = std::array<std::span<const TlbRange>, kL3TlbSplits>;
constexpr L3Parts kUndivided{kL3, kL3, kL3, kL3};
constexpr L3Parts kDivided{kL3SklGraphics, kL3SklGpgpu, kL3SklGraphicsShared, kL3SklGpgpuShared};

struct TlbRow {
  spec::DeviceMask devices;
  std::span<const TlbRange> sizes;
  L3Parts l3;
};
constexpr std::array kTlbs{
    TlbRow{devices_of(DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45, DeviceId::snb, DeviceId::bdw,
                      DeviceId::chv, DeviceId::icl, DeviceId::tgl, DeviceId::dg1),
           kSizes, kUndivided},
    TlbRow{devices_of(DeviceId::skl), kSizesSkl, kDivided},
};
static_assert(one_row_each_device<kTlbs>);

// Linux i915: Gen8 has no 64 KB pages, Gen9 needs GAMW_ECO_DEV_RW_IA, later parts use the directory entry alone.
struct MediumPagesRow {
  spec::GenMask gens;
  MediumPages pages;
};
constexpr std::array kMediumPages{
    MediumPagesRow{gens_of(GenId::gen4, GenId::gen4_5, GenId::gen6, GenId::gen8), MediumPages::none},
    MediumPagesRow{from_to(GenId::gen9, GenId::gen9), MediumPages::by_register},
    MediumPagesRow{from_to(GenId::gen11, GenId::gen12), MediumPages::always},
};
static_assert(one_row_each<kMediumPages, spec::kGensWithDevice>);

}  // namespace

std::string_view name_of(TlbClient client) {
  constexpr std::string_view kNames[kTlbClients] = {"L3", "DC", "TX", "GATR", "MFX0", "MFX1", "BLT",
                                                    "Z",  "C",  "FF", "VLF",  "GAV",  "WiDi"};
  return kNames[static_cast<size_t>(client)];
}

std::span<const TlbRange> tlb_sizes(const spec::DeviceModel& model) {
  return row_of(kTlbs, model.id, "tlb_sizes").sizes;
}

std::span<const TlbRange> l3_tlb_parts(const spec::DeviceModel& model, L3TlbSplit split) {
  return row_of(kTlbs, model.id, "l3_tlb_parts").l3[static_cast<size_t>(split)];
}

MediumPages medium_pages(const spec::DeviceModel& model) {
  return row_of(kMediumPages, model.gen, "medium_pages").pages;
}

}  // namespace halogen
