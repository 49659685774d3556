// What the handlers of commands that move data share: the table that an address goes through, the offset of a register,
// and the rules for batches without privilege.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/engine.h"

namespace halogen::engine {

// An address that a command names, with the memory that it goes through.
struct CommandAddress {
  memory::AddressSpace* space = nullptr;  // null: physical memory, or nothing
  uint64_t address = 0;
  bool dropped = false;  // the write does not happen

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

// `global`: the command's bit for the global table; nothing where it has none. Gen4: without the bit a graphics address
// goes through the table that the command itself was fetched through, and so it does while the bit is clear unless the
// per-process address space is enabled (seed 003 1.5.1, 1.16).
CommandAddress graphics_target(Engine& engine, const Command& command, std::optional<bool> global, GpuVa address);
// Gen4, where the command says physical.
CommandAddress physical_target(const Command& command, uint64_t address);

// The register that a command names, with its ways to mean a register of the engine that runs it.
uint32_t register_place(const Engine& engine, uint64_t offset, bool add_engine_base, bool remap);
// A register of the engine's own. Software names it by its distance from the engine's base or, in its first block, by
// its whole offset: the manual adds (Intel media driver, MI_STORE_REGISTER_MEM), Linux i915 writes context images in
// the second way.
uint32_t own_register(const spec::EngineModel& engine, uint64_t offset);
// A read by a command: what it may not read is zero.
uint32_t read_register(Engine& engine, const Command& command, uint32_t offset);

}  // namespace halogen::engine
