// Returns whether a device has a register. Units of this room know their registers by id and ask once.
#pragma once

#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/item_ids.h"

namespace halogen::memory {

inline bool has_register(const spec::DeviceModel& model, spec::RegisterId id) {
  return (spec::desc(id).devices & spec::mask_of(model.id)) != 0;
}

}  // namespace halogen::memory
