#include "driver/hw/interrupts.h"

#include "driver/hw/packed.h"
#include "hw/interrupt_gen11.h"
#include "hw/interrupt_gen4.h"
#include "hw/interrupt_gen6.h"
#include "hw/interrupt_gen8.h"
#include "hw/ring.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kAll = 0xffff'ffff;
constexpr uint32_t kOn = 0x8000'0000;
constexpr uint32_t kBankBytes = 0x10;  // distance between banks of one kind

// Returns the engine that an interrupt identity names, with the class number of context descriptors. Null: the sender
// is not an engine.
const spec::EngineModel* engine_of(const spec::DeviceModel& model, const hw::INTR_IDENTITY_REG0& identity) {
  for (const spec::EngineModel& engine : model.engines) {
    if (engine.class_id == static_cast<uint8_t>(identity.engine_class) && engine.instance == identity.instance) {
      return &engine;
    }
  }
  return nullptr;
}

}  // namespace

uint32_t Interrupts::at(const spec::RegisterDesc& desc) const {
  const spec::DeviceModel& model = hardware_.model();
  // For registers that each engine has: the render engine's.
  return desc.offset(model.id) + (desc.base == spec::RegisterBase::engine ? model.engines[0].mmio_base : 0);
}

void Interrupts::enable() {
  const auto unmask_engines = [&] {
    for (const spec::EngineModel& engine : hardware_.model().engines) hardware_.write(engine, 0xa8, 0);
  };
  switch (hardware_.generation().interrupts()) {
    case InterruptKind::one_bank:
      hardware_.write(at(hw::IMR::kDesc), 0);
      {
        hw::IER wanted;
        wanted.user_interrupt = true;
        if (hardware_.model().engines.size() > 1) wanted.bsd_user_interrupt = true;
        hardware_.write(at(hw::IER::kDesc), packed32(wanted, hardware_.model()));
        return;
      }
    case InterruptKind::display_master:
      unmask_engines();
      hardware_.write(at(hw::GTIMR::kDesc), 0);
      {
        hw::GTIER wanted;
        wanted.user_interrupt = wanted.bsd_user_interrupt = wanted.blt_user_interrupt = true;
        hardware_.write(at(hw::GTIER::kDesc), packed32(wanted, hardware_.model()));
      }
      hardware_.write(at(hw::DEIER::kDesc), kOn);
      return;
    case InterruptKind::numbered_banks:
      unmask_engines();
      for (uint32_t bank = 0; bank < 4; ++bank) {
        hardware_.write(at(hw::GTIMR_0::kDesc) + kBankBytes * bank, 0);
        hardware_.write(at(hw::GTIER_0::kDesc) + kBankBytes * bank, kAll);
      }
      hardware_.write(at(hw::MASTER_IRQ::kDesc), kOn);
      return;
    case InterruptKind::collapsed_banks:
      for (const spec::RegisterDesc* const enable :
           {&hw::RENDER_COPY_INTR_ENABLE::kDesc, &hw::VCS_VECS_INTR_ENABLE::kDesc, &hw::CCS_RSVD_INTR_ENABLE::kDesc}) {
        if ((enable->devices & spec::mask_of(hardware_.model().id)) != 0) hardware_.write(at(*enable), kAll);
      }
      for (const spec::RegisterDesc* const mask :
           {&hw::RCS0_RSVD_INTR_MASK::kDesc, &hw::BCS_RSVD_INTR_MASK::kDesc, &hw::VCS0_VCS1_INTR_MASK::kDesc,
            &hw::VCS2_VCS3_INTR_MASK::kDesc, &hw::VECS0_VECS1_INTR_MASK::kDesc, &hw::CCS0_CCS1_INTR_MASK::kDesc}) {
        if ((mask->devices & spec::mask_of(hardware_.model().id)) != 0) hardware_.write(at(*mask), 0);
      }
      hardware_.write(at(hw::GFX_MSTR_IRQ::kDesc), kOn);
      if (hardware_.has(spec::Feature::tile_interrupt_master)) hardware_.write(at(hw::MSTR_TILE_INTR::kDesc), kOn);
      return;
  }
}

// Reads a register of identities and clears it by writing the value back.
template <class Register>
Register Interrupts::take(uint32_t& any) {
  const uint32_t identity = hardware_.read(at(Register::kDesc));
  if (identity != 0) hardware_.write(at(Register::kDesc), identity);
  any |= identity;
  return spec::unpack_register<Register>(hardware_.model().gen, identity);
}

bool Interrupts::acknowledge(const Tell& tell) {
  using enum spec::EngineClass;
  uint32_t any = 0;
  switch (hardware_.generation().interrupts()) {
    case InterruptKind::one_bank: {
      const auto identity = take<hw::IIR>(any);
      if (identity.user_interrupt) tell({render, 0, true, false});
      if (identity.bsd_user_interrupt) tell({video, 0, true, false});
      return any != 0;
    }
    case InterruptKind::display_master: {
      hardware_.write(at(hw::DEIER::kDesc), 0);
      const auto identity = take<hw::GTIIR>(any);
      hardware_.write(at(hw::DEIER::kDesc), kOn);
      if (identity.user_interrupt) tell({render, 0, true, false});
      if (identity.bsd_user_interrupt) tell({video, 0, true, false});
      if (identity.blt_user_interrupt) tell({blit, 0, true, false});
      return any != 0;
    }
    case InterruptKind::numbered_banks:
      return acknowledge_banks(tell);
    case InterruptKind::collapsed_banks:
      return acknowledge_collapsed(tell);
  }
  return false;
}

bool Interrupts::acknowledge_banks(const Tell& tell) {
  using enum spec::EngineClass;
  uint32_t any = 0;
  hardware_.write(at(hw::MASTER_IRQ::kDesc), 0);
  const auto first = take<hw::GTIIR_0>(any);
  const auto second = take<hw::GTIIR_1>(any);
  take<hw::GTIIR_2>(any);
  const auto fourth = take<hw::GTIIR_3>(any);
  hardware_.write(at(hw::MASTER_IRQ::kDesc), kOn);
  for (const Cause& each : {Cause{render, 0, first.rcs_user_interrupt, first.rcs_context_switch},
                            Cause{blit, 0, first.bcs_user_interrupt, first.bcs_context_switch},
                            Cause{video, 0, second.vcs0_user_interrupt, second.vcs0_context_switch},
                            Cause{video, 1, second.vcs1_user_interrupt, second.vcs1_context_switch},
                            Cause{vebox, 0, fourth.vecs_user_interrupt, fourth.vecs_context_switch}}) {
    if (each.user || each.context_switch) tell(each);
  }
  return any != 0;
}

// Handles one source at a time: selects it, reads its identity and clears it.
bool Interrupts::acknowledge_collapsed(const Tell& tell) {
  const bool tile = hardware_.has(spec::Feature::tile_interrupt_master);
  if (tile) {
    hardware_.write(at(hw::MSTR_TILE_INTR::kDesc), 0);
    hardware_.write(at(hw::MSTR_TILE_INTR::kDesc), hardware_.read(at(hw::MSTR_TILE_INTR::kDesc)));
  }
  const uint32_t master = at(hw::GFX_MSTR_IRQ::kDesc);
  hardware_.write(master, 0);
  bool any = false;
  for (uint32_t bank = 0; bank < 2; ++bank) {
    const uint32_t sources = hardware_.read(at(hw::GT_INTR_DW0::kDesc) + 4 * bank);
    for (uint32_t source = 0; source < 32; ++source) {
      if ((sources >> source & 1) == 0) continue;
      hardware_.write(at(hw::IIR_REG_SELECTOR0::kDesc) + 4 * bank, 1u << source);
      const uint32_t value = hardware_.read(at(hw::INTR_IDENTITY_REG0::kDesc) + 4 * bank);
      const auto identity = spec::unpack_register<hw::INTR_IDENTITY_REG0>(hardware_.model().gen, value);
      if (!identity.valid) continue;
      hardware_.write(at(hw::INTR_IDENTITY_REG0::kDesc) + 4 * bank, value);
      const auto bits = spec::unpack_register<hw::IMR>(hardware_.model().gen, identity.data);
      if (const spec::EngineModel* engine = engine_of(hardware_.model(), identity)) {
        tell({engine->engine_class, engine->instance, bits.user_interrupt, bits.context_switch});
      }
    }
    if (sources != 0) hardware_.write(at(hw::GT_INTR_DW0::kDesc) + 4 * bank, sources);
    any = any || sources != 0;
  }
  hardware_.write(master, kOn);
  if (tile) hardware_.write(at(hw::MSTR_TILE_INTR::kDesc), kOn);
  return any;
}

}  // namespace halogen::driver
