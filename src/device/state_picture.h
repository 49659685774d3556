// Makes a picture of the compression state of a surface's blocks, for readers of traces: one pixel for each element, as
// levels and layers lie in memory. The device must check rules (DeviceOptions::check_rules), because it then remembers
// which surfaces have states.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "picture/image.h"

namespace halogen::device {

inline constexpr picture::Rgba kClearColor{.red = 220, .green = 40, .blue = 40};
inline constexpr picture::Rgba kCompressedColor{.red = 240, .green = 200, .blue = 60};
inline constexpr picture::Rgba kResolvedColor{.red = 50, .green = 90, .blue = 200};

// Makes the picture of the surface whose first byte is at an address. Places without a level are black.
Result<picture::Image> picture_of_states(Device& device, memory::AddressSpace& space, uint64_t address);

}  // namespace halogen::device
