#include "mmio/storage.h"

#include <algorithm>

#include "spec/storage.h"

namespace halogen::mmio {

bool is_storage(const RegisterSlot& slot, spec::DeviceId device) {
  const auto holds = [&](const spec::StoragePart& part) {
    const bool engine =
        part.engines == 0 || (slot.engine != nullptr && (part.engines & spec::mask_of(slot.engine->engine_class)) != 0);
    const bool index = part.indices == 0 || (slot.index < 32 && (part.indices >> slot.index & 1) != 0);
    return part.id == slot.desc->id && (part.devices & spec::mask_of(device)) != 0 && engine && index;
  };
  return slot.desc->storage || std::ranges::any_of(spec::storage_parts(), holds);
}

}  // namespace halogen::mmio
