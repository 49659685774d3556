#include "device/firmware.h"

#include <utility>

#include "base/bits.h"
#include "hw/fuse.h"
#include "hw/gtt.h"
#include "hw/l3.h"
#include "spec/packing.h"

namespace halogen::device {

namespace {

// What the generation lacks, and what does not fit, stays zero.
template <class Register>
uint64_t packed(const Register& reg, const mmio::MmioSpace& mmio) {
  const spec::GenId gen = mmio.generation().id();
  uint64_t value = 0;
  if (Register::kDesc.layout(gen) != nullptr) {
    static_cast<void>(spec::pack_register(reg, gen, value));
  }
  return value;
}

}  // namespace

MemoryLayout system_layout(uint64_t stolen_base, uint64_t stolen_bytes, uint64_t gtt_bytes, unsigned address_bits,
                           std::optional<uint64_t> wopcm_offset) {
  MemoryLayout layout;
  if (stolen_base == 0 || stolen_bytes < kWopcmBytes) {
    layout.gsm_base = (uint64_t{1} << address_bits) - gtt_bytes;
    layout.gsm_bytes = gtt_bytes;
    return layout;
  }
  layout.dsm_base = stolen_base;
  layout.dsm_bytes = stolen_bytes;
  layout.gsm_base = stolen_base - gtt_bytes;
  layout.gsm_bytes = gtt_bytes;
  layout.wopcm_base = stolen_base + wopcm_offset.value_or(stolen_bytes - kWopcmBytes);
  layout.wopcm_bytes = kWopcmBytes;
  return layout;
}

MemoryLayout local_layout(uint64_t local_bytes, uint64_t stolen_bytes, uint64_t gtt_bytes,
                          std::optional<uint64_t> wopcm_offset) {
  return system_layout(local_bytes - stolen_bytes, stolen_bytes, gtt_bytes, 0, wopcm_offset);
}

Firmware::Firmware(mmio::MmioSpace& mmio, const MemoryLayout& layout, uint16_t ggc, const DeviceOptions& options,
                   std::function<void()> driver_reset)
    : mmio_(mmio),
      layout_(layout),
      ggc_(ggc),
      local_tables_(options.local_tables),
      headless_(options.headless),
      table_enabled_(options.table_enabled),
      driver_reset_(std::move(driver_reset)) {
  mmio_.bank().attach("GU_CNTL", *this);
  apply();
}

void Firmware::set(std::string_view name, uint64_t value) {
  for (const mmio::RegisterSlot& slot : mmio_.bank().map().slots_of(name)) {
    mmio_.bank().poke(slot, static_cast<uint32_t>(value >> (32 * slot.dword)));
  }
}

void Firmware::place_tables() {
  hw::PGTBL_CTL table;
  table.base_address = PhysAddr(layout_.gsm_base & low_mask(32) & ~low_mask(12));
  table.base_address_high = static_cast<uint8_t>(layout_.gsm_base >> 32 & low_mask(4));
  table.table_size = hw::PGTBL_CTL::TableSize::size_512kb;
  table.page_table_enable = table_enabled_;
  set("PGTBL_CTL", packed(table, mmio_));
  hw::LMEM_CFG local;
  local.enable = local_tables_;
  set("LMEM_CFG", packed(local, mmio_));
}

void Firmware::apply() {
  set("GGC", ggc_);
  place_tables();
  hw::DFSM fuses;
  fuses.pipe_a_disable = fuses.pipe_b_disable = fuses.pipe_c_disable = fuses.pipe_d_disable = headless_;
  set("DFSM", packed(fuses, mmio_));
  if (layout_.dsm_bytes == 0) {
    return;
  }
  hw::GEN6_DSMBASE base;
  base.base_address = PhysAddr(layout_.dsm_base);
  base.lock = true;
  set("GEN6_DSMBASE", packed(base, mmio_));
  set("GEN6_GSMBASE", layout_.gsm_base);  // not locked: Linux takes the whole register for the end of local memory
  // Gen6 can say at most 1 MB; drivers leave alone what lies above the base.
  hw::GEN6_STOLEN_RESERVED reserved;
  reserved.base_address = PhysAddr(layout_.wopcm_base);
  reserved.size = hw::GEN6_STOLEN_RESERVED::Size::size_2mb;
  reserved.size_gen6 = hw::GEN6_STOLEN_RESERVED::SizeGen6::size_1mb;
  reserved.enable = true;
  set("GEN6_STOLEN_RESERVED", packed(reserved, mmio_));  // one of the sizes is absent
}

uint32_t Firmware::on_write(const mmio::RegisterWrite& write) {
  hw::GU_CNTL asked;
  asked.driverflr = true;
  if (write.ones(static_cast<uint32_t>(packed(asked, mmio_))) == 0) {
    return write.next;
  }
  driver_reset_();
  return mmio_.bank().peek(write.slot);
}

}  // namespace halogen::device
