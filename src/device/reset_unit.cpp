#include "device/reset_unit.h"

#include <algorithm>
#include <bit>

#include "hw/fuse.h"
#include "mmio/register.h"
#include "spec/packing.h"

namespace halogen::device {

namespace {

constexpr std::string_view kGdrst = "GDRST";
constexpr std::string_view kResetCtl = "RESET_CTL";

}  // namespace

ResetUnit::ResetUnit(mmio::MmioSpace& mmio) : mmio_(mmio) {
  mmio_.bank().attach(kGdrst, *this);
  mmio_.bank().attach(kResetCtl, *this);
}

uint32_t ResetUnit::on_write(const mmio::RegisterWrite& write) {
  if (write.slot.desc->name != kGdrst) {
    return write_reset_ctl(write);
  }
  return reset_domains((write.value & write.addressed) | write.old_value);
}

uint32_t ResetUnit::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  if (slot.desc->name == kResetCtl) {
    return show_ready(slot, stored);
  }
  if (stored != 0) [[unlikely]] {
    stored = reset_domains(stored);
    mmio_.bank().poke(slot, stored);
  }
  return stored;
}

// Each bit reads zero again after its reset.
uint32_t ResetUnit::reset_domains(uint32_t bits) {
  const spec::DeviceModel& model = mmio_.generation().model();
  if (spec::unpack_register<hw::GDRST>(model.gen, bits).full) {
    return reset_gt() ? 0 : spec::packed32(hw::GDRST{.full = true}, model.gen);
  }
  uint32_t left = 0;
  for (uint32_t rest = bits; rest != 0; rest &= rest - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(rest));
    for (const spec::EngineModel& engine : model.engines) {
      if (engine.reset_bit == bit && !reset_engine(engine)) {
        left |= 1u << bit;
      }
    }
  }
  return left;
}

// A streamer between two commands is ready for its reset. Clearing the request clears the ready bit.
uint32_t ResetUnit::show_ready(const mmio::RegisterSlot& slot, uint32_t stored) const {
  const spec::GenId gen = mmio_.generation().id();
  auto control = spec::unpack_register<hw::RESET_CTL>(gen, stored);
  control.ready_to_reset = control.request_reset && (!hooks_.ready || hooks_.ready(*slot.engine));
  return spec::packed32(control, gen);
}

// Writing one acknowledges an error. Only hardware sets the bit.
uint32_t ResetUnit::write_reset_ctl(const mmio::RegisterWrite& write) {
  const spec::GenId gen = mmio_.generation().id();
  const auto before = spec::unpack_register<hw::RESET_CTL>(gen, write.old_value);
  const auto asked = spec::unpack_register<hw::RESET_CTL>(gen, write.value & write.addressed);
  auto next = spec::unpack_register<hw::RESET_CTL>(gen, write.next);
  next.catastrophic_error = before.catastrophic_error && !asked.catastrophic_error;
  mmio_.bank().poke(write.slot, spec::packed32(next, gen));
  if (hooks_.requested) {
    hooks_.requested(*write.slot.engine);
  }
  return show_ready(write.slot, spec::packed32(next, gen));
}

void ResetUnit::set_catastrophic(const spec::EngineModel& engine) {
  mmio::Register<hw::RESET_CTL> reg(mmio_.bank(), engine.name);
  hw::RESET_CTL control = reg.get();
  control.catastrophic_error = true;
  reg.set(control);
}

void ResetUnit::reset_ranges(std::span<const spec::OffsetRange> ranges) {
  mmio::RegisterBank& bank = mmio_.bank();
  for (const mmio::RegisterSlot& slot : bank.map().slots()) {
    if (slot.engine != nullptr) {
      continue;
    }
    if (std::ranges::any_of(ranges, [&slot](const spec::OffsetRange& range) {
          return slot.offset >= range.start && slot.offset <= range.end;
        })) {
      bank.reset(slot);
    }
  }
  if (hooks_.registers) {
    hooks_.registers();
  }
}

bool ResetUnit::reset_engine(const spec::EngineModel& engine) {
  mmio::RegisterBank& bank = mmio_.bank();
  for (const mmio::RegisterSlot& slot : bank.map().slots()) {
    if (slot.engine == &engine) {
      bank.reset(slot);
    }
  }
  const bool done = !hooks_.engine || hooks_.engine(engine);
  if (engine.engine_class == spec::EngineClass::render) {
    reset_ranges(mmio_.generation().render_reset_ranges());
  }
  return done;
}

bool ResetUnit::reset_gt() {
  bool done = true;
  for (const spec::EngineModel& engine : mmio_.generation().model().engines) {
    done = reset_engine(engine) && done;
  }
  reset_ranges(mmio_.generation().gt_reset_ranges());
  if (hooks_.gt) {
    hooks_.gt();
  }
  return done;
}

void ResetUnit::reset_gen4_domain(hw::PCI_GDRST::Domain domain) {
  using Domain = hw::PCI_GDRST::Domain;
  if (domain == Domain::full) {
    reset_gt();
    return;
  }
  for (const spec::EngineModel& engine : mmio_.generation().model().engines) {
    const bool render = engine.engine_class == spec::EngineClass::render;
    if ((domain == Domain::render && render) || (domain == Domain::media && !render)) {
      reset_engine(engine);
    }
  }
}

}  // namespace halogen::device
