#include "driver/interrupts.h"

#include "driver/packed.h"
#include "hw/interrupt_gen11.h"
#include "hw/interrupt_gen4.h"
#include "hw/interrupt_gen6.h"
#include "hw/interrupt_gen8.h"
#include "hw/ring.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kAll = 0xffff'ffff;
constexpr uint32_t kOn = 0x8000'0000;
constexpr uint32_t kBankBytes = 0x10;  // from one bank of a kind to the next

}  // namespace

uint32_t Interrupts::at(const spec::RegisterDesc& desc) const {
  const spec::DeviceModel& model = hardware_.model();
  // Registers that each engine has: the render engine's.
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
      hardware_.write(at(hw::RENDER_COPY_INTR_ENABLE::kDesc), kAll);
      hardware_.write(at(hw::VCS_VECS_INTR_ENABLE::kDesc), kAll);
      for (const spec::RegisterDesc* const mask :
           {&hw::RCS0_RSVD_INTR_MASK::kDesc, &hw::BCS_RSVD_INTR_MASK::kDesc, &hw::VCS0_VCS1_INTR_MASK::kDesc,
            &hw::VCS2_VCS3_INTR_MASK::kDesc, &hw::VECS0_VECS1_INTR_MASK::kDesc}) {
        if ((mask->devices & spec::mask_of(hardware_.model().id)) != 0) hardware_.write(at(*mask), 0);
      }
      hardware_.write(at(hw::GFX_MSTR_IRQ::kDesc), kOn);
      if (hardware_.has(spec::Feature::tile_interrupt_master)) hardware_.write(at(hw::MSTR_TILE_INTR::kDesc), kOn);
      return;
  }
}

bool Interrupts::acknowledge() {
  switch (hardware_.generation().interrupts()) {
    case InterruptKind::one_bank: {
      const uint32_t identity = hardware_.read(at(hw::IIR::kDesc));
      hardware_.write(at(hw::IIR::kDesc), identity);
      return identity != 0;
    }
    case InterruptKind::display_master: {
      hardware_.write(at(hw::DEIER::kDesc), 0);
      const uint32_t identity = hardware_.read(at(hw::GTIIR::kDesc));
      hardware_.write(at(hw::GTIIR::kDesc), identity);
      hardware_.write(at(hw::DEIER::kDesc), kOn);
      return identity != 0;
    }
    case InterruptKind::numbered_banks:
      return acknowledge_banks(at(hw::MASTER_IRQ::kDesc), at(hw::GTIIR_0::kDesc), 4);
    case InterruptKind::collapsed_banks:
      return acknowledge_collapsed();
  }
  return false;
}

bool Interrupts::acknowledge_banks(uint32_t master, uint32_t first, uint32_t count) {
  hardware_.write(master, 0);
  uint32_t any = 0;
  for (uint32_t bank = 0; bank < count; ++bank) {
    const uint32_t identity = hardware_.read(first + kBankBytes * bank);
    if (identity != 0) hardware_.write(first + kBankBytes * bank, identity);
    any |= identity;
  }
  hardware_.write(master, kOn);
  return any != 0;
}

// One source at a time: chosen, asked for its identity, and cleared.
bool Interrupts::acknowledge_collapsed() {
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
      const uint32_t identity = hardware_.read(at(hw::INTR_IDENTITY_REG0::kDesc) + 4 * bank);
      if ((identity & kOn) != 0) hardware_.write(at(hw::INTR_IDENTITY_REG0::kDesc) + 4 * bank, identity);
    }
    if (sources != 0) hardware_.write(at(hw::GT_INTR_DW0::kDesc) + 4 * bank, sources);
    any = any || sources != 0;
  }
  hardware_.write(master, kOn);
  if (tile) hardware_.write(at(hw::MSTR_TILE_INTR::kDesc), kOn);
  return any;
}

}  // namespace halogen::driver
