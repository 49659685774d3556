// Shared by the decoders of the classic and of the later commands.
#pragma once

#include <cstdint>
#include <span>

#include "base/strong.h"
#include "blit/blit_job.h"
#include "spec/descriptors.h"

namespace halogen::blit {

// Pitch: bytes if linear, dwords if tiled (G45-8.9-07). Tiled surfaces are page-aligned; the low address bits are
// ignored.
inline Surface surface_at(GpuVa base, int64_t pitch, const surface::TilePattern* tile) {
  constexpr uint64_t kTileAlignment = 4096;
  return tile == nullptr ? Surface{base.value, pitch, nullptr}
                         : Surface{base.value & ~(kTileAlignment - 1), pitch * 4, tile};
}

// Returns whether a tiled surface is not aligned to the size of a tile.
inline bool is_odd_base(GpuVa base, const Surface& surface) {
  return surface.tile != nullptr && base.value % surface.tile->bytes != 0;
}

}  // namespace halogen::blit
