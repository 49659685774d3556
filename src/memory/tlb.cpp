#include "memory/tlb.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/bits.h"
#include "base/check.h"

namespace halogen::memory {
namespace {

// Bits of a word that is made from a TlbEntry, besides those of TlbSlot. Words that clients add are page table entries.
constexpr unsigned kWritable = 8, kDirty = 9, kUser = 11, kNull = 12, kTile = 13, kType = 16, kFault = 24,
                   kPageBits = 32;

uint64_t word_of(const TlbEntry& entry) {
  const auto flag = [](bool value, unsigned at) { return uint64_t{value} << at; };
  return (entry.writable && entry.dirty ? TlbSlot::kWrites : 0) | (entry.executable ? TlbSlot::kExecutable : 0) |
         flag(entry.writable, kWritable) | flag(entry.dirty, kDirty) | flag(entry.user, kUser) |
         flag(entry.null, kNull) | uint64_t{static_cast<uint8_t>(entry.tile)} << kTile |
         uint64_t{entry.type_index} << kType | uint64_t{static_cast<uint8_t>(entry.fault)} << kFault |
         uint64_t{entry.page_bits} << kPageBits;
}

bool rights_fit(const TlbEntry& entry, Access access) {
  return (!access.writes() || (entry.writable && entry.dirty)) && (!access.instruction || entry.executable);
}

}  // namespace

bool TlbEntry::filters(Access access) const {
  if (fault == FaultReason::write_denied) {
    return access.writes();
  }
  if (fault == FaultReason::execute_denied) {
    return access.instruction;
  }
  return fault != FaultReason::none;
}

Tlb::Tlb(unsigned entries) : entries_(entries) {
  check(entries > 0 && entries <= TlbFront::kMaxSets * kMaxPerSet, "a TLB has from one to 4096 entries");
  const unsigned sets = std::bit_ceil((entries + kMaxPerSet - 1) / kMaxPerSet);
  const unsigned homes = std::bit_ceil((entries + sets - 1) / sets * kHomesPerEntry);  // of a set
  front_.set_mask_ = (sets - 1) * sizeof(TlbSetState);
  front_.home_mask_ = uint64_t{homes - 1} * sets * sizeof(TlbSetState);
  // Gets zero pages, which the host allocates at their first use.
  constexpr size_t kAlignment = alignof(TlbFront::Header);
  const size_t bytes = sizeof(TlbFront::Header) + front_.slot_count() * sizeof(TlbSlot);
  memory_.reset(static_cast<std::byte*>(std::calloc(bytes + kAlignment, 1)));
  check(memory_ != nullptr, "no memory for a TLB");
  const auto at = reinterpret_cast<uintptr_t>(memory_.get());
  front_.block_ = memory_.get() + (align_up(at, kAlignment) - at);
  sides_.resize(sets);
  for (unsigned i = 0; i < sets; ++i) {
    set(i).capacity = entries / sets + (i < entries % sets ? 1 : 0);
  }
  invalidate_all();
}

Tlb::Place Tlb::place(SpaceTag space, uint64_t page) const {
  check(space < kSpaces, "the number of an address space");
  return front_.place(page, TlbFront::space_key(space));
}

TlbSlot* Tlb::find(const Place& at) const {
  if (at.set->live == 0) {
    return nullptr;  // without touching memory that was never used
  }
  for (TlbSlot* slot : {at.home, at.home + 1}) {
    if (slot->key == at.key && at.set->is_live(slot->stamp)) {
      return slot;
    }
  }
  if ((at.home->stamp & TlbSlot::kCrowded) != 0) {
    for (const TlbSlot& slot : sides_[number_of(at)].aside) {
      if (slot.key == at.key && at.set->is_live(slot.stamp)) {
        return const_cast<TlbSlot*>(&slot);
      }
    }
  }
  return nullptr;
}

// Returns whether a live page of this home was moved aside.
bool Tlb::is_crowded(const Place& at) const {
  const std::vector<TlbSlot>& aside = sides_[number_of(at)].aside;
  return std::any_of(aside.begin(), aside.end(), [&](const TlbSlot& slot) {
    const uint64_t page = slot.key & low_mask(TlbFront::kSpaceShift);
    return at.set->is_live(slot.stamp) && front_.place(page, slot.key - page).home == at.home;
  });
}

// Drops the oldest entry if the set is full. Numbers of entries that were dropped early are skipped.
void Tlb::make_room(TlbSetState& set, Side& side) {
  while (set.live == set.capacity) {
    const uint64_t oldest = set.newest - set.window + 1;
    --set.window;
    if (!side.holes.empty() && side.holes.front() == oldest) {
      std::pop_heap(side.holes.begin(), side.holes.end(), std::greater<>());
      side.holes.pop_back();
    } else {
      --set.live;
    }
  }
}

// Decides whether clients may add an entry that replaces the oldest one.
void Tlb::judge(TlbSetState& set, const Side& side) {
  const bool quick = set.live == set.capacity && side.holes.empty();
  set.quick_window = quick ? static_cast<int64_t>(set.window) : TlbSetState::kNever;
}

// Allocates a slot for a page that is not cached.
TlbSlot& Tlb::allocate(const Place& at) {
  TlbSetState& set = *at.set;
  Side& side = sides_[number_of(at)];
  make_room(set, side);
  ++set.newest;
  ++set.window;
  ++set.live;
  ++allocations_;
  judge(set, side);
  TlbSlot* slot = set.is_live(at.home->stamp) ? at.home + 1 : at.home;
  uint64_t crowded = slot->stamp & TlbSlot::kCrowded;
  if (set.is_live(slot->stamp)) {
    std::erase_if(side.aside, [&](const TlbSlot& other) { return !set.is_live(other.stamp); });
    side.aside.push_back(*slot);
    side.aside.back().stamp &= ~TlbSlot::kCrowded;
    crowded = TlbSlot::kCrowded;
  } else if (crowded != 0 && !is_crowded(at)) {
    crowded = 0;
  }
  slot->key = at.key;
  slot->stamp = set.newest;
  for (TlbSlot* each : {at.home, at.home + 1}) {
    each->stamp = (each->stamp & ~TlbSlot::kCrowded) | crowded;
  }
  return *slot;
}

void Tlb::remove(const Place& at, TlbSlot& slot) {
  Side& side = sides_[number_of(at)];
  side.holes.push_back(slot.stamp & ~TlbSlot::kCrowded);
  std::push_heap(side.holes.begin(), side.holes.end(), std::greater<>());
  slot.stamp &= TlbSlot::kCrowded;
  --at.set->live;
  judge(*at.set, side);
  if (side.holes.size() > at.set->capacity) {
    remove_if(number_of(at), [](const TlbSlot&) { return false; });
  }
}

// Removes entries and numbers the remaining ones again, without holes.
template <class Predicate>
void Tlb::remove_if(size_t number, Predicate predicate) {
  TlbSetState& set = this->set(number);
  Side& side = sides_[number];
  std::vector<TlbSlot*> staying;
  const auto look_at = [&](TlbSlot& slot) {
    if (!set.is_live(slot.stamp)) {
      return;
    }
    if (predicate(slot)) {
      slot.stamp &= TlbSlot::kCrowded;
      --set.live;
    } else {
      staying.push_back(&slot);
    }
  };
  for (size_t at = 2 * number; at < front_.slot_count(); at += 2 * sides_.size()) {
    look_at(front_.slots()[at]);
    look_at(front_.slots()[at + 1]);
  }
  std::for_each(side.aside.begin(), side.aside.end(), look_at);
  const auto number_of = [](const TlbSlot* slot) { return slot->stamp & ~TlbSlot::kCrowded; };
  std::sort(staying.begin(), staying.end(), [&](auto* a, auto* b) { return number_of(a) < number_of(b); });
  set.window = staying.size();
  uint64_t next = set.newest - set.window;
  for (TlbSlot* slot : staying) {
    slot->stamp = ++next | (slot->stamp & TlbSlot::kCrowded);
  }
  side.holes.clear();
  judge(set, side);
}

TlbEntry Tlb::entry_of(const TlbSlot& slot) const {
  TlbEntry entry;
  entry.page = slot.key & low_mask(TlbFront::kSpaceShift);
  entry.space = static_cast<SpaceTag>(slot.key >> TlbFront::kSpaceShift);
  entry.frame = slot.frame;
  const uint64_t word = slot.word;
  if ((word & TlbSlot::kRaw) != 0) {
    const EntryRule rule = entry.space < rules_.size() ? rules_[entry.space] : EntryRule{};
    entry.writable = (word & rule.writable) == rule.writable;
    entry.dirty = (word & rule.dirty) == rule.dirty;
    entry.executable = entry.user = true;
    entry.type_index = static_cast<uint8_t>(((word & rule.pat) != 0 ? 4 : 0) | ((word & rule.pcd) != 0 ? 2 : 0) |
                                            ((word & rule.pwt) != 0 ? 1 : 0));
    return entry;
  }
  entry.writable = bit(word, kWritable);
  entry.dirty = bit(word, kDirty);
  entry.executable = (word & TlbSlot::kExecutable) != 0;
  entry.user = bit(word, kUser);
  entry.null = bit(word, kNull);
  entry.tile = static_cast<Tile>(bits(word, kTile + 1, kTile));
  entry.type_index = static_cast<uint8_t>(bits(word, kType + 7, kType));
  entry.fault = static_cast<FaultReason>(bits(word, kFault + 7, kFault));
  entry.page_bits = static_cast<uint8_t>(bits(word, kPageBits + 7, kPageBits));
  return entry;
}

std::optional<TlbEntry> Tlb::peek(SpaceTag space, uint64_t page) const {
  const TlbSlot* slot = find(place(space, page));
  return slot == nullptr ? std::nullopt : std::optional(entry_of(*slot));
}

const TlbEntry* Tlb::look_up(SpaceTag space, uint64_t page, Access access) {
  const Place at = place(space, page);
  TlbSlot* slot = find(at);
  if (slot == nullptr) {
    ++misses_;
    return nullptr;
  }
  found_ = entry_of(*slot);
  if (!rights_fit(found_, access) && found_.fault == FaultReason::none) {
    remove(at, *slot);
    ++rewalks_;
    return nullptr;
  }
  front_.count_hit();
  return &found_;
}

void Tlb::fill(const TlbEntry& entry) {
  const Place at = place(entry.space, entry.page);
  TlbSlot* found = find(at);
  TlbSlot& slot = found != nullptr ? *found : allocate(at);
  slot.frame = entry.frame;
  slot.word = word_of(entry);
  has_large_ |= entry.page_bits > kFrameBits;
}

void Tlb::put(const Place& at, std::byte* frame, uint64_t word) {
  TlbSlot& slot = allocate(at);
  slot.frame = frame;
  slot.word = word;
  ++misses_;
}

void Tlb::put(const TlbEntry& entry) {
  put(place(entry.space, entry.page), entry.frame, word_of(entry));
  has_large_ |= entry.page_bits > kFrameBits;
}

void Tlb::set_rule(SpaceTag space, const EntryRule& rule) {
  check(space < kSpaces, "the number of an address space");
  rules_.resize(std::max<size_t>(rules_.size(), size_t{space} + 1));
  rules_[space] = rule;
}

void Tlb::invalidate_all() {
  has_large_ = false;
  for (size_t i = 0; i < sides_.size(); ++i) {
    set(i).window = 0;
    set(i).quick_window = TlbSetState::kNever;
    set(i).live = 0;
    sides_[i].holes.clear();
    sides_[i].aside.clear();
  }
}

void Tlb::invalidate_space(SpaceTag space) {
  for (size_t i = 0; i < sides_.size(); ++i) {
    if (set(i).live != 0) {
      remove_if(i, [space](const TlbSlot& slot) { return slot.key >> TlbFront::kSpaceShift == space; });
    }
  }
}

void Tlb::invalidate_page(SpaceTag space, uint64_t page) {
  const Place at = place(space, page);
  if (TlbSlot* slot = find(at)) {
    remove(at, *slot);
  }
  for (size_t i = 0; has_large_ && i < sides_.size(); ++i) {
    if (set(i).live != 0) {
      remove_if(i, [&](const TlbSlot& slot) {
        const TlbEntry entry = entry_of(slot);
        return entry.space == space && ((entry.page ^ page) >> (entry.page_bits - kFrameBits)) == 0;
      });
    }
  }
}

void Tlb::invalidate_faults(SpaceTag space, uint64_t page) {
  const Place at = place(space, page);
  if (TlbSlot* slot = find(at); slot != nullptr && entry_of(*slot).fault != FaultReason::none) {
    remove(at, *slot);
  }
}

void Tlb::invalidate_faults(SpaceTag space) {
  for (size_t i = 0; i < sides_.size(); ++i) {
    if (set(i).live != 0) {
      remove_if(i, [&](const TlbSlot& slot) {
        const TlbEntry entry = entry_of(slot);
        return entry.space == space && entry.fault != FaultReason::none;
      });
    }
  }
}

TlbStatistics Tlb::statistics() const {
  uint64_t allocated = 0;
  for (size_t i = 0; i < sides_.size(); ++i) {
    allocated += set(i).newest;
  }
  const uint64_t short_walks = allocated - allocations_;
  return {front_.header().hits, misses_ + short_walks, rewalks_, short_walks};
}

}  // namespace halogen::memory
