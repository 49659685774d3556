// A tiled buffer as a program sees it through the aperture, where fences make it look linear. The view is a file of its
// own; what the program writes there is carried into the buffer and what the device writes is carried out of it at
// sync(). Pieces of 16 bytes that both wrote in between are the program's.
//
// Left out: no write is seen by the other side before a sync, which a program only notices when it reads or writes a
// mapping without any call of the driver in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "driver/hw/driver_host.h"

namespace halogen::driver {

enum class Tiling : uint8_t { linear, x, y };

class LinearView {
 public:
  // Null: no memory.
  static std::unique_ptr<LinearView> create(uint64_t bytes);

  int descriptor() const { return file_.descriptor(); }
  void sync(std::span<std::byte> buffer, Tiling tiling, uint32_t stride);

 private:
  SharedMemory file_;
  std::vector<std::byte> seen_;  // the view as both sides last had it
};

}  // namespace halogen::driver
