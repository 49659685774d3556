// Sizes and switches of the translation hardware, by chip: how many entries each TLB has, how the L3 TLB is divided and
// whether 64 KB pages need an enable. Ice Lake PRM vol. 6, TLB Caching and Management (seed 001). Chips without an
// entry there have the sizes of its general list. Not modelled: the sizes of the caches of upper levels, which only
// timing shows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/device_model.h"

namespace halogen {

// The streams that have a TLB of their own. On chips with a divided L3 TLB, `l3` is the part that the others leave.
enum class TlbClient : uint8_t {
  l3,    // instructions, constants, state, data port and sampler
  dc,    // data port, where it has its own part of the L3 TLB
  tx,    // sampler, where it has its own part of the L3 TLB
  gatr,  // tiled resource tables, where they have their own part of the L3 TLB
  mfx0,  // video engines
  mfx1,
  blt,
  z,
  c,     // color
  ff,    // fixed functions
  vlf,   // media surfaces
  gav,   // video enhancement
  widi,  // wireless display
};
inline constexpr unsigned kTlbClients = 13;
std::string_view name_of(TlbClient client);

// A range of the entries of one physical TLB; clients with the same range share it.
struct TlbRange {
  TlbClient client;
  uint16_t first;
  uint16_t last;
  constexpr unsigned entries() const { return last - first + 1u; }
};

// How software divides the L3 TLB. The first one holds after a reset.
enum class L3TlbSplit : uint8_t { graphics, gpgpu, graphics_shared, gpgpu_shared };
inline constexpr unsigned kL3TlbSplits = 4;

// Returns the TLBs of a chip except the L3 TLB, each starting at entry 0.
std::span<const TlbRange> tlb_sizes(const spec::DeviceModel& model);
// Returns the parts of the L3 TLB. Chips that do not divide it have one part for every split.
std::span<const TlbRange> l3_tlb_parts(const spec::DeviceModel& model, L3TlbSplit split);

enum class MediumPages : uint8_t { none, by_register, always };
MediumPages medium_pages(const spec::DeviceModel& model);

}  // namespace halogen
