#include "engine/status_page.h"

#include "engine/engine.h"
#include "hw/hwsp.h"

namespace halogen::engine {

bool StatusPage::write(unsigned dword, uint32_t value) {
  const auto page = engine_.registers().get<hw::HWS_PGA>();
  const uint64_t offset = uint64_t{dword} * sizeof(value);
  if (engine_.generation().has(spec::Feature::physical_status_page)) {
    const uint64_t base = page.address | uint64_t{page.address_35_32} << 32;
    engine_.services().write_physical(PhysAddr{base + offset}, std::as_bytes(std::span(&value, 1)));
    return true;
  }
  return engine_.data_space(TableKind::global).store_value(GpuVa{page.address + offset}, value);
}

bool StatusPage::write64(unsigned dword, uint64_t value) {
  return write(dword, static_cast<uint32_t>(value)) && write(dword + 1, static_cast<uint32_t>(value >> 32));
}

bool StatusPage::write_process(unsigned /*dword*/, uint32_t /*value*/) {
  return true;
}

}  // namespace halogen::engine
