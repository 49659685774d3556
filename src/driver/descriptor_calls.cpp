// Calls on descriptors that the driver hands out beside the device node: sync files and shared buffers.
#include "driver/kernel.h"

namespace halogen::driver {

std::optional<int> Kernel::descriptor_ioctl(int, unsigned long, uint64_t) {
  return std::nullopt;
}

}  // namespace halogen::driver
