// A tiled buffer as a program sees it through the aperture, where fences make it look linear. The view is a file of its
// own. sync() copies writes of the program to the buffer and writes of the device to the view. If both wrote the same
// 16 bytes in between, the program's write wins.
//
// Limit: writes are not visible to the other side before a sync. A program notices only if it uses a mapping without a
// driver call in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "driver/hw/driver_host.h"
#include "driver/share/descriptor_charge.h"

namespace halogen::driver {

enum class Tiling : uint8_t { linear, x, y };

class LinearView {
 public:
  // Null: out of memory.
  static std::unique_ptr<LinearView> create(uint64_t bytes);

  int descriptor() const { return file_.descriptor(); }
  void sync(std::span<std::byte> buffer, Tiling tiling, uint32_t stride);

 private:
  SharedMemory file_;
  DescriptorCharge charge_ = DescriptorCharge::for_this_call();  // of the file
  std::vector<std::byte> seen_;                                  // content of the view at the last sync
};

}  // namespace halogen::driver
