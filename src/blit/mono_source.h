// Where the scan lines of a monochrome source begin (seed 003 8.2.2.3, 8.9.6).
#pragma once

#include <cstdint>

#include "blit/blit_job.h"

namespace halogen::blit {

// Bits from one line to the next; `width`: pixels of the whole rectangle. Words and bytes count from the first line's
// address.
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
