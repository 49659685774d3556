#include "engine/mi/mi_access.h"

#include "mmio/context_image.h"

namespace halogen::engine {

memory::AccessResult CommandAddress::read(Engine& engine, std::span<std::byte> into) const {
  if (space != nullptr) {
    return space->read(GpuVa{address}, into);
  }
  engine.services().read_physical(PhysAddr{address}, into);
  return memory::AccessResult::ok;
}

memory::AccessResult CommandAddress::write(Engine& engine, std::span<const std::byte> from) const {
  if (dropped) {
    return memory::AccessResult::ok;
  }
  if (space != nullptr) {
    return space->write(GpuVa{address}, from);
  }
  engine.services().write_physical(PhysAddr{address}, from);
  return memory::AccessResult::ok;
}

CommandAddress graphics_target(Engine& engine, const Command& command, std::optional<bool> global, GpuVa address) {
  const Permit& permit = command.permit;
  memory::TableKind table = global.value_or(false) ? memory::TableKind::global : memory::TableKind::per_process;
  bool dropped = permit.drop_write;
  if (permit.per_process_table) {
    table = memory::TableKind::per_process;
    if (engine.lacks_process_space()) {
      engine.privilege().violation();
      dropped = true;
    }
  } else if (engine.generation().has(spec::Feature::addresses_follow_fetch) &&
             (!global || (!*global && !engine.per_process_space()))) {
    table = engine.fetched_from();
  }
  return {&engine.data_space(table), canonical(address).value, dropped};
}

CommandAddress physical_target(const Command& command, uint64_t address) {
  return {nullptr, address, command.permit.restricted};
}

uint32_t own_register(const spec::EngineModel& engine, uint64_t offset) {
  constexpr uint64_t kBlockBytes = 0x1000;  // size of the register block that context images refer to
  const uint64_t own_offset = offset - engine.mmio_base;
  return engine.mmio_base + static_cast<uint32_t>(own_offset < kBlockBytes ? own_offset : offset);
}

uint32_t offset_of_register(const Engine& engine, uint64_t offset, bool add_engine_base, bool remap) {
  const auto absolute = static_cast<uint32_t>(offset);
  if (add_engine_base) {
    return own_register(engine.model(), offset);
  }
  return remap ? mmio::own_instance(engine.generation().model(), engine.model(), absolute) : absolute;
}

uint32_t read_register(Engine& engine, const Command& command, uint32_t offset) {
  return engine.privilege().allows(command, offset, mmio::RegisterAccess::read) ? engine.read_register(offset) : 0;
}

}  // namespace halogen::engine
