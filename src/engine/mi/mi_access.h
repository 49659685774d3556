// Shared by the handlers of commands that move data: the table that an address is translated with, the offset of a
// register, and the rules for batches without privilege.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/engine.h"

namespace halogen::engine {

// An address of a command, with the memory that it refers to.
struct CommandAddress {
  memory::AddressSpace* space = nullptr;  // null: physical memory
  uint64_t address = 0;
  bool dropped = false;  // the write has no effect

  memory::AccessResult read(Engine& engine, std::span<std::byte> into) const;
  memory::AccessResult write(Engine& engine, std::span<const std::byte> from) const;
  template <class T>
  memory::AccessResult store(Engine& engine, const T& value) const {
    return write(engine, std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  memory::AccessResult load(Engine& engine, T& value) const {
    return read(engine, std::as_writable_bytes(std::span(&value, 1)));
  }
};

// Returns the target of a graphics address. `global` is the command's bit for the global table; empty: the command has
// no such bit. On Gen4 an address without the bit is translated with the table that the command itself was fetched
// through. The same holds while the bit is clear, unless the per-process address space is enabled. G45 PRM vol.
// 1b 1.5.1 and 1.16 (seed 003).
CommandAddress graphics_target(Engine& engine, const Command& command, std::optional<bool> global, GpuVa address);
// Returns the target of a physical address (Gen4).
CommandAddress physical_target(const Command& command, uint64_t address);

// Returns the offset of the register that a command names. Commands have two ways to name a register of the engine that
// runs them.
uint32_t offset_of_register(const Engine& engine, uint64_t offset, bool add_engine_base, bool remap);
// Returns the offset of a register of the engine itself. Software names it by its distance from the engine's base or,
// for the first block, by its whole offset. The manual adds the base (see MI_STORE_REGISTER_MEM in the Intel media
// driver); Linux i915 writes whole offsets to context images.
uint32_t own_register(const spec::EngineModel& engine, uint64_t offset);
// Reads a register for a command. A register that the command may not read returns zero.
uint32_t read_register(Engine& engine, const Command& command, uint32_t offset);

}  // namespace halogen::engine
