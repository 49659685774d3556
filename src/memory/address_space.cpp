#include "memory/address_space.h"

#include <algorithm>
#include <utility>

#include "base/bits.h"
#include "memory/buffered_speculation.h"
#include "memory/copy_bytes.h"

namespace halogen::memory {
namespace {

constexpr uint64_t kPageMask = kFrameBytes - 1;

uint64_t left_in_page(uint64_t address) {
  return kFrameBytes - (address & kPageMask);
}

// Handles an access without memory: a read gives zeros, a write is dropped.
void clear(std::byte* host, size_t bytes) {
  clear_bytes(host, bytes);
}
void clear(const std::byte*, size_t) {}

AccessResult result_of(FaultAction action) {
  switch (action) {
    case FaultAction::skip:
    case FaultAction::filter:
      break;
    case FaultAction::stop:
      return AccessResult::stopped;
    case FaultAction::hang:
      return AccessResult::hung;
    case FaultAction::wait:
      return AccessResult::waits_for_page;
  }
  return AccessResult::ok;
}

}  // namespace

void AddressSpace::load(const WalkContext& context) {
  context_ = context;
  if (pre_ != nullptr) {
    pre_->on_load();
  }
  quick_.load(context);
  tlb_->set_rule(tag_, quick_.entry_rule());
  find_direct_entries(MemorySpace::system);
  invalidate();
}

void AddressSpace::set_pre_translation(PreTranslation* pre) {
  pre_ = pre;
  find_direct_entries(MemorySpace::system);
}

// With tiled resources no page table entry is used directly, because their own table comes first.
void AddressSpace::find_direct_entries(MemorySpace space) {
  direct_space_ = space;
  direct_ = pre_ != nullptr ? DirectEntries{} : quick_.direct_entries(space, ranges_[static_cast<size_t>(space)]);
}

void AddressSpace::invalidate() {
  tlb_->invalidate_space(tag_);
  walk_cache_.clear();
}

void AddressSpace::invalidate_page(GpuVa address) {
  if (pre_ != nullptr) {
    tlb_->invalidate_space(tag_);  // any tile may lead to the page
  } else {
    tlb_->invalidate_page(tag_, address.value >> kFrameBits);
  }
  walk_cache_.clear();
}

void AddressSpace::page_response(GpuVa address) {
  if (pre_ != nullptr) {
    tlb_->invalidate_faults(tag_);  // any tile may lead to the page
  } else {
    tlb_->invalidate_faults(tag_, address.value >> kFrameBits);
  }
}

WalkStatistics AddressSpace::walk_statistics() const {
  const uint64_t short_walks = tlb_->statistics().short_walks;
  return {walk_statistics_.walks + short_walks, walk_statistics_.entry_loads + short_walks};
}

// Drops all host addresses. The TLB drops the entries of its other spaces too.
void AddressSpace::drop_host_addresses() {
  ranges_[0] = ranges_[1] = {};
  find_direct_entries(MemorySpace::system);
  tlb_->invalidate_all();
  walk_cache_.clear();
}

inline std::byte* AddressSpace::frame_of(MemorySpace space, uint64_t address) {
  DirectRange& range = ranges_[static_cast<size_t>(space)];
  if (address - range.first < range.bytes) [[likely]] {
    return range.host + (address - range.first);
  }
  range = memory_->direct_range(space, PhysAddr(address));
  find_direct_entries(space);
  return range.bytes != 0 ? range.host + (address - range.first) : nullptr;
}

std::byte* AddressSpace::hit_or_short_walk(uint64_t address, Access access) {
  const uint64_t page = address >> kFrameBits;
  const TlbFront::Place place = front_.place(page, space_key_);
  if (const TlbSlot* slot = tlb_->find(place)) {
    if (!slot->serves(access, direct_.written())) {
      return nullptr;
    }
    front_.count_hit();
    return slot->frame;
  }
  const WalkCache::Table& table = walk_cache_.table_at(page);
  if (const uint64_t index = page - table.first_page; index < WalkCache::kPagesInRange) {
    const uint64_t entry = load_shared(table.entries + index);
    if (const uint64_t offset = direct_.offset(entry, access.direction); direct_.serves(offset)) {
      ++walk_statistics_.walks;
      ++walk_statistics_.entry_loads;
      tlb_->put(place, direct_.frame(offset), entry);
      return direct_.frame(offset);
    }
  }
  const std::optional<WalkCache::Shortcut> shortcut = walk_cache_.find_shortcut(address);
  QuickWalk::Page found;
  if (!shortcut || (pre_ != nullptr && pre_->covers(address)) ||
      !quick_.find(*shortcut, address, access.direction, found)) {
    return nullptr;
  }
  std::byte* frame = frame_of(found.space, found.address);
  if (frame == nullptr) {
    return nullptr;
  }
  if (found.space != direct_space_) {
    find_direct_entries(found.space);
  }
  ++walk_statistics_.walks;
  ++walk_statistics_.entry_loads;
  tlb_->put({.page = page,
             .frame = frame,
             .space = tag_,
             .writable = found.writable,
             .dirty = found.dirty,
             .executable = true,
             .user = true,
             .type_index = found.type_index,
             .page_bits = found.page_bits});
  return frame;
}

AddressSpace::Translation AddressSpace::full_walk(uint64_t address, Access access) {
  const TlbEntry* entry = tlb_->look_up(tag_, address >> kFrameBits, access);
  if (entry == nullptr) {
    return walk_and_fill(address, access);
  }
  if (entry->fault == FaultReason::none) {
    return {*entry};
  }
  if (entry->filters(access)) {
    ++filtered_faults_;
    return {};
  }
  return walk_and_fill(address, access);
}

// Translates through the tiled resource tables, if they cover the address.
PreTranslation::Result AddressSpace::pre_translate(uint64_t address, Access access) {
  if (pre_ == nullptr || in_tile_table_ || !pre_->covers(address)) {
    return {.address = address};
  }
  in_tile_table_ = true;
  const PreTranslation::Result result = pre_->translate(address, access);
  in_tile_table_ = false;
  return result;
}

// A walk from the cached upper levels that ends in a fault proves nothing, because software may have raised rights or
// added tables without an invalidation. Only a walk from the root may fault (Ice Lake PRM vol. 6, R/W privilege, seed
// 001; ICL-TLB-17).
WalkResult AddressSpace::walk_tables(uint64_t address, Access access) {
  ++walk_statistics_.walks;
  WalkResult result;
  if (const WalkCache::Entry* cached = walk_cache_.find(address)) {
    result = walk_from(*memory_, context_, cached->position, address, access);
    walk_statistics_.entry_loads += result.entry_loads;
    if (!result.fault) {
      quick_.learn(*memory_, context_, address, result, walk_cache_);
      return result;
    }
  }
  result = walk(*memory_, context_, address, access);
  walk_statistics_.entry_loads += result.entry_loads;
  if (result.reached_last && context_.format->levels.size() > 1) {
    walk_cache_.fill({address >> WalkCache::kRangeBits, result.last});
  }
  if (!result.fault) {
    quick_.learn(*memory_, context_, address, result, walk_cache_);
  }
  return result;
}

AddressSpace::Translation AddressSpace::walk_and_fill(uint64_t address, Access access) {
  Fault fault{context_.unusable, 0, address, 0, 0, access.direction, access.instruction};
  if (context_.format != nullptr) {
    const PreTranslation::Result tile = pre_translate(address, access);
    if (!ok(tile.result)) {
      return {std::nullopt, tile.result};
    }
    TlbEntry entry = new_entry(address);
    if (tile.tile != Tile::mapped) {
      entry.tile = tile.tile;
      entry.writable = entry.dirty = entry.executable = entry.user = entry.null = true;
      tlb_->fill(entry);
      return {entry};
    }
    if (fill_mapped(address, tile.address, access, entry, fault)) {
      return {entry};
    }
    fault.address = tile.address;  // after TR-TT: the address that the page tables do not map
    fault.global = context_.format->mode == WalkMode::ggtt;
  }
  return {std::nullopt, handle_fault(address, fault)};
}

TlbEntry AddressSpace::new_entry(uint64_t address) const {
  TlbEntry entry;
  entry.page = address >> kFrameBits;
  entry.space = tag_;
  return entry;
}

// Walks the tables for an address and keeps the page in the TLB. `walked`: the address after TR-TT. False: `fault` says
// why there is no page.
bool AddressSpace::fill_mapped(uint64_t address, uint64_t walked, Access access, TlbEntry& entry, Fault& fault) {
  const WalkResult result = walk_tables(walked, access);
  const Mapping& mapping = result.mapping;
  if (result.fault) {
    fault = result.fault;
    return false;
  }
  if (context_.gtt_cache && mapping.page_bits > 16) {
    faults_->on_large_page(address);
  }
  if (mapping.snooped) {
    faults_->on_snooped_page(address);
  }
  const uint64_t inside = walked & low_mask(mapping.page_bits) & ~kPageMask;
  entry.frame = mapping.null ? nullptr : frame_of(mapping.space, mapping.address + inside);
  if (entry.frame == nullptr && !mapping.null) {
    fault = {FaultReason::page_hole, result.last.level, address, mapping.address, 0,
             access.direction,       access.instruction};
    return false;
  }
  entry.writable = mapping.writable;
  entry.dirty = mapping.dirty;
  entry.executable = mapping.executable;
  entry.user = mapping.user;
  entry.null = mapping.null;
  entry.type_index = mapping.type_index;
  entry.page_bits = walked == address ? mapping.page_bits : kFrameBits;
  tlb_->fill(entry);
  return true;
}

AccessResult AddressSpace::handle_fault(uint64_t address, Fault& fault) {
  fault.tile_table = in_tile_table_;
  fault.repeated = in_work_ && work_.skipped != 0;
  const FaultAction action = faults_->on_fault(fault);
  const AccessResult result = result_of(action);
  work_.skipped += ok(result) ? 1u : 0u;
  work_.result = std::max(work_.result, result);
  if (action == FaultAction::filter) {
    TlbEntry entry = new_entry(address);
    entry.fault = fault.reason;
    tlb_->fill(entry);
  }
  return result;
}

template <class Byte>
AccessResult AddressSpace::transfer(GpuVa address, std::span<Byte> host, Access access) {
  std::byte* frame = nullptr;
  if (!hit_inline(address.value, host.size(), access, frame)) [[unlikely]] {
    return transfer_pages(address.value, host, access);
  }
  copy(host.data(), frame + (address.value & kPageMask), host.size());
  return AccessResult::ok;
}

// Copies adjacent pages as one run if they are adjacent on the host.
template <class Byte>
AccessResult AddressSpace::transfer_pages(uint64_t at, std::span<Byte> host, Access access) {
  if (speculation_ != nullptr) [[unlikely]] {
    return speculation_->transfer(at, host, access);
  }
  Byte* start = host.data();  // of the run
  std::byte* frames = nullptr;
  size_t run = 0;
  while (!host.empty()) {
    const size_t part = std::min<uint64_t>(host.size(), left_in_page(at));
    std::byte* frame = hit_or_short_walk(at, access);
    std::byte* bytes = frame == nullptr ? nullptr : frame + (at & kPageMask);
    if (bytes == nullptr || bytes != frames + run) {
      copy(start, frames, run);
      start = host.data();
      frames = bytes;
      run = 0;
    }
    if (bytes != nullptr) {
      run += part;
    } else {
      const auto [entry, result] = full_walk(at, access);
      if (!ok(result)) {
        return result;
      }
      if (entry && entry->frame != nullptr) {
        copy(start, entry->frame + (at & kPageMask), part);
      } else {
        unmapped(at, entry);
        clear(start, part);
      }
      start += part;
    }
    host = host.subspan(part);
    at += part;
  }
  copy(start, frames, run);
  return AccessResult::ok;
}

template AccessResult AddressSpace::transfer(GpuVa, std::span<std::byte>, Access);
template AccessResult AddressSpace::transfer(GpuVa, std::span<const std::byte>, Access);
template AccessResult AddressSpace::transfer_pages(uint64_t, std::span<std::byte>, Access);
template AccessResult AddressSpace::transfer_pages(uint64_t, std::span<const std::byte>, Access);

AccessResult AddressSpace::read_each(std::span<const GpuVa> addresses, size_t bytes, std::byte* into) {
  return transfer_each(addresses, bytes, into, kRead);
}

AccessResult AddressSpace::write_each(std::span<const GpuVa> addresses, size_t bytes, const std::byte* from) {
  return transfer_each(addresses, bytes, from, kWrite);
}

// Prefetches the page table entries, then finds the pages and prefetches their bytes, then copies. An access that
// hit_inline does not serve waits until those before it are done.
template <class Byte>
AccessResult AddressSpace::transfer_each(std::span<const GpuVa> addresses, size_t bytes, Byte* host, Access access) {
  if (speculation_ != nullptr) [[unlikely]] {
    for (const GpuVa address : addresses) {
      const AccessResult result =
          speculation_->transfer(address.value, std::span(std::exchange(host, host + bytes), bytes), access);
      if (!ok(result)) {
        return result;
      }
    }
    return AccessResult::ok;
  }
  std::byte* found[kBatch];
  size_t waiting = 0;
  const auto finish = [&] {
    for (size_t i = 0; i < waiting; ++i, host += bytes) {
      copy(host, found[i], bytes);
    }
    waiting = 0;
  };
  for (size_t at = 0; at < addresses.size(); ++at) {
    if (at % kBatch == 0) {
      finish();
      prefetch_entries(addresses.subspan(at));
    }
    std::byte* frame = nullptr;
    const uint64_t address = addresses[at].value;
    if (!hit_inline(address, bytes, access, frame)) [[unlikely]] {
      frame = bytes - 1 < left_in_page(address) ? hit_or_short_walk(address, access) : nullptr;
    }
    if (frame != nullptr) [[likely]] {
      found[waiting++] = frame + (address & kPageMask);
      continue;
    }
    finish();
    if (const AccessResult result = transfer_pages(address, std::span(host, bytes), access); !ok(result)) {
      return result;
    }
    host += bytes;
  }
  finish();
  return AccessResult::ok;
}

void AddressSpace::prefetch_entries(std::span<const GpuVa> addresses) const {
  for (const GpuVa address : addresses.first(std::min(addresses.size(), kBatch))) {
    const uint64_t page = address.value >> kFrameBits;
    const WalkCache::Table& table = walk_cache_.table_at(page);
    __builtin_prefetch(table.entries + (page - table.first_page) % WalkCache::kPagesInRange);
  }
}

AddressSpace::View AddressSpace::view(GpuVa address, Access access) {
  if (speculation_ != nullptr) {
    return speculation_->view(address, access);
  }
  const auto [entry, result] = hit_or_short_walk(address.value, access) != nullptr
                                   ? Translation{tlb_->peek(tag_, address.value >> kFrameBits)}
                                   : full_walk(address.value, access);
  View view{.bytes = {}, .result = result};
  if (!entry) {
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

std::byte* AddressSpace::look_up_frame(GpuVa address, Access access) const {
  if (context_.format == nullptr || (pre_ != nullptr && pre_->covers(address.value))) {
    return nullptr;
  }
  if (const std::optional<TlbEntry> entry = tlb_->peek(tag_, address.value >> kFrameBits)) {
    const bool fits = entry->fault == FaultReason::none && entry->tile == Tile::mapped &&
                      (!access.writes() || (entry->writable && entry->dirty));
    return fits ? entry->frame : nullptr;
  }
  const WalkResult result = walk(*memory_, context_, address.value, access, nullptr, false);
  const Mapping& mapping = result.mapping;
  if (result.fault || mapping.null || mapping.snooped || (context_.gtt_cache && mapping.page_bits > 16)) {
    return nullptr;
  }
  const uint64_t inside = address.value & low_mask(mapping.page_bits) & ~kPageMask;
  return memory_->frame(mapping.space, PhysAddr(mapping.address + inside));
}

}  // namespace halogen::memory
