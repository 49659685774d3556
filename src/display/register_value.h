// Conversion of register structures to numbers, for values that are known to fit.
#pragma once

#include <cstdint>

#include "spec/packing.h"

namespace halogen::display {

// A field that does not fit, or that the generation lacks, stays zero.
template <class R>
uint32_t packed(const R& reg, spec::GenId gen) {
  uint64_t value = 0;
  static_cast<void>(spec::pack_register(reg, gen, value));
  return static_cast<uint32_t>(value);
}

}  // namespace halogen::display
