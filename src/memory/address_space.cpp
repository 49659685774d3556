#include "memory/address_space.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace halogen {
namespace {

constexpr uint64_t kPageMask = kFrameBytes - 1;

uint64_t left_in_page(uint64_t address) {
  return kFrameBytes - (address & kPageMask);
}

}  // namespace

void AddressSpace::load(const WalkContext& context) {
  context_ = context;
  invalidate();
}

void AddressSpace::invalidate() {
  tlb_->invalidate_space(tag_);
  walk_cache_.clear();
}

void AddressSpace::invalidate_page(GpuVa address) {
  tlb_->invalidate_page(tag_, address.value >> kFrameBits);
  walk_cache_.clear();
}

void AddressSpace::page_response(GpuVa address) {
  tlb_->invalidate_faults(tag_, address.value >> kFrameBits);
}

const TlbEntry* AddressSpace::resolve(uint64_t address, Access access, bool& stopped) {
  const TlbEntry* entry = tlb_->look_up(tag_, address >> kFrameBits, access);
  return entry != nullptr && entry->fault == FaultReason::none ? entry : miss(address, access, entry, stopped);
}

// Through the tiled resource tables. False: the walk ends here, `entry` or `stopped` say how.
bool AddressSpace::pre_translate(uint64_t address, Access access, uint64_t& walked, TlbEntry& entry, bool& stopped) {
  if (pre_ == nullptr || in_tile_table_ || !pre_->covers(address)) {
    return true;
  }
  in_tile_table_ = true;
  const PreTranslation::Result result = pre_->translate(address, access);
  in_tile_table_ = false;
  stopped = result.stopped;
  entry.tile = result.tile;
  walked = result.address;
  return !stopped && result.tile == Tile::mapped;
}

// A walk from the cached upper levels that ends in a fault proves nothing: software may have raised rights or added
// tables without an invalidation. Only a walk from the root may fault (seed 001, R/W privilege; ICL-TLB-17).
WalkResult AddressSpace::find_page(uint64_t address, Access access) {
  if (const WalkCache::Entry* cached = walk_cache_.find(address)) {
    WalkResult result = walk_from(*memory_, context_, cached->position, address, access);
    if (!result.fault) {
      return result;
    }
  }
  WalkResult result = walk(*memory_, context_, address, access);
  if (result.reached_last && context_.format->levels.size() > 1) {
    walk_cache_.fill({address >> WalkCache::kRangeBits, result.last});
  }
  return result;
}

// `found` is a cached fault or null.
const TlbEntry* AddressSpace::miss(uint64_t address, Access access, const TlbEntry* found, bool& stopped) {
  if (found != nullptr && found->filters(access)) {
    ++filtered_faults_;
    return nullptr;
  }
  for (;;) {
    TlbEntry entry;
    entry.page = address >> kFrameBits;
    entry.space = tag_;
    Fault fault{context_.unusable, 0, address, 0, 0, access.write, access.instruction};
    if (context_.format != nullptr) {
      uint64_t walked = address;
      if (!pre_translate(address, access, walked, entry, stopped)) {
        if (stopped) {
          return nullptr;
        }
        entry.writable = entry.dirty = entry.executable = entry.user = entry.null = true;
        return &tlb_->fill(entry);
      }
      const WalkResult result = find_page(walked, access);
      const Mapping& mapping = result.mapping;
      fault = result.fault;
      if (!fault) {
        if (context_.gtt_cache && mapping.page_bits > 16) {
          faults_->on_large_page(address);
        }
        const uint64_t inside = walked & low_mask(mapping.page_bits) & ~kPageMask;
        entry.frame = mapping.null ? nullptr : memory_->frame(mapping.space, PhysAddr(mapping.address + inside));
        if (entry.frame != nullptr || mapping.null) {
          entry.writable = mapping.writable;
          entry.dirty = mapping.dirty;
          entry.executable = mapping.executable;
          entry.user = mapping.user;
          entry.null = mapping.null;
          entry.type_index = mapping.type_index;
          return &tlb_->fill(entry);
        }
        fault = {FaultReason::page_hole, result.last.level, address, mapping.address, 0,
                 access.write,           access.instruction};
      }
      fault.address = address;
      fault.global = context_.format->mode == WalkMode::ggtt;
    }
    fault.tile_table = in_tile_table_;
    const FaultAction action = faults_->on_fault(fault);
    if (action == FaultAction::retry) {
      continue;
    }
    stopped = action == FaultAction::stop;
    if (action == FaultAction::filter) {
      entry.tile = Tile::mapped;
      entry.fault = fault.reason;
      tlb_->fill(entry);
    }
    return nullptr;
  }
}

bool AddressSpace::read(GpuVa address, std::span<std::byte> into, bool instruction) {
  uint64_t at = address.value;
  while (!into.empty()) {
    const size_t part = std::min<uint64_t>(into.size(), left_in_page(at));
    bool stopped = false;
    const TlbEntry* entry = resolve(at, {.write = false, .instruction = instruction}, stopped);
    if (stopped) {
      return false;
    }
    if (entry != nullptr && entry->frame != nullptr) {
      std::memcpy(into.data(), entry->frame + (at & kPageMask), part);
    } else {
      unmapped(at, entry);
      std::memset(into.data(), 0, part);
    }
    into = into.subspan(part);
    at += part;
  }
  return true;
}

bool AddressSpace::write(GpuVa address, std::span<const std::byte> from) {
  uint64_t at = address.value;
  while (!from.empty()) {
    const size_t part = std::min<uint64_t>(from.size(), left_in_page(at));
    bool stopped = false;
    const TlbEntry* entry = resolve(at, {.write = true, .instruction = false}, stopped);
    if (stopped) {
      return false;
    }
    if (entry != nullptr && entry->frame != nullptr) {
      std::memcpy(entry->frame + (at & kPageMask), from.data(), part);
    } else {
      unmapped(at, entry);
    }
    from = from.subspan(part);
    at += part;
  }
  return true;
}

AddressSpace::View AddressSpace::view(GpuVa address, Access access) {
  View view;
  const TlbEntry* entry = resolve(address.value, access, view.stopped);
  if (entry == nullptr) {
    return view;
  }
  view.null = entry->null;
  view.type_index = entry->type_index;
  if (entry->frame != nullptr) {
    const uint64_t offset = address.value & kPageMask;
    view.bytes = {entry->frame + offset, kFrameBytes - offset};
  } else {
    unmapped(address.value, entry);
  }
  return view;
}

}  // namespace halogen
