#include "driver/queue/user_registers.h"

#include <memory>

#include "mmio/privilege.h"
#include "mmio/register_map.h"

namespace halogen::driver {

std::vector<RegisterValue> user_registers(const spec::DeviceModel& model, const spec::EngineModel& engine) {
  constexpr uint32_t kMaskHalf = 0xffff'0000;
  const mmio::Privilege privilege(model.id, engine);
  std::vector<mmio::ForceToNonPriv> opened;
  for (const uint32_t slot : mmio::slots_of_driver(model.id, engine)) {
    opened.push_back(mmio::ForceToNonPriv::decode(model.gen, slot));
  }
  std::vector<RegisterValue> all;
  const std::shared_ptr<const mmio::RegisterMap> map = mmio::RegisterMap::for_device(model);
  for (const mmio::RegisterSlot& slot : map->slots()) {
    if (slot.policy.writable() == 0 || !privilege.allows(slot.offset, mmio::RegisterAccess::write, opened)) continue;
    all.push_back({slot.offset, slot.reset | (slot.policy.masked ? kMaskHalf : 0)});
  }
  return all;
}

}  // namespace halogen::driver
