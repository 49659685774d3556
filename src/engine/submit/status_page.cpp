#include "engine/submit/status_page.h"

#include "engine/engine.h"
#include "hw/context.h"
#include "hw/hwsp.h"
#include "hw/mi.h"

namespace halogen::engine {
namespace {

constexpr uint64_t kRunListPageOffset = 20 * 1024;

}  // namespace

StatusPage::StatusPage(Engine& engine) : engine_(engine) {
  engine.registers().use({spec::RegisterId::HWS_PGA});
}

memory::AccessResult StatusPage::write(unsigned dword, uint32_t value) {
  const auto page = engine_.registers().get<hw::HWS_PGA>();
  const uint64_t offset = uint64_t{dword % kDwords} * sizeof(value);
  if (engine_.generation().has(spec::Feature::physical_status_page)) {
    const uint64_t base = page.address | uint64_t{page.address_35_32} << 32;
    engine_.services().write_physical(PhysAddr{base + offset}, std::as_bytes(std::span(&value, 1)));
    return memory::AccessResult::ok;
  }
  return engine_.data_space(memory::TableKind::global).store_value(GpuVa{page.address + offset}, value);
}

memory::AccessResult StatusPage::write64(unsigned dword, uint64_t value) {
  const memory::AccessResult result = write(dword, static_cast<uint32_t>(value));
  return ok(result) ? write(dword + 1, static_cast<uint32_t>(value >> 32)) : result;
}

std::optional<GgttOffset> StatusPage::process_page() const {
  if (const auto& running = engine_.state().execlist.running) {
    const uint32_t dwords[2] = {static_cast<uint32_t>(*running), static_cast<uint32_t>(*running >> 32)};
    return hw::CONTEXT_DESCRIPTOR::unpack(engine_.gen(), dwords).logical_ring_context_address;
  }
  if (engine_.per_process_space()) {
    const auto context = engine_.registers().get<hw::RCCID>();
    if (context.valid) {
      return GgttOffset{context.context_address.value + kRunListPageOffset};
    }
  }
  return std::nullopt;
}

memory::AccessResult StatusPage::write_process(unsigned dword, uint32_t value) {
  const std::optional<GgttOffset> page = process_page();
  if (!page) {
    return write(dword, value);
  }
  const uint64_t offset = uint64_t{dword % kDwords} * sizeof(value);
  return engine_.data_space(memory::TableKind::global).store_value(GpuVa{page->value + offset}, value);
}

memory::AccessResult StatusPage::write_process64(unsigned dword, uint64_t value) {
  const memory::AccessResult result = write_process(dword, static_cast<uint32_t>(value));
  return ok(result) ? write_process(dword + 1, static_cast<uint32_t>(value >> 32)) : result;
}

}  // namespace halogen::engine
