#include "device/firmware.h"

#include <utility>

#include "base/bits.h"
#include "hw/fuse.h"
#include "hw/gtt.h"
#include "hw/l3.h"
#include "mmio/register.h"

namespace halogen::device {

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

template <class R>
void Firmware::set(const R& value) {
  mmio::Register<R>(mmio_.bank()).set(value);
}

void Firmware::place_tables() {
  hw::PGTBL_CTL table;
  table.base_address = PhysAddr(layout_.gsm_base & low_mask(32) & ~low_mask(12));
  table.base_address_high = static_cast<uint8_t>(layout_.gsm_base >> 32 & low_mask(4));
  table.table_size = hw::PGTBL_CTL::TableSize::size_512kb;
  table.page_table_enable = table_enabled_;
  set(table);
  hw::LMEM_CFG local;
  local.enable = local_tables_;
  set(local);
}

void Firmware::apply() {
  mmio::Register<hw::GGC>(mmio_.bank()).set_raw(ggc_);
  place_tables();
  hw::DFSM fuses;
  fuses.pipe_a_disable = fuses.pipe_b_disable = fuses.pipe_c_disable = fuses.pipe_d_disable = headless_;
  set(fuses);
  if (layout_.dsm_bytes == 0) {
    return;
  }
  hw::GEN6_DSMBASE base;
  base.base_address = PhysAddr(layout_.dsm_base);
  base.lock = true;
  set(base);
  // Not locked: Linux takes the whole register for the end of local memory.
  mmio::Register<hw::GEN6_GSMBASE>(mmio_.bank()).set_raw(layout_.gsm_base);
  // Each generation has one of the two sizes. Gen6 can say at most 1 MB; drivers do not touch memory above the base.
  hw::GEN6_STOLEN_RESERVED reserved;
  reserved.base_address = PhysAddr(layout_.wopcm_base);
  reserved.size = hw::GEN6_STOLEN_RESERVED::Size::size_2mb;
  reserved.size_gen6 = hw::GEN6_STOLEN_RESERVED::SizeGen6::size_1mb;
  reserved.enable = true;
  set(reserved);
}

uint32_t Firmware::on_write(const mmio::RegisterWrite& write) {
  hw::GU_CNTL asked;
  asked.driverflr = true;
  if (write.ones(spec::packed32(asked, mmio_.generation().id())) == 0) {
    return write.next;
  }
  driver_reset_();
  return mmio_.bank().peek(write.slot);
}

}  // namespace halogen::device
