// A surface in graphics memory as a picture, for people who look at traces: any address space, format and tiling. What
// cannot be read is black and counted. Nothing of the device changes but what a read changes.
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
  uint64_t pitch_B = 0;  // for W it counts 128 bytes a tile
  picture::PixelFormat format = picture::PixelFormat::xrgb8888;
  Tiling tiling = Tiling::linear;
};

struct SurfacePicture {
  picture::Image image;
  uint64_t missing_pages = 0;
};

// Fails with a sentence when size, pitch and tiling do not fit each other.
Result<SurfacePicture> picture_of(memory::AddressSpace& space, const SurfaceView& view);

}  // namespace halogen::device
