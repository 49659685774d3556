#include "memory/quick_walk.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"

namespace halogen::memory {
namespace {

using Kind = WalkCache::Kind;

// Sets shift and mask, which move bits of an entry to bit `to` of a small number.
void set_up(uint64_t bits, unsigned to, uint8_t& shift, uint8_t& mask) {
  if (bits != 0) {
    shift = static_cast<uint8_t>(static_cast<unsigned>(std::countr_zero(bits)) - to);
    mask = static_cast<uint8_t>(bits >> shift);
  }
}

}  // namespace

void QuickWalk::add_rule(const WalkContext& context, Kind kind, const EntryFormat& format, unsigned page_bits) {
  Rule& rule = rules_[static_cast<size_t>(kind)];
  const uint64_t updated =
      context.accessed_dirty ? format.accessed | (context.extended_accessed ? format.extended_accessed : 0) : 0;
  const uint64_t expected = format.present | format.user | updated;
  // Null and snooped pages take the full walk too, which reports them.
  const uint64_t looked_at = expected | format.null | format.snooped |
                             (context.execute_disable ? format.execute_disable : 0) |
                             (context.format->reserved_bits_fault ? format.reserved : 0);
  rule.writable = format.writable;
  rule.dirty = context.accessed_dirty ? format.dirty : 0;
  const uint64_t to_write = rule.writable | rule.dirty;
  rule.expected[0] = expected;
  rule.expected[1] = expected | to_write;
  rule.looked_at[0] = looked_at;
  rule.looked_at[1] = looked_at | to_write;
  rule.page_bits = static_cast<uint8_t>(page_bits);
  rule.page_mask = low_mask(page_bits) & ~low_mask(kFrameBits);
  rule.address = format.address & ~low_mask(page_bits);
  rule.address_high = format.address_high;
  rule.address_high_shift = format.address_high_shift;
  rule.local = context.local_memory ? format.local_memory : 0;
  rule.in_table = kind == Kind::table || kind == Kind::medium_table;
  rule.index_mask = (WalkCache::kPagesInRange - 1) & ~(kind == Kind::medium_table ? uint64_t{15} : 0);
  set_up(format.pwt | format.pcd, 0, rule.type_shift, rule.type_mask);
  set_up(format.pat, 2, rule.pat_shift, rule.pat_mask);
}

void QuickWalk::load(const WalkContext& context) {
  *this = {};
  if (context.format == nullptr || context.nested != nullptr || context.supervisor || !context.execute_requests) {
    return;
  }
  usable_ = true;
  const LevelFormat& last = context.format->levels.back();
  wide_ = last.table.bytes == 8;
  add_rule(context, Kind::table, last.table, 12);
  add_rule(context, Kind::medium_table, last.medium, 16);
  load_direct(last.table);
  if (context.gtt_cache) {
    return;  // large pages are an error then, and the walker reports each
  }
  for (const LevelFormat& level : context.format->levels) {
    if (level.leaf.desc != nullptr && level.shift == 21) {
      add_rule(context, Kind::page_2m, level.leaf, 21);
    } else if (level.leaf.desc != nullptr && level.shift == 30) {
      add_rule(context, Kind::page_1g, level.leaf, 30);
    }
  }
}

// Decides whether DirectEntries can test an entry by one difference. Flags that must be set must lie below the address,
// and flags that must be clear anywhere outside it. The write permissions must be bits that the TLB tests.
void QuickWalk::load_direct(const EntryFormat& format) {
  const Rule& rule = rules_[static_cast<size_t>(Kind::table)];
  const uint64_t outside = rule.looked_at[1] | rule.local;
  const uint64_t end = rule.address + kFrameBytes;
  direct_ = wide_ && rule.address_high == 0 && std::has_single_bit(end) && (outside & rule.address) == 0 &&
            (rule.expected[1] | rule.local) < kFrameBytes && (rule.expected[0] & TlbSlot::kRaw) != 0 &&
            ((rule.writable | rule.dirty) & ~TlbSlot::kWrites) == 0;
  entry_rule_ = {rule.writable, rule.dirty, format.pwt, format.pcd, format.pat};
}

DirectEntries QuickWalk::direct_entries(MemorySpace space, const DirectRange& range) const {
  DirectEntries entries;
  const Rule& rule = rules_[static_cast<size_t>(Kind::table)];
  const uint64_t end = rule.address + kFrameBytes;  // of the addresses that an entry can hold
  if (!direct_ || range.first >= end || (space == MemorySpace::local && rule.local == 0)) {
    return entries;
  }
  const uint64_t local = space == MemorySpace::local ? rule.local : 0;
  for (size_t i = 0; i < 2; ++i) {
    entries.keep_[i] = rule.looked_at[i] | rule.local | rule.address;
    entries.base_[i] = (rule.expected[i] | local) + range.first;
  }
  entries.bytes_ = std::min(range.bytes, end - range.first);
  entries.host_ = range.host;
  entries.written_ = rule.writable | rule.dirty;
  return entries;
}

void QuickWalk::learn(const PhysicalMemory& memory, const WalkContext& context, uint64_t address,
                      const WalkResult& result, WalkCache& cache) const {
  const Rights& rights = result.last.rights;
  if (!usable_ || !rights.writable || !rights.user || !rights.executable) {
    return;
  }
  if (!result.reached_last) {
    const Kind kind = result.mapping.page_bits == 21 ? Kind::page_2m : Kind::page_1g;
    if (rules_[static_cast<size_t>(kind)].expected[0] != 0) {
      WalkCache::Shortcut shortcut{address >> WalkCache::kRangeBits, kind, {}};
      shortcut.page = result.entry;
      cache.fill_shortcut(shortcut);
    }
    return;
  }
  const LevelFormat& last = context.format->levels.back();
  const uint64_t bytes = last.table.bytes;
  const uint64_t index = (address >> last.shift) & low_mask(last.index_bits);
  const uint64_t first = index & ~(WalkCache::kPagesInRange - 1);
  const uint64_t start = result.last.table + first * bytes;
  const bool cut =
      context.format->levels.size() == 1 && context.entries != 0 && first + WalkCache::kPagesInRange > context.entries;
  if (cut || !is_aligned(start, WalkCache::kPagesInRange * bytes)) {
    return;
  }
  const std::byte* frame = memory.frame(context.table_space, PhysAddr(start));
  if (frame == nullptr) {
    return;
  }
  const std::byte* table = frame + (start & low_mask(kFrameBits));
  const uint64_t range = address >> WalkCache::kRangeBits;
  if (wide_ && result.mapping.page_bits == kFrameBits) {
    cache.fill_table(range, reinterpret_cast<const uint64_t*>(table));
    return;
  }
  WalkCache::Shortcut shortcut{range, result.mapping.page_bits == 16 ? Kind::medium_table : Kind::table, {}};
  shortcut.table = table;
  cache.fill_shortcut(shortcut);
}

}  // namespace halogen::memory
