#include "memory/walker.h"

#include <atomic>
#include <cstring>
#include <optional>

#include "base/bits.h"

namespace halogen {
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

// Sets bits in an entry as one atomic operation and returns the new value.
uint64_t set_bits(const PhysicalMemory& memory, MemorySpace space, uint64_t address, uint64_t bits_to_set) {
  std::byte* frame = memory.frame(space, PhysAddr(address));
  auto& entry = *reinterpret_cast<uint64_t*>(frame + (address & (kFrameBytes - sizeof(uint64_t))));
  return std::atomic_ref<uint64_t>(entry).fetch_or(bits_to_set) | bits_to_set;
}

bool is_canonical(uint64_t address, unsigned bits) {
  return static_cast<uint64_t>(sign_extend(address & low_mask(bits), bits)) == address;
}

// Rights gathered on the way down. Legacy tables start from "everything" and let only the leaf decide.
struct Rights {
  bool writable = true;
  bool user = true;
  bool executable = true;

  void narrow(const EntryFormat& format, uint64_t entry, bool honour_execute_disable) {
    writable = writable && (format.writable == 0 || (entry & format.writable) != 0);
    user = user && (format.user == 0 || (entry & format.user) != 0);
    executable = executable && !(honour_execute_disable && (entry & format.execute_disable) != 0);
  }
};

FaultReason denied(const WalkContext& context, const Rights& rights, Access access) {
  if (!context.supervisor && !rights.user) {
    return FaultReason::privilege_denied;
  }
  if (access.write && !rights.writable && (!context.supervisor || context.write_protect)) {
    return FaultReason::write_denied;
  }
  if (access.instruction && !rights.executable) {
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

}  // namespace

WalkResult walk(const PhysicalMemory& memory, const WalkContext& context, uint64_t address, Access access,
                WalkRecorder* recorder, bool update) {
  const PageFormat& format = *context.format;
  WalkResult result;
  const auto fault = [&](FaultReason reason, size_t level, uint64_t entry, uint64_t entry_address) {
    result.fault = {reason,        static_cast<uint8_t>(level), address, entry, entry_address, access.write,
                    access.instruction};
    return result;
  };

  if (format.canonical ? !is_canonical(address, format.address_bits) : (address >> format.address_bits) != 0) {
    return fault(format.canonical ? FaultReason::not_canonical : FaultReason::out_of_range, 0, 0, 0);
  }
  const std::optional<uint64_t> root = root_table(context, address);
  if (!root) {
    return fault(FaultReason::out_of_range, 0, 0, 0);
  }

  uint64_t table = *root;
  bool medium = false;  // the directory said: 64 KB pages below
  Rights rights;
  for (size_t i = 0; i < format.levels.size(); ++i) {
    const LevelFormat& level = format.levels[i];
    const bool last = i + 1 == format.levels.size();
    const bool use_medium = last && medium && level.medium.desc != nullptr;
    uint64_t index = (address >> level.shift) & low_mask(level.index_bits);
    if (use_medium) {
      index &= ~uint64_t{15};  // every sixteenth entry; the fifteen others may hold anything
    }
    const uint64_t entry_address = table + index * level.table.bytes;
    std::optional<uint64_t> loaded = load_entry(memory, context.table_space, entry_address, level.table.bytes);
    if (!loaded) {
      return fault(FaultReason::table_hole, i, 0, entry_address);
    }
    uint64_t entry = *loaded;
    const bool large = !last && level.leaf.desc != nullptr && (entry & level.leaf.page_size) != 0;
    const bool leaf = last || large;
    const EntryFormat& shape = use_medium ? level.medium : (large ? level.leaf : level.table);
    if (recorder != nullptr) {
      recorder->on_step({&level, &shape, context.table_space, entry_address, entry});
    }
    if ((entry & shape.present) == 0) {
      return fault(FaultReason::not_present, i, entry, entry_address);
    }
    if (format.reserved_bits_fault && (entry & shape.reserved) != 0) {
      return fault(FaultReason::reserved_bit, i, entry, entry_address);
    }
    if (format.permissions_of_all_levels || leaf) {
      rights.narrow(shape, entry, context.execute_disable);
    }
    if (!leaf) {
      if (context.accessed_dirty && update && (entry & shape.accessed) == 0) {
        set_bits(memory, context.table_space, entry_address,
                 shape.accessed | (context.extended_accessed ? shape.extended_accessed : 0));
      }
      medium = (entry & shape.intermediate_page_size) != 0 && context.large_medium_pages;
      table = shape.target(entry);
      continue;
    }

    if (const FaultReason reason = denied(context, rights, access); reason != FaultReason::none) {
      return fault(reason, i, entry, entry_address);
    }
    if (context.accessed_dirty && update) {
      const uint64_t wanted = shape.accessed | (access.write ? shape.dirty : 0) |
                              (context.extended_accessed ? shape.extended_accessed : 0);
      if ((entry & wanted) != wanted) {
        entry = set_bits(memory, context.table_space, entry_address, wanted);
      }
    }
    Mapping& mapping = result.mapping;
    mapping.page_bits = use_medium ? 16 : level.shift;
    mapping.address = shape.target(entry) & ~low_mask(mapping.page_bits);
    mapping.space = context.local_memory && (entry & shape.local_memory) != 0 ? MemorySpace::local : MemorySpace::system;
    mapping.writable = rights.writable;
    mapping.user = rights.user;
    mapping.executable = rights.executable;
    mapping.dirty = !context.accessed_dirty || (entry & shape.dirty) != 0;
    mapping.null = (entry & shape.null) != 0;
    mapping.snooped = shape.snooped != 0 && (entry & shape.snooped) == shape.snooped;
    mapping.type_index = shape.type_index(entry);
    return result;
  }
  return result;
}

}  // namespace halogen
