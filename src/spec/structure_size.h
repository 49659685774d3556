// The size of a structure on one generation.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen::spec {

// Returns bytes; 0 where the generation lacks the structure.
template <class Structure>
uint64_t bytes_of(GenId gen) {
  return Structure::kDesc.dwords_of_gen[static_cast<size_t>(gen)] * sizeof(uint32_t);
}

}  // namespace halogen::spec
