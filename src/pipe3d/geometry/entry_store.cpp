#include "pipe3d/geometry/entry_store.h"

#include <algorithm>

namespace halogen::pipe3d {

void EntryStore::begin(uint32_t slots) {
  slots_ = slots;
  count_ = 0;
}

uint32_t EntryStore::add() {
  const size_t first = size_t{count_} * slots_;
  if (memory_.size() < first + slots_) {
    memory_.resize(first + slots_);
  }
  std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(first), slots_, Slot{});
  return count_++;
}

void EntryStore::move(uint32_t from, uint32_t to) {
  if (from != to && from < count_ && to < count_) {
    std::ranges::copy(entry(from), entry(to).begin());
  }
}

SavedEntries EntryStore::save() const {
  const auto end = memory_.begin() + static_cast<std::ptrdiff_t>(size_t{count_} * slots_);
  return {.slots = slots_, .memory = {memory_.begin(), end}};
}

void EntryStore::load(const SavedEntries& saved, uint32_t slots) {
  begin(slots);
  const size_t count = saved.slots == 0 ? 0 : saved.memory.size() / saved.slots;
  for (size_t i = 0; i < count; ++i) {
    const auto from = std::span(saved.memory).subspan(i * saved.slots, std::min(saved.slots, slots));
    std::ranges::copy(from, entry(add()).begin());
  }
}

}  // namespace halogen::pipe3d
