#include "memory/walker.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "base/bits.h"
#include "base/graphics_address.h"
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

// Replaces an entry as one atomic operation. False: the entry has changed since it was read.
bool replace(const PhysicalMemory& memory, MemorySpace space, uint64_t address, uint64_t expected, uint64_t entry) {
  std::byte* frame = memory.frame(space, PhysAddr(address));
  auto& stored = *reinterpret_cast<uint64_t*>(frame + (address & (kFrameBytes - sizeof(uint64_t))));
  return std::atomic_ref<uint64_t>(stored).compare_exchange_strong(expected, entry);
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
  if (access.writes() && !rights.writable && (!context.supervisor || context.write_protect)) {
    return FaultReason::write_denied;
  }
  if (access.instruction && !may_fetch(context, rights)) {
    return FaultReason::execute_denied;
  }
  return FaultReason::none;
}

// Returns the root table. No value: the address is past its end.
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

// Applies the second level to the page. The smaller of the two pages is the mapping.
FaultReason nest_page(const PhysicalMemory& memory, const NestedTranslation& nesting, uint64_t address, Access access,
                      Mapping& mapping) {
  const uint64_t guest_address = mapping.address | (address & low_mask(mapping.page_bits));
  const NestedTranslation::Result nested = nesting.translate(memory, guest_address);
  if (nested.fault != FaultReason::none) {
    return nested.fault;
  }
  if ((access.writes() ? !nested.writable : !nested.readable) || (access.instruction && !nested.executable)) {
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
  result.fault = {FaultReason::none, 0, address, 0, 0, access.direction, access.instruction};
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

namespace {

// One walk from a position to a page. A step is one entry: load() finds it, accept() applies the rules to it, and
// map_page() makes the mapping of a leaf.
class Steps {
 public:
  Steps(const PhysicalMemory& memory, const WalkContext& context, const WalkPosition& position, uint64_t address,
        Access access, WalkRecorder* recorder, bool update)
      : memory_(memory),
        context_(context),
        format_(*context.format),
        position_(position),
        address_(address),
        access_(access),
        recorder_(recorder),
        update_(update) {}

  WalkResult run() {
    for (;;) {
      if (!load()) {
        return result_;
      }
      const Verdict verdict = accept();
      if (verdict == Verdict::fault) {
        return result_;
      }
      if (verdict == Verdict::again) {
        continue;
      }
      if (leaf_) {
        map_page();
        return result_;
      }
      position_.medium = (entry_ & shape_->intermediate_page_size) != 0 && context_.medium_pages;
      position_.table = shape_->target(entry_);
      position_.table_type = shape_->type_index(entry_);
      ++position_.level;
    }
  }

 private:
  enum class Verdict : uint8_t { accepted, fault, again };

  bool load();
  Verdict accept();
  void map_page();
  Verdict fault(FaultReason reason, uint64_t entry) {
    const auto below = static_cast<uint8_t>(format_.levels.size() - 1 - position_.level);
    result_.fault = {reason, position_.level, address_, entry, entry_address_, access_.direction, access_.instruction,
                     below};
    return Verdict::fault;
  }

  const PhysicalMemory& memory_;
  const WalkContext& context_;
  const PageFormat& format_;
  WalkPosition position_;
  uint64_t address_;
  Access access_;
  WalkRecorder* recorder_;
  bool update_;
  WalkResult result_;

  // The entry of this step.
  const EntryFormat* shape_ = nullptr;
  uint64_t entry_address_ = 0;
  uint64_t entry_ = 0;
  bool entry_writable_ = true;  // for accessed and dirty bits
  bool medium_ = false;         // a 64 KB page
  bool leaf_ = false;
};

// Reads the entry. False: it cannot be read, which is a fault.
bool Steps::load() {
  const LevelFormat& level = format_.levels[position_.level];
  const bool last = position_.level + 1u == format_.levels.size();
  medium_ = last && position_.medium && level.medium.desc != nullptr;
  result_.last = position_;
  result_.reached_last = last;
  uint64_t index = (address_ >> level.shift) & low_mask(level.index_bits);
  if (medium_) {
    index &= ~uint64_t{15};  // every sixteenth entry; the fifteen others may hold anything
  }
  entry_address_ = position_.table + index * level.table.bytes;
  entry_writable_ = true;
  if (context_.nested != nullptr) {
    const NestedTranslation::Result nested = context_.nested->translate(memory_, entry_address_);
    const FaultReason reason =
        nested.fault == FaultReason::none && !nested.readable ? FaultReason::second_level_denied : nested.fault;
    if (reason != FaultReason::none) {
      fault(reason, 0);
      return false;
    }
    entry_address_ = nested.address;
    entry_writable_ = nested.writable;
  }
  ++result_.entry_loads;
  const std::optional<uint64_t> loaded = load_entry(memory_, context_.table_space, entry_address_, level.table.bytes);
  if (!loaded) {
    fault(FaultReason::table_hole, 0);
    return false;
  }
  entry_ = *loaded;
  const bool large = !last && level.leaf.desc != nullptr && (entry_ & level.leaf.page_size) != 0;
  leaf_ = last || large;
  shape_ = medium_ ? &level.medium : (large ? &level.leaf : &level.table);
  if (recorder_ != nullptr) {
    recorder_->on_step({&level, shape_, context_.table_space, entry_address_, entry_});
  }
  return true;
}

// Applies the rules to the entry and narrows the rights. `again`: software has changed the entry meanwhile.
Steps::Verdict Steps::accept() {
  if (context_.accessed_dirty && ((context_.writeback_types >> position_.table_type) & 1) == 0) {
    return fault(FaultReason::update_not_writeback, entry_);
  }
  if ((entry_ & shape_->present) == 0) {
    return fault(FaultReason::not_present, entry_);
  }
  if (format_.reserved_bits_fault && (entry_ & shape_->reserved) != 0) {
    return fault(FaultReason::reserved_bit, entry_);
  }
  Rights rights = position_.rights;
  if (format_.permissions_of_all_levels || leaf_) {
    narrow(rights, *shape_, entry_, context_.execute_disable);
  }
  if (leaf_) {
    if (const FaultReason reason = denied(context_, rights, access_); reason != FaultReason::none) {
      return fault(reason, entry_);
    }
  }
  if (context_.accessed_dirty && update_) {
    const uint8_t opcode = page_update_opcode(access_.direction, context_.extended_accessed, context_.write_protect,
                                              /*intermediate=*/!leaf_);
    const uint64_t updated = page_update(opcode, entry_, *shape_);
    if (updated != entry_) {
      if (!entry_writable_) {
        return fault(FaultReason::second_level_denied, entry_);
      }
      if (!replace(memory_, context_.table_space, entry_address_, entry_, updated)) {
        return Verdict::again;
      }
      entry_ = updated;
    }
  }
  position_.rights = rights;
  return Verdict::accepted;
}

void Steps::map_page() {
  const LevelFormat& level = format_.levels[position_.level];
  const Rights& rights = position_.rights;
  result_.entry = entry_;
  Mapping& mapping = result_.mapping;
  mapping.page_bits = medium_ ? 16 : level.shift;
  mapping.address = shape_->target(entry_) & ~low_mask(mapping.page_bits);
  mapping.space =
      context_.local_memory && (entry_ & shape_->local_memory) != 0 ? MemorySpace::local : MemorySpace::system;
  mapping.writable = rights.writable;
  mapping.user = rights.user;
  mapping.executable = may_fetch(context_, rights);  // the TLB answers later fetches with it
  mapping.dirty = !context_.accessed_dirty || (entry_ & shape_->dirty) != 0;
  mapping.null = (entry_ & shape_->null) != 0;
  mapping.snooped = shape_->snooped != 0 && (entry_ & shape_->snooped) == shape_->snooped;
  mapping.type_index = shape_->type_index(entry_);
  if (context_.nested != nullptr) {
    const FaultReason reason = nest_page(memory_, *context_.nested, address_, access_, mapping);
    if (reason != FaultReason::none) {
      fault(reason, entry_);
    }
  }
}

}  // namespace

WalkResult walk_from(const PhysicalMemory& memory, const WalkContext& context, WalkPosition position, uint64_t address,
                     Access access, WalkRecorder* recorder, bool update) {
  return Steps(memory, context, position, address, access, recorder, update).run();
}

}  // namespace halogen::memory
