#include "device/memory_map.h"

#include <algorithm>

namespace halogen::device {

namespace {

uint64_t own_bytes(const MemoryLayout& layout, uint64_t local_bytes) {
  return local_bytes != 0 ? local_bytes : layout.gsm_bytes + layout.dsm_bytes;
}

// Returns the limit of the device's own memory: that of its board, however wide its addresses are.
uint64_t max_own_bytes(const spec::DeviceModel& model, const MemoryLayout& layout, uint64_t local_bytes) {
  return std::min(own_bytes(layout, local_bytes), local_bytes != 0 ? model.local_bytes : ~uint64_t{0});
}

}  // namespace

MemoryMap::MemoryMap(const spec::DeviceModel& model, const MemoryLayout& layout, uint64_t local_bytes, Host& host)
    : layout_(layout),
      space_(local_bytes != 0 ? memory::MemorySpace::local : memory::MemorySpace::system),
      has_hardware_page_(model.has(spec::Feature::hardware_page)),
      host_frames_(host),
      own_(own_bytes(layout, local_bytes), max_own_bytes(model, layout, local_bytes),
           local_bytes != 0 ? host.local_memory(local_bytes) : std::span<std::byte>{}) {
  const uint64_t addressable = uint64_t{1} << model.physical_bits;
  physical_.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, addressable, &host_frames_});
  if (space_ == memory::MemorySpace::local) {
    physical_.add({memory::MemorySpace::local, memory::MemoryKind::local, 0, local_bytes, &own_});
  }
  const uint64_t origin = space_ == memory::MemorySpace::local ? 0 : layout.gsm_base;
  add_own(memory::MemoryKind::gtt_stolen, layout.gsm_base, layout.gsm_bytes, origin);
  add_own(memory::MemoryKind::data_stolen, layout.dsm_base, layout.dsm_bytes, origin);
  add_own(memory::MemoryKind::wopcm, layout.wopcm_base, layout.wopcm_bytes, origin);
}

void MemoryMap::add_own(memory::MemoryKind kind, uint64_t first, uint64_t bytes, uint64_t own_first) {
  if (bytes != 0) {
    physical_.add({space_, kind, first, bytes, &slices_.emplace_back(own_, first - own_first)});
  }
}

bool MemoryMap::holds_table(memory::MemorySpace space, uint64_t address) const {
  return space == space_ && address - layout_.gsm_base < layout_.gsm_bytes;
}

bool MemoryMap::is_hardware_page(memory::MemorySpace space, uint64_t address) const {
  return has_hardware_page_ && space == space_ && layout_.dsm_bytes != 0 &&
         address - layout_.dsm_base < memory::kFrameBytes;
}

bool MemoryMap::is_stolen(memory::MemorySpace space, uint64_t address) const {
  return space == space_ &&
         (address - layout_.gsm_base < layout_.gsm_bytes || address - layout_.dsm_base < layout_.dsm_bytes);
}

}  // namespace halogen::device
