#include "engine/context/power_context.h"

#include <utility>

#include "engine/context/logical_context.h"
#include "engine/engine.h"
#include "engine/submit/execlist.h"
#include "hw/ring.h"
#include "mmio/context_image.h"
#include "spec/packing.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

const mmio::RegisterSlot* register_of(Engine& engine, const mmio::ImageSlot& slot) {
  return engine.registers().mmio().bank().find(slot.relative ? slot.offset + engine.model().mmio_base : slot.offset);
}

std::string_view name_of(PowerForm form) {
  switch (form) {
    case PowerForm::none:
      break;
    case PowerForm::no_display:
      return "dg1_power_no_display";
    case PowerForm::display:
      return "dg1_power_display";
    case PowerForm::full:
      return "dg1_power_full";
  }
  return {};
}

}  // namespace

PowerForm power_form(Engine& engine) {
  const bool in_contexts = engine.execlists() != nullptr && engine.execlists()->enabled();
  const bool display = engine.model().engine_class == spec::EngineClass::blit;
  const PowerForm form = !in_contexts ? PowerForm::full : display ? PowerForm::display : PowerForm::no_display;
  for (const spec::ContextImageDesc& desc : spec::context_images()) {
    const bool is_meant =
        desc.name == name_of(form) && (desc.engines & spec::mask_of(engine.model().engine_class)) != 0;
    if (is_meant && (desc.devices & spec::mask_of(engine.generation().model().id)) != 0) {
      return form;
    }
  }
  return PowerForm::none;
}

void power_off(Engine& engine) {
  const PowerForm form = power_form(engine);
  if (form == PowerForm::none) {
    return;
  }
  PowerState& power = engine.state().power;
  power.image = save_power_context(engine, name_of(form));
  power.off = form;
  for (const mmio::ImageSlot& slot : mmio::ContextImage::named(name_of(form)).slots()) {
    const mmio::RegisterSlot* const found = register_of(engine, slot);
    if (found != nullptr && slot.offset != 0) {
      engine.registers().mmio().bank().reset(*found);
    }
  }
}

void power_on(Engine& engine) {
  const PowerState power = std::exchange(engine.state().power, {});
  if (power.off != PowerForm::none) {
    restore_power_context(engine, name_of(power.off), power.image);
  }
}

std::vector<uint32_t> save_power_context(Engine& engine, std::string_view form) {
  const mmio::ContextImage image = mmio::ContextImage::named(form);
  std::vector<uint32_t> words = image.build(engine.model().mmio_base);
  engine.stream_registers().publish();
  bool first_control = true;
  for (const mmio::ImageSlot& slot : image.slots()) {
    const mmio::RegisterSlot* const found = register_of(engine, slot);
    if (found == nullptr || slot.offset == 0) {
      continue;
    }
    uint32_t value = image_value(engine, *found);
    if (found->desc->id == RegisterId::RING_CTL && std::exchange(first_control, false)) {
      auto control = spec::unpack_register<hw::RING_CTL>(engine.gen(), value);
      control.enable = false;
      uint64_t disabled = 0;
      static_cast<void>(spec::pack_register(control, engine.gen(), disabled));
      value = static_cast<uint32_t>(disabled);
    }
    words[slot.at + 1] = value;
  }
  return words;
}

void restore_power_context(Engine& engine, std::string_view form, std::span<const uint32_t> image) {
  mmio::RegisterBank& bank = engine.registers().mmio().bank();
  engine.ring().set_restoring(true);
  for (const mmio::ImageSlot& slot : mmio::ContextImage::named(form).slots()) {
    const mmio::RegisterSlot* const found = register_of(engine, slot);
    if (found == nullptr || slot.offset == 0 || slot.at + 1 >= image.size()) {
      continue;
    }
    const uint32_t value = image[slot.at + 1];
    if (found->policy.rw != 0) {
      bank.write(*found, value);
    } else {
      bank.poke(*found, value);  // registers that software cannot write: status, errors
    }
  }
  engine.ring().set_restoring(false);
  if (engine.ring().enabled() && power_form(engine) == PowerForm::full) {
    engine.stream_registers().adopt();
    engine.wake();
  }
}

}  // namespace halogen::engine
