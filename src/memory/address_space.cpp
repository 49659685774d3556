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

const TlbEntry* AddressSpace::resolve(uint64_t address, Access access, bool& stopped) {
  const TlbEntry* entry = tlb_->look_up(tag_, address >> kFrameBits, access);
  return entry != nullptr && entry->fault == FaultReason::none ? entry : miss(address, access, stopped);
}

const TlbEntry* AddressSpace::miss(uint64_t address, Access access, bool& stopped) {
  for (;;) {
    if (context_.format == nullptr) {
      const Fault fault{FaultReason::table_disabled, 0, address, 0, 0, access.write, access.instruction};
      stopped = faults_->on_fault(fault) == FaultAction::stop;
      return nullptr;
    }
    TlbEntry entry;
    entry.page = address >> kFrameBits;
    entry.space = tag_;
    uint64_t walked = address;
    if (pre_ != nullptr && pre_->covers(address)) {
      const PreTranslation::Result result = pre_->translate(address, access);
      if (result.failed) {
        stopped = false;
        return nullptr;
      }
      if (result.null) {
        entry.writable = entry.dirty = entry.executable = entry.user = entry.null = true;
        return &tlb_->fill(entry);
      }
      walked = result.address;
    }
    const WalkCache::Entry* cached = walk_cache_.find(walked);
    const WalkResult result = cached != nullptr ? walk_from(*memory_, context_, cached->position, walked, access)
                                                : walk(*memory_, context_, walked, access);
    if (cached == nullptr && result.reached_last && context_.format->levels.size() > 1) {
      walk_cache_.fill({walked >> WalkCache::kRangeBits, result.last});
    }
    Fault fault = result.fault;
    if (!fault) {
      const Mapping& mapping = result.mapping;
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
    const FaultAction action = faults_->on_fault(fault);
    if (action != FaultAction::retry) {
      stopped = action == FaultAction::stop;
      return nullptr;
    }
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
    }
    from = from.subspan(part);
    at += part;
  }
  return true;
}

AddressSpace::View AddressSpace::view(GpuVa address, Access access) {
  View view;
  const TlbEntry* entry = resolve(address.value, access, view.stopped);
  if (entry != nullptr && entry->frame != nullptr) {
    const uint64_t offset = address.value & kPageMask;
    view.bytes = {entry->frame + offset, kFrameBytes - offset};
  }
  return view;
}

}  // namespace halogen
