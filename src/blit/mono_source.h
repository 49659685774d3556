// Offsets of the scan lines of a monochrome source (G45 PRM vol. 1b 8.2.2.3, 8.9.6, seed 003).
#pragma once

#include <cstdint>

#include "blit/blit_job.h"

namespace halogen::blit {

// Returns the bits from one line to the next; `width` is the width of the whole rectangle in pixels. Words and bytes
// are aligned relative to the address of the first line.
constexpr uint64_t mono_line_bits(const MonoSource& mono, uint64_t width) {
  switch (mono.packing) {
    case Packing::word:
      return (mono.start + width + 15) / 16 * 16;
    case Packing::bit:
      return width;
    case Packing::byte:
      return (width + 7) / 8 * 8;
  }
  return width;
}

}  // namespace halogen::blit
