#include "driver/queue/first_state.h"

#include <memory>
#include <unordered_set>

#include "driver/hw/command_writer.h"
#include "hw/mi_flow.h"
#include "mmio/privilege.h"
#include "mmio/register_map.h"

namespace halogen::driver {
namespace {

uint32_t value_after_reset(const mmio::RegisterSlot& slot) {
  constexpr uint32_t kMaskHalf = 0xffff'0000;
  return slot.reset | (slot.policy.masked ? kMaskHalf : 0);
}

uint32_t offset_of(const spec::DeviceModel& model, const spec::EngineModel& engine, const mmio::ImageSlot& slot) {
  const uint32_t named = slot.relative ? slot.offset + engine.mmio_base : slot.offset;
  return slot.remapped ? mmio::own_instance(model, engine, named) : named;
}

}  // namespace

std::vector<uint32_t> first_image(const spec::DeviceModel& model, const spec::EngineModel& engine,
                                  const mmio::ContextImage& layout) {
  std::vector<uint32_t> image = layout.build(engine.mmio_base);
  const std::shared_ptr<const mmio::RegisterMap> map = mmio::RegisterMap::for_device(model);
  for (const mmio::ImageSlot& slot : layout.slots()) {
    const mmio::RegisterSlot* const found = map->find(offset_of(model, engine, slot));
    if (found != nullptr && found->policy.writable() != 0) image[slot.at + 1] = value_after_reset(*found);
  }
  CommandWriter end(model, engine);
  end.add(hw::MI_BATCH_BUFFER_END{});
  image.insert(image.end(), end.dwords().begin(), end.dwords().end());
  return image;
}

std::vector<RegisterValue> registers_outside(const spec::DeviceModel& model, const spec::EngineModel& engine,
                                             const mmio::ContextImage& layout) {
  std::unordered_set<uint32_t> inside;
  for (const mmio::ImageSlot& slot : layout.slots()) inside.insert(offset_of(model, engine, slot));
  const mmio::Privilege privilege(model.id, engine);
  std::vector<mmio::ForceToNonPriv> opened;
  for (const uint32_t slot : mmio::slots_of_driver(model.id, engine)) {
    opened.push_back(mmio::ForceToNonPriv::decode(model.gen, slot));
  }
  std::vector<RegisterValue> all;
  const std::shared_ptr<const mmio::RegisterMap> map = mmio::RegisterMap::for_device(model);
  for (const mmio::RegisterSlot& slot : map->slots()) {
    const bool is_open = slot.policy.writable() != 0 && !inside.contains(slot.offset) &&
                         privilege.allows(slot.offset, mmio::RegisterAccess::write, opened);
    if (is_open) all.push_back({slot.offset, value_after_reset(slot)});
  }
  return all;
}

}  // namespace halogen::driver
