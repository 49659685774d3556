// Register accesses from the stream. A write takes effect before the next command. The manual states this for all but
// the asynchronous MI_LOAD_REGISTER_MEM, which the model also executes at once.
#include "hw/mi_register.h"
#include "engine/engine.h"
#include "engine/mi/mi_access.h"
#include "engine/mi/predicate.h"
#include "hw/mi_video.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

uint32_t lanes_without(unsigned disabled) {
  uint32_t lanes = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    lanes |= (disabled >> byte & 1) == 0 ? mmio::byte_lanes(byte, 1) : 0;
  }
  return lanes;
}

// Returns hold() if the write has reset the engine, because there is no next command then.
Next after_write(Engine& engine) {
  return engine.was_reset() ? Next::hold() : Next::advance();
}

// Executes both forms of the command. `place` returns the register offset of a pair.
template <class Load, class Place>
Next load_pairs(Engine& engine, const Command& command, unsigned disabled, Place place) {
  if (engine.registers().get<hw::RING_CTL>().disable_register_accesses || command.permit.drop_write) {
    return Next::advance();
  }
  const size_t count = Load::count_pairs(engine.gen(), command.dwords);
  if (command.permit.restricted) {
    for (size_t i = 0; i < count; ++i) {
      const auto pair = Load::unpack_pairs(engine.gen(), command.dwords, i);
      if (!engine.privilege().allows(command, place(pair.register_offset), mmio::RegisterAccess::write)) {
        return Next::advance();
      }
    }
  }
  const uint32_t lanes = lanes_without(disabled);
  for (size_t i = 0; i < count && !engine.was_reset(); ++i) {
    const auto pair = Load::unpack_pairs(engine.gen(), command.dwords, i);
    engine.write_register(place(pair.register_offset), pair.data_dword, lanes);
  }
  return after_write(engine);
}

Next load_register_imm(Engine& engine, const Command& command) {
  using Load = hw::MI_LOAD_REGISTER_IMM;
  const auto load = command.as<Load>(engine.gen());
  return load_pairs<Load>(engine, command, load.byte_write_disables, [&](uint64_t offset) {
    return offset_of_register(engine, offset, load.add_cs_mmio_start_offset, load.mmio_remap_enable);
  });
}

Next load_register_imm_vce(Engine& engine, const Command& command) {
  using Load = hw::MI_LOAD_REGISTER_IMM_VCE;
  const auto load = command.as<Load>(engine.gen());
  return load_pairs<Load>(engine, command, load.byte_write_disables,
                          [&](uint64_t offset) { return offset_of_register(engine, offset, false, false); });
}

Next load_register_mem(Engine& engine, const Command& command) {
  const auto load = command.as<hw::MI_LOAD_REGISTER_MEM>(engine.gen());
  const uint32_t offset =
      offset_of_register(engine, load.register_address, load.add_cs_mmio_start_offset, load.mmio_remap_enable);
  if (load.add_loop_variable) {
    engine.approximate(command.desc, "loop variable not added");
  }
  if (!engine.privilege().allows(command, offset, mmio::RegisterAccess::write)) {
    return Next::advance();
  }
  const auto from = graphics_target(engine, command, load.use_global_gtt, load.memory_address);
  uint32_t value = 0;
  if (const memory::AccessResult result = from.load(engine, value); !ok(result)) {
    return engine.stopped_by_fault(result);
  }
  engine.write_register(offset, value);
  return after_write(engine);
}

Next load_register_reg(Engine& engine, const Command& command) {
  const auto load = command.as<hw::MI_LOAD_REGISTER_REG>(engine.gen());
  const uint32_t from = offset_of_register(engine, load.source_register_address, load.add_cs_mmio_start_offset_source,
                                           load.mmio_remap_enable_source);
  const uint32_t to = offset_of_register(engine, load.destination_register_address,
                                         load.add_cs_mmio_start_offset_destination, load.mmio_remap_enable_destination);
  const uint32_t value = read_register(engine, command, from);
  if (engine.privilege().allows(command, to, mmio::RegisterAccess::write)) {
    engine.write_register(to, value);
  }
  return after_write(engine);
}

// Returns whether G45 PRM vol. 1b 1.18 (seed 003) forbids storing the value of the register.
bool cannot_be_stored(const Engine& engine, uint32_t offset) {
  constexpr uint32_t kVgaFirst = 0x3b0;
  constexpr uint32_t kVgaLast = 0x3df;
  const mmio::RegisterSlot* slot = engine.registers().mmio().bank().find(offset);
  return (offset >= kVgaFirst && offset <= kVgaLast) ||
         (slot != nullptr && (slot->desc->id == RegisterId::PGTBL_CTL || slot->desc->id == RegisterId::FENCE));
}

Next store_register_mem(Engine& engine, const Command& command) {
  using Store = hw::MI_STORE_REGISTER_MEM;
  const auto store = command.as<Store>(engine.gen());
  if (store.predicate_enable && !predicate_result(engine)) {
    return Next::advance();
  }
  const uint32_t offset =
      offset_of_register(engine, store.register_address, store.add_cs_mmio_start_offset, store.mmio_remap_enable);
  const Generation& generation = engine.generation();
  if (generation.has(spec::Feature::registers_not_storable) && cannot_be_stored(engine, offset)) {
    engine.raise(EventKind::undefined_behaviour, command.desc.manual_name, command.place.address.value, offset,
                 "value of a register that cannot be stored");
  }
  const uint32_t value = read_register(engine, command, offset);
  CommandAddress target;
  if (generation.has(spec::Feature::stores_to_physical_memory) &&
      store.memory_address_type == Store::MemoryAddressType::physical_address) {
    target =
        physical_target(command, store.memory_address.value | uint64_t{store.physical_start_address_extension} << 32);
  } else {
    const bool follows =
        generation.has(spec::Feature::addresses_follow_fetch);  // such commands have no bit for the table
    target = graphics_target(engine, command, follows ? std::nullopt : std::optional(store.use_global_gtt),
                             store.memory_address);
  }
  return engine.after(target.store(engine, value));
}

}  // namespace

void add_register_handlers(HandlerTable& table) {
  table.add(CommandId::MI_LOAD_REGISTER_IMM, load_register_imm);
  table.add(CommandId::MI_LOAD_REGISTER_IMM_VCE, load_register_imm_vce);
  table.add(CommandId::MI_LOAD_REGISTER_MEM, load_register_mem);
  table.add(CommandId::MI_LOAD_REGISTER_REG, load_register_reg);
  table.add(CommandId::MI_STORE_REGISTER_MEM, store_register_mem,
            {{RegisterId::MI_PREDICATE_RESULT, "predicate_enable"}});
}

}  // namespace halogen::engine
