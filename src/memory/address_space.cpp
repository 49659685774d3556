#include "memory/address_space.h"

#include <algorithm>

#include "base/bits.h"
#include "memory/copy_bytes.h"

namespace halogen {
namespace {

constexpr uint64_t kPageMask = kFrameBytes - 1;

uint64_t left_in_page(uint64_t address) {
  return kFrameBytes - (address & kPageMask);
}

}  // namespace

void AddressSpace::load(const WalkContext& context) {
  context_ = context;
  quick_.load(context);
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

// The windows of physical memory changed: no host address that is kept anywhere may be used.
void AddressSpace::forget_frames() {
  epoch_ = memory_->epoch();
  ranges_[0] = ranges_[1] = {};
  invalidate();
}

inline std::byte* AddressSpace::frame_of(MemorySpace space, uint64_t address) {
  DirectRange& range = ranges_[static_cast<size_t>(space)];
  if (address - range.first < range.bytes) [[likely]] {
    return range.host + (address - range.first);
  }
  range = memory_->direct_range(space, PhysAddr(address));
  return range.bytes != 0 ? range.host + (address - range.first) : nullptr;
}

const TlbEntry* AddressSpace::quick_miss(Tlb::Place place, uint64_t address, Access access) {
  const WalkCache::Shortcut* shortcut = walk_cache_.find_shortcut(address);
  QuickWalk::Page page;
  if (shortcut == nullptr || (pre_ != nullptr && pre_->covers(address)) ||
      !quick_.find(*shortcut, address, access.write, page)) {
    return nullptr;
  }
  std::byte* frame = frame_of(page.space, page.address);
  if (frame == nullptr) {
    return nullptr;
  }
  ++walk_statistics_.walks;
  ++walk_statistics_.entry_loads;
  TlbEntry& entry = tlb_->claim(place, tag_, address >> kFrameBits);
  entry.frame = frame;
  entry.writable = page.writable;
  entry.dirty = page.dirty;
  entry.executable = true;
  entry.user = true;
  entry.null = false;
  entry.type_index = page.type_index;
  entry.tile = Tile::mapped;
  entry.fault = FaultReason::none;
  return &entry;
}

const TlbEntry* AddressSpace::resolve(uint64_t address, Access access, bool& stopped) {
  if (epoch_ != memory_->epoch()) [[unlikely]] {
    forget_frames();
  }
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
        if (mapping.snooped) {
          faults_->on_snooped_page(address);
        }
        const uint64_t inside = walked & low_mask(mapping.page_bits) & ~kPageMask;
        entry.frame = mapping.null ? nullptr : frame_of(mapping.space, mapping.address + inside);
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
  if (const std::byte* bytes = quick(address.value, into.size(), {.write = false, .instruction = instruction})) {
    copy_bytes(into.data(), bytes, into.size());
    return true;
  }
  return read_pages(address.value, into, instruction);
}

bool AddressSpace::write(GpuVa address, std::span<const std::byte> from) {
  if (std::byte* bytes = quick(address.value, from.size(), {.write = true})) {
    copy_bytes(bytes, from.data(), from.size());
    return true;
  }
  return write_pages(address.value, from);
}

// Neighbouring pages are often neighbours on the host too: their bytes are copied as one run.
bool AddressSpace::read_pages(uint64_t at, std::span<std::byte> into, bool instruction) {
  const Access access{.write = false, .instruction = instruction};
  std::byte* to = into.data();
  const std::byte* from = nullptr;
  size_t run = 0;
  while (!into.empty()) {
    const size_t part = std::min<uint64_t>(into.size(), left_in_page(at));
    const std::byte* bytes = quick(at, part, access);
    if (bytes == nullptr || bytes != from + run) {
      copy_bytes(to, from, run);
      to = into.data();
      from = bytes;
      run = 0;
    }
    if (bytes != nullptr) {
      run += part;
    } else {
      bool stopped = false;
      const TlbEntry* entry = resolve(at, access, stopped);
      if (stopped) {
        return false;
      }
      if (entry != nullptr && entry->frame != nullptr) {
        copy_bytes(to, entry->frame + (at & kPageMask), part);
      } else {
        unmapped(at, entry);
        clear_bytes(to, part);
      }
      to += part;
    }
    into = into.subspan(part);
    at += part;
  }
  copy_bytes(to, from, run);
  return true;
}

bool AddressSpace::write_pages(uint64_t at, std::span<const std::byte> from) {
  const Access access{.write = true};
  const std::byte* source = from.data();
  std::byte* to = nullptr;
  size_t run = 0;
  while (!from.empty()) {
    const size_t part = std::min<uint64_t>(from.size(), left_in_page(at));
    std::byte* bytes = quick(at, part, access);
    if (bytes == nullptr || bytes != to + run) {
      copy_bytes(to, source, run);
      source = from.data();
      to = bytes;
      run = 0;
    }
    if (bytes != nullptr) {
      run += part;
    } else {
      bool stopped = false;
      const TlbEntry* entry = resolve(at, access, stopped);
      if (stopped) {
        return false;
      }
      if (entry != nullptr && entry->frame != nullptr) {
        copy_bytes(entry->frame + (at & kPageMask), source, part);
      } else {
        unmapped(at, entry);
      }
      source += part;
    }
    from = from.subspan(part);
    at += part;
  }
  copy_bytes(to, source, run);
  return true;
}

// First the page table entries are asked for, then the pages are found and their bytes asked for, then all is copied.
// An access that needs the long way waits until those before it are done.
bool AddressSpace::read_each(std::span<const GpuVa> addresses, size_t bytes, std::byte* into) {
  const std::byte* found[kBatch];
  size_t waiting = 0;
  const auto finish = [&] {
    for (size_t i = 0; i < waiting; ++i, into += bytes) {
      copy_bytes(into, found[i], bytes);
    }
    waiting = 0;
  };
  for (size_t at = 0; at < addresses.size(); ++at) {
    if (at % kBatch == 0) {
      finish();
      prefetch_entries(addresses.subspan(at));
    }
    found[waiting] = quick(addresses[at].value, bytes, {});
    if (found[waiting] != nullptr) {
      ++waiting;
      continue;
    }
    finish();
    if (!read_pages(addresses[at].value, {into, bytes}, false)) {
      return false;
    }
    into += bytes;
  }
  finish();
  return true;
}

bool AddressSpace::write_each(std::span<const GpuVa> addresses, size_t bytes, const std::byte* from) {
  std::byte* found[kBatch];
  size_t waiting = 0;
  const auto finish = [&] {
    for (size_t i = 0; i < waiting; ++i, from += bytes) {
      copy_bytes(found[i], from, bytes);
    }
    waiting = 0;
  };
  for (size_t at = 0; at < addresses.size(); ++at) {
    if (at % kBatch == 0) {
      finish();
      prefetch_entries(addresses.subspan(at));
    }
    found[waiting] = quick(addresses[at].value, bytes, {.write = true});
    if (found[waiting] != nullptr) {
      ++waiting;
      continue;
    }
    finish();
    if (!write_pages(addresses[at].value, {from, bytes})) {
      return false;
    }
    from += bytes;
  }
  finish();
  return true;
}

void AddressSpace::prefetch_entries(std::span<const GpuVa> addresses) const {
  for (const GpuVa address : addresses.first(std::min(addresses.size(), kBatch))) {
    if (const WalkCache::Shortcut* shortcut = walk_cache_.find_shortcut(address.value)) {
      quick_.prefetch(*shortcut, address.value);
    }
  }
}

AddressSpace::View AddressSpace::view(GpuVa address, Access access) {
  View view;
  const TlbEntry* entry = quick_entry(address.value, access);
  if (entry == nullptr) {
    entry = resolve(address.value, access, view.stopped);
  }
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
