// Registers on which no unit acts. RegisterDesc::storage names those of which that is true on every device. A register
// may also be storage on some devices, on some engines or at some indices (docs/spec-language.md, Registers).
#pragma once

#include <cstdint>
#include <span>

#include "spec/descriptors.h"
#include "spec/generation_ids.h"  // generated

namespace halogen::spec {

// One row of `storage` in spec/registers.
struct StoragePart {
  RegisterId id;
  DeviceMask devices;
  EngineMask engines;  // 0: all
  uint32_t indices;    // bit n: index n; 0: all
};

// Returns the rows of registers that are not storage everywhere.
std::span<const StoragePart> storage_parts();

}  // namespace halogen::spec
