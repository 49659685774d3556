#include "memory/walk_cache.h"

#include <bit>

namespace halogen::memory {
namespace {

alignas(64) constexpr uint64_t kNothing[WalkCache::kPagesInRange] = {};

constexpr uint64_t range_of(uint64_t address) {
  return address >> WalkCache::kRangeBits;
}

}  // namespace

const WalkCache::Tables& WalkCache::no_tables() {
  static const Tables kTables = [] {
    Tables tables;
    tables.fill({0, kNothing});
    return tables;
  }();
  return kTables;
}

size_t WalkCache::use(uint64_t range) {
  if (own_tables_ == nullptr) {
    own_tables_ = std::make_unique<Tables>(no_tables());
    tables_ = own_tables_->data();
    positions_.resize(kEntries);
    shortcuts_.resize(kEntries);
  }
  const size_t index = range % kEntries;
  used_[index / 64] |= uint64_t{1} << index % 64;
  return index;
}

bool WalkCache::knows(const Table& table, uint64_t range) const {
  return table.entries != kNothing && table.first_page == range * kPagesInRange;
}

const WalkCache::Entry* WalkCache::find(uint64_t address) const {
  const uint64_t range = range_of(address);
  return !positions_.empty() && positions_[range % kEntries].range == range ? &positions_[range % kEntries] : nullptr;
}

std::optional<WalkCache::Shortcut> WalkCache::find_shortcut(uint64_t address) const {
  const uint64_t range = range_of(address);
  if (const Table& table = tables_[range % kEntries]; knows(table, range)) {
    Shortcut shortcut{range, Kind::table, {}};
    shortcut.table = reinterpret_cast<const std::byte*>(table.entries);
    return shortcut;
  }
  if (shortcuts_.empty() || shortcuts_[range % kEntries].range != range) {
    return std::nullopt;
  }
  return shortcuts_[range % kEntries];
}

void WalkCache::fill(const Entry& entry) {
  positions_[use(entry.range)] = entry;
}

void WalkCache::fill_shortcut(const Shortcut& shortcut) {
  const size_t index = use(shortcut.range);
  shortcuts_[index] = shortcut;
  (*own_tables_)[index] = {0, kNothing};
}

void WalkCache::fill_table(uint64_t range, const uint64_t* entries) {
  const size_t index = use(range);
  (*own_tables_)[index] = {range * kPagesInRange, entries};
  shortcuts_[index] = {};
}

void WalkCache::clear() {
  for (size_t word = 0; word < used_.size(); ++word) {
    for (uint64_t left = used_[word]; left != 0; left &= left - 1) {
      const size_t index = word * 64 + static_cast<size_t>(std::countr_zero(left));
      positions_[index].range = ~uint64_t{0};
      shortcuts_[index] = {};
      (*own_tables_)[index] = {0, kNothing};
    }
    used_[word] = 0;
  }
}

}  // namespace halogen::memory
