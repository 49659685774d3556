#include "device/firmware.h"

#include <utility>

#include "hw/gtt.h"
#include "spec/packing.h"

namespace halogen {

namespace {

constexpr uint64_t kLock = 1;

constexpr uint32_t kDriverFlr = 1u << 31;
constexpr uint32_t kLmemEnable = 1u << 31;
constexpr uint32_t kAllPipesDisabled = 1u << 30 | 1u << 28 | 1u << 22 | 1u << 21;  // DFSM: pipes A, C, D, B

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

Firmware::Firmware(MmioSpace& mmio, const MemoryLayout& layout, uint16_t ggc, const DeviceOptions& options,
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
  for (const RegisterSlot& slot : mmio_.bank().map().slots_of(name)) {
    mmio_.bank().poke(slot, static_cast<uint32_t>(value >> (32 * slot.dword)));
  }
}

void Firmware::place_tables() {
  // Base bits 31:12, and 35:32 in bits 7:4; size code 0 is 512 KB; bit 0 enables.
  const uint64_t high = layout_.gsm_base >> 32 & 0xf;
  set("PGTBL_CTL", (layout_.gsm_base & 0xffff'f000) | high << 4 | (table_enabled_ ? 1u : 0u));
  set("LMEM_CFG", local_tables_ ? kLmemEnable : 0);
}

void Firmware::apply() {
  set("GGC", ggc_);
  place_tables();
  set("DFSM", headless_ ? kAllPipesDisabled : 0);
  if (layout_.dsm_bytes == 0) {
    return;
  }
  set("GEN6_DSMBASE", layout_.dsm_base | kLock);
  set("GEN6_GSMBASE", layout_.gsm_base);  // not locked: Linux takes the whole register for the end of local memory
  // Gen6 can say at most 1 MB; drivers leave alone what lies above the base.
  hw::GEN6_STOLEN_RESERVED reserved;
  reserved.base_address = PhysAddr(layout_.wopcm_base);
  reserved.size = hw::GEN6_STOLEN_RESERVED::Size::size_2mb;
  reserved.size_gen6 = hw::GEN6_STOLEN_RESERVED::SizeGen6::size_1mb;
  reserved.enable = true;
  uint64_t value = 0;
  static_cast<void>(spec::pack_register(reserved, mmio_.generation().id(), value));  // one of the sizes is absent
  set("GEN6_STOLEN_RESERVED", value);
}

uint32_t Firmware::on_write(const RegisterWrite& write) {
  if (write.ones(kDriverFlr) == 0) {
    return write.next;
  }
  driver_reset_();
  return mmio_.bank().peek(write.slot);
}

}  // namespace halogen
