// Checks a surface against the rules for software (G45 PRM vol. 1b 4.5.4.3 and 4.5.5, seed 003;
// src/gen/tiling_rules.h). A check returns the first rule that is broken. Hardware does not check; a client reports the
// result as an Event and continues.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/strong.h"
#include "surface/fence.h"
#include "surface/tiling.h"

namespace halogen::surface {

enum class SurfaceFault : uint8_t {
  none,
  no_such_client,          // the generation does not have the client
  tiling_not_supported,    // by this client
  tiling_of_async_flip,    // the display cannot flip asynchronously to this tiling
  tiling_of_wide_element,  // elements of this size require another tiling
  no_such_pattern,         // the tiling does not exist for this element size
  base_not_aligned,        // to a tile
  pitch_not_whole_tiles,
  pitch_too_large,
  width_beyond_pitch,
  straddles_fence_edge,  // the surface crosses an edge of the fence region
  outside_fence,
  not_a_tile_row_start,  // of the fence that the host uses
  pitch_differs,         // from the fence's, without a mapping of its own
  walk_differs,          // from the fence's
  width_beyond_fence_pitch,
};
std::string_view name_of(SurfaceFault fault);

struct SurfaceUse {
  MemoryClient client{};
  Tiling tiling{};
  uint32_t element_bits = 32;
  bool async_flip = false;
  GpuVa base{};
  uint64_t pitch_B = 0;
  uint64_t width_B = 0;
  uint64_t bytes = 0;  // size in memory, without other levels and layers; not checked

  bool operator==(const SurfaceUse&) const = default;
};

// Checks an internal client alone: "client only" in the manual's table.
SurfaceFault check_client(spec::GenId gen, const SurfaceUse& use);

// Checks the host alone: a surface of this width whose first byte is at `base` of the aperture.
SurfaceFault check_host(const Fence& fence, GgttOffset base, uint64_t width_B);

// Checks both, for a surface that overlaps the fence. `base`: address of the surface in the aperture. `remapped`: the
// client has its own mapping of the pages.
SurfaceFault check_shared(spec::GenId gen, const SurfaceUse& use, const Fence& fence, GgttOffset base, bool remapped);

}  // namespace halogen::surface
