// Makes a picture of a surface in graphics memory, for readers of traces: any address space, format and tiling. Pages
// that cannot be read are black and counted. The device changes only as by reads.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "gen/tiling_rules.h"
#include "memory/address_space.h"
#include "picture/image.h"
#include "picture/pixel_format.h"

namespace halogen::device {

struct SurfaceView {
  uint64_t address = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint64_t pitch_B = 0;  // for W tiling: 128 bytes per tile
  picture::PixelFormat format = picture::PixelFormat::xrgb8888;
  Tiling tiling = Tiling::linear;
};

struct SurfacePicture {
  picture::Image image;
  uint64_t missing_pages = 0;
};

// Makes the picture. The error says why size, pitch and tiling do not match.
Result<SurfacePicture> picture_of(memory::AddressSpace& space, const SurfaceView& view);

}  // namespace halogen::device
