#include "decode/register_names.h"

#include <fmt/format.h>

namespace halogen::decode {

RegisterNames::RegisterNames(const spec::DeviceModel& device) {
  const auto add = [&](const spec::RegisterDesc& desc, const spec::EngineModel* engine) {
    const uint32_t base = desc.offset(device.id) + (engine != nullptr ? engine->mmio_base : 0);
    for (uint16_t n = 0; n < desc.count; ++n) {
      const uint32_t at = base + n * desc.stride;
      places_.try_emplace(at, Place{&desc, engine, n, false});
      if (desc.width_bits == 64) places_.try_emplace(at + 4, Place{&desc, engine, n, true});
    }
  };
  for (const spec::RegisterDesc* desc : spec::registers()) {
    if ((desc->devices & spec::mask_of(device.id)) == 0 || desc->layout(device.gen) == nullptr) continue;
    if (desc->base == spec::RegisterBase::absolute) {
      add(*desc, nullptr);
      continue;
    }
    for (const spec::EngineModel& engine : device.engines) {
      if ((desc->engines & spec::mask_of(engine.engine_class)) != 0) add(*desc, &engine);
    }
  }
}

std::string RegisterNames::name_at(uint32_t offset) const {
  const auto it = places_.find(offset);
  if (it == places_.end()) return {};
  const Place& place = it->second;
  std::string name{place.desc->name};
  if (place.engine != nullptr) name += fmt::format(".{}", place.engine->name);
  if (place.desc->count > 1) name += fmt::format("[{}]", place.index);
  if (place.high_half) name += " (high)";
  return name;
}

}  // namespace halogen::decode
