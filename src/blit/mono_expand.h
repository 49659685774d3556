// Expands bits to pixels: one gives the foreground colour, zero the background colour. The first pixel of a byte is its
// bit 7 (docs/requirements/g45.md G45-8.2.2.3-04).
#pragma once

#include <cstddef>
#include <cstdint>

#include "blit/blit_job.h"

namespace halogen::blit {

// Expands `pixels` pixels of 1, 2 or 4 bytes. `bits` is the byte with the first of them, at position `first` counted
// from bit 7; only the bytes up to the last pixel are read.
void expand_mono(std::byte* out, const std::byte* bits, unsigned first, size_t pixels, unsigned pixel_B,
                 const Colors& colors);

// Expands over existing pixels: pixels whose bit is zero keep their value.
void expand_mono_over(std::byte* out, const std::byte* bits, unsigned first, size_t pixels, unsigned pixel_B,
                      uint32_t foreground);

}  // namespace halogen::blit
