#include "device/firmware.h"

#include <utility>

namespace halogen {

namespace {

constexpr uint64_t kMiB = 1024 * 1024;
constexpr uint64_t kWopcmBytes = 2 * kMiB;
constexpr uint64_t kLock = 1;

// GEN6_STOLEN_RESERVED: bit 0 enable, 8:7 size (0: 1 MB, 1: 2 MB).
constexpr uint64_t kReservedEnabled = 1;
constexpr uint64_t kReserved2MiB = 1 << 7;

constexpr uint32_t kDriverFlr = 1u << 31;

}  // namespace

MemoryLayout system_layout(uint64_t stolen_base, uint64_t stolen_bytes, uint64_t gtt_bytes) {
  if (stolen_base == 0 || stolen_bytes < kWopcmBytes) {
    return {};
  }
  MemoryLayout layout;
  layout.dsm_base = stolen_base;
  layout.dsm_bytes = stolen_bytes;
  layout.gsm_base = stolen_base - gtt_bytes;
  layout.gsm_bytes = gtt_bytes;
  layout.wopcm_base = stolen_base + stolen_bytes - kWopcmBytes;
  layout.wopcm_bytes = kWopcmBytes;
  return layout;
}

MemoryLayout local_layout(uint64_t local_bytes, uint64_t stolen_bytes, uint64_t gtt_bytes) {
  return system_layout(local_bytes - stolen_bytes, stolen_bytes, gtt_bytes);
}

Firmware::Firmware(MmioSpace& mmio, const MemoryLayout& layout, uint16_t ggc, std::function<void()> driver_reset)
    : mmio_(mmio), layout_(layout), ggc_(ggc), driver_reset_(std::move(driver_reset)) {
  mmio_.bank().attach("GU_CNTL", *this);
  apply();
}

void Firmware::set(std::string_view name, uint64_t value) {
  for (const RegisterSlot& slot : mmio_.bank().map().slots_of(name)) {
    mmio_.bank().poke(slot, static_cast<uint32_t>(value >> (32 * slot.dword)));
  }
}

void Firmware::apply() {
  set("GGC", ggc_);
  if (layout_.dsm_bytes == 0) {
    return;
  }
  set("GEN6_DSMBASE", layout_.dsm_base | kLock);
  set("GEN6_GSMBASE", layout_.gsm_base | kLock);
  set("GEN6_STOLEN_RESERVED", layout_.wopcm_base | kReserved2MiB | kReservedEnabled);
}

uint32_t Firmware::on_write(const RegisterWrite& write) {
  if (write.ones(kDriverFlr) == 0) {
    return write.next;
  }
  driver_reset_();
  return mmio_.bank().peek(write.slot);
}

}  // namespace halogen
