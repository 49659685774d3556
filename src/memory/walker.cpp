#include "memory/walker.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "base/bits.h"
#include "memory/gam_page_update.h"

namespace halogen::memory {
namespace {

// Tables are naturally aligned, so an entry never crosses a frame.
template <class T>
std::optional<uint64_t> load(const PhysicalMemory& memory, MemorySpace space, uint64_t address) {
  std::byte* frame = memory.frame(space, PhysAddr(address));
  if (frame == nullptr) {
    return std::nullopt;
  }
  T& entry = *reinterpret_cast<T*>(frame + (address & (kFrameBytes - sizeof(T))));
  return std::atomic_ref<T>(entry).load(std::memory_order_relaxed);
}

std::optional<uint64_t> load_entry(const PhysicalMemory& memory, MemorySpace space, uint64_t address, unsigned bytes) {
  return bytes == 4 ? load<uint32_t>(memory, space, address) : load<uint64_t>(memory, space, address);
}

// Replaces an entry as one atomic operation, unless somebody changed it since it was read.
bool replace(const PhysicalMemory& memory, MemorySpace space, uint64_t address, uint64_t expected, uint64_t entry) {
  std::byte* frame = memory.frame(space, PhysAddr(address));
  auto& stored = *reinterpret_cast<uint64_t*>(frame + (address & (kFrameBytes - sizeof(uint64_t))));
  return std::atomic_ref<uint64_t>(stored).compare_exchange_strong(expected, entry);
}

bool is_canonical(uint64_t address, unsigned bits) {
  return static_cast<uint64_t>(sign_extend(address & low_mask(bits), bits)) == address;
}

void narrow(Rights& rights, const EntryFormat& format, uint64_t entry, bool honour_execute_disable) {
  rights.writable = rights.writable && (format.writable == 0 || (entry & format.writable) != 0);
  rights.user = rights.user && (format.user == 0 || (entry & format.user) != 0);
  rights.executable = rights.executable && !(honour_execute_disable && (entry & format.execute_disable) != 0);
}

bool may_fetch(const WalkContext& context, const Rights& rights) {
  return rights.executable && context.execute_requests &&
         !(context.supervisor && context.supervisor_execute_protection && rights.user);
}

FaultReason denied(const WalkContext& context, const Rights& rights, Access access) {
  if (!context.supervisor && !rights.user) {
    return FaultReason::privilege_denied;
  }
  if (access.write && !rights.writable && (!context.supervisor || context.write_protect)) {
    return FaultReason::write_denied;
  }
  if (access.instruction && !may_fetch(context, rights)) {
    return FaultReason::execute_denied;
  }
  return FaultReason::none;
}

// Where the walk begins: the root table and the part of the address that indexes it.
std::optional<uint64_t> root_table(const WalkContext& context, uint64_t address) {
  if (context.format->mode == WalkMode::legacy32) {
    return context.roots[bits(address, 31, 30)];
  }
  const LevelFormat& top = context.format->levels.front();
  if (context.entries != 0 && (address >> top.shift) >= context.entries) {
    return std::nullopt;
  }
  return context.roots[0];
}

// The second level of the page itself. Both pages must hold the address: the smaller one is the mapping.
FaultReason nest_page(const PhysicalMemory& memory, const NestedTranslation& nesting, uint64_t address, Access access,
                      Mapping& mapping) {
  const uint64_t guest_address = mapping.address | (address & low_mask(mapping.page_bits));
  const NestedTranslation::Result nested = nesting.translate(memory, guest_address);
  if (nested.fault != FaultReason::none) {
    return nested.fault;
  }
  if ((access.write ? !nested.writable : !nested.readable) || (access.instruction && !nested.executable)) {
    return FaultReason::second_level_denied;
  }
  mapping.page_bits = std::min(mapping.page_bits, nested.page_bits);
  mapping.address = nested.address & ~low_mask(mapping.page_bits);
  mapping.writable = mapping.writable && nested.writable;
  mapping.executable = mapping.executable && nested.executable;
  return FaultReason::none;
}

}  // namespace

WalkResult walk(const PhysicalMemory& memory, const WalkContext& context, uint64_t address, Access access,
                WalkRecorder* recorder, bool update) {
  const PageFormat& format = *context.format;
  WalkResult result;
  result.fault = {FaultReason::none, 0, address, 0, 0, access.write, access.instruction};
  const bool fits =
      format.canonical ? is_canonical(address, format.address_bits) : (address >> format.address_bits) == 0;
  if (!fits) {
    result.fault.reason = format.canonical ? FaultReason::not_canonical : FaultReason::out_of_range;
    return result;
  }
  const std::optional<uint64_t> root = root_table(context, address);
  if (!root) {
    result.fault.reason = FaultReason::out_of_range;
    return result;
  }
  WalkPosition position;
  position.table = *root;
  position.table_type = context.root_type_index;
  return walk_from(memory, context, position, address, access, recorder, update);
}

WalkResult walk_from(const PhysicalMemory& memory, const WalkContext& context, WalkPosition position, uint64_t address,
                     Access access, WalkRecorder* recorder, bool update) {
  const PageFormat& format = *context.format;
  WalkResult result;
  const auto fault = [&](FaultReason reason, uint64_t entry, uint64_t entry_address) {
    const auto below = static_cast<uint8_t>(format.levels.size() - 1 - position.level);
    result.fault = {reason, position.level, address, entry, entry_address, access.write, access.instruction, below};
    return result;
  };

  for (;;) {
    const LevelFormat& level = format.levels[position.level];
    const bool last = position.level + 1u == format.levels.size();
    const bool use_medium = last && position.medium && level.medium.desc != nullptr;
    result.last = position;
    result.reached_last = last;
    uint64_t index = (address >> level.shift) & low_mask(level.index_bits);
    if (use_medium) {
      index &= ~uint64_t{15};  // every sixteenth entry; the fifteen others may hold anything
    }
    uint64_t entry_address = position.table + index * level.table.bytes;
    bool entry_writable = true;
    if (context.nested != nullptr) {
      const NestedTranslation::Result nested = context.nested->translate(memory, entry_address);
      if (nested.fault != FaultReason::none) {
        return fault(nested.fault, 0, entry_address);
      }
      if (!nested.readable) {
        return fault(FaultReason::second_level_denied, 0, entry_address);
      }
      entry_address = nested.address;
      entry_writable = nested.writable;
    }
    ++result.entry_loads;
    const std::optional<uint64_t> loaded = load_entry(memory, context.table_space, entry_address, level.table.bytes);
    if (!loaded) {
      return fault(FaultReason::table_hole, 0, entry_address);
    }
    uint64_t entry = *loaded;
    const bool large = !last && level.leaf.desc != nullptr && (entry & level.leaf.page_size) != 0;
    const bool leaf = last || large;
    const EntryFormat& shape = use_medium ? level.medium : (large ? level.leaf : level.table);
    if (recorder != nullptr) {
      recorder->on_step({&level, &shape, context.table_space, entry_address, entry});
    }
    if (context.accessed_dirty && ((context.writeback_types >> position.table_type) & 1) == 0) {
      return fault(FaultReason::update_not_writeback, entry, entry_address);
    }
    if ((entry & shape.present) == 0) {
      return fault(FaultReason::not_present, entry, entry_address);
    }
    if (format.reserved_bits_fault && (entry & shape.reserved) != 0) {
      return fault(FaultReason::reserved_bit, entry, entry_address);
    }
    Rights rights = position.rights;
    if (format.permissions_of_all_levels || leaf) {
      narrow(rights, shape, entry, context.execute_disable);
    }
    if (leaf) {
      if (const FaultReason reason = denied(context, rights, access); reason != FaultReason::none) {
        return fault(reason, entry, entry_address);
      }
    }
    if (context.accessed_dirty && update) {
      const uint8_t opcode =
          page_update_opcode(access.write, context.extended_accessed, context.write_protect, /*intermediate=*/!leaf);
      const uint64_t updated = page_update(opcode, entry, shape);
      if (updated != entry) {
        if (!entry_writable) {
          return fault(FaultReason::second_level_denied, entry, entry_address);
        }
        if (!replace(memory, context.table_space, entry_address, entry, updated)) {
          continue;  // software changed it meanwhile: judge the entry again
        }
        entry = updated;
      }
    }
    position.rights = rights;
    if (!leaf) {
      position.medium = (entry & shape.intermediate_page_size) != 0 && context.medium_pages;
      position.table = shape.target(entry);
      position.table_type = shape.type_index(entry);
      ++position.level;
      continue;
    }

    result.entry = entry;
    Mapping& mapping = result.mapping;
    mapping.page_bits = use_medium ? 16 : level.shift;
    mapping.address = shape.target(entry) & ~low_mask(mapping.page_bits);
    mapping.space =
        context.local_memory && (entry & shape.local_memory) != 0 ? MemorySpace::local : MemorySpace::system;
    mapping.writable = rights.writable;
    mapping.user = rights.user;
    mapping.executable = may_fetch(context, rights);  // the TLB answers later fetches with it
    mapping.dirty = !context.accessed_dirty || (entry & shape.dirty) != 0;
    mapping.null = (entry & shape.null) != 0;
    mapping.snooped = shape.snooped != 0 && (entry & shape.snooped) == shape.snooped;
    mapping.type_index = shape.type_index(entry);
    if (context.nested != nullptr) {
      const FaultReason reason = nest_page(memory, *context.nested, address, access, mapping);
      if (reason != FaultReason::none) {
        return fault(reason, entry, entry_address);
      }
    }
    return result;
  }
}

}  // namespace halogen::memory
